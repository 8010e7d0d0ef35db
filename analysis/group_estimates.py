"""Estimates by group: a lab, a target, a channel, a size of the anonymity set."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from ..scenarios.errors import InputError
from .bootstraps import cluster_bootstrap
from .borrowing import borrowed, design_effects
from .estimates import cut, demand_keys, frame_of, keyed_generator, seed_column, sums_per_seed, tidy
from .groups import ANONYMITY_LEVELS
from .intervals import cluster_wilson
from .results import finished, swept_keys
from .wording import wording

__all__ = ["group_estimates", "group_lendable"]


def group_estimates(
    groups: pd.DataFrame,
    runs: pd.DataFrame,
    dimension: str,
    metrics: Iterable[str] | None = None,
    by: Sequence[str] | None = None,
    *,
    lent: Mapping[str, float] | None = None,
) -> pd.DataFrame:
    """Estimate metrics by lab, target, channel or anonymity set, in every cell.

    Parameters
    ----------
    groups, runs
        Rows of `groups.parquet` and `runs.parquet`; `run_id` ties them.
    dimension
        "lab", "target", "channel" or "anonymity_set".
    metrics
        Which; all of the dimension by default.
    by, lent
        As for `estimates`; `lent` by `group_lendable`.

    Returns
    -------
    DataFrame
        A row per cell, level and metric: the columns of `by`, `dimension`, `level`, then `ESTIMATE_COLUMNS`.
        Levels come in the order of the table, which is that of their size or of the scenario.

    Raises
    ------
    InputError
        If a column is missing.
    """
    runs = finished(runs)
    keys = swept_keys(runs) if by is None else list(by)
    demand_keys(runs, keys)
    if absent := {"run_id", "dimension", "level", "metric", "numerator", "denominator"} - set(groups.columns):
        raise InputError(f"table 'groups' has no column {sorted(absent)[0]!r}")
    part = groups[groups["dimension"] == dimension]
    if metrics is not None:
        part = part[part["metric"].isin(list(metrics))]
    if not len(part) or not len(runs):
        return frame_of([], [*keys, "dimension", "level"])
    tied = runs[["run_id", *keys]].assign(_seed=runs[seed_column(runs)])
    joined = part.merge(tied, on="run_id")
    levels = ANONYMITY_LEVELS if dimension == "anonymity_set" else dict.fromkeys(part["level"])
    order = {level: i for i, level in enumerate(levels)}
    place, above, below = (joined[c].to_numpy() for c in ("_seed", "numerator", "denominator"))
    rows = []
    # positions of all groups at once: a frame for each of thousands of groups would take longer than estimating
    indices: dict[Any, Any] = joined.groupby([*keys, "metric", "level"], sort=True, dropna=False).indices
    for values, where in indices.items():
        *cell, metric, level = values
        sums = sums_per_seed(place[where], above[where], below[where])
        if wording(str(metric)).kind == "mean":
            found = cut(str(metric), cluster_bootstrap(*sums, keyed_generator(metric, len(where))))
        else:
            found = cluster_wilson(*sums)
        head = dict(zip(keys, cell, strict=True)) | {"dimension": dimension, "level": str(level)}
        rows.append(head | tidy(str(metric), found, len(where)))
    table = borrowed(frame_of(rows, [*keys, "dimension", "level"]), lent)
    table["_order"] = table["level"].map(order)
    table = table.sort_values([*keys, "metric", "_order"], kind="stable", ignore_index=True)
    return table.drop(columns="_order")


def group_lendable(groups: pd.DataFrame, runs: pd.DataFrame, dimension: str) -> dict[str, float]:
    """Design effects of a dimension's rates over every cell of a sweep, by unit: what its parts borrow."""
    known = groups[groups["dimension"] == dimension]["metric"]
    rates = [str(m) for m in dict.fromkeys(known) if wording(str(m)).kind == "rate"]
    return design_effects(group_estimates(groups, runs, dimension, rates, lent={}))
