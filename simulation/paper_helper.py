"""A second process for the paper's experiments.

Light to import, so that it starts, or has everything loaded once for both, before this one loads anything.
"""

import gc
import os
import sys
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

from .workers import SINGLE_THREADED, local_pool

__all__ = ["helper"]

_NEEDED = (
    f"{__package__}.paper",
    "matplotlib.backends.backend_pdf",
    "matplotlib.backends.backend_svg",
    "matplotlib.style",
)  # by both processes
_NO_THREADS = SINGLE_THREADED | {"JE_ARROW_MALLOC_CONF": "background_thread:false"}


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
        if _n_threads() == 1:
            with local_pool(1, copies=True) as pool:
                yield pool
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
