"""Progress on stderr: a bar with the time left on a terminal, a plain line now and then elsewhere."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["duration", "progress"]

_SECONDS_BETWEEN_LINES = 10.0
_FEWEST_STEPS, _FEWEST_SECONDS = 8, 5.0


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


class _Pace:
    """How long the rest takes, judged by what came after the first step: that one also paid for the start.

    Nothing is said before `_FEWEST_STEPS` more have come and `_FEWEST_SECONDS` have gone by, for steps come in
    handfuls when several workers are at them.
    """

    def __init__(self, resumes: bool) -> None:
        self._before = None if resumes else 0
        self._first: tuple[int, float] | None = None
        self._last = self._n_seen = 0

    def left(self, done: int, total: int) -> str:
        """Note that so many steps are done now; ", about 3 min left", or nothing as long as that is not known."""
        now = time.monotonic()
        if self._before is None:
            self._before = done
        elif self._first is None:
            if done > self._before:
                self._first = (done, now)
        elif done > self._last:
            self._n_seen += 1
        self._last = done
        if self._first is None or self._n_seen < _FEWEST_STEPS or now - self._first[1] < _FEWEST_SECONDS:
            return ""
        seconds = (now - self._first[1]) / (done - self._first[0]) * (total - done)
        return f", about {duration(seconds)} left"


@contextmanager
def _bar(label: str, total: int, resumes: bool) -> Iterator[Callable[..., None]]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[left]}"),
    )
    pace = _Pace(resumes)
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        tasks = [] if resumes else [bar.add_task(label, total=total, left="")]

        def advance(done: int, whole: int = total) -> None:
            left = pace.left(done, whole).removeprefix(", ")
            if not tasks:
                tasks.append(bar.add_task(label, total=whole, completed=done, left=left))
            bar.update(tasks[0], completed=done, total=whole, left=left)

        yield advance


def _lines(label: str, total: int, resumes: bool) -> Callable[..., None]:
    last = time.monotonic()
    pace = _Pace(resumes)

    def advance(done: int, whole: int = total) -> None:
        nonlocal last
        left = pace.left(done, whole)
        if time.monotonic() - last >= _SECONDS_BETWEEN_LINES:
            last = time.monotonic()
            print(f"{label}: {done} of {whole}{left}", file=sys.stderr)  # noqa: T201

    return advance


def duration(seconds: float) -> str:
    """A length of time in words: 40 s, 12 min, 3.5 h."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
