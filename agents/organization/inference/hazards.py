"""The chance that a target is audited, given its active count and run length: estimated from the mechanism itself.

A lab that knows the mechanism and the public rates can simulate the auditor. Many replicates are run side by
side on streams drawn from the public rates. In each, one target (the probe) gets extra bursts of reports, so
that counts far above the usual are met as well; only the probe is counted, so the others stay as the rates have
them. Where the mechanism has no memory, its exact probabilities are averaged in place of counting audits.

The table is an estimate. Its error (a binomial standard error per cell, after smoothing: the hazard does not fall
when the count rises) is in `standard_error`; the other targets' state enters only through its average.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import isotonic_regression

from ...auditor.mechanisms.base import Mechanism, MemorylessMechanism
from ...ports import FloatArray, IntArray

__all__ = ["HazardTable", "estimate_hazards"]

_MAX_COUNT = 96
_BURST_CHANCE = 0.15  # per period, for the probe
_PSEUDO_VISITS = 8.0  # weight of the average over run lengths in a cell


@dataclass(frozen=True)
class HazardTable:
    """Chance of an audit by run length and active count.

    Attributes
    ----------
    hazard
        Shape (periods, counts): row L - 1 for run length L, column n for n active reports; longer runs and
        higher counts are read off the last row and column.
    standard_error
        Same shape: binomial standard error of the cell's own visits; NaN where there was none.
    """

    hazard: FloatArray
    standard_error: FloatArray


def estimate_hazards(
    mechanism: Mechanism,
    arrivals: IntArray,
    generator: np.random.Generator,
    *,
    audits_per_period: int = 1,
) -> HazardTable:
    """Estimate the hazard table by simulation.

    Parameters
    ----------
    mechanism
        A fresh instance; it is reset here.
    arrivals
        New reports drawn from the public rates, shape (replicates, periods, targets).
    generator
        Source of the probes, their bursts and the mechanism's draws.
    audits_per_period
        Number of targets audited at each decision.
    """
    n_replicates, n_periods, n_targets = arrivals.shape
    every = np.arange(n_replicates)
    probe = np.asarray(generator.integers(n_targets, size=n_replicates))
    bursts = generator.random((n_periods, n_replicates)) < _BURST_CHANCE
    sizes = np.exp(generator.random((n_periods, n_replicates)) * np.log(_MAX_COUNT)).astype(np.int64)
    mechanism.reset(n_replicates, n_targets, generator)
    counts = np.zeros((n_replicates, n_targets), dtype=np.int64)
    length = np.zeros(n_replicates, dtype=np.int64)
    visits = np.zeros((n_periods, _MAX_COUNT + 1))
    audits = np.zeros_like(visits)
    exact = isinstance(mechanism, MemorylessMechanism) and audits_per_period == 1
    for period in range(n_periods):
        counts += arrivals[:, period]
        counts[every, probe] += bursts[period] * sizes[period]
        row, column = length, np.minimum(counts[every, probe], _MAX_COUNT)
        np.add.at(visits, (row, column), 1.0)
        chance = np.exp(mechanism.log_probabilities(counts))[every, probe] if exact else None  # type: ignore[attr-defined]
        audited = mechanism.select_many(counts, audits_per_period)
        hit = (audited == probe[:, None]).any(axis=1)
        np.add.at(audits, (row, column), hit if chance is None else chance)
        np.put_along_axis(counts, audited, 0, axis=1)
        length = np.where(hit, 0, length + 1)
    return _smoothed(visits, audits, has_memory=not isinstance(mechanism, MemorylessMechanism))


def _smoothed(visits: FloatArray, audits: FloatArray, *, has_memory: bool) -> HazardTable:
    """Pool over run lengths, wholly or in classes that double, and make the hazard monotone in the count."""
    overall = _monotone(visits.sum(axis=0), audits.sum(axis=0), np.full(visits.shape[1], 0.5), 1e-9)
    hazard, error = np.empty_like(visits), np.empty_like(visits)
    start, stop = 0, 1 if has_memory else len(visits)
    while start < len(visits):
        n, hits = visits[start:stop].sum(axis=0), audits[start:stop].sum(axis=0)
        level = _monotone(n, hits, overall, _PSEUDO_VISITS) if has_memory else overall
        hazard[start:stop] = level
        with np.errstate(divide="ignore", invalid="ignore"):
            error[start:stop] = np.where(n > 0, np.sqrt(level * (1.0 - level) / n), np.nan)
        start, stop = stop, min(2 * stop, len(visits))
    return HazardTable(hazard, error)


def _monotone(visits: FloatArray, hits: FloatArray, towards: FloatArray, weight: float) -> FloatArray:
    rate = (hits + weight * towards) / (visits + weight)
    result: FloatArray = isotonic_regression(rate, weights=visits + weight).x
    return np.clip(result, 0.0, 1.0)
