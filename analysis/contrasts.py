"""Differences between cells of a sweep on common random numbers: pairs of runs that share a seed.

A run of one cell and the run of another with the same seed share every random draw that the two cells have in common,
so the difference is estimated from pairs, and what they share cancels. Intervals are 95 % for each difference by
itself; they are not widened for the number of differences that are looked at.
"""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from .bootstraps import paired_bootstrap, square_and_add
from .estimates import (
    ESTIMATE_COLUMNS,
    available_metrics,
    cells,
    estimates,
    frame_of,
    keyed_generator,
    ratio_parts,
    records,
    seed_column,
    seed_means,
    tidy,
)
from .intervals import Estimate, paired_t
from .results import MECHANISM, finished, swept_keys
from .wording import wording

__all__ = [
    "ADVANTAGE",
    "RETALIATION_KEY",
    "advantages",
    "contrast",
    "contrasts",
    "deterrence",
    "group_contrast",
    "is_told_apart",
    "mechanism_contrasts",
]

type _Floats = npt.NDArray[np.float64]

ADVANTAGE = "worst_case_advantage"
"""Share of filed reports that the worst-case adversary identifies, minus the share of unfiled ones it does."""

RETALIATION_KEY = "organizations.retaliation_probability"
"""The key whose value 0 makes the same world without retaliation."""


def contrast(first: pd.DataFrame, second: pd.DataFrame, metric: str) -> Estimate:
    """Estimate how a metric differs between two sets of runs, first minus second, over seeds that both have.

    Parameters
    ----------
    first, second
        Rows of `runs.parquet`. Several runs of a seed on one side are pooled.
    metric
        Any but `excess_retaliation`, which is a difference already.

    Returns
    -------
    Estimate
        `n_runs` counts pairs. Undefined (None) where no seed is on both sides.
    """
    return _contrast(_Side(finished(first)), _Side(finished(second)), metric)


class _Side:
    """The runs of one side of a comparison, by seed; each metric is summed once."""

    def __init__(self, runs: pd.DataFrame) -> None:
        self.runs = runs
        column = seed_column(runs)
        # runs that nothing ties to others have no pairs
        self.seeds = np.unique(runs[column].to_numpy()) if column != "run_id" and len(runs) else np.zeros(0)
        self._parts: dict[str, tuple[_Floats, _Floats]] = {}
        self._means: dict[str, _Floats] = {}

    def parts(self, metric: str, seeds: npt.NDArray[Any]) -> tuple[_Floats, _Floats]:
        if metric not in self._parts:
            self._parts[metric] = ratio_parts(self.runs, metric)
        where = np.searchsorted(self.seeds, seeds)
        above, below = self._parts[metric]
        return above[where], below[where]

    def means(self, metric: str, seeds: npt.NDArray[Any]) -> _Floats:
        if metric not in self._means:
            self._means[metric] = seed_means(self.runs, metric)
        return self._means[metric][np.searchsorted(self.seeds, seeds)]


def _contrast(one: _Side, other: _Side, metric: str) -> Estimate:
    shared = np.intersect1d(one.seeds, other.seeds)
    if not len(shared):
        return Estimate(None, None, None, None, 0, "no pairs")
    kind = wording(metric).kind
    if kind not in ("rate", "mean"):
        return paired_t(one.means(metric, shared), other.means(metric, shared))
    parts = [side.parts(metric, shared) for side in (one, other)]
    if not (parts[0][1].sum() and parts[1][1].sum()):
        return Estimate(None, None, None, None, len(shared), "none")
    generator = keyed_generator("contrast", metric, len(shared))
    return paired_bootstrap(parts[0], parts[1], generator, rate=kind == "rate")


def contrasts(
    runs: pd.DataFrame,
    key: str,
    metrics: Iterable[str],
    pairs: Sequence[tuple[Any, Any]] | None = None,
    by: Sequence[str] | None = None,
    *,
    lent: Mapping[str, float] | None = None,
) -> pd.DataFrame:
    """Estimate differences between values of one swept key, all other keys equal.

    Parameters
    ----------
    runs
        Rows of `runs.parquet`.
    key
        The key whose values are compared.
    metrics
        Which metrics.
    pairs
        Which values, (first, second); every pair by default, in order of the values.
    by
        Keys that are held equal; all other swept keys by default.
    lent
        As for `estimates`.

    Returns
    -------
    DataFrame
        A row per cell of the other keys, pair and metric: the columns of `by`, `key`, `first`, `second`, then
        `ESTIMATE_COLUMNS`, `value` being first minus second.
    """
    runs = finished(runs)
    held = [k for k in swept_keys(runs) if k != key] if by is None else list(by)
    rows = []
    for cell, part in cells(runs, held) if len(runs) and key in runs else ():
        sides = {value[key]: _Side(some) for value, some in cells(part, [key])}
        for first, second in itertools.combinations(sides, 2) if pairs is None else pairs:
            if first not in sides or second not in sides:
                continue
            for metric in metrics:
                found = _contrast(sides[first], sides[second], metric)
                n_rows = len(sides[first].runs) + len(sides[second].runs)
                rows.append(
                    cell | {"key": key, "first": first, "second": second} | tidy(metric, found, n_rows)
                )
    table = pd.DataFrame(rows, columns=[*held, "key", "first", "second", *_VALUES])
    table = table.astype(dict.fromkeys(("value", "low", "high", "error"), "float64"))
    return _borrowed(table, runs, key, held, lent)


