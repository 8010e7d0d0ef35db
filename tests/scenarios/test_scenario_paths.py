"""Dotted paths, and the lines on which keys stand."""

import tomllib
from typing import Any

import pytest
import tomli_w
from hypothesis import given
from hypothesis import strategies as st

from deniability.scenarios.paths import look_up, parse_path, render_path, with_value
from deniability.scenarios.positions import key_lines

keys = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
values = st.recursive(
    st.integers(-9, 9)
    | st.booleans()
    | st.floats()
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=8,
)
trees = st.dictionaries(keys, values, max_size=4)


@given(st.lists(keys, min_size=1, max_size=4))
def test_a_rendered_path_parses_to_the_same_keys(parts: list[str]) -> None:
    path = render_path(parts)
    assert parse_path(path) == tuple(parts)
    assert path.isprintable()


@pytest.mark.parametrize("text", ["", ".", "a.", ".a", "a..b", "a b", 'a."b', "a.b]", "a=1", "a\nb", "a[0]"])
def test_what_is_no_dotted_path(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_path(text)


def test_quoted_keys_and_blanks() -> None:
    assert parse_path("""sweep . grid. "auditor.delta".'x y'""") == ("sweep", "grid", "auditor.delta", "x y")
    assert parse_path(r'"a\u0062\"c"') == ('ab"c',)


def test_with_value_changes_one_place_and_leaves_the_original() -> None:
    tree = {"a": {"b": 1, "c": 2}, "d": 3}
    new = with_value(tree, ("a", "b"), 9)
    assert new == {"a": {"b": 9, "c": 2}, "d": 3}
    assert tree == {"a": {"b": 1, "c": 2}, "d": 3}
    assert with_value(tree, ("d", "e"), 1)["d"] == {"e": 1}
    assert look_up(new, ("a", "b")) == 9
    for missing in (("a", "x"), ("d", "x")):
        with pytest.raises(KeyError):
            look_up(tree, missing)


def places(value: Any, at: tuple[str | int, ...] = ()) -> set[tuple[str | int, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return {at} - {()} | {place for key, item in items for place in places(item, (*at, key))}


@given(trees, st.booleans())
def test_the_scanner_finds_exactly_the_keys_that_tomllib_finds(tree: dict[str, Any], multiline: bool) -> None:
    text = tomli_w.dumps(tree, multiline_strings=multiline)
    assert set(key_lines(text)) == places(tomllib.loads(text))


def test_lines_of_every_way_to_write_a_key() -> None:
    text = "\r\n".join(
        [
            "# [not.a.table]",
            "top = 1",
            "[a.b] # comment",
            'c.d = "x # y"',
            'e = """',
            "[f]",
            'g = 1 \\""" """',
            "'h.i' = [1, # one",
            "  2,",
            "  { j = [true], k = '}' } ]",
            "[[l]]",
            "m = 1979-05-27 07:32:00",
            "[[l]]",
            '"m" = {n.o = 1}',
            "[l.p]",
        ]
    )
    assert "f" not in tomllib.loads(text)
    assert key_lines(text) == {
        ("top",): 2,
        ("a",): 3,
        ("a", "b"): 3,
        ("a", "b", "c"): 4,
        ("a", "b", "c", "d"): 4,
        ("a", "b", "e"): 5,
        ("a", "b", "h.i"): 8,
        ("a", "b", "h.i", 0): 8,
        ("a", "b", "h.i", 1): 9,
        ("a", "b", "h.i", 2): 10,
        ("a", "b", "h.i", 2, "j"): 10,
        ("a", "b", "h.i", 2, "j", 0): 10,
        ("a", "b", "h.i", 2, "k"): 10,
        ("l",): 11,
        ("l", 0): 11,
        ("l", 0, "m"): 12,
        ("l", 1): 13,
        ("l", 1, "m"): 14,
        ("l", 1, "m", "n"): 14,
        ("l", 1, "m", "n", "o"): 14,
        ("l", 1, "p"): 15,
    }
