"""Estimates from the tables of a batch: each metric in each cell of a sweep, whole or split by group.

Functions on data frames, for notebooks as for reports:

>>> runs = pd.DataFrame({
...     "run_id": ["a", "b", "c", "d"], "seed": [1, 2, 1, 2], "auditor.mechanism": ["tca", "tca", "rr", "rr"],
...     "retaliation_rate_numerator": [1, 3, 2, 2], "retaliation_rate_denominator": [10, 10, 10, 10],
... })
>>> table = estimates(runs, ["retaliation_rate"])
>>> table[["auditor.mechanism", "value", "n_runs"]].values.tolist()
[['rr', 0.2, 2], ['tca', 0.2, 2]]

Runs of one seed share their random numbers whichever cell they are in, so they are no independent evidence. The unit
of replication is therefore the seed: where an estimate pools several cells, the runs of a seed are summed first. Four
cells of δ under a mechanism that ignores δ count as one run each seed, not as four.
"""

import hashlib
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..scenarios.errors import InputError
from .bootstraps import cluster_bootstrap, paired_bootstrap
from .borrowing import borrowed, design_effects
from .intervals import Estimate, cluster_wilson, t_interval
from .metrics import METRICS
from .results import finished, swept_keys
from .wording import wording

__all__ = [
    "ESTIMATE_COLUMNS",
    "available_metrics",
    "cells",
    "cut",
    "demand_keys",
    "estimate",
    "estimates",
    "frame_of",
    "keyed_generator",
    "lendable",
    "numbers",
    "ratio_parts",
    "records",
    "seed_column",
    "seed_means",
    "sums_per_seed",
    "tidy",
]

ESTIMATE_COLUMNS = (
    "metric",
    "value",
    "low",
    "high",
    "error",
    "numerator",
    "denominator",
    "n_runs",
    "rows",
    "method",
)
"""Columns of an estimate in a table: `n_runs` independent runs (seeds), `rows` rows of the table of runs."""

type _Floats = npt.NDArray[np.float64]

_EXCESS = "excess_retaliation"
_EXCESS_PARTS = ("retaliation_rate", "false_retaliation_rate")


def available_metrics(runs: pd.DataFrame) -> list[str]:
    """Metrics that can be estimated from the columns that are there, in the order of `METRICS`."""
    return [one.key for one in METRICS if not _missing(runs, one.key)]


def seed_column(runs: pd.DataFrame) -> str:
    """Column that tells which runs share their random numbers: seed, else replicate, else each run by itself."""
    return next((name for name in ("seed", "replicate") if name in runs), "run_id")


def cells(runs: pd.DataFrame, by: Sequence[str]) -> Iterator[tuple[dict[str, Any], pd.DataFrame]]:
    """Each combination of values of `by` with its rows, in order of the values; all rows where `by` is empty."""
    if not by:
        yield {}, runs
        return
    for values, rows in runs.groupby(list(by), sort=True, dropna=False):
        yield dict(zip(by, values, strict=True)), rows


def estimate(runs: pd.DataFrame, metric: str) -> Estimate:
    """Estimate a metric from runs, pooled over whatever cells they are in.

    Parameters
    ----------
    runs
        Rows of `runs.parquet`.
    metric
        Rates get `cluster_wilson`, means `cluster_bootstrap`, counts, totals and levels Student's interval on
        their mean per run, and `excess_retaliation` a bootstrap of the difference within the same runs. An interval
        is cut off where the metric ends: no wait is below 0 and no belief above 1, so nothing true is lost.

    Raises
    ------
    InputError
        If a column is missing: the message names it.
    """
    return _estimate(finished(runs), metric)


def _estimate(runs: pd.DataFrame, metric: str) -> Estimate:
    if missing := _missing(runs, metric):
        raise InputError(f"table 'runs' has no column {missing[0]!r}, which {metric!r} is estimated from")
    kind = wording(metric).kind
    generator = keyed_generator(metric, len(runs))
    if metric == _EXCESS:
        parts = [ratio_parts(runs, name) for name in _EXCESS_PARTS]
        if not all(below.sum() for _, below in parts):
            return Estimate(None, None, None, None, len(parts[0][0]), "none")
        return paired_bootstrap(parts[0], parts[1], generator, rate=True)
    if kind in ("rate", "mean"):
        above, below = ratio_parts(runs, metric)
        if kind == "rate":
            return cluster_wilson(above, below)
        return cut(metric, cluster_bootstrap(above, below, generator))
    return cut(metric, t_interval(seed_means(runs, metric)))


def cut(metric: str, found: Estimate) -> Estimate:
    """The interval without what lies where the metric cannot: below 0, or above 1 for shares and beliefs."""
    if found.low is None or found.high is None:
        return found
    about = wording(metric)
    most = 1.0 if about.kind == "level" or about.unit == "share" else np.inf
    return replace(found, low=max(found.low, 0.0), high=min(found.high, most))


