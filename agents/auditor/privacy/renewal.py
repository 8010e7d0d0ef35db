r"""Beyond the horizon: what composes when a report outlives it, and when horizons follow one another.

A report matters only while it is active. Once its target has been audited, both worlds have the same counts
and, given the transcript so far, the same future. So a horizon of T decisions is really a limit on the
*age* of a report: the number of decisions, from its filing on, at which it is active. A run of any length
costs nothing extra for reports that are audited within T decisions.

For a report that grows older there are two policies:

- **Go on** with the same noise. The counters' column of that report grows from norm M_T to M_A, which is slow
  (`counter_delta_at_age`); randomized response pays per decision (`rr_delta_at_age`).
- **Renew**: restart every counter with fresh noise, and feed it the counts that are still active as reports
  of the new horizon's first period. A report active in m horizons is then exposed m times, to independent
  noise: `renewed_counter_delta` for counters, `renewed_delta` for any mechanism. A report that is not carried
  over (the counts are zeroed, or its target was audited before) keeps its delta.

The exponential mechanism needs neither: its delta holds for every age.
"""

import numpy as np
from scipy import special

from ...ports import FloatArray
from ._numbers import at_least_one, at_least_zero, like, open_unit, positive, whole

__all__ = ["counter_delta_at_age", "renewed_counter_delta", "renewed_delta", "rr_delta_at_age"]


def counter_delta_at_age[N: (float, FloatArray)](delta: N, horizon_sensitivity: N, age_sensitivity: N) -> N:
    r"""Total variation for a report active at A decisions: :math:`2\Phi(\mu M_A/(2M_T)) - 1`.

    Parameters
    ----------
    delta
        Level for which the counter is calibrated at its horizon T.
    horizon_sensitivity, age_sensitivity
        The encoder's M_T and M_A (for Toeplitz: `toeplitz_sensitivity`). A may be below T (a report that was
        audited sooner) or above it.

    Examples
    --------
    >>> from .toeplitz import toeplitz_sensitivity
    >>> ten_times = counter_delta_at_age(0.1, toeplitz_sensitivity(1000), toeplitz_sensitivity(10_000))
    >>> round(ten_times, 4)
    0.1106
    """
    ratio = positive(age_sensitivity, "age_sensitivity") / positive(
        horizon_sensitivity, "horizon_sensitivity"
    )
    return like(delta, special.erf(ratio * special.erfinv(open_unit(delta, "delta"))))


def rr_delta_at_age[N: (float, FloatArray)](delta: N, horizon: N, age: N) -> N:
    r"""Randomized response, for reports active at A decisions: :math:`1 - (1 - \delta)^{A/T}`."""
    exponent = at_least_zero(age, "age") / at_least_one(horizon, "horizon")
    return like(delta, 0.0 - np.expm1(exponent * np.log1p(-open_unit(delta, "delta"))))


def renewed_delta[N: (float, FloatArray)](delta: N, n_horizons: N) -> N:
    r"""Any (0, delta)-DP mechanism, for a report active in m horizons: :math:`1 - (1 - \delta)^m`.

    Notes
    -----
    Given any transcript of the horizons before, the next one's laws in the two worlds are within delta, so
    the worlds can be coupled to agree in it with probability 1 - delta, and in all m with (1 - delta)^m. For
    a group of reports pass the group's delta. For randomized response it is `rr_delta_at_age` at age m T.

    Examples
    --------
    >>> round(renewed_delta(0.1, 2), 4)
    0.19
    """
    m = whole(n_horizons, "n_horizons", 0)
    return like(delta, 0.0 - np.expm1(m * np.log1p(-open_unit(delta, "delta"))))


def renewed_counter_delta[N: (float, FloatArray)](delta: N, n_horizons: N, n_reports: N) -> N:
    r"""Counters, k reports anywhere, active in m horizons: :math:`2\Phi(k\sqrt{m}\,\mu/2) - 1`.

    Gaussian DP composes in squares (Dong, Roth & Su 2022), adaptively too (Smith & Thakurta 2022): each
    horizon contributes a shift of norm k M_T / sigma at most, in noise that is fresh. Tighter than
    `renewed_delta`.

    Examples
    --------
    >>> round(renewed_counter_delta(0.1, 2, 1), 4)
    0.1411
    """
    factor = whole(n_reports, "n_reports", 0) * np.sqrt(whole(n_horizons, "n_horizons", 0))
    return like(delta, special.erf(factor * special.erfinv(open_unit(delta, "delta"))))
