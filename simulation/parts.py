"""Finished work on disk: one part file a chunk, written aside, synced and renamed.

A part is called after its number and the hash of its content, so a file that was cut short or damaged is told from a
whole one whatever happened to it. Damaged ones are set aside, and their runs are made again.
"""

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import pyarrow.parquet as pq

from .run_records import DONE

__all__ = ["PartIndex", "Parts", "Place", "synced_write"]

_NAME = re.compile(r"(\d{6,})-([0-9a-f]{16})\.parquet")
_ASIDE = ".writing-"
CORRUPT = ".corrupt"


class Place(NamedTuple):
    """Where a run is stored."""

    part: Path
    row: int
    status: str


@dataclass(frozen=True)
class Parts:
    """The folder `parts/` of a batch."""

    folder: Path

    def write(self, content: bytes) -> Path:
        """Put a part file on disk: afterwards it is there, whole, whatever happens.

        Raises
        ------
        OSError
            It cannot be written; nothing is left of it then.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / f"{self._next_number():06d}-{_digest(content)}.parquet"
        aside = self.folder / f"{_ASIDE}{path.name}"
        try:
            synced_write(aside, content)
            aside.replace(path)
        except OSError:
            aside.unlink(missing_ok=True)
            raise
        sync_directory(self.folder)
        return path

    def _next_number(self) -> int:
        # damaged files keep their numbers, so that a later part is always a later one
        return max((int(m[1]) for f in self.folder.iterdir() if (m := _NAME.match(f.name))), default=0) + 1

    def whole(self, damaged: Callable[[Path], None]) -> Iterator[Path]:
        """Yield the part files that are whole, oldest first; `damaged` is called with each of the others."""
        if not self.folder.is_dir():
            return
        for path in sorted(self.folder.glob("*.parquet"), key=lambda path: (len(path.name), path.name)):
            if path.name.startswith("."):
                continue
            match = _NAME.fullmatch(path.name)
            if match and _digest(path.read_bytes()) == match[2]:
                yield path
            else:
                damaged(path)

    def set_aside(self, path: Path) -> Path:
        """Rename a damaged part, so that it is never read again."""
        aside = path.with_name(path.name + CORRUPT)
        path.replace(aside)
        return aside

    def tidy(self) -> None:
        """Remove what a killed batch was writing."""
        for left in self.folder.glob(f"{_ASIDE}*"):
            left.unlink()


class PartIndex(dict[str, Place]):
    """Run id to the place of its best record: done before failed, later before earlier."""

    def add(self, part: Path) -> None:
        """Take in the runs of a part."""
        with pq.ParquetFile(part) as file:
            table = file.read(["run_id", "status"])
        pairs = zip(table["run_id"].to_pylist(), table["status"].to_pylist(), strict=True)
        for row, (run_id, status) in enumerate(pairs):
            known = self.get(run_id)
            if known is None or known.status != DONE or status == DONE:
                self[run_id] = Place(part, row, status)

    @classmethod
    def of(cls, parts: Parts, damaged: Callable[[Path], None], *, events: bool = False) -> "PartIndex":
        """Index every part that is whole.

        Parameters
        ----------
        parts
            Where they are.
        damaged
            Called with each file that is not.
        events
            Leave out parts that have no event logs.
        """
        index = cls()
        for path in parts.whole(damaged):
            about = pq.read_schema(path).metadata or {}
            if not events or about.get(b"events") == b"yes":
                index.add(path)
        return index

    def finished(self) -> set[str]:
        """Ids of the runs that came to their end."""
        return {run_id for run_id, place in self.items() if place.status == DONE}


def _digest(content: bytes) -> str:
    return sha256(content).hexdigest()[:16]


def synced_write(path: Path, content: bytes) -> None:
    """Write a file and wait until it is on the disk."""
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def sync_directory(folder: Path) -> None:
    """Wait until a directory's entries are on the disk, where the system can."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    except OSError:
        pass  # some file systems sync entries by themselves, and say so by refusing
    finally:
        os.close(handle)
