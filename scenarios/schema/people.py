"""Employees: what they notice, believe and decide."""

from typing import Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from .base import Number, Probability, RegistryName, Table, Whole, parameter

__all__ = ["Beliefs", "Decision", "Employees"]


class Beliefs(Table):
    """`[employees.beliefs]`: fear and efficacy are Beta beliefs that move on what can be seen."""

    fear_mean: Number = parameter(
        0.275, "Prior mean of the belief that reporting is punished.", "probability", gt=0.0, lt=1.0
    )
    fear_strength: Number = parameter(
        4.0, "Pseudo-count of that prior: outcomes that would weigh as much.", "outcomes", gt=0.0, le=1e6
    )
    efficacy_mean: Number = parameter(
        0.5, "Prior mean of the belief that reporting changes something.", "probability", gt=0.0, lt=1.0
    )
    efficacy_strength: Number = parameter(4.0, "Pseudo-count of that prior.", "outcomes", gt=0.0, le=1e6)
    colleague_weight: Probability = parameter(
        0.5, "Weight of a colleague's visible outcome; one's own counts 1.", "factor"
    )
    retaliation_visibility: Probability = parameter(
        1.0, "How much of a colleague's retaliation is seen.", "factor"
    )
    safe_visibility: Probability = parameter(
        0.2,
        "How much is seen of the safe outcome of a colleague known to have reported; less than of a retaliation.",
        "factor",
    )
    decay: Number = parameter(
        0.99, "Share of what was learnt that is left after a week.", "share/week", gt=0.0, le=1.0
    )
    outcome_weeks: Number = parameter(
        26.0, "Time without retaliation after which a report counts as safe.", "weeks", gt=0.0, le=5200.0
    )

    @model_validator(mode="after")
    def _good_news_spreads_less(self) -> Self:
        if self.safe_visibility >= self.retaliation_visibility:
            raise PydanticCustomError(
                "visibility",
                "safe_visibility ({safe}) must be less than retaliation_visibility ({retaliation})",
                {"safe": self.safe_visibility, "retaliation": self.retaliation_visibility},
            )
        return self


class Decision(Table):
    """`[employees.decision]`: the logit of reporting an incident that one has noticed."""

    intercept: Number = parameter(-2.2, "Constant of the logit.", "log-odds", ge=-1000.0, le=1000.0)
    severity_weight: Number = parameter(
        1.0, "Weight of the incident's severity.", "log-odds/severity", ge=0.0, le=1000.0
    )
    efficacy_weight: Number = parameter(
        5.65,
        "Weight of the belief that reporting changes something.",
        "log-odds/probability",
        ge=0.0,
        le=1000.0,
    )
    fear_weight: Number = parameter(
        5.65, "Weight of fear times perceived exposure.", "log-odds/probability", ge=0.0, le=1000.0
    )
    conscience_sd: Number = parameter(
        1.0,
        "Standard deviation of the personal constant, drawn once per person.",
        "log-odds",
        ge=0.0,
        le=1000.0,
    )
    bystander_weight: Number = parameter(
        0.1,
        "Weight of the logarithm of the number of people with access.",
        "log-odds/log people",
        ge=0.0,
        le=1000.0,
    )
    exposure: RegistryName = parameter(
        "naive", "Perceived added risk of being identified among k people with access; naive is 1/k.", "none"
    )
    trust: Probability = parameter(
        0.5, "Weight given to a published guarantee against one's own guess of the exposure.", "factor"
    )


class Employees(Table):
    """`[employees]`: how people notice, report and come and go."""

    scale: Number = parameter(
        1.0, "Multiplies every headcount, and nothing else.", "factor", gt=0.0, le=10_000.0
    )
    notice_probability: Probability = parameter(
        0.3, "Chance that a person with access notices an incident.", "probability"
    )
    notice_delay_weeks: Number = parameter(
        2.0, "Mean delay from incident to notice (exponential).", "weeks", ge=0.0, le=5200.0
    )
    report_delay_weeks: Number = parameter(
        1.0, "Mean delay from decision to report (exponential).", "weeks", ge=0.0, le=5200.0
    )
    repeat_reports: Whole = parameter(
        0,
        "Further reports that one person files about the same incident while it is open. The guarantee is per "
        "report: k reports of one person share a weaker one.",
        "reports",
        ge=0,
        le=10_000,
    )
    repeat_delay_weeks: Number = parameter(
        4.0,
        "Mean delay from one report to the next by the same person (exponential).",
        "weeks",
        gt=0.0,
        le=5200.0,
    )
    turnover: Number = parameter(0.1, "Share of the staff replaced per year.", "1/year", ge=0.0, le=50.0)
    departure_probability: Probability = parameter(
        0.3, "Chance that a person retaliated against leaves; otherwise falls silent.", "probability"
    )
    beliefs: Beliefs = Field(default_factory=Beliefs)
    decision: Decision = Field(default_factory=Decision)
