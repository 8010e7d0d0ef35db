"""One batch at a time on one directory.

The lock is the system's own (`flock`), so it goes with the process that holds it, however that ends. The file says
who that is. A lock whose process is gone is taken over; one that another machine has left is not, for over a network
the system's lock need not reach that far.
"""

import contextlib
import fcntl
import json
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from ..scenarios.errors import InputError

__all__ = ["LOCK", "locked"]

LOCK = "batch.lock"


@contextmanager
def locked(directory: Path, tell: Callable[[str], None]) -> Iterator[None]:
    """Hold the directory's lock.

    Parameters
    ----------
    directory
        Which; it exists.
    tell
        Called with a sentence if a dead process's lock is taken over.

    Raises
    ------
    InputError
        Another batch is at work there, or may be.
    OSError
        The lock cannot be written.
    """
    path = directory / LOCK
    file = _opened(path)
    try:
        holder = _holder(file)
        if holder and holder.get("host") != socket.gethostname():
            raise InputError(
                f"--out {directory}: a batch on {_told(holder)} is at work here, or ended without a farewell; if it "
                f"is gone, delete {path} and give the command again"
            )
        if holder:
            tell(f"The batch {_told(holder)} ended without a farewell; its lock is taken over.")
        _sign(file)
        try:
            yield
        finally:
            # first the file, then the lock, so that nobody finds a name behind which nobody stands
            with contextlib.suppress(OSError):
                path.unlink()
    finally:
        file.close()


def _opened(path: Path) -> IO[bytes]:
    """The lock's file, locked."""
    while True:
        file = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644), "r+b")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            told = _told(_holder(file))
            file.close()
            raise InputError(
                f"--out {path.parent}: another batch is at work here ({told}); wait for it, or give another --out"
            ) from None
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(file.fileno()), path.stat()):
                return file
        file.close()  # its last holder has just removed it: begin again with the new one


def _holder(file: IO[bytes]) -> dict[str, Any]:
    file.seek(0)
    try:
        value = json.loads(file.read() or b"{}")
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _sign(file: IO[bytes]) -> None:
    about = {
        "host": socket.gethostname(),
        "pid": os.getpid(),
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    file.seek(0)
    file.truncate()
    file.write(json.dumps(about).encode() + b"\n")
    file.flush()


def _told(holder: dict[str, Any]) -> str:
    return f"host {holder.get('host', '?')}, process {holder.get('pid', '?')}, since {holder.get('started', '?')}"
