"""The verb `run`: one run of a scenario, with a readable account, tables and figures."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .options import OptionalSeed, Plugins, Settings, folder, load_plugins

if TYPE_CHECKING:
    from ...scenarios import ResolvedScenario
    from ..replays import Replay
    from ..runs import RunResult

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the verb to the application."""
    app.command("run")(run)


def run(
    scenario: Annotated[
        str | None, typer.Argument(help="A shipped scenario's name or a TOML file.", metavar="SCENARIO")
    ] = None,
    mechanism: Annotated[str | None, typer.Option(help="Audit with this mechanism.")] = None,
    delta: Annotated[float | None, typer.Option(help="Per-report deniability level, 0 < delta < 1.")] = None,
    settings: Settings = None,
    seed: OptionalSeed = None,
    run_id: Annotated[
        str | None,
        typer.Option("--run-id", metavar="ID", help="Make this run of a batch again; needs --from."),
    ] = None,
    batch: Annotated[Path | None, folder("--from", "The batch that the run is of.")] = None,
    plugins: Plugins = None,
    out: Annotated[
        Path | None,
        folder(
            "--out",
            "Where results go [results/SCENARIO-SEED, as in five-labs-greedy-delta-0.2-1 if so asked].",
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Write into a directory of other content.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object; without --out write nothing.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress and no account.")] = False,
) -> None:
    """Run a scenario once and tell what happened; or run one run of a batch again, with its whole event log."""
    from ...scenarios import InputError, content_hash
    from ..provenance import run_id as identity_of
    from ..runs import load_scenario
    from ..runs import run as run_scenario
    from ..store import check_directory

    started = datetime.now(UTC)
    load_plugins(plugins)
    again: Replay | None = None

    def place_for(resolved: "ResolvedScenario", seed: int, name: str) -> Path | None:
        """Where results go, once that is known to be possible."""
        directory = out if out is not None or as_json else Path("results") / name
        if directory is not None:
            identity = identity_of(content_hash(resolved.config), seed)
            check_directory(directory, kind="run", identity=identity, force=force)
        return directory

    if run_id is None and batch is None:
        if scenario is None:
            raise InputError("run: needs SCENARIO, or --run-id ID --from DIR for one run of a batch")
        seed = 1 if seed is None else seed
        resolved = load_scenario(scenario, mechanism=mechanism, delta=delta, overrides=settings or ())
        asked = [resolved.config.scenario.name]
        asked += [] if mechanism is None else [mechanism]
        asked += [] if delta is None else [f"delta-{delta}"]
        directory = place_for(resolved, seed, "-".join([*asked, str(seed)]))
        with _decisions(resolved, quiet=quiet) as advance:
            result = run_scenario(resolved, seed=seed, progress=advance)
    else:
        given = {
            "SCENARIO": scenario,
            "--mechanism": mechanism,
            "--delta": delta,
            "--set": settings,
            "--seed": seed,
        }
        if more := [name for name, value in given.items() if value]:
            raise InputError(f"run: {', '.join(more)}: scenario and seed come from the batch with --run-id")
        if run_id is None or batch is None:
            raise InputError("run: --run-id ID and --from DIR go together")
        from ..batch_results import load_batch
        from ..replays import find_run, replay

        found = load_batch(batch)
        planned = find_run(found, run_id)
        resolved = found.plan.scenario_of(planned.cell)
        directory = place_for(resolved, planned.seed, f"{resolved.config.scenario.name}-{planned.run_id}")
        with _decisions(resolved, quiet=quiet) as advance:
            again = replay(found, planned, advance)
        result = again.result
    if directory is not None:
        from ..run_files import write_run

        row = again.row if again is not None else None
        write_run(result, directory, command=sys.argv, started=started, row=row)
    _tell(result, directory, as_json=as_json, quiet=quiet, with_id=again is not None)
    if again is not None and again.differing:
        why = (
            "the batch was made by other code"
            if not again.same_code
            else "versions of packages or plugins differ?"
        )
        typer.echo(
            f"This is not what the batch has on record ({why}): {', '.join(again.differing[:5])} differ.",
            err=True,
        )
        raise typer.Exit(1)


@contextmanager
def _decisions(resolved: "ResolvedScenario", *, quiet: bool) -> Iterator[Callable[[int], None]]:
    """Progress by decisions."""
    from ..progress import progress

    config = resolved.config
    label = f"{config.scenario.name}, {config.auditor.mechanism}, delta {config.auditor.delta:g}"
    with progress(label, config.time.periods, quiet=quiet) as advance:
        yield advance


def _tell(result: "RunResult", directory: Path | None, *, as_json: bool, quiet: bool, with_id: bool) -> None:
    config = result.scenario.config
    if as_json:
        summary = {
            "scenario": config.scenario.name,
            "mechanism": config.auditor.mechanism,
            "delta": config.auditor.delta,
            "seed": result.seed,
            **({"run_id": result.run_id} if with_id else {}),
            "metrics": result.metrics,
        }
        typer.echo(json.dumps(summary, allow_nan=False))
    elif not quiet:
        from rich.console import Console

        from ...analysis.account import account
        from ..guarantees import stated_guarantee
        from ..run_files import WRITTEN

        guarantee = stated_guarantee(config).text
        told = account(
            result.metrics, config, seed=result.seed, directory=directory, files=WRITTEN, guarantee=guarantee
        )
        Console().print(told)
