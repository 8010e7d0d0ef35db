"""Words for messages: values as TOML writes them, and the key or name that was likely meant."""

import datetime
import difflib
import json
import shlex
from collections.abc import Iterable, Mapping
from typing import Any

from .paths import Keys, render_path
from .reference import all_paths, is_table, table_keys

__all__ = ["did_you_mean", "is_utf_8", "likely_names", "likely_paths", "printable", "shell_word", "written"]

_LONGEST = 60


def printable(text: str) -> str:
    """Escape what a terminal or a UTF-8 stream cannot take: control characters and stray surrogates."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def is_utf_8(text: str) -> bool:
    """Whether UTF-8 can encode the text: bytes of a command line that are no text cannot be."""
    return not any("\ud800" <= character <= "\udfff" for character in text)


def shell_word(path: str) -> str:
    """Write a path as a word of a command that somebody may copy: quoted where a shell would take it apart.

    Examples
    --------
    >>> shell_word("my study.toml")
    "'my study.toml'"
    """
    return printable(shlex.quote(f"./{path}" if path.startswith("-") else path))


def written(value: Any) -> str:
    """Write a value as a TOML file would, shortened to a line."""
    text = _written(value, 3)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _written(value: Any, depth: int) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return printable(json.dumps(value[: 2 * _LONGEST], ensure_ascii=False))
    if isinstance(value, int):
        # str() refuses very long numbers
        return str(value) if abs(value) < 10**40 else "a number of more than 40 digits"
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, Mapping):
        if not depth:
            return "{…}"
        pairs = (
            f"{render_path((str(key),))} = {_written(item, depth - 1)}"
            for key, item in list(value.items())[:4]
        )
        return "{" + ", ".join([*pairs, "…"][: len(value) if len(value) < 5 else 5]) + "}"
    if isinstance(value, list | tuple):
        if not depth:
            return "[…]"
        return (
            "["
            + ", ".join(_written(item, depth - 1) for item in value[:20])
            + ("…]" if len(value) > 20 else "]")
        )
    return printable(repr(value))


def likely_names(word: str, names: Iterable[str], most: int = 2) -> list[str]:
    """Return the names that `word` was likely meant for, best first."""
    spelled = {_plain(name): name for name in names}
    found = difflib.get_close_matches(_plain(word[:200]), list(spelled), n=most, cutoff=0.6)
    return [spelled[name] for name in found]


def likely_paths(keys: Keys, lab_ids: Iterable[str]) -> list[str]:
    """Return the dotted paths that the unknown `keys` were likely meant for, best first."""
    parent, last = keys[:-1], keys[-1]
    siblings = list(lab_ids) if parent == ("labs",) else table_keys(parent)
    known = list(all_paths(list(lab_ids)))
    # rightly spelled, but in the wrong table
    same = [path for path in known if path[-1] == last and (path[0] != "labs" or path[:2] == keys[:2])]
    if same:
        return [render_path(path) for path in sorted(same, key=lambda path: path[:1] != keys[:1])[:2]]
    if near := likely_names(last, siblings, 1):
        return [render_path((*parent, near[0]))]
    if parent and is_table(parent):
        return likely_names(render_path(keys), (render_path(path) for path in known), 1)
    return (
        likely_names(render_path(keys), (render_path(path) for path in known), 1)
        or [
            render_path(path)
            for name in likely_names(last, {path[-1] for path in known}, 1)
            for path in known
            if path[-1] == name and path[0] != "labs"
        ][:2]
    )


def did_you_mean(found: Iterable[str], quote: str = "") -> str:
    """Return the question that ends a message, or nothing."""
    words = [f"{quote}{word}{quote}" for word in found]
    return f"; did you mean {' or '.join(words)}?" if words else ""


def _plain(name: str) -> str:
    return name.lower().replace("_", "-")
