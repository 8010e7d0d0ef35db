r"""What a guarantee means for a suspect: caps on odds, on posteriors and on an adversary's success.

The prior is the adversary's belief that the report was filed, with everything known from elsewhere already
in it. Caps on odds exist for the exponential mechanism only: a counter's noise is Gaussian, whose
likelihood ratios are not bounded.
"""

import numpy as np
from scipy import special

from ...ports import FloatArray
from ._numbers import at_least_zero, in_unit_interval, like, open_unit
from .calibration import delta_for_epsilon

__all__ = [
    "delta_for_posterior_cap",
    "exponential_success_gain",
    "gaussian_success_gain",
    "odds_cap",
    "posterior_cap",
    "success_gain",
]


def odds_cap[N: (float, FloatArray)](epsilon: N, n_reports: N) -> N:
    r"""Largest likelihood ratio of a transcript of the exponential mechanism: :math:`e^{k\varepsilon}`.

    Parameters
    ----------
    epsilon
        Weight of one report, at least 0.
    n_reports
        Number k of reports that stand or fall together: one person's, or those of colleagues who move as
        one.

    Notes
    -----
    docs/mechanisms.md, section 8. It caps evidence *for* a report; evidence against one is not capped.
    """
    return like(epsilon, np.exp(at_least_zero(epsilon, "epsilon") * at_least_zero(n_reports, "n_reports")))


def posterior_cap[N: (float, FloatArray)](prior: N, odds: N) -> N:
    r"""Largest posterior that evidence capped at `odds` allows: :math:`\pi\rho/(\pi\rho + 1 - \pi)`.

    Parameters
    ----------
    prior
        Probability of a report before the transcript is seen, 0 to 1.
    odds
        Cap on the likelihood ratio (`odds_cap`).

    Examples
    --------
    >>> round(posterior_cap(0.3, 1.3134669), 4)
    0.3602
    """
    pi = in_unit_interval(prior, "prior")
    with np.errstate(divide="ignore"):
        return like(prior, special.expit(special.logit(pi) + np.log(at_least_zero(odds, "odds"))))


def delta_for_posterior_cap[N: (float, FloatArray)](prior: N, threshold: N) -> N:
    r"""Level at which the exponential mechanism's posterior cap equals a punisher's threshold.

    Below it a lab with this prior never punishes on the transcript at a posterior of `threshold` or more.

    Parameters
    ----------
    prior, threshold
        Strictly between 0 and 1.

    Returns
    -------
    delta
        0 where the threshold does not exceed the prior: such a lab needs no transcript.

    Examples
    --------
    >>> round(delta_for_posterior_cap(0.3, 0.5), 4)
    0.3027
    """
    log_odds = special.logit(open_unit(threshold, "threshold")) - special.logit(open_unit(prior, "prior"))
    return like(prior, delta_for_epsilon(np.maximum(log_odds, 0.0)))


def success_gain[N: (float, FloatArray)](delta: N, prior: N) -> N:
    r"""Most by which a (0, delta) transcript helps to guess: :math:`\delta\,\min(\pi, 1 - \pi)`.

    The gain is the best chance of a right guess with the transcript minus that without, which is
    max(prior, 1 - prior) (the paper's additive advantage).
    """
    pi = in_unit_interval(prior, "prior")
    return like(delta, in_unit_interval(delta, "delta") * np.minimum(pi, 1.0 - pi))


def gaussian_success_gain[N: (float, FloatArray)](mu: N, prior: N) -> N:
    r"""Success gain under the whole curve of mu-GDP, never above `success_gain`.

    With :math:`\ell = \log(\pi/(1 - \pi))` the best test has success
    :math:`\pi\,\Phi(\mu/2 + \ell/\mu) + (1 - \pi)\,\Phi(\mu/2 - \ell/\mu)` (two normals mu apart).
    """
    shift, pi = at_least_zero(mu, "mu"), in_unit_interval(prior, "prior")
    with np.errstate(divide="ignore", invalid="ignore"):
        lean = np.where(special.logit(pi) == 0.0, 0.0, special.logit(pi) / shift)
    best = pi * special.ndtr(shift / 2.0 + lean) + (1.0 - pi) * special.ndtr(shift / 2.0 - lean)
    return like(mu, np.maximum(best - np.maximum(pi, 1.0 - pi), 0.0))


def exponential_success_gain[N: (float, FloatArray)](epsilon: N, prior: N) -> N:
    r"""Success gain under the exponential mechanism's curve, never above `success_gain`.

    The best test on the curve :math:`1 - TPR = y^\rho`, :math:`y = 1 - FPR`, has
    :math:`y^{\rho - 1} = (1 - \pi)/(\pi\rho)`. Where that is 1 or more, i.e. where the posterior cap is at
    most 1/2, the best guess is always "no report" and the gain is exactly 0.
    """
    weight, pi = at_least_zero(epsilon, "epsilon"), in_unit_interval(prior, "prior")
    rho = np.exp(weight)
    with np.errstate(divide="ignore", invalid="ignore"):
        log_y = np.minimum((-special.logit(pi) - weight) / np.expm1(weight), 0.0)
        log_y = np.where(weight == 0.0, np.where(pi > 0.5, -np.inf, 0.0), log_y)
        best = pi * -np.expm1(rho * log_y) + (1.0 - pi) * np.exp(log_y)
    return like(epsilon, np.maximum(best - np.maximum(pi, 1.0 - pi), 0.0))
