"""The verb `twin`: the causal effect of one report on its author's fate."""

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
    app.command("twin")(twin)


def twin(
    scenario: Annotated[
        str, typer.Argument(help="A shipped scenario's name or a TOML file.", metavar="SCENARIO")
    ],
    pairs: Annotated[int, typer.Option(min=1, help="Number of pairs of runs.")],
    mechanism: Annotated[str | None, typer.Option(help="Audit with this mechanism.")] = None,
    delta: Annotated[float | None, typer.Option(help="Per-report deniability level, 0 < delta < 1.")] = None,
    settings: Settings = None,
    plugins: Plugins = None,
    seed: Seed = 1,
    jobs: Annotated[int | None, typer.Option(min=1, help="Worker processes [all cores].")] = None,
    out: Annotated[Path | None, folder("--out", "Where the table of pairs goes; none without it.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Write into a directory of other content.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
) -> None:
    """Measure what reporting does to the person who reports: pairs of runs that differ in one report.

    The certified effect is held to the conditions under which the guarantee bounds it; the total effect lets
    everything run freely, and no bound is claimed for it.
    """
    from ...scenarios import content_hash
    from ..progress import progress
    from ..provenance import run_id
    from ..runs import load_scenario
    from ..store import check_directory
    from ..twins import CHANNELS, twin_study

    started = datetime.now(UTC)
    load_plugins(plugins)
    resolved = load_scenario(scenario, mechanism=mechanism, delta=delta, overrides=settings or ())
    config = resolved.config
    identity = f"{run_id(content_hash(config), seed)}-{pairs}"
    if out is not None:
        check_directory(out, kind="twin", identity=identity, force=force)
    workers = jobs or min(os.cpu_count() or 1, max(pairs // 8, 1))
    with progress(f"{config.scenario.name}: pairs of twin runs", pairs, quiet=quiet) as advance:
        result = twin_study(config, n_pairs=pairs, seed=seed, jobs=workers, progress=advance)

    def told(mode: str, channel: str | None = None) -> dict[str, Any]:
        effect = result.effect(mode, channel)
        return {"effect": effect.value, "low": effect.low, "high": effect.high, "pairs": effect.n_runs}

    summary = {
        "scenario": config.scenario.name,
        "mechanism": config.auditor.mechanism,
        "delta": config.auditor.delta,
        "seed": seed,
        "bound": result.bound,
        "channels": {channel: told("certified", channel) for channel in CHANNELS},
        "total": told("total"),
        "total_channels": {channel: told("total", channel) for channel in CHANNELS},
    }
    if out is not None:
        from ..twin_files import write_twins

        write_twins(
            result,
            out,
            resolved,
            summary=summary,
            identity=identity,
            command=sys.argv,
            started=started,
        )
    if as_json:
        typer.echo(json.dumps(summary, allow_nan=False))
    else:
        from rich.console import Console

        from ...analysis.twin_account import twin_account

        Console().print(twin_account(summary, out))
