"""What a batch would take: number of runs, time and room on the disk, from a few runs that are thrown away."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from ..scenarios import ResolvedScenario
from .batch_directory import BatchDirectory
from .batch_pilots import Pilots, pilots, seconds_to_start
from .batch_plan import BatchPlan, PlannedRun, replicates_of
from .chunks import Environment
from .dispatch import CHUNK_SECONDS
from .executors import workforce
from .parts import PartIndex
from .store import try_place
from .workers import available_cores

__all__ = ["Forecast", "forecast"]

_PILOTS = 5
_SMALL_CHUNKS = 6  # of each worker, at the start and at the end


@dataclass(frozen=True)
class Forecast:
    """An estimate.

    Attributes
    ----------
    cells, replicates, runs
        What is planned; with a target of precision, the first round.
    done, left
        Runs that are there already, and those that are not.
    pilot_runs
        Cells whose runs it rests on.
    seconds_per_run
        Mean over them, on one core; None if nothing is left.
    start_seconds
        Time until the workers are ready.
    seconds
        Time for the runs that are left, with this many workers that are ready.
    table_seconds
        Time to write the tables after that.
    jobs
        Workers.
    bytes
        Room that is needed on top of what is there: parts of the runs that are left, and tables of all runs.
    """

    cells: int
    replicates: int
    runs: int
    done: int
    left: int
    pilot_runs: int
    seconds_per_run: float | None
    start_seconds: float
    seconds: float
    table_seconds: float
    jobs: int
    bytes: int

    @property
    def all_seconds(self) -> float:
        """Time from the start of the workers until the tables are written."""
        return self.start_seconds + self.seconds + self.table_seconds

    def as_dict(self) -> dict[str, Any]:
        """The fields, as JSON takes them."""
        return asdict(self)


def forecast(
    scenario: ResolvedScenario,
    out: Path | None = None,
    *,
    replicates: int | None = None,
    seed: int = 1,
    jobs: int | None = None,
    executor: str = "local",
    scheduler: str | None = None,
    events: bool = False,
    force: bool = False,
) -> Forecast:
    """Estimate what a batch takes. Nothing is written.

    Parameters
    ----------
    scenario, out, replicates, seed, jobs, executor, scheduler, events, force
        As `batch` takes them; without `out`, a batch from its beginning.

    Raises
    ------
    InputError
        What `batch` would refuse too.
    BatchError
        A pilot run fails, or a worker cannot be started.
    """
    count = replicates_of(scenario, replicates)
    plan = BatchPlan.of(scenario, seed)
    environment = Environment.here(cell.config for cell in plan.cells)
    finished: set[str] = set()
    if out is not None:
        directory = BatchDirectory(out, plan, environment, events)
        directory.check(force=force)
        try_place(out)
        finished = PartIndex.of(directory.parts, lambda _part: None, events=events).finished()
    left = [run for run in plan.runs(count) if run.run_id not in finished]
    n_runs = len(plan.cells) * count
    workers = workforce(executor, jobs=jobs, scheduler=scheduler)
    found, start = None, 0.0
    try:
        if left:
            start = seconds_to_start(plan, left[0], workers, environment, events=events)
            found = pilots(plan, _pilot_cells(left), count, events=events)
            # workers that share a core start one after the other
            shared = min(workers.n_workers, len(left)) / available_cores() if executor == "local" else 1
            start = max(start - found.seconds[0], 0.0) * max(math.ceil(shared), 1)
    finally:
        workers.close(True)
    return Forecast(
        cells=len(plan.cells),
        replicates=count,
        runs=n_runs,
        done=n_runs - len(left),
        left=len(left),
        pilot_runs=len(found.seconds) if found else 0,
        seconds_per_run=found.mean if found else None,
        start_seconds=start,
        seconds=found.mean * len(left) / min(workers.n_workers, len(left)) if found else 0.0,
        # tables take about what their parts took, in one process
        table_seconds=fmean(found.stored) * n_runs if found else 0.0,
        jobs=workers.n_workers,
        bytes=round(_room(found, len(left), n_runs, count, workers.n_workers)) if found else 0,
    )


def _pilot_cells(left: Sequence[PlannedRun]) -> list[int]:
    """Some cells, spread over those that have runs left."""
    cells = list(dict.fromkeys(run.cell for run in left))
    return [cells[place] for place in sorted({n * len(cells) // _PILOTS for n in range(_PILOTS)})]


def _room(found: Pilots, n_left: int, n_runs: int, replicates: int, n_workers: int) -> float:
    """Part files, and the tables, which take as much as parts do."""
    n_files = min(n_left, n_left * found.mean / CHUNK_SECONDS + _SMALL_CHUNKS * n_workers)
    part = found.part_bytes(n_left / n_files, replicates)
    per_run = (part - found.file_bytes) / (n_left / n_files)
    return n_files * part + n_runs * per_run + found.file_bytes
