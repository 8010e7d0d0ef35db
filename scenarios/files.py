"""Find a scenario file and read it; whatever can be wrong with a file becomes one message."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .catalog import shipped_names, shipped_path
from .errors import InputError
from .paths import Place
from .positions import key_lines
from .wording import did_you_mean, likely_names, printable

__all__ = ["SIZE_LIMIT", "Document", "decoded", "locate", "locate_parent", "read_document"]

SIZE_LIMIT = 4 * 2**20
"""Bytes that a scenario file may have; the longest shipped one has some ten thousand."""

_DEPTH_LIMIT = 20
# tomllib's time grows with the square of a dotted key's parts, so such a key is not left to it
_ENDLESS_KEY = re.compile(
    r"""(?:^|[\[{,])[ \t]*+(?:(?:[A-Za-z0-9_-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){25}""",
    re.MULTILINE,
)
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


@dataclass(frozen=True)
class Document:
    """A file that was read: plain values, and the line of each key."""

    label: str
    """What messages call it."""
    path: Path
    tree: Mapping[str, Any]
    lines: Mapping[Place, int]


def locate(source: str | Path) -> tuple[str, Path]:
    """Return what messages call `source`, and its path.

    A shipped name wins over a file of the same name: write `./five-labs` for the file.
    """
    text = str(source)
    shipped = shipped_names()
    if isinstance(source, str) and text in shipped:
        return f"{text} (shipped)", shipped_path(text)
    if not text or text.isspace():
        raise InputError(
            "no scenario given: name a shipped one (`deniability list`) or the path of a TOML file"
        )
    label = printable(text)
    if "\0" in text:
        raise InputError(f"{label}: a path cannot contain a null byte")
    if _is_there(Path(text)):
        return label, Path(text)
    likely = likely_names(Path(text).name.removesuffix(".toml"), shipped)
    hint = did_you_mean(likely) or f"; shipped: {', '.join(shipped)}"
    if isinstance(source, str) and _NAME.fullmatch(text):
        raise InputError(f"{label}: no shipped scenario of that name, and no such file{hint}")
    raise InputError(f"{label}: no such file{hint}")


def locate_parent(name: str, child: Document, line: str) -> tuple[str, Path]:
    """Like `locate`, for a name in `extends`: shipped, or relative to the file that says so."""
    shipped = shipped_names()
    if name in shipped:
        return f"{name} (shipped)", shipped_path(name)
    if "\0" in name or not name.strip():
        raise InputError(
            f"{line}: scenario.extends: '{printable(name)}' is neither a shipped name nor a path"
        )
    folder = child.path.parent
    tried = [folder / name] if name.endswith(".toml") else [folder / name, folder / f"{name}.toml"]
    for path in tried:
        if _is_there(path) and not path.is_dir():
            return printable(str(path)), path
    neighbours = [path.name for path in folder.glob("*.toml") if path != child.path]
    wanted = Path(name).name
    likely = likely_names(wanted, [*shipped, *neighbours]) or likely_names(f"{wanted}.toml", neighbours)
    raise InputError(
        f"{line}: scenario.extends: there is no '{printable(name)}': neither a shipped scenario nor "
        f"{' nor '.join(printable(str(path)) for path in tried)}{did_you_mean(likely)}"
    )


def _is_there(path: Path) -> bool:
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return path.is_symlink()
    except OSError:
        pass  # there, or not to be known: reading it will say why
    return True


def read_document(label: str, path: Path) -> Document:
    """Read the TOML file at `path`.

    Raises
    ------
    InputError
        It cannot be read, is no TOML, or is too large or too deeply nested to be a scenario.
    """
    text = decoded(label, _read(label, path))
    if _ENDLESS_KEY.search(text):
        raise InputError(f"{label}: nested too deeply for a scenario")
    try:
        tree = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(_broken(label, text, str(error))) from None
    except RecursionError:
        raise InputError(f"{label}: nested too deeply for a scenario") from None
    except ValueError:
        raise InputError(f"{label}: not valid TOML: a number with too many digits") from None
    if not tree:
        raise InputError(f"{label}: empty: it needs at least one [labs.<id>], or `extends` in [scenario]")
    if _depth(tree) > _DEPTH_LIMIT:
        raise InputError(f"{label}: nested too deeply for a scenario")
    return Document(label, path, tree, key_lines(text))


def _read(label: str, path: Path) -> bytes:
    try:
        if path.is_dir():
            raise InputError(f"{label}: a directory; name a TOML file in it")
        with path.open("rb") as file:
            content = file.read(SIZE_LIMIT + 1)
    except FileNotFoundError:
        raise InputError(f"{label}: a link to a file that is not there") from None
    except PermissionError:
        raise InputError(f"{label}: no permission to read it") from None
    except OSError as error:
        raise InputError(f"{label}: cannot be read: {error.strerror or error}") from None
    if len(content) > SIZE_LIMIT:
        raise InputError(f"{label}: larger than {SIZE_LIMIT // 2**20} MB, so hardly a scenario")
    return content


def decoded(label: str, content: bytes) -> str:
    """Return the text of a UTF-8 file, with or without a byte-order mark.

    Raises
    ------
    InputError
        It is something else; the message names the line.
    """
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError(f"{label}: UTF-16; save it as UTF-8")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        byte = content[error.start]
        raise InputError(f"{label}:{line}: not UTF-8 (byte 0x{byte:02x}); save it as UTF-8") from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise InputError(f"{label}:{line}: contains a null byte, so it is no text file")
    return text


_AT = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


def _broken(label: str, text: str, message: str) -> str:
    at = _AT.search(message)
    line, column = (
        (at.group(1), at.group(2)) if at and at.group(1) else (str(len(text.splitlines()) or 1), "")
    )
    place = f"{line}:{column}" if column else line
    reason = printable(_AT.sub("", message))
    return f"{label}:{place}: not valid TOML: {reason[:1].lower()}{reason[1:]}"


def _depth(tree: Any) -> int:
    """Levels of nesting, without recursion."""
    depth, level = 0, [tree]
    while level := [
        child
        for value in level
        for child in (value.values() if isinstance(value, dict) else value)
        if isinstance(child, dict | list)
    ]:
        depth += 1
        if depth > _DEPTH_LIMIT:
            break
    return depth
