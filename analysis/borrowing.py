"""Intervals for rates of nothing or everything, from how far outcomes hang together elsewhere."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from scipy.special import ndtr, stdtrit

from .intervals import wilson_bounds
from .wording import wording

__all__ = ["borrowed", "design_effects"]

_SHOWN = 10
"""Outcomes of the rarer kind that a cell must have for its design effect to be lent to others."""


def design_effects(table: pd.DataFrame) -> dict[str, float]:
    """Largest design effect (effective over nominal variance) of the rates of each unit, of cells that show one.

    Parameters
    ----------
    table
        Rows of estimates.
    """
    size, rate = table["denominator"], table["value"]
    nominal = rate * (1 - rate) / size.where(size > 0)
    effect = (table["error"] ** 2 / nominal.where(nominal > 0)).clip(lower=1.0)
    shows = _clustered(table) & (table["numerator"].clip(upper=size - table["numerator"]) >= _SHOWN)
    largest = effect.where(shows).groupby(_units(table)).max().dropna()
    return {str(unit): float(value) for unit, value in largest.items()}


def borrowed(table: pd.DataFrame, lent: Mapping[str, float] | None = None) -> pd.DataFrame:
    """Give rates of nothing or everything an interval from how far outcomes hang together in other cells.

    Where a cell has none (or all) of its outcomes, it says nothing of the correlation within its runs, and
    `cluster_wilson` counts each run as one outcome: 0 of 3000 reporters in 10 runs would read 0 to 28 %. Other
    cells do say something. The largest design effect among rates of the same unit is taken for such a cell; where
    there is none, the cautious reading stays.

    Parameters
    ----------
    table
        Rows of estimates.
    lent
        Design effects by unit from more cells than these (a sweep of which this is a part, so that every table of a
        study gives a cell the same interval); those of the table itself by default.

    Returns
    -------
    DataFrame
        The same with `low`, `high` and `method` of these rows replaced.
    """
    extreme = _clustered(table) & ((table["numerator"] == 0) | (table["numerator"] == table["denominator"]))
    largest = _units(table).map(dict(design_effects(table) if lent is None else lent)).astype(float)
    chosen = (extreme & largest.notna()).to_numpy()
    if not chosen.any():
        return table
    some = table[chosen]
    # no less than one outcome a run in the cell
    effective = np.maximum(
        some["denominator"] / largest[chosen], np.minimum(some["n_runs"], some["denominator"])
    )
    level = 2 * ndtr(stdtrit(np.maximum(some["n_runs"] - 1, 1), 0.975)) - 1
    ends = [
        wilson_bounds(value * n, n, float(each))
        for value, n, each in zip(some["value"], effective, level, strict=True)
    ]
    result = table.copy()
    result.loc[chosen, "low"] = [float(low) for low, _ in ends]
    result.loc[chosen, "high"] = [float(high) for _, high in ends]
    result.loc[chosen, "method"] = "cluster wilson, borrowed design effect"
    return result


def _units(table: pd.DataFrame) -> "pd.Series[str]":
    return table["metric"].map(lambda metric: wording(str(metric)).unit)


def _clustered(table: pd.DataFrame) -> "pd.Series[bool]":
    return table["method"] == "cluster wilson"
