"""The verb `validation`: whether a world shows the patterns that surveys show."""

import json
import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from .options import Plugins, Seed, Settings, folder, load_plugins

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the verb to the application."""
    app.command("validation")(validation)


def validation(
    scenario: Annotated[
        str, typer.Argument(help="A shipped scenario's name or a TOML file.", metavar="[SCENARIO]")
    ] = "five-labs",
    replicates: Annotated[int, typer.Option(min=2, help="Runs of each variant.")] = 40,
    settings: Settings = None,
    tune: Annotated[
        bool,
        typer.Option(
            "--tune", help="Repeat the tuning instead: search the two values that give patterns 1 and 2."
        ),
    ] = False,
    plugins: Plugins = None,
    seed: Seed = 1,
    jobs: Annotated[int | None, typer.Option(min=1, help="Worker processes [all cores].")] = None,
    out: Annotated[Path | None, folder("--out", "Where table and figure go; none without it.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Write into a directory of other content.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
) -> None:
    """Hold a world against eight patterns of surveys and theory, each with its interval and a verdict.

    A pattern that fails is a finding about the model, not a failure of the command: the exit code is 0.
    """
    from ..runs import load_scenario

    started = datetime.now(UTC)
    load_plugins(plugins)
    resolved = load_scenario(scenario, overrides=settings or ())
    workers = jobs or os.cpu_count() or 1
    if tune:
        _tune(resolved, replicates=replicates, seed=seed, jobs=workers, as_json=as_json, quiet=quiet)
        return
    from ...scenarios import content_hash
    from ..progress import progress
    from ..provenance import run_id
    from ..store import check_directory
    from ..validation import n_tasks, validate_patterns

    config = resolved.config
    identity = f"{run_id(content_hash(config), seed)}-{replicates}"
    if out is not None:
        check_directory(out, kind="validation", identity=identity, force=force)
    total = n_tasks(resolved, replicates)
    with progress(f"{config.scenario.name}: runs", total, quiet=quiet) as advance:
        result = validate_patterns(resolved, replicates=replicates, seed=seed, jobs=workers, progress=advance)
    patterns = [_plain(row) for row in result.patterns.to_dict("records")]
    summary = {
        "scenario": config.scenario.name,
        "seed": seed,
        "replicates": replicates,
        "patterns": patterns,
    } | {
        verdict: [row["number"] for row in patterns if row["verdict"] == verdict]
        for verdict in ("holds", "undecided", "fails", "undefined")
    }
    if out is not None:
        from ..validation_files import write_validation

        write_validation(
            result, out, resolved, seed=seed, identity=identity, command=sys.argv, started=started
        )
    if as_json:
        typer.echo(json.dumps(summary, allow_nan=False))
    else:
        from rich.console import Console

        from ...analysis.validation_account import validation_account

        Console().print(validation_account(summary, out))


def _plain(row: dict[Any, Any]) -> dict[str, Any]:
    """Give a row as JSON takes it: undefined is null."""
    return {str(key): None if value != value else value for key, value in row.items()}


def _tune(resolved: Any, *, replicates: int, seed: int, jobs: int, as_json: bool, quiet: bool) -> None:
    from dataclasses import asdict

    from ..progress import progress
    from ..tuning import tune

    label = f"{resolved.config.scenario.name}: worlds tried, of some"
    with progress(label, 20, quiet=quiet) as advance:
        tuned = tune(resolved, replicates=replicates, seed=seed, jobs=jobs, progress=advance)
    if as_json:
        typer.echo(json.dumps({"scenario": resolved.config.scenario.name} | asdict(tuned), allow_nan=False))
        return
    typer.echo(f"employees.decision.intercept = {tuned.intercept:g}")
    typer.echo(f"organizations.disclosure_probability = {tuned.disclosure_probability:g}")
    typer.echo(
        f"{tuned.reporting:.1%} of observers report and {tuned.retaliation:.1%} of reporters are retaliated against, "
        f"over {replicates} runs; {tuned.evaluations} worlds were tried."
    )
