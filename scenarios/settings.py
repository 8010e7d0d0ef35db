"""`--set KEY=VALUE`."""

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from .errors import InputError
from .merging import Layer
from .paths import Keys, parse_path, render_path, with_value
from .wording import did_you_mean, is_utf_8, likely_names, printable, written

__all__ = ["Setting", "contradictions", "parse_setting", "read_setting", "setting_layer"]


class Setting(NamedTuple):
    """A value that an option of its own sets, such as `--delta`."""

    path: str
    """Dotted path."""
    value: Any
    option: str
    """What messages call the place where it was set."""


def read_setting(item: str | tuple[str, Any] | Setting) -> tuple[Keys, Any, str]:
    """Return keys, value and option of `KEY=VALUE`, of a pair of path and value, or of a setting."""
    if isinstance(item, str):
        return (*parse_setting(item), "--set")
    option = item.option if isinstance(item, Setting) else "--set"
    return parse_path(item[0]), item[1], option


def parse_setting(text: str) -> tuple[Keys, Any]:
    """Split `KEY=VALUE`; VALUE is a TOML value, or else text.

    Examples
    --------
    >>> parse_setting("auditor.delta=0.2")
    (('auditor', 'delta'), 0.2)
    >>> parse_setting("auditor.mechanism=greedy")
    (('auditor', 'mechanism'), 'greedy')
    """
    if not is_utf_8(text):
        raise InputError(f"--set {printable(text)}: must be text in UTF-8")
    key, equals, value = _split(text)
    if not equals:
        raise InputError(f"--set {printable(text)}: needs KEY=VALUE, for example auditor.delta=0.2")
    try:
        keys = parse_path(key.strip())
    except ValueError:
        raise InputError(
            f"--set {printable(text)}: '{printable(key)}' is no dotted path such as auditor.delta"
        ) from None
    return keys, _value(value)


def _split(text: str) -> tuple[str, str, str]:
    """Split at the first equals sign that is not inside quotes."""
    quote = ""
    for position, character in enumerate(text):
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character == "=":
            return text[:position], "=", text[position + 1 :]
    return text, "", ""


def _value(text: str) -> Any:
    try:
        parsed = tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError):  # TOMLDecodeError is a ValueError
        return text
    # a line break in the text could have brought in another key
    return parsed["value"] if parsed.keys() == {"value"} else text


def contradictions(settings: Iterable[str | tuple[str, Any] | Setting]) -> list[str]:
    """One message for each key that is given more than once, with different values.

    Settings that cannot be read are passed over: who applies them will say so.

    Examples
    --------
    >>> contradictions(["auditor.delta=0.2", Setting("auditor.delta", 0.1, "--delta")])
    ['auditor.delta: given twice, 0.2 by --set and 0.1 by --delta; give it once']
    """
    first: dict[Keys, tuple[Any, str]] = {}
    messages: dict[Keys, str] = {}
    for item in settings:
        try:
            keys, given, option = read_setting(item)
        except (InputError, ValueError):
            continue
        for leaf, value in _leaves(keys, given):
            if leaf not in first:
                first[leaf] = (value, option)
                continue
            other, by = first[leaf]
            if other != value:
                messages.setdefault(
                    leaf,
                    f"{render_path(leaf)}: given twice, {written(other)} by {by} and {written(value)} by {option}; "
                    "give it once",
                )
    return list(messages.values())


def _leaves(keys: Keys, value: Any) -> Iterator[tuple[Keys, Any]]:
    if isinstance(value, Mapping):
        for key, below in value.items():
            yield from _leaves((*keys, str(key)), below)
    else:
        yield keys, value


def setting_layer(keys: Keys, value: Any, tree: Mapping[str, Any], option: str = "--set") -> Layer:
    """Turn one setting into a layer over `tree`, called `option` in messages.

    Raises
    ------
    InputError
        It names a key of a lab that is not there, or of the scenario's parents, which are merged already.
    """
    if keys[:2] == ("scenario", "extends"):
        raise InputError("--set scenario.extends: parents belong into the file")
    labs = tree.get("labs")
    if keys[0] == "labs" and len(keys) > 2 and isinstance(labs, Mapping) and keys[1] not in labs:
        path, names = render_path(keys), sorted(labs)
        hint = did_you_mean(likely_names(keys[1], names)) or f"; there are {', '.join(names)}"
        raise InputError(f"--set {path}: there is no lab '{printable(keys[1])}'{hint}")
    return Layer(option, with_value({}, keys, value))
