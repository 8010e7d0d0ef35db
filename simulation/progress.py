"""Progress on stderr: a bar with the time left on a terminal, a plain line now and then elsewhere."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["duration", "progress"]

_SECONDS_BETWEEN_LINES = 10.0


@contextmanager
def progress(
    label: str, total: int, *, quiet: bool = False, resumes: bool = False
) -> Iterator[Callable[..., None]]:
    """Show how far a piece of long work has come.

    Parameters
    ----------
    label
        What is being done.
    total
        Number of steps.
    quiet
        Show nothing.
    resumes
        The first call of `advance` tells what was done before, which says nothing about the time that is left.

    Yields
    ------
    advance
        Call it with the number of steps done so far, and with the total if that has changed.
    """
    if quiet or total <= 0:
        yield lambda _done, _total=total: None
    elif sys.stderr.isatty():
        with _bar(label, total, resumes) as advance:
            yield advance
    else:
        yield _lines(label, total, resumes)


@contextmanager
def _bar(label: str, total: int, resumes: bool) -> Iterator[Callable[..., None]]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        tasks = [] if resumes else [bar.add_task(label, total=total)]

        def advance(done: int, whole: int = total) -> None:
            if not tasks:
                tasks.append(bar.add_task(label, total=whole, completed=done))
            bar.update(tasks[0], completed=done, total=whole)

        yield advance


def _lines(label: str, total: int, resumes: bool) -> Callable[..., None]:
    started = last = time.monotonic()
    before = None if resumes else 0

    def advance(done: int, whole: int = total) -> None:
        nonlocal last, before
        now = time.monotonic()
        if before is None:
            before = done
        elif now - last >= _SECONDS_BETWEEN_LINES:
            last = now
            seconds = (now - started) / max(done - before, 1) * (whole - done)
            print(f"{label}: {done} of {whole}, about {duration(seconds)} left", file=sys.stderr)  # noqa: T201

    return advance


def duration(seconds: float) -> str:
    """A length of time in words: 40 s, 12 min, 3.5 h."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
