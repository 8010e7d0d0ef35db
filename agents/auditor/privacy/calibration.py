"""Calibration: from a deniability level delta to the parameter of each mechanism, and back.

Every function works element by element, broadcasts its arguments as numpy does, and returns a float for
scalars and an array for arrays. The formulas are written so that they keep their digits for delta near 0 and
near 1.
"""

import numpy as np
from scipy import special

from ...ports import FloatArray
from ._numbers import at_least_one, at_least_zero, in_unit_interval, like, open_unit, positive

__all__ = [
    "delta_for_epsilon",
    "delta_for_mu",
    "delta_for_p_rand",
    "delta_for_sigma",
    "epsilon_for_delta",
    "mu_for_delta",
    "p_rand_for_delta",
    "sigma_for_delta",
]

_SQRT_8 = 2.0 * np.sqrt(2.0)
_MAX_NEWTON_STEPS = 100


def mu_for_delta[N: (float, FloatArray)](delta: N) -> N:
    r"""Gaussian-DP level whose total variation is `delta`: :math:`\mu = 2 \Phi^{-1}((1 + \delta)/2)`.

    Parameters
    ----------
    delta
        Total variation, 0 < delta < 1.

    Returns
    -------
    mu
        Distance of two unit-variance normals that are `delta` apart in total variation.

    Raises
    ------
    ValueError
        If `delta` is not strictly between 0 and 1.

    Notes
    -----
    Dong, Roth & Su (2022), "Gaussian differential privacy", at epsilon = 0. Computed as
    :math:`2\sqrt2\,\mathrm{erf}^{-1}(\delta)`, the same number, which keeps its digits for small delta.

    Examples
    --------
    >>> f"{mu_for_delta(0.1):.10f}"
    '0.2513226937'
    """
    return like(delta, _SQRT_8 * special.erfinv(open_unit(delta, "delta")))


def delta_for_mu[N: (float, FloatArray)](mu: N) -> N:
    r"""Total variation of a mu-GDP mechanism: :math:`\delta = 2\Phi(\mu/2) - 1`.

    The inverse of `mu_for_delta`.

    Raises
    ------
    ValueError
        If `mu` is negative or not a number. (mu = 0 gives 0 and infinity gives 1.)
    """
    return like(mu, special.erf(at_least_zero(mu, "mu") / _SQRT_8))


def sigma_for_delta[N: (float, FloatArray)](delta: N, sensitivity: N) -> N:
    r"""Noise of a Gaussian matrix counter: :math:`\sigma = M_T / (2 \Phi^{-1}((1 + \delta)/2))`.

    Parameters
    ----------
    delta
        Per-report deniability level, 0 < delta < 1.
    sensitivity
        Largest column norm M_T of the encoder that is really used, over the horizon.

    Returns
    -------
    sigma
        Standard deviation of each innovation, in reports.

    Raises
    ------
    ValueError
        If `delta` is not strictly between 0 and 1, or `sensitivity` is not positive and finite.

    Notes
    -----
    The paper's calibration at epsilon = 0 (docs/mechanisms.md, section 3). It is exact for the
    counter's noisy path: the two worlds' paths are normals whose means are `sensitivity / sigma` standard
    deviations apart.

    Examples
    --------
    >>> f"{sigma_for_delta(0.1, 1.806931952418915):.12f}"
    '7.189688785140'
    """
    return like(delta, positive(sensitivity, "sensitivity") / np.asarray(mu_for_delta(delta)))


def delta_for_sigma[N: (float, FloatArray)](sigma: N, sensitivity: N) -> N:
    r"""Total variation of a Gaussian matrix counter's path: :math:`2\Phi(M_T/(2\sigma)) - 1`.

    The inverse of `sigma_for_delta` in its first argument.

    Raises
    ------
    ValueError
        If either argument is not positive and finite.
    """
    mu = positive(sensitivity, "sensitivity") / positive(sigma, "sigma")
    return like(sigma, delta_for_mu(mu))