def estimates(
    runs: pd.DataFrame,
    metrics: Iterable[str] | None = None,
    by: Sequence[str] | None = None,
    *,
    lent: Mapping[str, float] | None = None,
) -> pd.DataFrame:
    """Estimate metrics in every cell.

    Parameters
    ----------
    runs
        Rows of `runs.parquet`.
    metrics
        Which; all that the table has columns for by default.
    by
        Columns whose combinations are the cells; every swept key by default. Fewer columns pool the others.
    lent
        As for `borrowed`, where these runs are part of a sweep.

    Returns
    -------
    DataFrame
        A row per cell and metric: the columns of `by`, then `ESTIMATE_COLUMNS`.

    Raises
    ------
    InputError
        If a column is missing.
    """
    runs = finished(runs)
    keys = swept_keys(runs) if by is None else list(by)
    demand_keys(runs, keys)
    names = available_metrics(runs) if metrics is None else list(metrics)
    rows = [
        cell | tidy(name, _estimate(part, name), len(part))
        for cell, part in (cells(runs, keys) if len(runs) else ())
        for name in names
    ]
    return borrowed(frame_of(rows, keys), lent)


def lendable(runs: pd.DataFrame) -> dict[str, float]:
    """Design effects of the rates over every cell of a sweep, by unit: what its parts borrow (`borrowed`)."""
    rates = [name for name in available_metrics(runs) if wording(name).kind == "rate"]
    return design_effects(estimates(runs, rates, lent={}))


def tidy(metric: str, found: Estimate, rows: int) -> dict[str, Any]:
    """An estimate as a row of a table."""
    return {
        "metric": metric,
        "value": found.value,
        "low": found.low,
        "high": found.high,
        "error": found.error,
        "numerator": found.numerator,
        "denominator": found.denominator,
        "n_runs": found.n_runs,
        "rows": rows,
        "method": found.method,
    }


def records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows of a table as dictionaries."""
    return [{str(key): value for key, value in row.items()} for row in table.to_dict("records")]


def ratio_parts(runs: pd.DataFrame, metric: str) -> tuple[_Floats, _Floats]:
    """Numerators and denominators of a rate or mean, summed over the runs of each seed, in order of the seeds."""
    above, below = (numbers(runs, f"{metric}_{end}") for end in ("numerator", "denominator"))
    return sums_per_seed(runs[seed_column(runs)].to_numpy(), np.nan_to_num(above), np.nan_to_num(below))


def seed_means(runs: pd.DataFrame, metric: str) -> _Floats:
    """Mean of a metric over the runs of each seed, in order of the seeds; NaN where it is defined in none."""
    values = numbers(runs, metric)
    known = ~np.isnan(values)
    above, below = sums_per_seed(
        runs[seed_column(runs)].to_numpy(), np.where(known, values, 0.0), known.astype(float)
    )
    means: _Floats = np.divide(above, below, out=np.full(len(above), np.nan), where=below > 0)
    return means


def numbers(runs: pd.DataFrame, column: str) -> _Floats:
    """A column as numbers, NaN where it is undefined.

    Raises
    ------
    InputError
        If it does not hold numbers.
    """
    try:
        values: _Floats = runs[column].to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError) as error:
        raise InputError(f"table 'runs': column {column!r} must hold numbers: {error}") from error
    return values


def sums_per_seed(seeds: npt.NDArray[Any], above: _Floats, below: _Floats) -> tuple[_Floats, _Floats]:
    """Sums over the rows of each seed, in order of the seeds."""
    known, place = np.unique(seeds, return_inverse=True)
    sums = [np.bincount(place, weights=part, minlength=len(known)) for part in (above, below)]
    return sums[0], sums[1]


def keyed_generator(*key: Hashable) -> np.random.Generator:
    """The stream of a bootstrap, from what is estimated: a table is the same whatever else is estimated."""
    digest = hashlib.sha256(repr(key).encode()).digest()
    return np.random.default_rng(np.frombuffer(digest[:16], dtype=np.uint32))


def _missing(runs: pd.DataFrame, metric: str) -> list[str]:
    """Columns that a metric is estimated from and that are not there."""
    if metric == _EXCESS:
        return [column for part in _EXCESS_PARTS for column in _missing(runs, part)]
    ratio = wording(metric).kind in ("rate", "mean")
    needed = [f"{metric}_numerator", f"{metric}_denominator"] if ratio else [metric]
    return [column for column in needed if column not in runs]


def demand_keys(runs: pd.DataFrame, keys: Sequence[str]) -> None:
    """InputError if a key is no column of the runs."""
    if absent := [key for key in keys if key not in runs]:
        raise InputError(f"table 'runs' has no column {absent[0]!r}; swept keys: {swept_keys(runs)}")


def frame_of(rows: list[dict[str, Any]], keys: Sequence[str]) -> pd.DataFrame:
    """Rows of estimates as a table: columns and types of `ESTIMATE_COLUMNS`, also where there are none."""
    table = pd.DataFrame(rows, columns=[*keys, *ESTIMATE_COLUMNS])
    numbers = ["value", "low", "high", "error", "numerator", "denominator"]
    return table.astype(dict.fromkeys(numbers, "float64") | dict.fromkeys(("n_runs", "rows"), "int64"))
