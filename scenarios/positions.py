"""Where each key stands in a TOML text, so that messages can name the line.

Only for text that `tomllib` has accepted: the scanner relies on its being valid.
"""

import re
from bisect import bisect_right

from .paths import Place, read_key

__all__ = ["key_lines"]

_GAP = re.compile(r"(?:[ \t\n]|#[^\n]*)*")
_SCALAR = re.compile(r"[^,\]}\n#]*")
_STRINGS = tuple(
    (quote, re.compile(pattern, re.DOTALL))
    for quote, pattern in (
        ('"""', r'"""(?:[^\\]|\\.)*?"""(?:""|")?'),
        ("'''", r"'''.*?'''(?:''|')?"),
        ('"', r'"(?:[^"\\]|\\.)*"'),
        ("'", r"'[^']*'"),
    )
)


def key_lines(text: str) -> dict[Place, int]:
    """Map every key, table and list element to the line (from 1) on which it is first written."""
    scanner = _Scanner(text.replace("\r\n", "\n"))
    scanner.document()
    return scanner.lines


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self.lines: dict[Place, int] = {}
        self._line_ends = [match.start() for match in re.finditer("\n", text)]
        self._elements: dict[Place, int] = {}  # the last index of each array of tables

    def document(self) -> None:
        table: Place = ()
        while self._gap():
            if self.text.startswith("[[", self.position):
                table = self._header(2)
                index = self._elements.get(table, -1) + 1
                self._elements[table] = index
                table = (*table, index)
                self._note(table)
                self._to_line_end()
            elif self.text.startswith("[", self.position):
                table = self._header(1)
                self._to_line_end()
            else:
                self._pair(table)

    def _gap(self) -> bool:
        """Skip blanks, newlines and comments; false at the end of the text."""
        match = _GAP.match(self.text, self.position)
        self.position = match.end() if match else self.position
        return self.position < len(self.text)

    def _header(self, brackets: int) -> Place:
        keys, _ = read_key(self.text, self.position + brackets)
        place: Place = ()
        for key in keys:
            # [a.b] after [[a]] means b in the last of the tables a
            place = (*place, key) if place not in self._elements else (*place, self._elements[place], key)
        self._note(place)
        return place

    def _to_line_end(self) -> None:
        """Leave a header's line, on which nothing but a comment can follow."""
        found = self.text.find("\n", self.position)
        self.position = len(self.text) if found < 0 else found

    def _note(self, place: Place) -> None:
        line = bisect_right(self._line_ends, self.position - 1) + 1
        for length in range(1, len(place) + 1):
            self.lines.setdefault(place[:length], line)

    def _pair(self, table: Place) -> None:
        start = self.position
        keys, end = read_key(self.text, start)
        self._note((*table, *keys))
        self.position = end + 1  # the equals sign
        self._gap()
        self._value((*table, *keys))

    def _value(self, place: Place) -> None:
        opening = self.text[self.position]
        if opening == "[":
            self._members("]", place)
        elif opening == "{":
            self._members("}", place)
        else:
            pattern = next(
                (p for quote, p in _STRINGS if self.text.startswith(quote, self.position)), _SCALAR
            )
            match = pattern.match(self.text, self.position)
            self.position = match.end() if match else len(self.text)

    def _members(self, closing: str, place: Place) -> None:
        self.position += 1
        index = 0
        while self._gap() and self.text[self.position] != closing:
            if closing == "]":
                self._note((*place, index))
                self._value((*place, index))
                index += 1
            else:
                self._pair(place)
            self._gap()
            if self.text.startswith(",", self.position):
                self.position += 1
        self.position += 1
