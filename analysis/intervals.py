"""Intervals for what runs report: proportions, ratios of sums over runs, means, paired differences.

The run is the unit of replication: outcomes within a run hang together (one retaliation teaches a whole
team to be silent), so an interval that counts them as independent is too short. Coverage of nominal 95 %
intervals, measured on beta-binomial runs of about 12 outcomes (correlation within a run 0.1; 4000 data sets
each, so ± 0.007):

====  =====  ============  ==============  =================
runs  rate   plain Wilson  cluster_wilson  cluster_bootstrap
====  =====  ============  ==============  =================
5     0.20   0.834         0.980           0.915
10    0.02   0.890         0.973           0.801
10    0.20   0.815         0.952           0.933
20    0.02   0.845         0.965           0.853
20    0.20   0.812         0.945           0.940
50    0.02   0.825         0.935           0.902
50    0.20   0.811         0.951           0.949
====  =====  ============  ==============  =================

So: `cluster_wilson` for rates (it is plain Wilson where a run has one outcome each), `bootstraps.cluster_bootstrap`
for other ratios of sums, `t_interval` for means of one number a run, `bootstraps.paired_bootstrap` and `paired_t` for
two mechanisms on common random numbers.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri, stdtrit

from .ratios import defined, known, ratio_error, ratio_input, student

__all__ = [
    "Estimate",
    "cluster_wilson",
    "monte_carlo_error",
    "paired_t",
    "t_interval",
    "wilson",
    "wilson_bounds",
    "wilson_ends",
]

type _Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Estimate:
    """An estimate with its interval.

    Attributes
    ----------
    value, low, high
        The estimate and the ends of its interval; None where undefined (no data, or one run for a mean).
    error
        Monte Carlo error: the standard error of `value` over runs; None where it cannot be known.
    n_runs
        Independent runs (pairs of runs, for a difference) behind it.
    method
        How the interval was made.
    numerator, denominator
        Sums over runs, for a ratio.
    """

    value: float | None
    low: float | None
    high: float | None
    error: float | None
    n_runs: int
    method: str
    numerator: float | None = None
    denominator: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """Give the fields as JSON takes them."""
        return asdict(self)


def wilson_bounds(
    successes: npt.ArrayLike, trials: npt.ArrayLike, level: float = 0.95
) -> tuple[_Floats, _Floats]:
    """Ends of Wilson's score interval for a proportion of independent trials.

    Parameters
    ----------
    successes, trials
        Counts, any shapes that broadcast; need not be whole (effective sample sizes).
    level
        Confidence level.

    Returns
    -------
    low, high
        NaN where there is no trial.

    References
    ----------
    Wilson (1927), Journal of the American Statistical Association 22, 209-212.
    """
    return wilson_ends(successes, trials, float(ndtri(0.5 + level / 2)))


def wilson(successes: float, trials: float, level: float = 0.95) -> Estimate:
    """Estimate a proportion of independent trials (one outcome a run, or within one run).

    >>> one = wilson(3, 10)
    >>> [round(x, 4) for x in (one.value, one.low, one.high)]
    [0.3, 0.1078, 0.6032]
    """
    successes, trials = float(successes), float(trials)
    if not 0 <= successes <= trials:
        raise ValueError(f"successes must lie between 0 and trials, got {successes} of {trials}")
    if trials == 0:
        return Estimate(None, None, None, None, 0, "wilson", successes, trials)
    low, high = wilson_bounds(successes, trials, level)
    share = successes / trials
    error = float(np.sqrt(share * (1 - share) / trials))
    return Estimate(share, float(low), float(high), error, int(trials), "wilson", successes, trials)


def cluster_wilson(numerators: npt.ArrayLike, denominators: npt.ArrayLike, level: float = 0.95) -> Estimate:
    """Estimate a rate pooled over runs by Wilson's interval at the effective sample size.

    The effective size is `p(1-p) / v` with `v` the variance of the pooled rate over runs (linearised), at most
    the number of outcomes; the normal quantile is replaced by Student's with runs - 1 degrees of freedom.
    Where all outcomes are alike nothing is known of the correlation within runs, so a run counts as one outcome,
    the most cautious reading. With one run it is the plain interval, which holds within that run only.

    Parameters
    ----------
    numerators, denominators
        Of each run, shape (runs,); 0 <= numerator <= denominator. Runs with denominator 0 carry nothing.
    level
        Confidence level.

    References
    ----------
    Korn & Graubard (1998), Survey Methodology 24, 193-201 (effective sample size, degrees of freedom);
    Dean & Pagano (2015), Journal of Survey Statistics and Methodology 3, 484-503 (with Wilson's interval).
    """
    above, below = ratio_input(numerators, denominators)
    if (above < 0).any() or (above > below).any():
        raise ValueError("a rate needs 0 <= numerator <= denominator in every run")
    some = below > 0
    above, below = above[some], below[some]
    n_runs, top, bottom = len(above), float(above.sum()), float(below.sum())
    if n_runs < 2 or (below == 1).all():
        plain = wilson(top, bottom, level)
        return Estimate(
            plain.value,
            plain.low,
            plain.high,
            None if n_runs < 2 else plain.error,
            n_runs,
            "wilson",
            top,
            bottom,
        )
    rate, error = top / bottom, float(ratio_error(above[:, None], below[:, None])[0])
    if top in (0.0, bottom):
        size, quantile = float(n_runs), float(ndtri(0.5 + level / 2))
    else:
        size = min(rate * (1 - rate) / error**2, bottom) if error > 0 else bottom
        quantile = float(stdtrit(n_runs - 1, 0.5 + level / 2))
    low, high = wilson_ends(rate * size, size, quantile)
    return Estimate(rate, float(low), float(high), error, n_runs, "cluster wilson", top, bottom)


def t_interval(values: Sequence[float | None] | npt.ArrayLike, level: float = 0.95) -> Estimate:
    """Estimate a mean over runs with Student's interval; undefined values (None, NaN) are left out.

    >>> one = t_interval([1.0, 2.0, 3.0])
    >>> [round(x, 4) for x in (one.value, one.low, one.high, one.error)]
    [2.0, -0.4841, 4.4841, 0.5774]
    """
    given = defined(values)
    n = len(given)
    if n == 0:
        return Estimate(None, None, None, None, 0, "t")
    mean, error = (
        given.mean(keepdims=True),
        np.array([monte_carlo_error(given) if n > 1 else np.nan], dtype=float),
    )
    low, high = student(mean, error, n, level)
    return Estimate(float(mean[0]), known(low[0]), known(high[0]), known(error[0]), n, "t")


def paired_t(first: npt.ArrayLike, second: npt.ArrayLike, level: float = 0.95) -> Estimate:
    """Estimate the mean of `first - second` over pairs of runs; a pair with an undefined value is left out."""
    one, other = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if one.shape != other.shape:
        raise ValueError(f"pairs need as many runs on both sides, got {one.shape} and {other.shape}")
    result = t_interval(one - other, level)
    return Estimate(result.value, result.low, result.high, result.error, result.n_runs, "paired t")


def monte_carlo_error(values: Sequence[float | None] | npt.ArrayLike) -> float | None:
    """Standard error of the mean over runs, sd/√n; None with fewer than two defined values."""
    given = defined(values)
    return float(given.std(ddof=1) / np.sqrt(len(given))) if len(given) > 1 else None


def wilson_ends(successes: npt.ArrayLike, trials: npt.ArrayLike, z: float) -> tuple[_Floats, _Floats]:
    """`wilson_bounds` by the normal (or Student's) quantile `z` itself."""
    k, n = np.asarray(successes, dtype=np.float64), np.asarray(trials, dtype=np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        p = k / n
        centre = (p + z * z / (2 * n)) / (1 + z * z / n)
        half = z / (1 + z * z / n) * np.sqrt(np.maximum(p * (1 - p), 0.0) / n + z * z / (4 * n * n))
        # exact at the ends, where rounding would leave 1e-17
        low = np.where(k == 0, np.where(n > 0, 0.0, np.nan), np.maximum(centre - half, 0.0))
        high = np.where(k == n, np.where(n > 0, 1.0, np.nan), np.minimum(centre + half, 1.0))
    return low, high
