"""Results on disk (docs/results.md): written aside first, then moved into place, so nothing is half-written."""

import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd

from ..scenarios.errors import InputError

__all__ = ["MANIFEST", "check_directory", "staged", "write_json", "write_table"]

MANIFEST = "manifest.json"


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
        If it is refused, or is no directory.
    """
    if not directory.exists():
        return
    if not directory.is_dir():
        raise InputError(f"--out {directory}: this is a file, not a directory")
    if force or not any(directory.iterdir()):
        return
    advice = (
        "give another --out, or --force to write into it all the same (files of the same names are replaced)"
    )
    try:
        manifest = json.loads((directory / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise InputError(
            f"--out {directory}: the directory is not empty and holds no results of ours; {advice}"
        ) from None
    if not isinstance(manifest, dict) or (manifest.get("kind"), manifest.get("identity")) != (kind, identity):
        raise InputError(f"--out {directory}: the directory holds results of something else; {advice}")


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


def write_table(table: pd.DataFrame, path: Path) -> None:
    """Write a table as Parquet; the same table gives the same bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    table.to_parquet(path, index=False, compression="zstd")


def write_json(value: Any, path: Path) -> None:
    """Write indented JSON with keys in the order of `value`; NaN is refused."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # unsorted: the order of labs is that of the targets, so it is part of the scenario
    text = json.dumps(value, indent=2, allow_nan=False, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8")