def p_rand_for_delta[N: (float, FloatArray)](delta: N, horizon: N) -> N:
    r"""Probability of a uniform choice in randomized response: :math:`p = (1 - \delta)^{1/T}`.

    Parameters
    ----------
    delta
        Per-report deniability level, 0 < delta < 1.
    horizon
        Number T of audit decisions that the guarantee covers, at least 1.

    Raises
    ------
    ValueError
        If `delta` is not strictly between 0 and 1, or `horizon` is below 1.

    Notes
    -----
    The paper (docs/mechanisms.md, section 2). With probability p^T = 1 - delta no decision reads the reports at all.

    Examples
    --------
    >>> f"{p_rand_for_delta(0.1, 1000):.12f}"
    '0.999894645035'
    """
    return like(delta, np.exp(np.log1p(-open_unit(delta, "delta")) / at_least_one(horizon, "horizon")))


def delta_for_p_rand[N: (float, FloatArray)](p_rand: N, horizon: N) -> N:
    r"""Guarantee of randomized response over a horizon, :math:`1 - p^T`, for any number of reports.

    The inverse of `p_rand_for_delta` in its first argument. A double keeps about 16 digits of `p_rand`, so
    where p is close to 1 delta comes back with an absolute error of about :math:`10^{-16}\,T`.

    Raises
    ------
    ValueError
        If `p_rand` is not in [0, 1], or `horizon` is below 1.
    """
    p = in_unit_interval(p_rand, "p_rand")
    with np.errstate(divide="ignore"):
        return like(p_rand, 0.0 - np.expm1(at_least_one(horizon, "horizon") * np.log(p)))


def _log_delta_for_epsilon(epsilon: FloatArray) -> FloatArray:
    """Log of the exponential mechanism's delta: -epsilon/(e^epsilon - 1) + log(1 - e^-epsilon)."""
    decay = np.exp(-epsilon)
    with np.errstate(divide="ignore", invalid="ignore"):
        exponent = np.where(epsilon > 0.0, epsilon * decay / -np.expm1(-epsilon), 1.0)
        exponent = np.where(np.isinf(epsilon), 0.0, exponent)
        # two forms of one logarithm, each exact where the other loses digits
        log_range = np.where(epsilon > np.log(2.0), np.log1p(-decay), np.log(-np.expm1(-epsilon)))
    return log_range - exponent


def delta_for_epsilon[N: (float, FloatArray)](epsilon: N) -> N:
    r"""Guarantee of the reset-aware exponential mechanism, for every horizon.

    .. math:: \delta = \max_x (x - x^\rho) = \rho^{-1/(\rho - 1)} (1 - 1/\rho), \qquad \rho = e^\varepsilon

    Parameters
    ----------
    epsilon
        Weight of one report in the selection law :math:`\Pr[a = c] \propto e^{\varepsilon n_c}`, at least 0.
        For a group of k reports of one person see `exponential_group_delta`.

    Raises
    ------
    ValueError
        If `epsilon` is negative or not a number.

    Notes
    -----
    This project's own result (docs/mechanisms.md, section 7). Near 0 delta is epsilon / e.
    """
    return like(epsilon, np.exp(_log_delta_for_epsilon(at_least_zero(epsilon, "epsilon"))))


def epsilon_for_delta[N: (float, FloatArray)](delta: N) -> N:
    r"""Weight of one report in the reset-aware exponential mechanism, for a wanted `delta`.

    The inverse of `delta_for_epsilon`.

    Raises
    ------
    ValueError
        If `delta` is not strictly between 0 and 1.

    Notes
    -----
    Newton's method on :math:`\log\delta(\varepsilon)`, whose derivative is
    :math:`\varepsilon/(4\sinh^2(\varepsilon/2))`. The function is increasing and concave, so that from a
    start left of the root every step moves right and stays left of it: no bracket is needed. Both
    :math:`\varepsilon \ge e\,\delta` and :math:`\varepsilon \ge -\log(1-\delta)` hold; the larger one is the
    start.

    Examples
    --------
    >>> f"{epsilon_for_delta(0.1):.10f}"
    '0.2726700105'
    """
    wanted = open_unit(delta, "delta")
    log_wanted = np.log(wanted)
    epsilon = np.maximum(np.e * wanted, -np.log1p(-wanted))
    for _ in range(_MAX_NEWTON_STEPS):
        # not squared as a whole: that would underflow for the smallest epsilon
        slope = (epsilon / np.expm1(epsilon)) / -np.expm1(-epsilon)
        step = (log_wanted - _log_delta_for_epsilon(epsilon)) / slope
        epsilon = epsilon + step
        if np.all(np.abs(step) <= 4.0 * np.finfo(np.float64).eps * epsilon):
            break
    return like(delta, epsilon)
