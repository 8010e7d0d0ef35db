"""Intervals by resampling whole runs, for ratios of sums and for differences between paired runs."""

from dataclasses import replace

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr, stdtrit

from .intervals import Estimate, cluster_wilson, wilson_ends
from .ratios import divide, influence, influence_error, known, ratio_error, ratio_input, student

__all__ = ["cluster_bootstrap", "cluster_bootstraps", "paired_bootstrap", "square_and_add"]

type _Floats = npt.NDArray[np.float64]

RESAMPLES = 2000
"""Resamples of a bootstrap: the end points then wobble by a few per cent of the interval's length."""


def cluster_bootstrap(
    numerators: npt.ArrayLike,
    denominators: npt.ArrayLike,
    generator: np.random.Generator,
    level: float = 0.95,
    resamples: int = RESAMPLES,
) -> Estimate:
    """Estimate a ratio of sums over runs by resampling whole runs.

    The ends are percentiles at levels widened for few runs: Φ(−√(n/(n−1)) t) in the place of 2.5 % (Hesterberg
    2015). Fewer than 5 runs are too few to resample: the interval is Student's on the linearised ratio then.
    Where every run has the same ratio the interval has no length; for a rate use `cluster_wilson`.

    Parameters
    ----------
    numerators, denominators
        Of each run, shape (runs,); denominators >= 0. The ratio of the sums is estimated, not the mean ratio.
    generator
        Source of the resamples.
    level
        Confidence level.
    resamples
        How many.

    References
    ----------
    Hesterberg (2015), "What teachers should know about the bootstrap", The American Statistician 69, 371-386.
    """
    above, below = ratio_input(numerators, denominators)
    return cluster_bootstraps(above[:, None], below[:, None], generator, level, resamples)[0]


def cluster_bootstraps(
    numerators: npt.ArrayLike,
    denominators: npt.ArrayLike,
    generator: np.random.Generator,
    level: float = 0.95,
    resamples: int = RESAMPLES,
) -> list[Estimate]:
    """`cluster_bootstrap` of many ratios of the same runs at once: arrays (runs, ratios), shared resamples."""
    above, below = ratio_input(numerators, denominators)
    n_runs, (top, bottom) = len(above), (above.sum(axis=0), below.sum(axis=0))
    value = divide(top, bottom)
    error = ratio_error(above, below)
    if n_runs < _FEW:
        low, high, method = *student(value, error, n_runs, level), "linearised t"
    else:
        weights = _resample(generator, n_runs, resamples)
        low, high = _percentiles(divide(weights @ above, weights @ below), n_runs, level)
        method = "cluster bootstrap"
    return [
        Estimate(known(v), known(lo), known(hi), known(e), n_runs, method, float(t), float(b))
        for v, lo, hi, e, t, b in zip(value, low, high, error, top, bottom, strict=True)
    ]


def paired_bootstrap(
    first: tuple[npt.ArrayLike, npt.ArrayLike],
    second: tuple[npt.ArrayLike, npt.ArrayLike],
    generator: np.random.Generator,
    level: float = 0.95,
    resamples: int = RESAMPLES,
    *,
    rate: bool = False,
) -> Estimate:
    """Estimate a difference (first minus second) of two ratios of sums over paired runs.

    A run of the first and its pair of the second (same replicate, common random numbers) are resampled together, so
    that what they share cancels.

    Parameters
    ----------
    first, second
        Numerators and denominators, each of shape (pairs,), in the same order of replicates.
    generator, level, resamples
        As for `cluster_bootstrap`.
    rate
        Whether the ratios are proportions. Where no pair differs from the others (nobody was retaliated against
        in any run, say) resampling would claim certainty; for proportions the two intervals of `cluster_wilson`
        are combined instead (Newcombe 1998, Statistics in Medicine 17, 873-890, method 10). So they are where a
        side has fewer than 20 events (or fewer than 20 outcomes without), now with the correlation over pairs of
        the two rates; a side without any event takes the design effect of the other.

    Notes
    -----
    Coverage of 95 % intervals of 700 made-up studies (standard error 0.01), for rates that share their luck, runs of
    12 outcomes, and outcomes of a run correlated by `rho`; below is the share of intervals below the truth:

    ====  ====  ====  ===  =================  =================
    p     q     runs  rho  bootstrap (below)  combined (below)
    ====  ====  ====  ===  =================  =================
    .02   .005  20    .02  .909 (.077)        .973 (.011)
    .02   .005  20    .10  .903 (.090)        .946 (.009)
    .02   .005  50    .02  .926 (.059)        .964 (.020)
    .02   .005  50    .10  .903 (.090)        .927 (.039)
    .02   .02   20    .10  .966 (.020)        .974 (.010)
    .02   .02   50    .10  .933 (.034)        .944 (.030)
    .05   .01   20    .10  .894 (.087)        .944 (.019)
    .05   .01   50    .10  .937 (.050)        .956 (.014)
    .10   .005  20    .10  .911 (.067)        .939 (.030)
    .10   .005  50    .02  .929 (.044)        .951 (.024)
    ====  ====  ====  ===  =================  =================

    References
    ----------
    Zou and Donner (2008), Statistics in Medicine 27, 1693-1702 (square and add with a correlation).
    """
    above_1, below_1 = ratio_input(*first)
    above_2, below_2 = ratio_input(*second)
    if above_1.shape != above_2.shape:
        raise ValueError(f"pairs need as many runs on both sides, got {len(above_1)} and {len(above_2)}")
    n_pairs = len(above_1)
    value = divide(above_1.sum(keepdims=True), below_1.sum(keepdims=True)) - divide(
        above_2.sum(keepdims=True), below_2.sum(keepdims=True)
    )
    # the linearised difference is the sum of one influence a pair
    parts = [influence(a[:, None], b[:, None]) for a, b in ((above_1, below_1), (above_2, below_2))]
    error = influence_error(parts[0] - parts[1])
    if n_pairs < _FEW:
        low, high, method = *student(value, error, n_pairs, level), "paired linearised t"
    else:
        weights = _resample(generator, n_pairs, resamples)
        ratios = [divide(weights @ a, weights @ b) for a, b in ((above_1, below_1), (above_2, below_2))]
        low, high = _percentiles((ratios[0] - ratios[1])[:, None], n_pairs, level)
        method = "paired cluster bootstrap"
    if rate and (
        error[0] == 0.0 or (n_pairs >= _FEW and _events(above_1, below_1, above_2, below_2) < _RARE)
    ):
        one, other = cluster_wilson(above_1, below_1, level), cluster_wilson(above_2, below_2, level)
        if error[0] == 0.0:
            low, high, method = *square_and_add(one, other), "difference of Wilson intervals"
        else:
            lent = _lent(one, other, level), _lent(other, one, level)
            low, high = square_and_add(*lent, _correlation(*parts))
            method = "paired Wilson intervals"
    return Estimate(known(value[0]), known(low[0]), known(high[0]), known(error[0]), n_pairs, method)


