"""The `deniability` command: collects the verbs, and turns errors into messages and exit codes.

Exit codes: 0 done, 1 failed, 2 bad input or usage.
"""

import errno
import importlib
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

import typer

from ..scenarios.errors import InputError
from .batch_errors import WorkerDiedError

__all__ = ["application", "main"]

_INTERRUPTED = 128 + signal.SIGINT

VERBS = (
    "leakage",
    "plan",
    "run",
    "batch",
    "paper",
    "twin",
    "validation",
    "report",
    "sensitivity",
    "scenario_files",
)  # modules of `commands`, in the order in which --help lists their verbs


def application() -> typer.Typer:
    """Build the application with all its verbs."""
    app = typer.Typer(
        name="deniability",
        help="Simulate audits of frontier-AI labs on whistleblowers' reports: who gets found out, who gets "
        "punished, and who stays silent.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )

    @app.callback()
    def options() -> None:
        """Verbs take a shipped scenario's name (`deniability list`) or the path of a TOML file."""

    for verb in VERBS:
        importlib.import_module(f".commands.{verb}", __package__).register(app)
    return app


def main() -> None:
    """Run the command line and exit."""
    for stream in ("stdout", "stderr"):
        if getattr(sys, stream) is None:  # closed by whoever started this; the work is still to be done
            setattr(sys, stream, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115
    try:
        try:
            with _terminated_as_interrupted():
                _run(application())
        finally:
            sys.stdout.flush()  # here, where it can be told that this fails
    except InputError as error:
        for message in error.messages:
            print(message, file=sys.stderr)  # noqa: T201
        sys.exit(2)
    except WorkerDiedError as error:
        print(f"{error}; nothing was written", file=sys.stderr)  # noqa: T201
        sys.exit(1)
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)  # noqa: T201
        sys.exit(1)
    except BrokenPipeError:
        _drop_output()  # the reader (`| head`) has gone: nothing left to say
        sys.exit(1)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        _drop_output()
        where = f"{error.filename}: " if error.filename else ""
        print(f"Writing failed: {where}{error.strerror}", file=sys.stderr)  # noqa: T201
        sys.exit(1)


def _run(app: typer.Typer) -> None:
    try:
        app(standalone_mode=True)
    except SystemExit as end:
        if end.code == _INTERRUPTED:  # what typer makes of Ctrl-C, without a word
            raise KeyboardInterrupt from None
        raise


def _drop_output() -> None:
    """Let what is still to be written to stdout go nowhere, so that the interpreter's end does not fail on it."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def _terminated_as_interrupted() -> Iterator[None]:
    """Let a polite end (SIGTERM) do what Ctrl-C does: stop helpers, keep what is finished, leave no loose ends."""

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():  # only the main thread may listen
        yield
        return
    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
