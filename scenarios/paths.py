"""Dotted paths, the one way in which everything names a value of a scenario.

`--set`, `[sweep]`, `[evidence]` and messages all write `employees.beliefs.decay`; a key that is not a bare TOML
key is quoted (`sweep.grid."auditor.delta"[2]`).
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["Keys", "Place", "look_up", "parse_path", "read_key", "render_path", "with_value"]

type Keys = tuple[str, ...]
"""The keys from the top of the file to a table or a value."""

type Place = tuple[str | int, ...]
"""Keys, and positions in lists."""

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_BASIC = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_LITERAL = re.compile(r"'[^'\n]*'")
_BLANK = re.compile(r"[ \t]*")


def read_key(text: str, start: int) -> tuple[Keys, int]:
    """Read a TOML key, dotted or not, that begins at `start`.

    Returns
    -------
    keys
        Its parts, unquoted.
    end
        The position behind it and the blanks that follow.

    Raises
    ------
    ValueError
        There is no key.
    """
    parts: list[str] = []
    position = start
    while True:
        position = _end(_BLANK, text, position)
        if match := _BARE.match(text, position):
            parts.append(match.group())
        elif match := _LITERAL.match(text, position):
            parts.append(match.group()[1:-1])
        elif match := _BASIC.match(text, position):
            parts.append(tomllib.loads(f"key = {match.group()}")["key"])
        else:
            raise ValueError(f"no key at position {position + 1}")
        position = _end(_BLANK, text, match.end())
        if not text.startswith(".", position):
            return tuple(parts), position
        position += 1


def _end(pattern: re.Pattern[str], text: str, start: int) -> int:
    match = pattern.match(text, start)
    return match.end() if match else start


def parse_path(text: str) -> Keys:
    """Split a dotted path into its keys.

    Raises
    ------
    ValueError
        It is not a dotted path.

    Examples
    --------
    >>> parse_path('sweep.grid."auditor.delta"')
    ('sweep', 'grid', 'auditor.delta')
    """
    keys, end = read_key(text, 0)
    if end != len(text):
        raise ValueError(f"not a dotted path: {text!r}")
    return keys


def render_path(place: Sequence[str | int]) -> str:
    """Write keys and positions as a dotted path.

    Examples
    --------
    >>> render_path(("sweep", "grid", "auditor.delta", 2))
    'sweep.grid."auditor.delta"[2]'
    """
    text = ""
    for part in place:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += ("." if text else "") + (part if _BARE.fullmatch(part) else _quoted(part))
    return text


def _quoted(key: str) -> str:
    """Write a key as a TOML basic string of printable characters."""
    escaped = (
        f"\\{c}"
        if c in '"\\'
        else c
        if c.isprintable()
        else f"\\u{ord(c):04x}"
        if ord(c) < 2**16
        else f"\\U{ord(c):08x}"
        for c in key
    )
    return f'"{"".join(escaped)}"'


def look_up(tree: Mapping[str, Any], keys: Keys) -> Any:
    """Return the value at `keys`.

    Raises
    ------
    KeyError
        Nothing is there.
    """
    value: Any = tree
    for key in keys:
        if not isinstance(value, Mapping):
            raise KeyError(key)
        value = value[key]
    return value


def with_value(tree: Mapping[str, Any], keys: Keys, value: Any) -> dict[str, Any]:
    """Return a tree with `value` at `keys`; tables on the way are made or copied, the rest is shared."""
    first, *rest = keys
    below = tree.get(first)
    new = with_value(below if isinstance(below, Mapping) else {}, tuple(rest), value) if rest else value
    return {**tree, first: new}
