"""How many replicates a batch needs for a metric to be known as well as asked, in every cell.

All cells get the same replicates, so that they can still be compared pair by pair. What the next round is depends on
the results of the rounds before alone, so the number that a batch ends with is the same however it was run. An
interval that is looked at until it is narrow covers a little less often than it says; the more replicates there
are to begin with, the less so.
"""

import math
from dataclasses import dataclass
from typing import Any

import pandas as pd

from ..scenarios.schema import Precision

__all__ = ["Widths", "next_replicates", "widths"]

_GROWTH = 2.0  # a round at most doubles the replicates: early widths are rough
_RESERVE = 1.05


@dataclass(frozen=True)
class Widths:
    """How well a metric is known.

    Attributes
    ----------
    target
        What was asked for.
    half_widths
        Of each cell's 95 % interval; None where it cannot be told (too few runs, or nothing to count).
    """

    target: Precision
    half_widths: tuple[float | None, ...]

    @property
    def widest(self) -> float | None:
        """The largest half-width; None if one cannot be told."""
        known = [width for width in self.half_widths if width is not None]
        return max(known) if len(known) == len(self.half_widths) else None

    @property
    def reached(self) -> bool:
        """Whether the target is met in every cell."""
        return self.widest is not None and self.widest <= self.target.half_width

    @property
    def n_missed(self) -> int:
        """Number of cells in which it is not."""
        return sum(width is None or width > self.target.half_width for width in self.half_widths)

    def as_dict(self) -> dict[str, Any]:
        """What JSON and manifest say of it."""
        return {
            "metric": self.target.metric,
            "half_width": self.target.half_width,
            "widest": self.widest,
            "reached": self.reached,
            "cells_missed": self.n_missed,
        }


def widths(runs: pd.DataFrame, cells: list[int], target: Precision) -> Widths:
    """Measure how well the metric is known in each cell.

    Parameters
    ----------
    runs
        Rows of the table of runs, in the order of the plan.
    cells
        Number of rows of each cell, in the same order.
    target
        Metric and half-width.
    """
    from ..analysis.estimates import estimate

    found: list[float | None] = []
    first = 0
    for count in cells:
        one = estimate(runs.iloc[first : first + count], target.metric)
        first += count
        known = one.low is not None and one.high is not None
        found.append((one.high - one.low) / 2 if known else None)  # type: ignore[operator]
    return Widths(target, tuple(found))


def next_replicates(replicates: int, measured: Widths) -> int:
    """Replicates of the next round; the same number if there is none."""
    if measured.reached:
        return replicates
    growth = _GROWTH
    if measured.widest is not None:
        # widths shrink with the root of the number of runs
        growth = min(growth, (measured.widest / measured.target.half_width) ** 2 * _RESERVE)
    most = max(measured.target.max_replicates, replicates)
    return min(max(math.ceil(replicates * growth), replicates + 1), most)
