r"""Group privacy: total variation at most, when one person may have filed several reports.

Each function takes the level `delta` of one report (docs/mechanisms.md, section 5). What the k
reports of a person can move apart depends on the mechanism and on where they fall:

========================  =====================================================
any mechanism             `linear_group_delta`
counters, anywhere        `same_counter_group_delta`
counters, k_c on target c `mixed_group_delta`
counters, spread in time  `separated_group_delta`
randomized response       `rr_group_delta`: delta, for any k
exponential               `exponential_group_delta`
========================  =====================================================

The rows for counters rest on Gaussian DP: removing the reports shifts the innovations by a vector u whose
coordinate at a decision depends on the past of the transcript only, so the path is
:math:`\|u\|/\sigma`-GDP if that norm is bounded on every path (Smith & Thakurta 2022, "Fully adaptive
composition for Gaussian differential privacy"). Restarts only cut columns short or move reports to
independent noise, and the entries are not negative, so they never lengthen u.
"""

import numpy as np
from scipy import special

from ...ports import FloatArray
from ._numbers import like, open_unit, whole
from .calibration import delta_for_epsilon, epsilon_for_delta

__all__ = [
    "different_targets_group_delta",
    "exponential_group_delta",
    "linear_group_delta",
    "mixed_group_delta",
    "rr_group_delta",
    "same_counter_group_delta",
    "separated_group_delta",
    "separated_sensitivity",
]


def _scaled(delta: float | FloatArray, factor: FloatArray) -> FloatArray:
    """Total variation when the GDP level that belongs to `delta` grows by `factor`."""
    result: FloatArray = special.erf(factor * special.erfinv(open_unit(delta, "delta")))
    return result


def linear_group_delta[N: (float, FloatArray)](delta: N, n_reports: N) -> N:
    r"""Bound of every mechanism: :math:`\min(1, k\delta)`, one report at a time.

    Parameters
    ----------
    delta
        Per-report deniability level, 0 < delta < 1.
    n_reports
        Number k of reports of one person, whole and at least 0.
    """
    return like(delta, np.minimum(1.0, open_unit(delta, "delta") * whole(n_reports, "n_reports", 0)))


def same_counter_group_delta[N: (float, FloatArray)](delta: N, n_reports: N) -> N:
    r"""Counters, wherever the k reports fall: :math:`2\Phi(k\mu/2) - 1`.

    The worst case is k reports on one target in one period. Parameters as in `linear_group_delta`.

    Examples
    --------
    >>> [round(same_counter_group_delta(0.1, k), 4) for k in (2, 5, 10)]
    [0.1984, 0.4702, 0.7911]
    """
    return like(delta, _scaled(delta, whole(n_reports, "n_reports", 0)))


def different_targets_group_delta[N: (float, FloatArray)](delta: N, n_reports: N) -> N:
    r"""Counters, the k reports on k different targets: :math:`2\Phi(\sqrt{k}\mu/2) - 1`.

    The targets' counters have independent noise, so the shifts are orthogonal. Parameters as in
    `linear_group_delta`.

    Examples
    --------
    >>> [round(different_targets_group_delta(0.1, k), 4) for k in (2, 5, 10)]
    [0.1411, 0.2213, 0.3089]
    """
    return like(delta, _scaled(delta, np.sqrt(whole(n_reports, "n_reports", 0))))


def mixed_group_delta(delta: float, reports_per_target: FloatArray) -> FloatArray:
    r"""Counters, k_c of the reports on target c: :math:`2\Phi(\sqrt{\sum_c k_c^2}\,\mu/2) - 1`.

    Parameters
    ----------
    delta
        Per-report deniability level, 0 < delta < 1.
    reports_per_target
        Whole numbers, shape (..., targets).

    Returns
    -------
    group_delta
        Shape (...).
    """
    counts = whole(reports_per_target, "reports_per_target", 0)
    return _scaled(delta, np.sqrt(np.sum(counts**2, axis=-1)))


