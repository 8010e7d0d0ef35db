"""Worker processes on this machine, as a `concurrent.futures.Executor` that outlives its workers.

A `ProcessPoolExecutor` is broken for good once one of its processes is killed. Here each worker is served by a thread
of its own: if it dies, the call it was at fails with `WorkerDiedError`, and the next call gets a new process.

This module imports nothing heavy, because a worker sets its environment before numpy is imported.
"""

import gc
import importlib
import os
import pickle
import queue
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from multiprocessing import connection, get_context, parent_process, resource_tracker
from typing import Any, Literal, cast

from .batch_errors import WorkerDiedError

__all__ = ["SINGLE_THREADED", "LocalPool", "available_cores", "local_pool"]

SINGLE_THREADED = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
"""Environment of a worker, read by libraries when they are loaded: workers share the cores already."""
_FAREWELL_SECONDS = 5.0

type _Task = tuple[Future[Any], bytes]
type _Pipe = connection.Connection[bytes, bytes]


def available_cores() -> int:
    """Number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class LocalPool(Executor):
    """Worker processes, started (spawned, not forked) when there is work for them.

    Parameters
    ----------
    n_workers
        How many.
    imports
        Name of a module that every worker imports before it takes work.
    copies
        The first workers, as many, are copies of this process as it is now (forks), which have nothing to load. It
        must not have any other thread, whose locks a copy would have and nobody to release them.
    """

    def __init__(self, n_workers: int, imports: str = "", *, copies: bool = False) -> None:
        self.n_workers = n_workers
        self._imports = imports
        self._tasks: queue.SimpleQueue[_Task | None] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._copies = [_Worker(imports, "fork") for _ in range(n_workers if copies else 0)]
        self._workers: set[_Worker] = set(self._copies)
        self._lock = threading.Lock()
        self._closed = False

    def submit[**P, T](self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Have `fn(*args, **kwargs)` called in a worker; it and its arguments must be picklable."""
        call = pickle.dumps((fn, args, kwargs))
        future: Future[T] = Future()
        with self._lock:
            if self._closed:
                raise RuntimeError("the pool is closed")
            self._tasks.put((future, call))
            if len(self._threads) < self.n_workers:
                thread = threading.Thread(target=self._serve, name="deniability worker", daemon=True)
                self._threads.append(thread)
                thread.start()
        return future

    def pids(self) -> list[int]:
        """Process ids of the workers that are alive."""
        with self._lock:
            return [worker.pid for worker in self._workers]

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Take no more calls; workers end when those that were taken are done (or cancelled, where not yet begun)."""
        with self._lock:
            if not self._closed:
                self._closed = True
                if cancel_futures:
                    self._cancel_waiting()
                for _ in self._threads:
                    self._tasks.put(None)
                while self._copies:  # that never had anything to do
                    worker = self._copies.pop()
                    worker.stop()
                    self._workers.discard(worker)
        if wait:
            for thread in self._threads:
                thread.join()

    def kill(self) -> None:
        """End at once: calls that wait are cancelled, those at work fail with `WorkerDiedError`."""
        self.shutdown(wait=False, cancel_futures=True)
        with self._lock:
            for worker in self._workers:
                worker.kill()
        for thread in self._threads:
            thread.join(_FAREWELL_SECONDS)

    def _cancel_waiting(self) -> None:
        while True:
            try:
                task = self._tasks.get_nowait()
            except queue.Empty:
                return
            if task is not None:
                task[0].cancel()

    def _serve(self) -> None:
        """Serve one worker, and its successors."""
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # it is for the main thread
        worker: _Worker | None = None
        while (task := self._tasks.get()) is not None:
            future, call = task
            if not future.set_running_or_notify_cancel():
                continue
            try:
                if worker is None:
                    worker = self._started()
                result = worker.call(call)
            except BaseException as error:  # noqa: BLE001  # it belongs to whoever waits for the future
                if isinstance(error, WorkerDiedError) and worker is not None:
                    self._gone(worker)
                    worker = None
                future.set_exception(error)
            else:
                future.set_result(result)
            del future, task, call
        if worker is not None:
            worker.stop()
            self._gone(worker)

    def _started(self) -> "_Worker":
        with self._lock:
            if self._closed:
                raise WorkerDiedError("the pool is closed", started=False)
            worker = self._copies.pop() if self._copies else _Worker(self._imports, "spawn")
            self._workers.add(worker)
        try:
            worker.greet()
        except WorkerDiedError:
            self._gone(worker)
            raise
        return worker

    def _gone(self, worker: "_Worker") -> None:
        with self._lock:
            self._workers.discard(worker)
        worker.kill()


@contextmanager
def local_pool(n_workers: int, *, copies: bool = False) -> Iterator[LocalPool]:
    """Worker processes (`LocalPool`) for a block; they end with it, and at once if it is left by an exception."""
    pool = LocalPool(n_workers, copies=copies)
    try:
        yield pool
    except BaseException:
        pool.kill()
        raise
    pool.shutdown()


class _Worker:
    """A process and the pipe to it."""

    def __init__(self, imports: str, method: Literal["spawn", "fork"]) -> None:
        context: Any = get_context(method)
        self._pipe, theirs = context.Pipe()
        others = (self._pipe,) if method == "fork" else ()
        self._process = context.Process(
            target=_work, args=(theirs, others, imports, list(sys.path)), daemon=True
        )
        # A process inherits the mask of the thread that starts it: an interrupt from the keyboard is for the process
        # that plans, which then tells its workers; a copy must not answer to SIGTERM as this process does. The
        # tracker goes first, for starting it lifts the mask.
        if method == "spawn":
            resource_tracker.ensure_running()
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
        try:
            self._process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        theirs.close()  # so that the end of the process is the end of the pipe

    @property
    def pid(self) -> int:
        return cast("int", self._process.pid)

    def greet(self) -> None:
        """Wait until it is ready to take work."""
        self._answer(started=False)

    def call(self, call: bytes) -> Any:
        """Send a call and wait for its result, or raise what it raised."""
        try:
            self._pipe.send_bytes(call)
        except OSError:
            raise self._death(started=True) from None
        return self._answer(started=True)

    def stop(self) -> None:
        """Let it end by itself."""
        self._pipe.close()
        self._process.join(_FAREWELL_SECONDS)

    def kill(self) -> None:
        """End it."""
        self._process.kill()

    def _answer(self, *, started: bool) -> Any:
        connection.wait([self._pipe, self._process.sentinel])
        try:
            # an answer may have come before the process went
            if not self._pipe.poll():
                raise EOFError
            answer = self._pipe.recv_bytes()
        except (EOFError, OSError):
            raise self._death(started=started) from None
        good, value = pickle.loads(answer)
        if good:
            return value
        raise value

    def _death(self, *, started: bool) -> WorkerDiedError:
        self._process.join(_FAREWELL_SECONDS)
        code = self._process.exitcode
        killed = code is not None and code < 0
        how = f"by signal {-(code or 0)}" if killed else f"with exit code {code}"
        return WorkerDiedError(f"a worker process ended {how}", started=started, killed=killed)


def _work(pipe: "_Pipe", others: "tuple[_Pipe, ...]", imports: str, path: list[str]) -> None:
    """What a worker process does: answer calls until the other end of the pipe (`others`, if it has that) is gone."""
    for other in others:
        other.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, signal.SIGTERM})
    threading.Thread(target=_end_with_parent, name="deniability lifeline", daemon=True).start()
    for name, value in SINGLE_THREADED.items():
        os.environ.setdefault(name, value)
    sys.path[:] = path
    if imports:
        importlib.import_module(imports)
    gc.freeze()  # what is loaded stays: looking through it for garbage would cost a twentieth of the work
    try:
        pipe.send_bytes(pickle.dumps((True, None)))
        while True:
            pipe.send_bytes(_answer_to(pipe.recv_bytes()))
    except (EOFError, OSError):
        return  # whoever planned is gone, or has no more work


def _end_with_parent() -> None:
    """Wait until the process that planned is gone, killed perhaps, and let this one not work on for nobody."""
    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)


def _answer_to(call: bytes) -> bytes:
    try:
        fn, args, kwargs = pickle.loads(call)
        return pickle.dumps((True, fn(*args, **kwargs)))
    except Exception as error:  # noqa: BLE001  # it is raised where the call came from
        try:
            answer = pickle.dumps((False, error))
            pickle.loads(answer)  # an exception that cannot be made again would break the other end
        except Exception:  # noqa: BLE001  # whatever a class of somebody's own does when it is pickled
            answer = pickle.dumps((False, RuntimeError(f"{type(error).__name__}: {error}")))
        return answer
