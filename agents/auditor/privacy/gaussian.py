r"""Trade-off curves: the most true positives a test on the transcript can have at given false positives.

A curve maps a false-positive rate (accusing someone who did not report) to an upper bound on the
true-positive rate (accusing someone who did). The largest TPR - FPR on it is the total variation. All
curves are concave, start at or above 0 and end at 1.
"""

import numpy as np
from scipy import special

from ...ports import FloatArray
from ._numbers import at_least_zero, in_unit_interval, like

__all__ = ["delta_trade_off", "exponential_trade_off", "gaussian_trade_off", "rr_trade_off"]


def gaussian_trade_off[N: (float, FloatArray)](fpr: N, mu: N) -> N:
    r"""Bound of a mu-GDP mechanism: :math:`TPR \le \Phi(\Phi^{-1}(FPR) + \mu)`.

    Parameters
    ----------
    fpr
        False-positive rate, 0 to 1.
    mu
        Gaussian-DP level (`mu_for_delta`), at least 0.

    Notes
    -----
    Dong, Roth & Su (2022), "Gaussian differential privacy". The counter mechanisms obey it with
    `mu_for_delta(delta)`: it touches `FPR + delta` at one point, :math:`FPR = \Phi(-\mu/2)`, and lies below
    it elsewhere.
    """
    rate, shift = in_unit_interval(fpr, "fpr"), at_least_zero(mu, "mu")
    return like(fpr, special.ndtr(special.ndtri(rate) + shift))


def delta_trade_off[N: (float, FloatArray)](fpr: N, delta: N) -> N:
    """Bound of every (0, delta)-DP mechanism: TPR <= min(1, FPR + delta)."""
    return like(fpr, np.minimum(1.0, in_unit_interval(fpr, "fpr") + in_unit_interval(delta, "delta")))


def exponential_trade_off[N: (float, FloatArray)](fpr: N, epsilon: N) -> N:
    r"""Bound of the reset-aware exponential mechanism: :math:`1 - TPR \ge (1 - FPR)^{e^\varepsilon}`.

    Parameters
    ----------
    fpr
        False-positive rate, 0 to 1.
    epsilon
        Weight of one report, at least 0; `k * epsilon` for k reports of one person.

    Notes
    -----
    This project's own result (docs/mechanisms.md, section 7). The slope at FPR = 0 is
    rho = e^epsilon: evidence for a report never exceeds it.
    """
    rate, weight = in_unit_interval(fpr, "fpr"), at_least_zero(epsilon, "epsilon")
    with np.errstate(divide="ignore"):
        return like(fpr, -np.expm1(np.exp(weight) * np.log1p(-rate)))


def rr_trade_off[N: (float, FloatArray)](fpr: N, delta: N) -> N:
    """Bound of randomized response, for any number of reports: TPR <= min(1, FPR + delta).

    Notes
    -----
    With probability 1 - delta no decision of the horizon reads the reports, and what is left may tell
    everything: the worlds are (1 - delta) U + delta Q and (1 - delta) U + delta Q' with the same U. No
    concave curve below the line holds for all such mixtures.
    """
    return delta_trade_off(fpr, delta)