def _borrowed(
    table: pd.DataFrame,
    runs: pd.DataFrame,
    key: str,
    held: Sequence[str],
    lent: Mapping[str, float] | None,
) -> pd.DataFrame:
    """Where neither side has any spread, combine the two intervals as `estimates` has them."""
    bare = table.index[table["method"] == _NO_SPREAD]
    if not len(bare):
        return table
    units = {wording(str(metric)).unit for metric in table.loc[bare, "metric"]}
    alike = [m for m in available_metrics(runs) if wording(m).kind == "rate" and wording(m).unit in units]
    rates = {
        (*(row[k] for k in (*held, key)), row["metric"]): row
        for row in records(estimates(runs, alike, by=[*held, key], lent=lent))
    }
    for i in bare:
        cell = [table.loc[i, k] for k in held]
        one, other = (
            rates[(*cell, table.loc[i, side], table.loc[i, "metric"])] for side in ("first", "second")
        )
        table.loc[i, ["low", "high"]] = _combined(one, other)
        table.loc[i, "method"] = "difference of Wilson intervals, borrowed design effect"
    return table


def _combined(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[float]:
    """Newcombe's interval for a difference of proportions, from the interval of each."""
    first, second = (Estimate(row["value"], row["low"], row["high"], None, 0, "") for row in (one, other))
    low, high = square_and_add(first, second)
    return [float(low[0]), float(high[0])]


def mechanism_contrasts(
    runs: pd.DataFrame,
    metrics: Iterable[str],
    pairs: Sequence[tuple[str, str]] | None = None,
    *,
    lent: Mapping[str, float] | None = None,
) -> pd.DataFrame:
    """`contrasts` between mechanisms, at equal δ and all else equal."""
    return contrasts(runs, MECHANISM, metrics, pairs, lent=lent)


def deterrence(
    runs: pd.DataFrame,
    metrics: Iterable[str] = ("reporting_rate", "silent_incident_rate"),
    *,
    lent: Mapping[str, float] | None = None,
) -> pd.DataFrame:
    """Estimate what retaliation deters: each cell against the same world without retaliation.

    Returns
    -------
    DataFrame
        As of `contrasts` of `RETALIATION_KEY`, second = 0. Empty where the sweep has no cell without
        retaliation: that world is run, not imagined.
    """
    runs = finished(runs)
    if RETALIATION_KEY not in runs or not (runs[RETALIATION_KEY] == 0).any():
        return contrasts(runs.iloc[:0], RETALIATION_KEY, metrics)
    others = sorted({float(v) for v in runs[RETALIATION_KEY].unique()} - {0.0})
    return contrasts(runs, RETALIATION_KEY, metrics, [(value, 0.0) for value in others], lent=lent)


def group_contrast(
    groups: pd.DataFrame, runs: pd.DataFrame, metric: str, first: str, second: str
) -> Estimate:
    """Estimate how a rate differs between two levels of a dimension within the same runs.

    Parameters
    ----------
    groups
        Rows of `groups.parquet` of one dimension.
    runs
        The runs to take.
    metric
        A metric of the dimension.
    first, second
        Levels.
    """
    runs = finished(runs)
    tied = runs[["run_id"]].assign(_seed=runs[seed_column(runs)])
    part = groups[(groups["metric"] == metric) & groups["level"].isin([first, second])].merge(
        tied, on="run_id"
    )
    seeds = np.sort(part["_seed"].unique())
    sides = []
    for level in (first, second):
        sums = part[part["level"] == level].groupby("_seed")[["numerator", "denominator"]].sum()
        sums = sums.reindex(seeds, fill_value=0.0)
        sides.append((sums["numerator"].to_numpy(np.float64), sums["denominator"].to_numpy(np.float64)))
    if not (len(seeds) and sides[0][1].sum() and sides[1][1].sum()):
        return Estimate(None, None, None, None, len(seeds), "none")
    generator = keyed_generator("groups", metric, len(seeds))
    return paired_bootstrap(sides[0], sides[1], generator, rate=wording(metric).kind == "rate")


def advantages(
    runs: pd.DataFrame, by: Sequence[str], *, lent: Mapping[str, float] | None = None
) -> pd.DataFrame:
    """Estimate the worst-case adversary's advantage at the labs' threshold, within the same runs.

    For each single report the guarantee bounds it by delta. Filed and unfiled reports are different reports here,
    about different incidents, so the difference of their rates can stray from what holds for each.

    Returns
    -------
    DataFrame
        As of `estimates`, metric `worst_case_advantage`; empty where the runs have no false alarms counted.
    """
    runs = finished(runs)
    needed = [f"{part}_{end}" for part in _SIDES for end in ("numerator", "denominator")]
    if not len(runs) or set(needed) - set(runs.columns):
        return pd.DataFrame(columns=[*by, *ESTIMATE_COLUMNS])
    rates = records(estimates(runs, _SIDES, by, lent=lent))
    rows = []
    for i, (cell, some) in enumerate(cells(runs, by)):
        parts = [ratio_parts(some, name) for name in _SIDES]
        if not (parts[0][1].sum() and parts[1][1].sum()):
            continue
        found = paired_bootstrap(parts[0], parts[1], keyed_generator(ADVANTAGE, len(some)), rate=True)
        row = cell | tidy(ADVANTAGE, found, len(some))
        if found.method == _NO_SPREAD:
            row["low"], row["high"] = _combined(rates[2 * i], rates[2 * i + 1])
        rows.append(row)
    return frame_of(rows, list(by))


def is_told_apart(found: Estimate | Mapping[str, Any]) -> bool:
    """Whether the interval of a difference lies on one side of no difference."""
    low, high = (found.low, found.high) if isinstance(found, Estimate) else (found["low"], found["high"])
    return low is not None and high is not None and bool(low > 0 or high < 0)


_NO_SPREAD = "difference of Wilson intervals"
_SIDES = ("strong_identification_rate", "strong_false_alarm_rate")
_VALUES = ("metric", "value", "low", "high", "error", "n_runs", "rows", "method")
