"""A second process for the paper's experiments. Light to import, so that it starts before this one loads anything."""

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from importlib import import_module

from .workers import local_pool

__all__ = ["helper"]


@contextmanager
def helper() -> Iterator[Executor]:
    """Start a process that loads what the experiments and figures need, while this one may do the same.

    It ends with the block: at once if that is left by an exception, and also if this process is killed.
    """
    with local_pool(1) as pool:
        pool.submit(import_module, f"{__package__}.paper")
        yield pool
