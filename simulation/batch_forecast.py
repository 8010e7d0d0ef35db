"""What a batch would take: number of runs, time and room on the disk, from a few runs made here and thrown away."""

import time
from dataclasses import asdict, dataclass
from typing import Any

from .batch_errors import BatchError
from .batch_plan import BatchPlan
from .chunks import run_one
from .dispatch import CHUNK_SECONDS
from .run_records import RunRecord, encoded

__all__ = ["Forecast", "forecast"]

_PILOTS = 5
_PILOT_SECONDS = 20.0
_SMALL_CHUNKS = 6  # of each worker, at the start and at the end
_COPIES = 2  # part files, and the tables made from them


@dataclass(frozen=True)
class Forecast:
    """An estimate.

    Attributes
    ----------
    cells, replicates, runs
        What is planned; with a target of precision, the first round.
    pilot_runs
        Runs that it rests on, each of another cell.
    seconds_per_run
        Mean over them, on one core.
    seconds
        Time for all runs with this many workers, without their start.
    jobs
        Worker processes.
    bytes
        Room that all results need.
    """

    cells: int
    replicates: int
    runs: int
    pilot_runs: int
    seconds_per_run: float
    seconds: float
    jobs: int
    bytes: int

    def as_dict(self) -> dict[str, Any]:
        """The fields, as JSON takes them."""
        return asdict(self)


def forecast(plan: BatchPlan, replicates: int, *, jobs: int, events: bool) -> Forecast:
    """Estimate what a batch takes. Nothing is written.

    Parameters
    ----------
    plan
        The batch.
    replicates
        Runs per cell.
    jobs
        Worker processes.
    events
        Whether it keeps event logs.

    Raises
    ------
    BatchError
        A pilot run fails.
    """
    n_cells = len(plan.cells)
    pilots = sorted({cell * n_cells // _PILOTS for cell in range(_PILOTS)})
    begun = time.monotonic()
    seconds: list[float] = []
    records: list[RunRecord] = []
    # the first run also loads and compiles what all runs share, so it is made twice
    for number, cell in enumerate([pilots[0], *pilots]):
        if number > 1 and time.monotonic() - begun > _PILOT_SECONDS:
            break
        started = time.perf_counter()
        record = run_one(plan.cells[cell].config, plan.run(cell, 0), events=events)
        if record.error:
            raise BatchError(f"A pilot run fails: {record.error}")
        if number:
            seconds.append(time.perf_counter() - started)
            records.append(record)
    n_runs = n_cells * replicates
    mean = sum(seconds) / len(seconds)
    per_file, per_run = _sizes(records, plan)
    n_files = min(n_runs, n_runs * mean / CHUNK_SECONDS + _SMALL_CHUNKS * jobs)
    return Forecast(
        cells=n_cells,
        replicates=replicates,
        runs=n_runs,
        pilot_runs=len(seconds),
        seconds_per_run=mean,
        seconds=mean * n_runs / min(jobs, n_runs),
        jobs=jobs,
        bytes=round(_COPIES * n_runs * per_run + n_files * per_file),
    )


def _sizes(records: list[RunRecord], plan: BatchPlan) -> tuple[float, float]:
    """Bytes of a part file without runs, and of each run in it."""
    cells = {record.run.cell: plan.cells[record.run.cell].values for record in records}
    one, all_of_them = len(encoded(records[:1], cells, {})), len(encoded(records, cells, {}))
    if len(records) == 1:
        return 0.0, float(one)
    per_run = max(all_of_them - one, 0) / (len(records) - 1)
    return max(one - per_run, 0.0), per_run
