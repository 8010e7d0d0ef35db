"""The cells of a sweep: which values go together, and whether each cell is a scenario."""

import itertools
import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from .paths import Keys, parse_path, render_path, with_value
from .problems import Problem, lab_ids, name_problems, validated
from .reference import find_parameter, is_table
from .sampling import SPREADS, range_problems, sample_problems, sampled_values
from .schema import SPANNED, Precision, Sample, Sweep
from .wording import did_you_mean, likely_paths, written

__all__ = ["CELL_LIMIT", "cells_of", "sweep_problems", "with_cell"]

CELL_LIMIT = 100_000
"""Cells that one sweep may have."""

_MOST_CLASHES = 10

type Cell = dict[str, Any]
"""Dotted path to value."""

type Axes = Mapping[str, list[Any]]
"""Dotted path to values."""


def cells_of(grid: Axes, zipped: Axes, sampled: Axes | None = None) -> Iterator[Cell]:
    """Yield every cell.

    Zipped values are outermost, then the points of a sample, then the grid's axes in the order of the file, the last
    one fastest.

    Examples
    --------
    >>> list(cells_of({"a": [1, 2]}, {}))
    [{'a': 1}, {'a': 2}]
    """
    for first, second in itertools.product(_together(zipped), _together(sampled or {})):
        for values in itertools.product(*grid.values()):
            yield {**first, **second, **dict(zip(grid, values, strict=True))}


def _together(axes: Axes) -> list[Cell]:
    """Values that advance together; one empty cell where there are none."""
    return [dict(zip(axes, values, strict=True)) for values in zip(*axes.values(), strict=True)] or [{}]


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
    sample = sweep.get("sample")
    axes: dict[Keys, dict[str, list[Any]]] = {
        ("sweep", kind): _lists(sweep.get(kind)) for kind in ("grid", "zip")
    }
    ranges: dict[Keys, dict[str, list[Any]]] = {
        ("sweep", "sample", kind): _lists(sample.get(kind)) if isinstance(sample, Mapping) else {}
        for kind in SPREADS
    }
    problems: list[Problem] = []
    for table, lists in (axes | ranges).items():
        for path, values in lists.items():
            place: Keys = (*table, path)
            problems += list(_path_problems(place, tree)) or [
                *(range_problems(place, values) if table in ranges else _repeated(place, values)),
                *_value_problems(place, values, tree, known_names),
            ]
    problems += _twice_swept(axes | ranges)
    problems += _precision_problems(sweep, known_names)
    problems += sample_problems(sample) if isinstance(sample, Mapping) else ()
    grid, zipped = axes["sweep", "grid"], axes["sweep", "zip"]
    points = _points(sample) if any(ranges.values()) and not problems else {}
    problems += _shape_problems(grid, zipped, points)
    return problems or list(itertools.islice(_cell_problems(grid, zipped, points, tree), _MOST_CLASHES))


def _lists(table: Any) -> dict[str, list[Any]]:
    """What of a table can be read as lists of values; about the rest the schema complains."""
    if not isinstance(table, Mapping):
        return {}
    return {path: values for path, values in table.items() if isinstance(values, list) and values}


def _points(sample: Any) -> dict[str, list[Any]]:
    try:
        return sampled_values(Sample.model_validate(sample))
    except ValidationError:
        return {}  # the schema says so


def _twice_swept(tables: Mapping[Keys, Mapping[str, list[Any]]]) -> Iterator[Problem]:
    first: dict[str, Keys] = {}
    for table, lists in tables.items():
        for path in lists:
            if (other := first.setdefault(path, table)) != table:
                place = (*table, path)
                yield Problem(place, f"{render_path(place)}: also in [{render_path(other)}]")


def _precision_problems(
    sweep: Mapping[str, Any], known_names: Mapping[str, Collection[str]]
) -> Iterator[Problem]:
    precision = sweep.get("precision")
    if not isinstance(precision, Mapping) or not precision.get("metric"):
        return
    yield from name_problems(("sweep", "precision", "metric"), precision["metric"], known_names)
    first = sweep.get("replicates", Sweep().replicates)
    most = precision.get("max_replicates", Precision().max_replicates)
    if isinstance(first, int) and isinstance(most, int) and first > most:
        place = ("sweep", "precision", "max_replicates")
        yield Problem(place, f"{render_path(place)} = {most}: less than sweep.replicates = {first}")


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


def _shape_problems(grid: Axes, zipped: Axes, points: Axes) -> Iterator[Problem]:
    lengths = {path: len(values) for path, values in zipped.items()}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{path} has {length}" for path, length in lengths.items())
        yield Problem(("sweep", "zip"), f"sweep.zip: the lists must be equally long; {told}")
    for name, axes in (("zip", zipped), ("sample", points)):
        for index in _second_times(zip(*axes.values(), strict=False)):
            values = ", ".join(f"{path} = {written(axes[path][index])}" for path in axes)
            yield Problem(
                ("sweep", name), f"sweep.{name}: {values}: a second time; the same cell would run twice"
            )
    n_points = max(map(len, points.values()), default=1)
    count = math.prod(len(values) for values in grid.values()) * max(lengths.values(), default=1) * n_points
    if count > CELL_LIMIT:
        yield Problem(("sweep",), f"sweep: {count} cells; at most {CELL_LIMIT} are allowed")


def _cell_problems(grid: Axes, zipped: Axes, points: Axes, tree: Mapping[str, Any]) -> Iterator[Problem]:
    """Values that are right one by one can clash. What is wrong without the sweep is told elsewhere."""
    base = {problem.text for problem in validated(tree)[1]}
    seen: set[str] = set()
    # most axes can clash with none, and the cells along them need not be looked at one by one
    for cell in cells_of(_spanned(grid), _spanned(zipped), _spanned(points)):
        values = ", ".join(f"{path} = {written(value)}" for path, value in cell.items())
        if not cell or values in seen:
            continue
        seen.add(values)
        for problem in validated(with_cell(tree, cell))[1]:
            if problem.text not in base:
                yield Problem(("sweep",), f"sweep: the cell {values}: {problem.text}")


def _spanned(axes: Axes) -> dict[str, list[Any]]:
    rows = {path: find_parameter(parse_path(path)) for path in axes}
    return {path: axes[path] for path, row in rows.items() if row and row.path in SPANNED}
