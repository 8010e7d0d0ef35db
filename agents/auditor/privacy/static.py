r"""Exact mis-selection in a static decision: the leader has `gap` active reports, the other targets none.

The probability is that of auditing another target than the leader, also at gap 0, where every rule that
treats targets alike has (C - 1)/C. All functions broadcast.
"""

from collections.abc import Callable

import numpy as np
from scipy import special

from ...ports import FloatArray
from ._numbers import at_least_zero, in_unit_interval, like, positive, whole

__all__ = [
    "counter_misselection",
    "exponential_misselection",
    "greedy_misselection",
    "rr_misselection",
    "smallest_gap",
    "uniform_misselection",
]

# The trapezoid rule on a smooth integrand that decays like a normal density converges faster than any power
# of the step; this one leaves about 1e-15 up to a million targets. Beyond 39 standard deviations there is
# nothing a double could hold.
_STEP = 1.0 / 32.0
_GRID = np.arange(-39 * 32, 39 * 32 + 1) * _STEP
_WEIGHTS = _STEP * np.exp(-0.5 * _GRID**2) / np.sqrt(2.0 * np.pi)


def counter_misselection[N: (float, FloatArray)](gap: N, noise_std: N, n_targets: N) -> N:
    r"""Mis-selection of a counter mechanism: :math:`1 - E[\Phi(X + \Delta/s)^{C - 1}]`, X standard normal.

    Parameters
    ----------
    gap
        Lead of the leader in reports, at least 0.
    noise_std
        Standard deviation s of each target's noise, in reports: sigma times the counter's `noise_std`.
    n_targets
        Number C of targets.

    Notes
    -----
    docs/mechanisms.md, section 4. Integrated as the mean of the complement :math:`1 - \Phi^{C-1}`, which
    is positive, so that small probabilities keep their relative accuracy.

    Examples
    --------
    >>> round(counter_misselection(10.0, 3.9789499, 50), 3)
    0.4
    """
    lead = at_least_zero(gap, "gap") / positive(noise_std, "noise_std")
    rivals = whole(n_targets, "n_targets", 1) - 1.0
    lead, rivals = np.broadcast_arrays(lead, rivals)
    missed = -np.expm1(rivals[..., None] * special.log_ndtr(_GRID + lead[..., None]))
    return like(gap, np.minimum(missed @ _WEIGHTS, 1.0))


def exponential_misselection[N: (float, FloatArray)](gap: N, epsilon: N, n_targets: N) -> N:
    r"""Mis-selection of the exponential mechanism: :math:`(C - 1)/(e^{\varepsilon\Delta} + C - 1)`."""
    advantage = at_least_zero(gap, "gap") * at_least_zero(epsilon, "epsilon")
    with np.errstate(divide="ignore"):
        return like(gap, special.expit(np.log(whole(n_targets, "n_targets", 1) - 1.0) - advantage))


def rr_misselection[N: (float, FloatArray)](gap: N, p_rand: N, n_targets: N) -> N:
    """Mis-selection of randomized response: (C - 1)/C at gap 0, p_rand times that otherwise."""
    chance = 1.0 - 1.0 / whole(n_targets, "n_targets", 1)
    tied = at_least_zero(gap, "gap") == 0.0
    return like(gap, chance * np.where(tied, 1.0, in_unit_interval(p_rand, "p_rand")))


def greedy_misselection[N: (float, FloatArray)](gap: N, n_targets: N) -> N:
    """Mis-selection of the greedy rule: (C - 1)/C at gap 0, where all are tied, and 0 otherwise."""
    return rr_misselection(gap, like(gap, np.zeros(np.shape(gap))), n_targets)


def uniform_misselection[N: (float, FloatArray)](gap: N, n_targets: N) -> N:
    """Mis-selection of the uniform rule: (C - 1)/C whatever the gap."""
    return rr_misselection(gap, like(gap, np.ones(np.shape(gap))), n_targets)


def smallest_gap(misselection: Callable[[float], float], success: float) -> int | None:
    """Smallest whole gap at which the leader is audited with probability `success` or more.

    Parameters
    ----------
    misselection
        Probability of another target at a gap; not increasing, and defined at infinity.
    success
        Wanted probability, 0 to 1.

    Returns
    -------
    gap
        None if no gap is large enough.
    """
    allowed = 1.0 - success + 1e-12  # a hair, so that an exact tie is not lost to rounding
    if misselection(0.0) <= allowed:
        return 0
    if misselection(np.inf) > allowed:
        return None
    high = 1
    while misselection(float(high)) > allowed:
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        if misselection(float(middle)) <= allowed:
            high = middle
        else:
            low = middle
    return high
