"""Misconduct: how often and how grave."""

from .base import Number, Probability, Table, parameter

__all__ = ["Incidents"]


class Incidents(Table):
    """`[incidents]`: a Poisson process per target, severities from a Beta distribution."""

    rate: Number = parameter(1.0, "Incidents per target and year.", "1/year", ge=0.0, le=10_000.0)
    severity_mean: Number = parameter(
        0.5, "Mean severity; severity is also the harm per week while open.", "severity", gt=0.0, lt=1.0
    )
    severity_concentration: Number = parameter(
        4.0,
        "Concentration (sum of both shapes) of the Beta distribution of severity.",
        "none",
        gt=0.0,
        le=1e6,
    )
    deterrence: Probability = parameter(
        0.0, "Share of a lab's incidents that do not happen right after an audit that found one.", "share"
    )
    deterrence_weeks: Number = parameter(
        26.0, "Time after which half of that effect is left.", "weeks", gt=0.0, le=5200.0
    )
