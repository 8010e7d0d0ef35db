"""Results on disk (docs/results.md): written aside first, then moved into place, so nothing is half-written."""

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from ..scenarios.errors import InputError

__all__ = [
    "MANIFEST",
    "check_directory",
    "check_place",
    "check_report_place",
    "staged",
    "try_place",
    "write_json",
    "write_table",
]

MANIFEST = "manifest.json"

_ADVICE = (
    "give another --out, or --force to write into it all the same (files of the same names are replaced)"
)


def check_place(directory: Path) -> None:
    """Refuse a place where no directory can be written, before any work is done for it.

    Raises
    ------
    InputError
        It, or what lies above it, is a file or may not be written.
    """
    try:
        there = next(place for place in (directory, *directory.parents) if os.path.lexists(place))
    except StopIteration:
        return  # not even the working directory is there; writing will say so
    if not there.is_dir():
        what = "this" if there == directory else str(there)
        raise InputError(f"--out {directory}: {what} is a file, not a directory")
    if not os.access(there, os.W_OK | os.X_OK):
        raise InputError(f"--out {directory}: no permission to write into {there}")
    try:
        directory.exists()
    except OSError as error:  # a name that is too long, say
        raise InputError(f"--out {directory}: cannot write there ({error.strerror})") from error


def try_place(directory: Path) -> None:
    """Refuse a place where no directory can be made, after trying: nothing is left of the trial.

    Raises
    ------
    InputError
        The system refuses it, although `check_place` sees no reason why.
    """
    place = Path(os.path.realpath(directory))
    there = next(above for above in (place, *place.parents) if os.path.lexists(above))
    try:
        # beside the place, not at it: somebody else may be making it in earnest
        with tempfile.TemporaryDirectory(prefix=".trial-", dir=there) as trial:
            (Path(trial) / place.relative_to(there)).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"--out {directory}: cannot write there ({error.strerror or error})") from error


def check_directory(directory: Path, *, kind: str, identity: str, force: bool) -> None:
    """Refuse a directory that holds something else than an earlier result of the same kind and identity.

    Parameters
    ----------
    directory
        Where results are to go; it may not exist yet.
    kind, identity
        What the results are ("run", "batch", …) and which (the manifest's `kind` and `identity`).
    force
        Take the directory whatever it holds; files of the same names are replaced, others stay.

    Raises
    ------
    InputError
        If it is refused, or is no place for a directory.
    """
    check_place(directory)
    if not directory.exists():
        return
    if force or not any(directory.iterdir()):
        return
    try:
        manifest = json.loads((directory / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise InputError(
            f"--out {directory}: the directory is not empty and holds no results of ours; {_ADVICE}"
        ) from None
    if not isinstance(manifest, dict) or (manifest.get("kind"), manifest.get("identity")) != (kind, identity):
        raise InputError(f"--out {directory}: the directory holds results of something else; {_ADVICE}")


def check_report_place(directory: Path, *, source: Path, ours: Callable[[Path], bool], force: bool) -> None:
    """Refuse a directory for a report that holds neither the results it is made of nor only an earlier report.

    Parameters
    ----------
    directory
        Where the report is to go; it may not exist yet.
    source
        The results that the report is made of: it may always go there.
    ours
        Whether a directory holds a report that was written by us.
    force
        As in `check_directory`.

    Raises
    ------
    InputError
        If it is refused, or is no place for a directory.
    """
    check_place(directory)
    if not directory.exists() or (source.exists() and directory.samefile(source)):
        return
    if force or not any(directory.iterdir()):
        return
    if (directory / MANIFEST).exists():  # a report of its own may lie there too, which is not to be lost
        raise InputError(f"--out {directory}: the directory holds results of something else; {_ADVICE}")
    if not ours(directory):
        raise InputError(
            f"--out {directory}: the directory is not empty and holds no report of ours; {_ADVICE}"
        )


@contextmanager
def staged(directory: Path) -> Iterator[Path]:
    """Yield an empty directory beside `directory`; at the end its files are moved in, the manifest last.

    Raises
    ------
    InputError
        If the directory cannot be written; nothing is left behind then.
    """
    try:
        directory.parent.mkdir(parents=True, exist_ok=True)
        staging = Path(tempfile.mkdtemp(prefix=f".{directory.name}-", dir=directory.parent))
    except OSError as error:
        raise InputError(f"--out {directory}: cannot write there ({error.strerror})") from error
    try:
        yield staging
        _move(staging, directory)
    except OSError as error:
        raise InputError(f"--out {directory}: writing failed ({error.strerror})") from error
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _move(staging: Path, directory: Path) -> None:
    files = sorted(
        (f for f in staging.rglob("*") if f.is_file()), key=lambda f: (f.name == MANIFEST, f.as_posix())
    )
    for file in files:
        place = directory / file.relative_to(staging)
        place.parent.mkdir(parents=True, exist_ok=True)
        file.replace(place)


def write_table(table: pd.DataFrame | pa.Table, path: Path) -> None:
    """Write a table as Parquet; the same table gives the same bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(table, pd.DataFrame):
        table.to_parquet(path, index=False, compression="zstd")
    else:
        pq.write_table(table, path, compression="zstd")


def write_json(value: Any, path: Path) -> None:
    """Write indented JSON with keys in the order of `value`; NaN is refused."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # unsorted: the order of labs is that of the targets, so it is part of the scenario
    text = json.dumps(value, indent=2, allow_nan=False, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8")
