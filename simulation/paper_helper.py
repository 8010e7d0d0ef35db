"""A second process for the paper's experiments. Light to import, so that it starts before this one loads anything."""

from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from importlib import import_module
from multiprocessing import get_context

__all__ = ["helper"]


@contextmanager
def helper() -> Iterator[Executor]:
    """Start a process that loads what the experiments and figures need, while this one may do the same."""
    pool = ProcessPoolExecutor(1, get_context("spawn"))
    try:
        pool.submit(import_module, f"{__package__}.paper")
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)
