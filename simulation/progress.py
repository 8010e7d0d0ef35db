"""Progress on stderr: a bar with the time left on a terminal, a plain line now and then elsewhere."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["progress"]

_SECONDS_BETWEEN_LINES = 10.0


@contextmanager
def progress(label: str, total: int, *, quiet: bool = False) -> Iterator[Callable[[int], None]]:
    """Show how far a piece of long work has come.

    Parameters
    ----------
    label
        What is being done.
    total
        Number of steps.
    quiet
        Show nothing.

    Yields
    ------
    advance
        Call it with the number of steps done so far.
    """
    if quiet or total <= 0:
        yield lambda _done: None
    elif sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task(label, total=total)
            yield lambda done: bar.update(task, completed=done)
    else:
        started = last = time.monotonic()

        def advance(done: int) -> None:
            nonlocal last
            now = time.monotonic()
            if now - last >= _SECONDS_BETWEEN_LINES:
                last = now
                left = (now - started) / max(done, 1) * (total - done)
                print(f"{label}: {done} of {total}, about {left:.0f} s left", file=sys.stderr)  # noqa: T201

        yield advance
