"""The final tables of a batch as they lie on disk: whether they are those that were written.

Footers are read and nothing else, so that a finished batch is known to be whole without being read.
"""

from collections.abc import Container, Mapping
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

__all__ = ["EVENT_TABLES", "remove_strangers", "strangers", "unsound"]

EVENT_TABLES = (
    "access",
    "audits",
    "candidates",
    "compartments",
    "departures",
    "incidents",
    "inferences",
    "notices",
    "people",
    "reports",
    "retaliations",
)
"""Tables of an event log. Whatever else lies in `events/` is somebody else's."""


def unsound(directory: Path, rows: Mapping[str, int]) -> list[str]:
    """Tables that are missing, cannot be opened, or have another number of rows than they must have.

    Parameters
    ----------
    directory
        Where they are.
    rows
        File of each table, relative to the directory, to its number of rows.
    """
    return [file for file, n_rows in rows.items() if _n_rows(directory / file) != n_rows]


def strangers(directory: Path, files: Container[str]) -> list[Path]:
    """Event tables in the directory that are not among these files: an earlier batch has left them."""
    named = [f"events/{name}.parquet" for name in EVENT_TABLES]
    return [directory / file for file in named if file not in files and (directory / file).is_file()]


def remove_strangers(directory: Path, files: Container[str]) -> None:
    """Remove them, and the folder of events if it is empty then.

    Raises
    ------
    OSError
        One cannot be removed.
    """
    found = strangers(directory, files)
    for file in found:
        file.unlink()
    if found:
        with suppress(OSError):  # something else is in it
            (directory / "events").rmdir()


def _n_rows(file: Path) -> int | None:
    """Number of rows that a table's footer tells; None if it tells none."""
    try:
        return int(pq.read_metadata(file).num_rows)
    except (OSError, pa.ArrowException):
        return None
