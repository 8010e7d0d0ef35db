"""Batches: the cells of a sweep times replicates, on all cores or on a cluster, never lost.

Finished runs are on disk, a chunk of them at a time; the same call goes on where an earlier one ended, however it
ended. Results do not depend on who made them, nor in which order, to the byte.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from typing import Any

import pandas as pd

from ..scenarios import InputError, ResolvedScenario
from ..scenarios.schema import Precision
from .assembly import assemble, runs_table
from .batch_directory import BatchDirectory, read_manifest
from .batch_errors import BatchError, BatchInterruptedError
from .batch_plan import BatchPlan, replicates_of
from .batch_results import BatchResult
from .chunks import Environment
from .dispatch import Dispatcher
from .executors import Workforce, workforce
from .final_tables import strangers, unsound
from .parts import PartIndex
from .precision import Widths, next_replicates, widths
from .runs import load_scenario
from .seeds import checked_seed

__all__ = ["batch"]


def batch(
    scenario: ResolvedScenario | str | PathLike[str],
    out: str | PathLike[str],
    *,
    replicates: int | None = None,
    seed: int = 1,
    jobs: int | None = None,
    executor: str | Executor = "local",
    scheduler: str | None = None,
    events: bool = False,
    force: bool = False,
    overrides: Sequence[str] = (),
    command: Sequence[str] = (),
    progress: Callable[[int, int], None] = lambda _done, _total: None,
    tell: Callable[[str], None] = lambda _sentence: None,
) -> BatchResult:
    """Run a scenario's sweep, or go on with it.

    Parameters
    ----------
    scenario
        A resolved scenario, a shipped name or a path.
    out
        Directory of the results. If this batch began there before, its finished runs are kept, and failed ones are
        tried again.
    replicates
        Runs per cell [those of the scenario].
    seed
        Root seed. Replicate i has the same seed in every cell.
    jobs
        Worker processes [all cores].
    executor
        "local", "dask", or any `concurrent.futures.Executor`.
    scheduler
        Address of the Dask scheduler.
    events
        Keep the event log of every run.
    force
        Go on in a directory of other content.
    overrides
        `KEY=VALUE` settings, if `scenario` is a name or a path.
    command
        What the manifest gives as the command.
    progress
        Called with the numbers of runs done and planned.
    tell
        Called with what the user should know: a damaged file, a lock taken over.

    Raises
    ------
    InputError
        The scenario or the seed is bad, or the directory is refused.
    BatchInterruptedError
        It was interrupted from the keyboard; the same call goes on.
    BatchError
        It cannot go on: a full disk, workers that cannot start.

    Examples
    --------
    >>> import tempfile
    >>> small = ["time.periods=4", "employees.scale=0.02", 'sweep.grid."auditor.mechanism"=["greedy"]']
    >>> with tempfile.TemporaryDirectory() as folder:  # doctest: +SKIP
    ...     result = batch("five-labs", folder, replicates=1, jobs=1, overrides=small)
    ...     len(result.runs)
    4
    """
    seed = checked_seed(seed)
    if not str(out).strip():
        raise InputError("--out '': must name a directory; the current one is .")
    if not isinstance(scenario, ResolvedScenario):
        scenario = load_scenario(scenario, overrides=overrides)
    elif overrides:
        raise TypeError("a resolved scenario takes no further overrides: give them to load_scenario")
    count = replicates_of(scenario, replicates)
    plan = BatchPlan.of(scenario, seed)
    environment = Environment.here(cell.config for cell in plan.cells)
    directory = BatchDirectory(Path(out), plan, environment, events)
    directory.check(force=force)
    with directory.opened(tell):
        directory.check(force=force)  # again, now that nobody else can change it
        session = _Session(directory, count, command, progress, tell)
        try:
            return session.work(lambda: workforce(executor, jobs=jobs, scheduler=scheduler))
        except KeyboardInterrupt:
            raise BatchInterruptedError(f"Interrupted. {session.told()}") from None
        except OSError as error:
            where = f" ({error.filename})" if error.filename else ""
            raise BatchError(f"Writing failed: {error.strerror or error}{where}. {session.told()}") from error
        except BatchError as error:
            raise BatchError(f"{error} {session.told()}") from error


class _Session:
    """One call of `batch`, from the lock to the manifest."""

    def __init__(
        self,
        directory: BatchDirectory,
        replicates: int,
        command: Sequence[str],
        progress: Callable[[int, int], None],
        tell: Callable[[str], None],
    ) -> None:
        self._directory, self._plan = directory, directory.plan
        self._replicates, self._command = replicates, command
        self._progress, self._tell = progress, tell
        self._started = datetime.now(UTC)
        self._before = read_manifest(directory.path)
        self._index = PartIndex()
        self._workforce: Workforce | None = None
        self._dispatcher: Dispatcher | None = None

    def told(self) -> str:
        """How far the batch has come, and how to go on."""
        return (
            f"{self._n_done()} of {self._n_planned} runs are done and kept in {self._directory.path}; the same "
            "command goes on from there."
        )

    def work(self, hire: Callable[[], Workforce]) -> BatchResult:
        """Make what is not there yet, round by round, then the tables."""
        directory = self._directory
        directory.tidy()
        self._index = PartIndex.of(directory.parts, self._set_aside, events=directory.events)
        try:
            measured = self._rounds(hire)
        except BaseException:
            self._leave()
            raise
        if self._workforce is not None:
            self._workforce.close(False)
        numbers = self._numbers(measured)
        if self._dispatcher is None and self._tables_are_there(numbers):
            self._progress(self._n_planned, self._n_planned)
        else:
            if self._dispatcher is None:
                self._write_manifest(ended=False)  # from here on the tables may be of two kinds
            rows = assemble(
                self._plan, self._replicates, self._index, directory.path, events=directory.events
            )
            self._write_manifest(ended=True, tables=rows, **numbers)
        made = self._dispatcher
        return BatchResult(
            directory.path,
            self._plan,
            self._replicates,
            self._index,
            dict(made.errors) if made else {},
            made.n_made if made else 0,
            measured,
        )

    def _rounds(self, hire: Callable[[], Workforce]) -> Widths | None:
        """Make runs until there are enough: at once, or when the target of precision is met."""
        target = self._plan.scenario.config.sweep.precision
        while True:
            tried = self._dispatcher.errors if self._dispatcher else {}
            finished = self._index.finished()
            runs = [r for r in self._plan.runs(self._replicates) if r.run_id not in finished]
            if missing := [run for run in runs if run.run_id not in tried]:
                self._start(hire).make(missing)
            if not target.metric:
                return None
            measured = self._measured(target)
            following = next_replicates(self._replicates, measured)
            if following == self._replicates:
                return measured
            self._replicates = following
            if self._dispatcher is not None:
                self._write_manifest(ended=False)  # whoever reads an unfinished batch has to know

    def _start(self, hire: Callable[[], Workforce]) -> Dispatcher:
        """The dispatcher; workers are hired, and the directory is signed, once there is something to do."""
        if self._dispatcher is None or self._workforce is None:
            self._workforce = hire()
            self._write_manifest(ended=False)
            there = self._n_done()
            self._dispatcher = Dispatcher(
                self._plan,
                self._directory.environment,
                self._workforce,
                self._directory.parts,
                self._index,
                events=self._directory.events,
                made=lambda made: self._progress(there + made, self._n_planned),
            )
            self._progress(there, self._n_planned)
        return self._dispatcher

    def _leave(self) -> None:
        """Stop at once, but keep what is finished."""
        if self._dispatcher is not None:
            with suppress(OSError, BatchError):
                self._dispatcher.harvest()
        if self._workforce is not None:
            self._workforce.close(True)

    def _measured(self, target: Precision) -> Widths:
        runs = [run for run in self._plan.runs(self._replicates) if run.run_id in self._index]
        sizes = Counter(run.cell for run in runs)
        frame: pd.DataFrame = runs_table(self._plan, runs, self._index).to_pandas()
        return widths(frame, [sizes[cell.number] for cell in self._plan.cells], target)

    @property
    def _n_planned(self) -> int:
        return len(self._plan.cells) * self._replicates

    def _n_done(self) -> int:
        finished = self._index.finished()
        return sum(run.run_id in finished for run in self._plan.runs(self._replicates))

    def _numbers(self, measured: Widths | None) -> dict[str, Any]:
        numbers: dict[str, Any] = {
            "replicates": self._replicates,
            "planned_runs": self._n_planned,
            "done_runs": self._n_done(),
        }
        if measured is not None:
            numbers["precision"] = measured.as_dict()
        return numbers

    def _tables_are_there(self, numbers: Mapping[str, Any]) -> bool:
        about = {"identity": self._plan.identity, "events": self._directory.events, **numbers}
        same = all(self._before.get(key) == value for key, value in about.items())
        rows = self._before.get("tables")
        if not (same and self._before.get("ended") and isinstance(rows, Mapping)):
            return False
        path = self._directory.path
        if wrong := unsound(path, rows):
            self._tell(
                f"{', '.join(wrong)} in {path}: missing or damaged, so the tables are made again from the parts."
            )
        return not wrong and not strangers(path, rows)

    def _write_manifest(self, *, ended: bool, **numbers: Any) -> None:
        self._directory.write_manifest(
            self._before,
            command=self._command,
            started=self._started,
            ended=ended,
            **(numbers or self._numbers(None)),
        )

    def _set_aside(self, part: Path) -> None:
        aside = self._directory.parts.set_aside(part)
        self._tell(
            f"{part} is damaged (cut short or changed): it is set aside as {aside.name}, and its runs are made again."
        )
