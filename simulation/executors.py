"""Where the runs of a batch are made: here, on a Dask cluster, or by any `concurrent.futures.Executor`."""

from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from typing import Any

from ..scenarios import InputError
from .batch_errors import WorkerDiedError
from .workers import LocalPool, available_cores

__all__ = ["EXECUTORS", "SerialExecutor", "Workforce", "workforce"]

EXECUTORS = ("local", "dask")

_CONNECT_SECONDS = 10


class SerialExecutor(Executor):
    """Makes each call at once, in this process: for a debugger, and where processes cannot be started."""

    def submit[**P, T](self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Call `fn(*args, **kwargs)`, then give back the finished future."""
        future: Future[T] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:  # noqa: BLE001  # it belongs to whoever asks the future
            future.set_exception(error)
        return future


@dataclass(frozen=True)
class Workforce:
    """An executor, and what has to be known of it.

    Attributes
    ----------
    executor
        Takes the chunks.
    n_workers
        How many chunks it works on at once.
    died
        What its futures raise if a worker was lost with the chunk it was at.
    close
        Let it end; with True at once, whatever it is at.
    """

    executor: Executor
    n_workers: int
    died: tuple[type[BaseException], ...]
    close: Callable[[bool], None]


def workforce(
    executor: str | Executor = "local", *, jobs: int | None = None, scheduler: str | None = None
) -> Workforce:
    """Open an executor.

    Parameters
    ----------
    executor
        "local", "dask", or an executor, which is used and left open.
    jobs
        Worker processes of "local" [all cores], or calls that a given executor works on at once.
    scheduler
        Address of the Dask scheduler.

    Raises
    ------
    InputError
        Dask is not installed, no scheduler answers, or it has no workers.
    """
    if isinstance(executor, Executor):
        n_workers = 1 if isinstance(executor, SerialExecutor) else jobs or available_cores()
        return Workforce(executor, n_workers, (WorkerDiedError,), lambda _now: None)
    if executor not in EXECUTORS:
        raise InputError(f"--executor {executor}: must be one of {', '.join(EXECUTORS)}")
    if executor == "dask":
        return _dask(scheduler, jobs)
    if scheduler is not None:
        raise InputError("--scheduler: belongs to --executor dask")
    pool = LocalPool(jobs or available_cores(), imports="deniability.simulation.chunks")
    return Workforce(
        pool,
        pool.n_workers,
        (WorkerDiedError,),
        lambda now: pool.kill() if now else pool.shutdown(),
    )


def _dask(scheduler: str | None, jobs: int | None) -> Workforce:
    if jobs is not None:
        raise InputError("--jobs: belongs to --executor local; a Dask cluster has as many workers as it has")
    if scheduler is None:
        raise InputError("--executor dask: needs --scheduler ADDRESS, for example tcp://127.0.0.1:8786")
    try:
        from distributed import Client, KilledWorker
    except ImportError:
        raise InputError(
            "--executor dask: needs the extra `dask`; install it with: pip install 'deniability[dask]'"
        ) from None
    try:
        client: Any = Client(scheduler, timeout=_CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        raise InputError(f"--scheduler {scheduler}: no Dask scheduler answers ({error})") from None
    threads = sum(client.nthreads().values())
    if threads == 0:
        client.close()
        raise InputError(f"--scheduler {scheduler}: the cluster has no workers")
    executor = client.get_executor(pure=False)

    def close(now: bool) -> None:
        executor.shutdown(wait=not now)
        client.close()

    return Workforce(executor, threads, (KilledWorker,), close)
