"""Hands chunks of runs to workers, puts what comes back on disk, and copes with workers that die."""

import statistics
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Future, wait

from .batch_errors import BatchError, EnvironmentDiffersError, WorkerDiedError
from .batch_plan import BatchPlan, PlannedRun
from .chunks import Chunk, ChunkResult, Environment, failed_chunk, run_chunk
from .executors import Workforce
from .parts import PartIndex, Parts
from .texts import told

__all__ = ["CHUNK_SECONDS", "Dispatcher"]

CHUNK_SECONDS = 10.0
"""What a chunk should take: what a kill can cost, against the price of a file."""

LEAST_SECONDS = 0.5
"""What it should take at least, for a file has its price too."""

_MOST_RUNS = 64
_RECENT = 200
_SHARE = 3  # the last chunks are so small that no worker waits long for another
_TRIES_TOGETHER = 2  # of a chunk whose worker dies
_TRIES_ALONE = 4  # of a run by itself, after that
_FAILED_STARTS = 3  # in a row, of workers that end by themselves
_KILLED_STARTS = 30


class Dispatcher:
    """Makes runs.

    Parameters
    ----------
    plan
        Where their cells are.
    environment
        What workers must be like.
    events
        Whether event logs are kept.
    workforce
        Who makes them.
    parts, index
        Where finished work goes, and what is there.
    made
        Called with the number of runs made so far, failed ones included.
    """

    def __init__(
        self,
        plan: BatchPlan,
        environment: Environment,
        workforce: Workforce,
        parts: Parts,
        index: PartIndex,
        *,
        events: bool,
        made: Callable[[int], None],
    ) -> None:
        self.errors: dict[str, str] = {}
        """Id of each failed run to its error."""
        self.n_made = 0
        self._plan, self._environment, self._events = plan, environment, events
        self._workforce, self._parts, self._index = workforce, parts, index
        self._report = made
        self._seconds: deque[float] = deque(maxlen=_RECENT)
        self._work: dict[Future[ChunkResult], Chunk] = {}
        self._again: deque[Chunk] = deque()
        self._deaths: dict[tuple[PlannedRun, ...], int] = {}
        self._failed_starts = 0

    def make(self, runs: Sequence[PlannedRun]) -> None:
        """Make these runs.

        Raises
        ------
        BatchError
            Workers cannot be started, or are not like this process.
        OSError
            Results cannot be written.
        """
        waiting = deque(self._in_turn(runs))
        # two for each worker, so that none waits for this process
        most = 2 * self._workforce.n_workers
        while waiting or self._again or self._work:
            while (waiting or self._again) and len(self._work) < most:
                self._submit(self._again.popleft() if self._again else self._next_chunk(waiting))
            for future in wait(self._work, return_when=FIRST_COMPLETED).done:
                self._take(future)

    def harvest(self) -> None:
        """Keep what is finished and not yet on disk."""
        for future in [f for f in self._work if f.done() and not f.cancelled() and not f.exception()]:
            self._take(future)

    def _in_turn(self, runs: Sequence[PlannedRun]) -> list[PlannedRun]:
        """Order of work: first some replicates of every cell, so that half a batch shows all of them."""
        return sorted(runs, key=lambda run: (run.replicate // _MOST_RUNS, run.cell, run.replicate))

    def _next_chunk(self, waiting: deque[PlannedRun]) -> Chunk:
        size = 1  # the first ones show how long a run takes
        if self._seconds:
            each = max(statistics.median(self._seconds), 1e-3)
            size = len(waiting) // (_SHARE * self._workforce.n_workers)
            size = min(max(size, int(LEAST_SECONDS / each)), int(CHUNK_SECONDS / each), _MOST_RUNS)
        runs = tuple(waiting.popleft() for _ in range(min(max(size, 1), len(waiting))))
        cells = {run.cell: self._plan.cells[run.cell] for run in runs}
        return Chunk(self._environment, cells, runs, self._events)

    def _submit(self, chunk: Chunk) -> None:
        try:
            future = self._workforce.executor.submit(run_chunk, chunk)
        except RuntimeError as error:  # a broken or closed executor
            raise BatchError(f"The executor takes no more work: {error}") from error
        self._work[future] = chunk

    def _take(self, future: Future[ChunkResult]) -> None:
        chunk = self._work.pop(future)
        try:
            result = future.result()
        except self._workforce.died as error:
            self._mourn(chunk, error)
        except BrokenExecutor as error:
            raise BatchError(f"The executor is broken: {error}") from error
        except CancelledError:
            raise BatchError("The executor has dropped its work: is the scheduler gone?") from None
        except EnvironmentDiffersError as error:
            raise BatchError(str(error)) from None
        except Exception as error:
            # a run that raises is a result; here making or sending the result went wrong
            raise BatchError(f"A worker's results are lost to {told(error)}.") from error
        else:
            self._failed_starts = 0
            self._keep(chunk, result)

    def _keep(self, chunk: Chunk, result: ChunkResult) -> None:
        self._index.add(self._parts.write(result.content))
        self._seconds.extend(result.seconds)
        self.errors |= result.errors
        self.n_made += len(chunk.runs)
        self._report(self.n_made)

    def _mourn(self, chunk: Chunk, error: BaseException) -> None:
        """A worker died over this chunk: try again, then its runs one by one, then give the culprit up."""
        if isinstance(error, WorkerDiedError) and not error.started:
            # a start that fails fails again, but one that was cut short need not be
            self._failed_starts += 1 if error.killed else _KILLED_STARTS // _FAILED_STARTS
            if self._failed_starts >= _KILLED_STARTS:
                raise BatchError(
                    f"Worker processes cannot be started ({error}). A script that calls `batch` has to do so under "
                    '`if __name__ == "__main__":`.'
                )
            self._again.append(chunk)
            return
        deaths = self._deaths[chunk.runs] = self._deaths.get(chunk.runs, 0) + 1
        alone = len(chunk.runs) == 1
        if deaths < (_TRIES_ALONE if alone else _TRIES_TOGETHER):
            self._again.append(chunk)
        elif not alone:
            self._again.extend(chunk.of([run]) for run in chunk.runs)
        else:
            self._keep(chunk, failed_chunk(chunk, f"WorkerDiedError: {error}, each time that it was tried"))