_FEW = 5
_RARE = 20.0


def _events(above_1: _Floats, below_1: _Floats, above_2: _Floats, below_2: _Floats) -> float:
    """Outcomes of the rarer kind in the arm that has fewest."""
    return float(min(min(a.sum(), (b - a).sum()) for a, b in ((above_1, below_1), (above_2, below_2))))


def _correlation(one: _Floats, other: _Floats) -> float:
    """Correlation over pairs of what they add to either error; 0 where one adds nothing."""
    scale = float(np.sqrt((one**2).sum() * (other**2).sum()))
    return float((one * other).sum()) / scale if scale > 0 else 0.0


def _lent(one: Estimate, donor: Estimate, level: float) -> Estimate:
    """Give a rate without an event (or with nothing else) the design effect of the rate it is compared with."""
    p, error, n = donor.value, donor.error, one.n_runs
    if not one.denominator or one.numerator not in (0.0, one.denominator) or n < 2:
        return one
    if not (donor.denominator and p and p < 1 and error):
        return one
    design = max(error**2 * donor.denominator / (p * (1 - p)), 1.0)
    # no fewer than one outcome a run, which is what the rate has on its own
    size = max(one.denominator / design, float(n))
    low, high = wilson_ends(size * (one.numerator > 0), size, float(stdtrit(n - 1, 0.5 + level / 2)))
    return replace(one, low=float(low), high=float(high))


def square_and_add(one: Estimate, other: Estimate, correlation: float = 0.0) -> tuple[_Floats, _Floats]:
    """Newcombe's interval for a difference of proportions from the interval of each, and their correlation."""
    p, l1, u1 = (np.array([np.nan if x is None else x]) for x in (one.value, one.low, one.high))
    q, l2, u2 = (np.array([np.nan if x is None else x]) for x in (other.value, other.low, other.high))

    def added(a: _Floats, b: _Floats) -> _Floats:
        result: _Floats = np.sqrt(np.maximum(a * a - 2 * correlation * a * b + b * b, 0.0))
        return result

    return p - q - added(p - l1, u2 - q), p - q + added(u1 - p, q - l2)


def _resample(generator: np.random.Generator, n_runs: int, resamples: int) -> _Floats:
    """How often each run is drawn, shape (resamples, runs)."""
    drawn = generator.multinomial(n_runs, np.full(n_runs, 1.0 / n_runs), size=resamples)
    result: _Floats = drawn.astype(np.float64)
    return result


def _percentiles(replicates: _Floats, n: int, level: float) -> tuple[_Floats, _Floats]:
    """Widened percentiles of each column; resamples in which the ratio is undefined are left out."""
    t = float(stdtrit(n - 1, 0.5 + level / 2))
    tail = float(ndtr(-np.sqrt(n / (n - 1)) * t))
    low, high = np.full(replicates.shape[1], np.nan), np.full(replicates.shape[1], np.nan)
    whole = ~np.isnan(replicates).any(axis=0)
    if whole.any():
        low[whole], high[whole] = np.quantile(replicates[:, whole], [tail, 1 - tail], axis=0)
    for i in np.flatnonzero(~whole & ~np.isnan(replicates).all(axis=0)):
        part = replicates[~np.isnan(replicates[:, i]), i]
        low[i], high[i] = np.quantile(part, [tail, 1 - tail])
    return low, high
