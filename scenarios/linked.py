"""Files that a scenario names: where they are, whether they can be read, and what is in them.

A relative path means "beside the file that says so" (or the working directory, in a setting); it is made absolute
when that file is read, so that the merged scenario can be used from anywhere. What tells two scenarios apart is
the content of such a file, not its path.
"""

import hashlib
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from .errors import InputError
from .paths import Keys, Place, parse_path, render_path
from .problems import Problem
from .reference import find_parameter
from .schema import ScenarioConfig
from .schema.base import FILE_UNIT
from .wording import printable

__all__ = ["anchored", "file_problems", "linked_files", "read_linked", "with_contents"]


def anchored(tree: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Return the tree with the paths of files made absolute, `folder` being where relative ones start."""
    return _mapped(tree, (), lambda _, path: _absolute(path, folder))


def _absolute(path: str, folder: Path) -> str:
    return path if not path or "\0" in path else str(folder.resolve() / path)


def file_problems(tree: Mapping[str, Any]) -> list[Problem]:
    """Complain about files that are not there or are no files."""
    found: list[Problem] = []

    def look(place: Place, path: str) -> str:
        if reason := _unreadable(path):
            found.append(Problem(place, f'{render_path(place)} = "{printable(path)}": {reason}'))
        return path

    _mapped(tree, (), look)
    return found


def linked_files(config: ScenarioConfig) -> dict[str, str]:
    """SHA-256 of every file that the scenario names, by absolute path.

    Raises
    ------
    InputError
        One cannot be read.
    """
    hashes: dict[str, str] = {}

    def take(_: Place, path: str) -> str:
        hashes[path] = _content_hash(path)
        return path

    _mapped(config.model_dump(mode="json"), (), take)
    return hashes


def with_contents(sections: Mapping[str, Any]) -> dict[str, Any]:
    """Return the sections with the hash of its content in place of each file's path."""
    plain = {key: value for key, value in sections.items() if key != "labs"}
    hashed = _mapped(plain, (), lambda _, path: _content_hash(path))
    if "labs" in sections:
        hashed["labs"] = [
            _mapped(lab, ("labs", "lab"), lambda _, path: _content_hash(path)) for lab in sections["labs"]
        ]
    return hashed


def read_linked(path: str) -> bytes:
    """Read a file that a scenario names.

    Raises
    ------
    InputError
        It cannot be read.
    """
    if reason := _unreadable(path):
        raise InputError(f"{printable(path)}: {reason}")
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"{printable(path)}: cannot be read: {error.strerror or error}") from None


def _unreadable(path: str) -> str:
    if "\0" in path:
        return "a path cannot contain a null byte"
    place = Path(path)
    try:
        if place.is_dir():
            return "a directory; name a file in it"
        with place.open("rb"):
            return ""
    except FileNotFoundError:
        return f"no such file; in {printable(str(place.parent))} there are {_neighbours(place)}"
    except PermissionError:
        return "no permission to read it"
    except OSError as error:
        return f"cannot be read: {error.strerror or error}"


def _neighbours(place: Path) -> str:
    try:
        names = sorted(path.name for path in place.parent.iterdir() if path.suffix in (".csv", ".graphml"))
    except OSError:
        return "no files, for there is no such folder"
    told = ", ".join(map(printable, names[:5])) + (", …" if len(names) > 5 else "")
    return told or "neither .csv nor .graphml files"


def _content_hash(path: str) -> str:
    """SHA-256 of the content; kept as long as the file's size and time of change stay the same."""
    try:
        state = Path(path).stat()
    except (OSError, ValueError):
        return hashlib.sha256(read_linked(path)).hexdigest()  # or says why it cannot be read
    return _hash_of(path, state.st_size, state.st_mtime_ns, state.st_ino)


@lru_cache(maxsize=256)
def _hash_of(path: str, _size: int, _changed: int, _node: int) -> str:
    return hashlib.sha256(read_linked(path)).hexdigest()


def _mapped(table: Mapping[str, Any], at: Keys, change: Callable[[Place, str], str]) -> dict[str, Any]:
    """Copy a tree with `change(place, path)` in place of each file's path, those in a sweep too."""
    result: dict[str, Any] = {}
    for key, value in table.items():
        keys = (*at, key)
        if isinstance(value, Mapping):
            result[key] = _mapped(value, keys, change)
        elif isinstance(value, str) and value and _names_a_file(keys):
            result[key] = change(keys, value)
        elif (
            isinstance(value, list)
            and at in (("sweep", "grid"), ("sweep", "zip"))
            and _names_a_file(_path(key))
        ):
            result[key] = [
                change((*keys, index), item) if isinstance(item, str) and item else item
                for index, item in enumerate(value)
            ]
        else:
            result[key] = value
    return result


def _path(text: str) -> Keys:
    try:
        return parse_path(text)
    except ValueError:
        return ()


def _names_a_file(keys: Keys) -> bool:
    row = find_parameter(keys)
    return row is not None and row.unit == FILE_UNIT