def separated_sensitivity(coefficients: FloatArray, n_reports: int, separation: int) -> float:
    r"""Sensitivity of a Toeplitz encoder to reports that are a minimum time apart.

    Parameters
    ----------
    coefficients
        First column of the encoder over the horizon, shape (horizon,): not negative, not increasing.
    n_reports
        Number k of reports on one target, at least 0. No more than ceil(horizon / separation) fit; the rest
        changes nothing.
    separation
        Periods b between any two of them at least. 0 allows them all in one period (k times M_T).

    Returns
    -------
    sensitivity
        Norm of the sum of the columns 0, b, 2b, ..., the largest that is possible.

    Raises
    ------
    ValueError
        If the coefficients are negative or increase somewhere, or a count is negative.

    Notes
    -----
    The squared norm is a sum of inner products of columns. With j the later column and d the distance,
    it is :math:`\sum_{s < T - j} f_s f_{s + d}`: fewer terms when j grows, smaller terms when d grows, none
    negative. In any admissible choice the q-th report (from 0) has j at least q b and is at least (q - p) b
    from the p-th, so columns 0, b, 2b, ... maximise every inner product at once. (Kalinin & Lampert 2024,
    "Banded square root matrix factorization", have the same worst case.)

    Examples
    --------
    >>> separated_sensitivity(np.array([1.0, 0.5, 0.375]), n_reports=2, separation=2)  # (1, 0.5, 1.375)
    1.7721808598447282
    """
    column = np.asarray(coefficients, dtype=np.float64)
    if column.ndim != 1 or column.size == 0 or np.any(column < 0.0) or np.any(np.diff(column) > 0.0):
        raise ValueError("coefficients must be one column, not negative and not increasing")
    if n_reports < 0 or separation < 0:
        raise ValueError(f"n_reports and separation must be at least 0, got {n_reports} and {separation}")
    if separation == 0:
        return float(n_reports * np.linalg.norm(column))
    # rows of `separation` entries: the sum of shifted columns is a running sum over the last k rows
    n_rows = -(-column.size // separation)
    table = np.zeros(n_rows * separation)
    table[: column.size] = column
    sums = np.cumsum(table.reshape(n_rows, separation), axis=0)
    if n_reports < n_rows:
        sums[n_reports:] -= sums[: n_rows - n_reports].copy()
    return float(np.linalg.norm(sums.ravel()[: column.size]))


def separated_group_delta(delta: float, coefficients: FloatArray, n_reports: int, separation: int) -> float:
    r"""Counters, k reports on one target at least b periods apart: :math:`2\Phi(\mu M_{k,b}/(2 M_T)) - 1`.

    `coefficients` is the encoder's first column over the horizon for which the counter is calibrated;
    :math:`M_{k,b}` is `separated_sensitivity`. For several targets add the squares of their M's.
    """
    one = float(np.linalg.norm(np.asarray(coefficients, dtype=np.float64)))
    several = separated_sensitivity(coefficients, n_reports, separation)
    return float(_scaled(delta, np.asarray(several / one)))


def rr_group_delta[N: (float, FloatArray)](delta: N, n_reports: N) -> N:
    r"""Randomized response: `delta` for any number of reports (0 for none).

    :math:`1 - p^T` is the chance that a decision of the horizon reads the reports at all, however many there
    are.
    """
    return like(delta, np.where(whole(n_reports, "n_reports", 0) > 0, open_unit(delta, "delta"), 0.0))


def exponential_group_delta[N: (float, FloatArray)](delta: N, n_reports: N) -> N:
    r"""Exponential mechanism, k reports anywhere at any times: its formula with :math:`k\varepsilon`.

    Chaining k worlds gives :math:`1 - TPR \ge (1 - FPR)^{\rho^k}` (docs/mechanisms.md, section 7). Parameters as in
    `linear_group_delta`.

    Examples
    --------
    >>> [round(exponential_group_delta(0.1, k), 4) for k in (2, 5, 10)]
    [0.1982, 0.4658, 0.7721]
    """
    weight = np.asarray(epsilon_for_delta(delta)) * whole(n_reports, "n_reports", 0)
    return like(delta, delta_for_epsilon(weight))
