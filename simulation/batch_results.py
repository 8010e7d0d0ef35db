"""A batch that is on disk, finished or not: its runs and their tables."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

import pandas as pd

from ..agents.registry import loaded_plugins
from ..scenarios import InputError, resolve_tree
from ..scenarios.wording import printable
from .assembly import nested_table, runs_table
from .batch_directory import read_manifest
from .batch_plan import BatchPlan, PlannedRun
from .parts import PartIndex, Parts
from .precision import Widths
from .registries import known_names
from .store import MANIFEST

__all__ = ["BatchResult", "load_batch"]


@dataclass(frozen=True)
class BatchResult:
    """What a batch gave.

    Attributes
    ----------
    directory
        Where its files are.
    plan
        Its cells and seeds.
    replicates
        Runs of each cell.
    index
        Where each run is stored.
    errors
        Id of each failed run to what was raised.
    n_made
        Runs that this call made; the others were there.
    precision
        How well the metric of `[sweep.precision]` is known; None without a target.
    """

    directory: Path
    plan: BatchPlan
    replicates: int
    index: PartIndex
    errors: Mapping[str, str] = field(default_factory=dict)
    n_made: int = 0
    precision: Widths | None = None

    @property
    def n_runs(self) -> int:
        """Number of runs that were planned."""
        return len(self.plan.cells) * self.replicates

    @property
    def n_done(self) -> int:
        """Number of them that came to their end."""
        finished = self.index.finished()
        return sum(run.run_id in finished for run in self.plan.runs(self.replicates))

    def table(self, name: str) -> pd.DataFrame:
        """A table of what is done so far, in the order of the plan.

        Parameters
        ----------
        name
            "runs", "groups", "series", or a table of the event log, such as "events:reports".
        """
        runs = self.plan.runs(self.replicates)
        table = runs_table(self.plan, runs, self.index) if name == "runs" else None
        frame: pd.DataFrame = (nested_table(name, runs, self.index) if table is None else table).to_pandas()
        return frame

    def rows(self, runs: Sequence[PlannedRun]) -> list[dict[str, Any]]:
        """Rows of `runs.parquet` for these runs, as far as they are there; what is undefined is None."""
        rows: list[dict[str, Any]] = runs_table(self.plan, runs, self.index).to_pylist()
        return rows

    @property
    def runs(self) -> pd.DataFrame:
        """A row per run."""
        return self.table("runs")

    @property
    def groups(self) -> pd.DataFrame:
        """Numerators and denominators by lab, target, channel and anonymity set."""
        return self.table("groups")

    @property
    def series(self) -> pd.DataFrame:
        """A row per run and decision."""
        return self.table("series")


def load_batch(directory: str | PathLike[str]) -> BatchResult:
    """Open a batch that is on disk, finished or not, to read its tables.

    Raises
    ------
    InputError
        There is no batch in the directory, or its scenario cannot be read any more, without its plugins perhaps.
    """
    path = Path(directory)
    about = read_manifest(path)
    if about.get("kind") != "batch" or not isinstance(about.get("resolved_scenario"), Mapping):
        raise InputError(f"{path}: holds no batch (its {MANIFEST} is missing, or is of something else)")
    try:
        scenario = resolve_tree(
            about["resolved_scenario"], known_names=known_names(), label=f"{path / MANIFEST}"
        )
        plan = BatchPlan.of(scenario, int(about["seed"]))
    except InputError as error:
        raise InputError([*error.messages, *_missing_plugins(path, about.get("plugins"))]) from None
    # a damaged part is simply not there; setting it aside is the business of whoever holds the lock
    index = PartIndex.of(Parts(path / "parts"), lambda _part: None)
    return BatchResult(path, plan, int(about["replicates"]), index)


def _missing_plugins(path: Path, plugins: Any) -> Iterator[str]:
    loaded = [file.as_posix() for file in loaded_plugins()]
    for name in plugins if isinstance(plugins, Mapping) else ():
        if not any(file.endswith(f"/{name}") for file in loaded):
            yield f"{path}: the batch used plugin {printable(name)}, which is not loaded: give --plugin FILE"
