"""The decision to report: a logit of what the employee knows and believes (docs/odd.md, section 4)."""

from collections.abc import Callable
from math import exp, log

__all__ = ["EXPOSURES", "perceived_exposure", "report_logit", "report_probability"]


def _naive(anonymity_set: int) -> float:
    """One in as many people as have access: whoever looks for the reporter picks among them."""
    return 1.0 / anonymity_set


def _square_root(anonymity_set: int) -> float:
    """A slower fall with the anonymity set: people do not trust numbers fully."""
    return float(anonymity_set**-0.5)


def _certain(anonymity_set: int) -> float:  # noqa: ARG001
    """Whoever reports expects to be found out, whatever the anonymity set."""
    return 1.0


EXPOSURES: dict[str, Callable[[int], float]] = {
    "naive": _naive,
    "square-root": _square_root,
    "certain": _certain,
}
"""Forms of the perceived risk of being identified without any guarantee, by name in scenario files."""


def perceived_exposure(
    anonymity_set: int, *, form: str = "naive", delta: float | None = None, trust: float = 0.0
) -> float:
    """Perceived added risk of being identified by reporting.

    Parameters
    ----------
    anonymity_set
        Number of people with access, at least 1.
    form
        A key of `EXPOSURES`.
    delta
        The published guarantee, or None where none is published.
    trust
        How far the employee believes the guarantee, from 0 to 1.

    Returns
    -------
    float
        `(1 - trust) naive(k) + trust min(naive(k), delta)`, from 0 to 1.

    Examples
    --------
    >>> perceived_exposure(8)
    0.125
    >>> perceived_exposure(2, delta=0.1, trust=1.0)
    0.1
    """
    risk = EXPOSURES[form](anonymity_set)
    if delta is None:
        return risk
    return (1.0 - trust) * risk + trust * min(risk, delta)


def report_logit(
    *,
    intercept: float,
    severity: float,
    severity_weight: float,
    efficacy: float,
    efficacy_weight: float,
    fear: float,
    fear_weight: float,
    exposure: float,
    conscience: float,
    anonymity_set: int,
    bystander_weight: float,
) -> float:
    """Log odds of reporting: `b0 + bS severity + bE efficacy - bR fear exposure + conscience - bK ln k`."""
    return (
        intercept
        + severity_weight * severity
        + efficacy_weight * efficacy
        - fear_weight * fear * exposure
        + conscience
        - bystander_weight * log(anonymity_set)
    )


def report_probability(logit: float) -> float:
    """The logistic function, safe at both ends.

    >>> report_probability(0.0)
    0.5
    >>> report_probability(-1e4)
    0.0
    """
    if logit >= 0.0:
        return 1.0 / (1.0 + exp(-logit))
    odds = exp(logit)
    return odds / (1.0 + odds)
