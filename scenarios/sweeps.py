"""The cells of a sweep: which values go together, and whether each cell is a scenario."""

import itertools
import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from .paths import Keys, parse_path, render_path, with_value
from .problems import Problem, lab_ids, name_problems, validated
from .reference import find_parameter, is_table
from .schema import SPANNED
from .wording import did_you_mean, likely_paths, written

__all__ = ["CELL_LIMIT", "cells_of", "sweep_problems", "with_cell"]

CELL_LIMIT = 100_000
"""Cells that one sweep may have."""

_MOST_CLASHES = 10

type Cell = dict[str, Any]
"""Dotted path to value."""


def cells_of(grid: Mapping[str, list[Any]], zipped: Mapping[str, list[Any]]) -> Iterator[Cell]:
    """Yield every cell: zipped values outermost, then the grid's axes in the order of the file, the last fastest.

    Examples
    --------
    >>> list(cells_of({"a": [1, 2]}, {}))
    [{'a': 1}, {'a': 2}]
    """
    together = [dict(zip(zipped, values, strict=True)) for values in zip(*zipped.values(), strict=True)] or [
        {}
    ]
    for first in together:
        for values in itertools.product(*grid.values()):
            yield {**first, **dict(zip(grid, values, strict=True))}


def with_cell(tree: Mapping[str, Any], cell: Mapping[str, Any]) -> dict[str, Any]:
    """Return the tree with the cell's values set."""
    result = dict(tree)
    for path, value in cell.items():
        result = with_value(result, parse_path(path), value)
    return result


def sweep_problems(tree: Mapping[str, Any], known_names: Mapping[str, Collection[str]]) -> list[Problem]:
    """Everything that is wrong with [sweep]: paths, values one by one, then the cells they make together."""
    sweep = tree.get("sweep")
    if not isinstance(sweep, Mapping):
        return []
    axes = {
        kind: {path: values for path, values in table.items() if isinstance(values, list) and values}
        for kind in ("grid", "zip")
        if isinstance(table := sweep.get(kind, {}), Mapping)
    }
    problems: list[Problem] = []
    for kind, table in axes.items():
        for path, values in table.items():
            place: Keys = ("sweep", kind, path)
            found = list(_path_problems(place, tree)) or [
                *_repeated(place, values),
                *_value_problems(place, values, tree, known_names),
            ]
            problems += found
    problems += _shape_problems(axes.get("grid", {}), axes.get("zip", {}))
    clashes = _cell_problems(axes.get("grid", {}), axes.get("zip", {}), tree)
    return problems or list(itertools.islice(clashes, _MOST_CLASHES))


def _path_problems(place: Keys, tree: Mapping[str, Any]) -> Iterator[Problem]:
    shown, path = render_path(place), place[-1]
    labs = lab_ids(tree)
    try:
        keys = parse_path(path)
    except ValueError:
        yield Problem(place, f"{shown}: {written(path)} is no dotted path such as auditor.delta")
        return
    if keys[0] in ("scenario", "evidence", "sources", "sweep"):
        yield Problem(place, f"{shown}: [{keys[0]}] changes nothing in a run, so it cannot be swept")
    elif keys[0] == "labs" and len(keys) > 1 and keys[1] not in labs:
        yield Problem(place, f"{shown}: unknown lab{did_you_mean(likely_paths(keys[:2], labs))}")
    elif is_table(keys):
        yield Problem(place, f"{shown}: a table; sweep its keys one by one")
    elif find_parameter(keys) is None:
        yield Problem(place, f"{shown}: unknown key{did_you_mean(likely_paths(keys, labs))}")
    elif render_path(keys) != path:
        yield Problem(place, f"{shown}: write it as {render_path(keys)}")


def _repeated(place: Keys, values: list[Any]) -> Iterator[Problem]:
    for index in _second_times(values) if place[1] == "grid" else ():
        shown = f"{render_path((*place, index))} = {written(values[index])}"
        yield Problem((*place, index), f"{shown}: a second time; the same cell would run twice")


def _second_times(values: Iterable[Any]) -> Iterator[int]:
    """Positions of values that were there before; 1 and 1.0 are the same, 1 and true are not."""
    seen: set[str] = set()
    for index, value in enumerate(values):
        size = len(seen)
        seen.add(re.sub(r"\b(\d+)\.0\b", r"\1", repr(value)))
        if len(seen) == size:
            yield index


def _value_problems(
    place: Keys, values: list[Any], tree: Mapping[str, Any], known_names: Mapping[str, Collection[str]]
) -> Iterator[Problem]:
    keys = parse_path(place[-1])
    for index, value in enumerate(values):
        shown = render_path((*place, index))
        if names := list(name_problems(keys, value, known_names, shown)):
            yield Problem((*place, index), names[0].text)
            continue
        # only what concerns this value; what it clashes with is judged in whole cells
        for problem in validated(with_value(tree, keys, value))[1]:
            if problem.place[: len(keys)] == keys and not problem.clash:
                yield Problem((*place, index), problem.text.replace(render_path(keys), shown, 1))


def _shape_problems(grid: Mapping[str, list[Any]], zipped: Mapping[str, list[Any]]) -> Iterator[Problem]:
    for path in grid:
        if path in zipped:
            yield Problem(
                ("sweep", "zip", path), f"{render_path(('sweep', 'zip', path))}: also in [sweep.grid]"
            )
    lengths = {path: len(values) for path, values in zipped.items()}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{path} has {length}" for path, length in lengths.items())
        yield Problem(("sweep", "zip"), f"sweep.zip: the lists must be equally long; {told}")
    for index in _second_times(zip(*zipped.values(), strict=False)):
        values = ", ".join(f"{path} = {written(table[index])}" for path, table in zipped.items())
        yield Problem(("sweep", "zip"), f"sweep.zip: {values}: a second time; the same cell would run twice")
    count = math.prod(len(values) for values in grid.values()) * max(lengths.values(), default=1)
    if count > CELL_LIMIT:
        yield Problem(("sweep",), f"sweep: {count} cells; at most {CELL_LIMIT} are allowed")


def _cell_problems(
    grid: Mapping[str, list[Any]], zipped: Mapping[str, list[Any]], tree: Mapping[str, Any]
) -> Iterator[Problem]:
    """Values that are right one by one can clash. What is wrong without the sweep is told elsewhere."""
    base = {problem.text for problem in validated(tree)[1]}
    seen: set[str] = set()
    # most axes can clash with none, and the cells along them need not be looked at one by one
    for cell in cells_of(_spanned(grid), _spanned(zipped)):
        values = ", ".join(f"{path} = {written(value)}" for path, value in cell.items())
        if not cell or values in seen:
            continue
        seen.add(values)
        for problem in validated(with_cell(tree, cell))[1]:
            if problem.text not in base:
                yield Problem(("sweep",), f"sweep: the cell {values}: {problem.text}")


def _spanned(axes: Mapping[str, list[Any]]) -> dict[str, list[Any]]:
    rows = {path: find_parameter(parse_path(path)) for path in axes}
    return {path: axes[path] for path, row in rows.items() if row and row.path in SPANNED}
