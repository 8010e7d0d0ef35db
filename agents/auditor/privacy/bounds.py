"""Bounds on the error of a selection: what theorems promise, and what no mechanism can beat."""

import numpy as np
from scipy import special

from ...ports import FloatArray
from ._numbers import at_least_zero, in_unit_interval, like, positive, whole

__all__ = ["error_floor", "rr_error_floor", "utility_bound"]


def utility_bound[N: (float, FloatArray)](effective_gap: N, sigma: N, n_targets: N) -> N:
    r"""Most error of a counter mechanism, given the history: :math:`(C - 1)\,\Phi(-g/(\sqrt2\sigma))`.

    Parameters
    ----------
    effective_gap
        Lead g of the true leader over every challenger, the noise already drawn included; any sign.
    sigma
        Standard deviation of an innovation.
    n_targets
        Number C of targets.

    Notes
    -----
    The paper's utility theorem (docs/mechanisms.md, section 4): a union bound over
    challengers, two innovations being new.
    """
    gap = np.asarray(effective_gap, dtype=np.float64)
    tail = special.ndtr(-gap / (np.sqrt(2.0) * positive(sigma, "sigma")))
    return like(effective_gap, np.minimum(1.0, (whole(n_targets, "n_targets", 1) - 1.0) * tail))


def rr_error_floor[N: (float, FloatArray)](delta: N, n_targets: N) -> N:
    r"""Least error of randomized response at every horizon and gap: :math:`\max(0, (C - 1)/C - \delta)`.

    The paper's impossibility result for randomized response (docs/mechanisms.md, section 2).
    """
    chance = 1.0 - 1.0 / whole(n_targets, "n_targets", 1)
    return like(delta, np.maximum(0.0, chance - in_unit_interval(delta, "delta")))


def error_floor[N: (float, FloatArray)](gap: N, delta: N, n_targets: N) -> N:
    r"""Least error of any (0, delta)-DP rule at a first decision: :math:`\max(0, (C - 1)/C - \Delta\delta)`.

    Parameters
    ----------
    gap
        Lead of the leader in reports, at least 0.
    delta
        Per-report deniability level.
    n_targets
        Number C of targets.

    Notes
    -----
    This project's own (docs/mechanisms.md, section 4): a rule that treats targets alike errs with
    (C - 1)/C at gap 0, and each further report moves the error by delta at most. For a rule that does not,
    it holds on average over the leaders.
    """
    chance = 1.0 - 1.0 / whole(n_targets, "n_targets", 1)
    return like(gap, np.maximum(0.0, chance - at_least_zero(gap, "gap") * in_unit_interval(delta, "delta")))
