"""The points of `[sweep.sample]`, and what can be wrong with its ranges.

Points depend on the table alone (its `seed` included), never on the root seed of a batch: the cells of a study are
the same whichever randomness its runs are given.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from .paths import Place, parse_path, render_path
from .problems import Problem
from .reference import find_parameter
from .schema import Sample
from .wording import written

__all__ = ["SPREADS", "range_problems", "sample_problems", "sampled_values"]

SPREADS = ("linear", "log")
"""Tables of ranges within `[sweep.sample]`."""

_DIGITS = 10
"""Significant digits of a sampled number, so that a last bit that differs between machines makes no other run."""


def sampled_values(sample: Sample) -> dict[str, list[Any]]:
    """Dotted path to its values, one at each point; empty where nothing is sampled.

    Parameters
    ----------
    sample
        The table; its ranges have been checked.

    Notes
    -----
    Latin hypercube: McKay, Beckman & Conover (1979), Technometrics 21, 239-245. Sobol points with the scrambling of
    Owen (1998), Journal of Complexity 14, 466-489. Both as in `scipy.stats.qmc`.

    Examples
    --------
    >>> sorted(sampled_values(Sample(points=4, linear={"organizations.budget": [1, 4]}))["organizations.budget"])
    [1, 2, 3, 4]
    """
    ranges = {**sample.linear, **sample.log}
    if not ranges:
        return {}
    from scipy.stats import qmc

    make = qmc.Sobol if sample.method == "sobol" else qmc.LatinHypercube
    unit = make(len(ranges), rng=sample.seed).random(sample.points)
    return {
        path: [_at(share, *ranges[path], path=path, log=path in sample.log) for share in column]
        for path, column in zip(ranges, unit.T.tolist(), strict=True)
    }


def _at(share: float, low: float, high: float, *, path: str, log: bool) -> float | int:
    """The value at a share of the range, 0 <= share < 1; each whole number gets an equal piece."""
    whole = _is_whole(path)
    top = high + 1 if whole else high
    value = low * (top / low) ** share if log else low + (top - low) * share
    if whole:
        return min(math.floor(value), int(high))
    return min(max(float(f"{value:.{_DIGITS}g}"), low), high)


def _is_whole(path: str) -> bool:
    row = find_parameter(parse_path(path))
    return row is not None and row.type == "whole number"


def range_problems(place: Place, given: Any) -> Iterator[Problem]:
    """Complain about a range that is none: its shape and kind are the schema's business, its sense is ours."""
    kind, path = place[-2], str(place[-1])
    row = find_parameter(parse_path(path))
    if row is not None and row.type not in ("number", "whole number"):
        yield Problem(place, f"{render_path(place)}: {path} is no number; list its values in [sweep.grid]")
        return
    if not (isinstance(given, list) and len(given) == 2 and all(_is_number(end) for end in given)):
        return
    low, high = given
    if low >= high:
        yield Problem(place, f"{render_path(place)} = {written(given)}: low must be less than high")
    elif kind == "log" and low <= 0:
        yield Problem(
            place, f"{render_path(place)} = {written(given)}: low must be greater than 0 for a logarithm"
        )
    elif row is not None and row.type == "whole number" and not all(isinstance(end, int) for end in given):
        yield Problem(place, f"{render_path(place)} = {written(given)}: {path} takes whole numbers")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def sample_problems(sample: Mapping[str, Any]) -> Iterator[Problem]:
    """Complain about a number of points that the method cannot spread."""
    points = sample.get("points", Sample().points)
    ranged = any(sample.get(kind) for kind in SPREADS)
    if ranged and sample.get("method") == "sobol" and isinstance(points, int) and points & (points - 1):
        below = 1 << (points.bit_length() - 1)
        place = ("sweep", "sample", "points")
        yield Problem(
            place,
            f"{render_path(place)} = {points}: must be a power of 2 for sobol, for example {below} or {2 * below}",
        )
