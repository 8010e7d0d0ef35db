"""The verb `batch`: the sweep of a scenario times replicates, on all cores or on a cluster."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .options import Plugins, Seed, Settings, folder, load_plugins

if TYPE_CHECKING:
    from ...scenarios import ResolvedScenario
    from ..batch_results import BatchResult

__all__ = ["register"]

_TOLD = 3  # errors of failed runs that the summary quotes


def register(app: typer.Typer) -> None:
    """Add the verb to the application."""
    app.command("batch")(batch)


def batch(
    scenario: Annotated[
        str, typer.Argument(help="A shipped scenario's name or a TOML file.", metavar="SCENARIO")
    ],
    out: Annotated[
        Path | None, folder("--out", "Where results go; the same command again goes on there.")
    ] = None,
    replicates: Annotated[
        int | None, typer.Option(min=1, help="Runs per cell of the sweep [the scenario's].")
    ] = None,
    settings: Settings = None,
    seed: Seed = 1,
    jobs: Annotated[int | None, typer.Option(min=1, help="Worker processes [all cores].")] = None,
    executor: Annotated[
        str,
        typer.Option(metavar="local|dask", help="Worker processes here, or a Dask cluster that is there."),
    ] = "local",
    scheduler: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="The Dask scheduler, such as tcp://127.0.0.1:8786.")
    ] = None,
    events: Annotated[bool, typer.Option("--events", help="Keep the event log of every run.")] = False,
    plugins: Plugins = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Tell number of runs, time and room on the disk; write nothing.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Go on in a directory of other content.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
) -> None:
    """Run a scenario's sweep, each cell with as many replicates, or go on with it.

    Finished runs are kept whatever happens; failed ones are tried again. Replicate i meets the same incidents, people
    and decisions in every cell.
    """
    from ...scenarios import InputError
    from ..runs import load_scenario

    load_plugins(plugins)
    resolved = load_scenario(scenario, overrides=settings or ())
    options: dict[str, Any] = {
        "replicates": replicates,
        "seed": seed,
        "jobs": jobs,
        "executor": executor,
        "scheduler": scheduler,
        "events": events,
        "force": force,
    }
    if dry_run:
        _tell_forecast(resolved, out, as_json=as_json, **options)
        return
    if out is None:
        raise InputError("batch: needs --out DIR, where the results go (or --dry-run)")
    from ..batch_errors import BatchError
    from ..batch_plan import replicates_of
    from ..batches import batch as run_batch
    from ..progress import progress

    total = replicates_of(resolved, replicates)
    name = resolved.config.scenario.name
    try:
        with progress(name, total, quiet=quiet, resumes=True) as advance:
            result = run_batch(
                resolved,
                out,
                **options,
                command=sys.argv,
                progress=advance,
                tell=lambda sentence: typer.echo(sentence, err=True),
            )
    except BatchError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from None
    if as_json:
        typer.echo(json.dumps(_summary(name, result, seed), allow_nan=False))
    elif not quiet:
        typer.echo(_told(result))
    if result.errors:
        _tell_failures(result, plugins or ())
        raise typer.Exit(1)


def _tell_forecast(resolved: "ResolvedScenario", out: Path | None, *, as_json: bool, **options: Any) -> None:
    from ..batch_errors import BatchError
    from ..batch_forecast import forecast
    from ..progress import duration

    try:
        found = forecast(resolved, out, **options)
    except BatchError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from None
    if as_json:
        typer.echo(json.dumps({"scenario": resolved.config.scenario.name, "dry_run": True} | found.as_dict()))
        return
    text = f"{found.runs} runs: {found.cells} cells with {found.replicates} replicates each"
    if found.done:
        text += f"; {found.done} of them are done in {out}, {found.left or 'none'} left"
    text += "."
    if found.seconds_per_run is not None:
        text += (
            f" About {duration(found.all_seconds)} with {found.jobs} worker processes, "
            f"{duration(found.start_seconds)} of it for their start, at {found.seconds_per_run:.2g} s a run "
            f"({found.pilot_runs} pilot runs timed), and {_size(found.bytes)} on the disk."
        )
    if (target := resolved.config.sweep.precision).metric:
        text += (
            f" More replicates follow, up to {target.max_replicates} a cell, until {target.metric} is known to "
            f"± {target.half_width:g} in every cell."
        )
    typer.echo(text)


def _size(count: int) -> str:
    for unit, size in (("GB", 10**9), ("MB", 10**6)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{max(count / 1000, 0.1):.1f} kB"


def _summary(name: str, result: "BatchResult", seed: int) -> dict[str, Any]:
    return {
        "scenario": name,
        "out": str(result.directory),
        "seed": seed,
        "cells": len(result.plan.cells),
        "replicates": result.replicates,
        "runs": result.n_runs,
        "done": result.n_done,
        "failed": len(result.errors),
        "made": result.n_made,
        "errors": [{"run_id": run_id, "error": error} for run_id, error in list(result.errors.items())[:10]],
        "precision": None if result.precision is None else result.precision.as_dict(),
    }


def _told(result: "BatchResult") -> str:
    before = result.n_done + len(result.errors) - result.n_made
    earlier = f", {before} of them before" if before > 0 else ""
    text = (
        f"{result.n_done} of {result.n_runs} runs are done{earlier}: {len(result.plan.cells)} cells with "
        f"{result.replicates} replicates each. The tables are in {result.directory}."
    )
    if (precision := result.precision) is not None:
        target = precision.target
        if precision.reached:
            text += f" {target.metric} is known to ± {precision.widest:.3g} in every cell."
        else:
            text += (
                f" {target.metric} is not known to ± {target.half_width:g} in {precision.n_missed} cells, after the "
                f"{target.max_replicates} replicates that sweep.precision.max_replicates allows."
            )
    return text


def _tell_failures(result: "BatchResult", plugins: Sequence[Path]) -> None:
    from ...scenarios.wording import shell_word

    counts: dict[str, list[str]] = {}
    for run_id, error in result.errors.items():
        counts.setdefault(error, []).append(run_id)
    typer.echo(
        f"{len(result.errors)} of {result.n_runs} runs failed; each is a row with its error, and the same command "
        "tries them again:",
        err=True,
    )
    for error, run_ids in list(counts.items())[:_TOLD]:
        typer.echo(f"  {error} ({len(run_ids)} runs, first {run_ids[0]})", err=True)
    if len(counts) > _TOLD:
        typer.echo(f"  and {len(counts) - _TOLD} other errors", err=True)
    command = ["run", "--run-id", next(iter(result.errors)), "--from", shell_word(str(result.directory))]
    for file in plugins:
        command += ["--plugin", shell_word(str(file))]
    typer.echo(f"To see where it fails: deniability {' '.join(command)}", err=True)
