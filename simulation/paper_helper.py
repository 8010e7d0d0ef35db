"""A second process for the paper's experiments.

Light to import, so that it starts, or has everything loaded once for both, before this one loads anything.
"""

import gc
import os
import signal
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from importlib import import_module
from multiprocessing import connection, get_context
from pathlib import Path
from typing import Any

from .batch_errors import WorkerDiedError
from .workers import local_pool

__all__ = ["helper"]

type _Pipe = connection.Connection[Any, Any]

_NEEDED = (
    f"{__package__}.paper",
    "matplotlib.backends.backend_pdf",
    "matplotlib.backends.backend_svg",
    "matplotlib.style",
)  # by both processes
_NO_THREADS = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "JE_ARROW_MALLOC_CONF": "background_thread:false",
}  # read by libraries when they are loaded; two processes have the cores already
_FAREWELL_SECONDS = 5.0


@contextmanager
def helper() -> Iterator[Executor]:
    """Give a process that has loaded, or is loading, what the experiments and figures need.

    It ends with the block: at once if that is left by an exception, and also if this process is killed.

    On Linux, in a process that has no numpy loaded yet, everything is loaded here and the helper is a copy (a fork),
    as long as that leaves this process with a single thread. That saves the second loading, which costs as much time
    as an experiment. Elsewhere the helper is a fresh process, which loads while this one may do the same.
    """
    if sys.platform == "linux" and "numpy" not in sys.modules:
        for name, value in _NO_THREADS.items():
            os.environ.setdefault(name, value)
        for module in _NEEDED:
            import_module(module)
        gc.freeze()  # what is loaded stays: no collection need look at it, and the copy shares its memory
        if _n_threads() == 1:  # a copy has no other threads, but would have the locks that they held
            with _copy() as copy:
                yield copy
            return
    with local_pool(1) as pool:
        pool.submit(import_module, _NEEDED[0])
        yield pool


def _n_threads() -> int:
    """Threads of this process, those of libraries too; 0 if that cannot be known."""
    try:
        return sum(1 for _ in Path("/proc/self/task").iterdir())
    except OSError:
        return 0


@contextmanager
def _copy() -> Iterator[Executor]:
    copy = _Copy()
    try:
        yield copy
    except BaseException:
        copy.kill()
        raise
    copy.shutdown()


class _Copy(Executor):
    """A forked copy of this process that does one call after the other."""

    def __init__(self) -> None:
        context = get_context("fork")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, self._pipe), daemon=True)
        # signals wait until the copy no longer answers to them as this process does
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
        try:
            self._process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        theirs.close()  # so that the end of the copy is the end of the pipe
        self._relay = ThreadPoolExecutor(1, "deniability helper")

    def submit[**P, T](self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Have `fn(*args, **kwargs)` called in the copy; it and its arguments must be picklable."""
        return self._relay.submit(self._ask, (fn, args, kwargs))

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Take no more calls, and let the copy end when those that were taken are done."""
        self._relay.shutdown(wait, cancel_futures=cancel_futures)
        if wait:
            self._pipe.close()
            self._process.join(_FAREWELL_SECONDS)

    def kill(self) -> None:
        """End at once."""
        self._process.kill()
        self.shutdown(cancel_futures=True)

    def _ask(self, call: tuple[Any, ...]) -> Any:
        try:
            self._pipe.send(call)
            good, value = self._pipe.recv()
        except (EOFError, OSError):
            self._process.join(_FAREWELL_SECONDS)
            how = f"with exit code {self._process.exitcode}"
            raise WorkerDiedError(f"the helper process ended {how}", started=True) from None
        if good:
            return value
        raise value


def _serve(pipe: _Pipe, other_end: _Pipe) -> None:
    """What the copy does: answer calls until the other end of the pipe is gone."""
    other_end.close()  # or this process would keep it open itself
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is for the process that started this one
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        while True:
            fn, args, kwargs = pipe.recv()
            try:
                answer = True, fn(*args, **kwargs)
            except Exception as error:  # noqa: BLE001  # it is raised where the call came from
                answer = False, error
            pipe.send(answer)
    except (EOFError, OSError):
        return  # whoever started this is gone, or has no more work
