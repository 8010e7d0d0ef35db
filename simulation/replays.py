"""One run of a batch again, with everything that it leaves behind."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from ..scenarios import InputError
from .batch_directory import read_manifest
from .batch_plan import PlannedRun
from .batch_results import BatchResult
from .provenance import code_hash
from .run_records import DONE, RunRecord, run_rows
from .runs import RunResult, run

__all__ = ["Replay", "find_run", "replay"]


@dataclass(frozen=True)
class Replay:
    """A run of a batch, made again.

    Attributes
    ----------
    result
        The run.
    row
        Its row as `runs.parquet` of the batch has it: the same columns and types.
    differing
        Metrics that are not what the batch has on record; none, if code and versions are the same.
    same_code
        Whether the code is that of the batch.
    """

    result: RunResult
    row: pa.Table
    differing: tuple[str, ...]
    same_code: bool


def find_run(found: BatchResult, run_id: str) -> PlannedRun:
    """The run of a batch with this id, or with an id that begins so.

    Raises
    ------
    InputError
        There is none, or there are several.
    """
    runs = [one for one in found.plan.runs(found.replicates) if run_id and one.run_id.startswith(run_id)]
    if len(runs) != 1:
        told = f"several begin so: {runs[0].run_id}, {runs[1].run_id}" if runs else "there is no such run"
        raise InputError(f"--run-id {run_id}: {told}; the ids are in {found.directory}'s runs.parquet")
    return runs[0]


def replay(found: BatchResult, planned: PlannedRun, progress: Callable[[int], None] | None = None) -> Replay:
    """Make a run of a batch again, as a single run.

    Parameters
    ----------
    found
        The batch.
    planned
        Which run.
    progress
        Called after each decision with its number.

    Examples
    --------
    >>> import tempfile
    >>> from deniability.simulation import batch, load_batch
    >>> small = ["time.periods=4", "employees.scale=0.02", 'sweep.grid."auditor.mechanism"=["greedy"]']
    >>> with tempfile.TemporaryDirectory() as folder:  # doctest: +SKIP
    ...     made = batch("five-labs", folder, replicates=1, jobs=1, overrides=small)
    ...     again = replay(load_batch(folder), made.plan.run(2, 0))
    >>> again.differing  # doctest: +SKIP
    ()
    """
    result = run(found.plan.scenario_of(planned.cell), seed=planned.seed, progress=progress)
    cells = {planned.cell: found.plan.cells[planned.cell].values}
    row = run_rows([RunRecord(planned, result.metrics)], cells)
    return Replay(result, row, tuple(_differing(found, planned, result)), _has_code_of(found.directory))


def _differing(found: BatchResult, planned: PlannedRun, result: RunResult) -> list[str]:
    place = found.index.get(planned.run_id)
    if place is None or place.status != DONE:
        return []
    stored: dict[str, Any] = found.rows([planned])[0]
    return [key for key, value in result.metrics.items() if stored.get(key) != value]


def _has_code_of(directory: Path) -> bool:
    return bool(read_manifest(directory).get("code_hash") == code_hash())
