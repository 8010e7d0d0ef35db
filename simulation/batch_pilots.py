"""Pilot runs: what a run of a batch takes, in time and on the disk."""

import time
from collections.abc import Sequence
from concurrent.futures import BrokenExecutor, CancelledError
from dataclasses import dataclass
from statistics import fmean

from .batch_errors import BatchError, EnvironmentDiffersError
from .batch_plan import BatchPlan, PlannedRun
from .chunks import Chunk, Environment, run_chunk, run_one
from .executors import Workforce
from .run_records import RunRecord, encoded

__all__ = ["Pilots", "pilots", "seconds_to_start"]

_SECONDS = 20.0  # after so long no further pilot run is begun


@dataclass(frozen=True)
class Pilots:
    """What pilot runs took.

    Attributes
    ----------
    seconds
        Time of one in each cell, once its cell has run before, where there was time for that.
    stored
        The share of each that went into bringing its results into the form of a file.
    file_bytes
        Size of a part file without runs.
    new_bytes
        What a run adds to a file that holds none of its replicate.
    known_bytes
        What it adds to one that does: runs of a replicate have people and access graphs in common.
    """

    seconds: tuple[float, ...]
    stored: tuple[float, ...]
    file_bytes: float
    new_bytes: float
    known_bytes: float

    @property
    def mean(self) -> float:
        """Mean time of a run, in seconds."""
        return fmean(self.seconds)

    def part_bytes(self, n_runs: float, replicates: int) -> float:
        """Size of a part file of `n_runs` runs, of at most so many replicates."""
        new = min(n_runs, replicates)
        return self.file_bytes + new * self.new_bytes + (n_runs - new) * self.known_bytes


def pilots(plan: BatchPlan, cells: Sequence[int], replicates: int, *, events: bool) -> Pilots:
    """Make runs of these cells in this process, and throw them away.

    Parameters
    ----------
    plan
        The batch.
    cells
        Numbers of the cells, at least one.
    replicates
        Runs of a cell in the batch.
    events
        Whether event logs are kept.

    Raises
    ------
    BatchError
        One fails.
    """
    begun = time.monotonic()
    seconds: dict[int, float] = {}
    stored: dict[int, float] = {}
    rounds: tuple[list[RunRecord], list[RunRecord]] = ([], [])
    # the first run of a cell also loads and compiles what all its runs share, so there is a second one; the first
    # ones are of different replicates, the second ones of the same
    for number, records in enumerate(rounds):
        for place, cell in enumerate(cells if number == 0 else list(seconds)):
            if seconds and time.monotonic() - begun > _SECONDS:
                break
            run = plan.run(cell, 0 if number else (place + 1) % replicates)
            started = time.perf_counter()
            record = run_one(plan.cells[cell].config, run, events=events)
            if record.error:
                raise BatchError(f"A pilot run fails: {record.error}")
            ended = time.perf_counter()
            _size(plan, [record])
            stored[cell] = time.perf_counter() - ended
            seconds[cell] = ended - started + stored[cell]
            records.append(record)
    return Pilots(tuple(seconds.values()), tuple(stored.values()), *_sizes(plan, *rounds))


def _sizes(
    plan: BatchPlan, first: Sequence[RunRecord], second: Sequence[RunRecord]
) -> tuple[float, float, float]:
    different = list({record.run.replicate: record for record in [*first, *second]}.values())
    one = fmean(_size(plan, [record]) for record in different)
    known = _added(plan, second)
    new = _added(plan, different) if len(different) > 1 else known
    if len(second) < 2:
        known = new
    return max(one - new, 0.0), new, min(known, new)


def _added(plan: BatchPlan, records: Sequence[RunRecord]) -> float:
    """What each run adds to the size of a file; 0 if there are not two to tell it from."""
    if len(records) < 2:
        return 0.0
    return max(_size(plan, records) - _size(plan, records[:1]), 0) / (len(records) - 1)


def _size(plan: BatchPlan, records: Sequence[RunRecord]) -> int:
    return len(encoded(records, {r.run.cell: plan.cells[r.run.cell].values for r in records}, {}))


def seconds_to_start(
    plan: BatchPlan, run: PlannedRun, workforce: Workforce, environment: Environment, *, events: bool
) -> float:
    """Time until a worker, started for it if need be, has made a run, the run included.

    Raises
    ------
    BatchError
        The worker cannot be started, is not like this process, or does not survive the run; or the run fails.
    """
    chunk = Chunk(environment, {run.cell: plan.cells[run.cell]}, (run,), events)
    started = time.perf_counter()
    try:
        errors = workforce.executor.submit(run_chunk, chunk).result().errors
    except workforce.died as error:
        raise BatchError(f"A pilot run ends its worker: {error}") from error
    except (EnvironmentDiffersError, BrokenExecutor, CancelledError) as error:
        raise BatchError(f"No worker can be had: {error}") from error
    if errors:
        raise BatchError(f"A pilot run fails: {errors[run.run_id]}")
    return time.perf_counter() - started
