"""The verb `run`: one run of a scenario, with a readable account, tables and figures."""

import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the verb to the application."""
    app.command("run")(run)


def run(
    scenario: Annotated[
        str, typer.Argument(help="A shipped scenario's name or a TOML file.", metavar="SCENARIO")
    ],
    mechanism: Annotated[str | None, typer.Option(help="Audit with this mechanism.")] = None,
    delta: Annotated[float | None, typer.Option(help="Per-report deniability level, 0 < delta < 1.")] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="KEY=VALUE", help="Override one value by its dotted path. May be repeated."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, max=2**63 - 1, help="Root seed of every random draw.")] = 1,
    out: Annotated[Path | None, typer.Option(help="Where results go [results/SCENARIO-SEED].")] = None,
    force: Annotated[bool, typer.Option("--force", help="Write into a directory of other content.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object; without --out write nothing.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress and no account.")] = False,
) -> None:
    """Run a scenario once and tell what happened."""
    from ...scenarios import content_hash
    from ..progress import progress
    from ..provenance import run_id
    from ..runs import load_scenario
    from ..runs import run as run_scenario
    from ..store import check_directory

    started = datetime.now(UTC)
    resolved = load_scenario(scenario, mechanism=mechanism, delta=delta, overrides=settings or ())
    config = resolved.config
    directory = out
    if directory is None and not as_json:
        directory = Path("results") / f"{config.scenario.name}-{seed}"
    if directory is not None:
        identity = run_id(content_hash(config), seed)
        check_directory(directory, kind="run", identity=identity, force=force)
    label = f"{config.scenario.name}, {config.auditor.mechanism}, delta {config.auditor.delta:g}"
    with progress(label, config.time.periods, quiet=quiet) as advance:
        result = run_scenario(resolved, seed=seed, progress=advance)
    if directory is not None:
        from ..run_files import write_run

        write_run(result, directory, command=sys.argv, started=started)
    if as_json:
        summary = {
            "scenario": config.scenario.name,
            "mechanism": config.auditor.mechanism,
            "delta": config.auditor.delta,
            "seed": seed,
            "metrics": result.metrics,
        }
        typer.echo(json.dumps(summary, allow_nan=False))
    elif not quiet:
        from rich.console import Console

        from ...analysis.account import account
        from ..guarantees import stated_guarantee

        guarantee = stated_guarantee(config).text
        Console().print(account(result.metrics, config, seed=seed, directory=directory, guarantee=guarantee))
