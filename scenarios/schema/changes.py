"""What changes in the middle of a run: a law, a published guarantee, a new mechanism, a purge."""

from typing import Annotated, Any, Literal

from pydantic import Field, Strict

from .base import Number, Probability, Table, Text, parameter

__all__ = ["CHANGEABLE", "Change", "Purge"]

CHANGEABLE = frozenset(
    {
        "auditor.counter",
        "auditor.delta",
        "auditor.discovery_probability",
        "auditor.mechanism",
        "auditor.published",
        "auditor.scope",
        "auditor.unreported_discovery_factor",
        "employees.beliefs.colleague_weight",
        "employees.beliefs.outcome_weeks",
        "employees.beliefs.retaliation_visibility",
        "employees.beliefs.safe_visibility",
        "employees.decision.bystander_weight",
        "employees.decision.efficacy_weight",
        "employees.decision.exposure",
        "employees.decision.fear_weight",
        "employees.decision.intercept",
        "employees.decision.severity_weight",
        "employees.decision.trust",
        "employees.departure_probability",
        "employees.notice_probability",
        "employees.repeat_delay_weeks",
        "employees.repeat_reports",
        "incidents.deterrence",
        "incidents.deterrence_weeks",
        "incidents.rate",
        "organizations.budget",
        "organizations.cost",
        "organizations.covered_retaliation_probability",
        "organizations.covered_share",
        "organizations.criterion",
        "organizations.disclosure_probability",
        "organizations.evaluate",
        "organizations.gain",
        "organizations.inference",
        "organizations.leak_probability",
        "organizations.prior",
        "organizations.retaliation_hazard",
        "organizations.retaliation_probability",
        "organizations.sanction",
        "organizations.threshold",
        "organizations.timing_window_weeks",
        "reports.lead_rate",
        "reports.rate",
    }
)
"""What may change during a run: how people, labs and the auditor behave. The rest is what the world is made of."""


class Purge(Table):
    """A lab gets rid of part of its staff at once, for whatever reason it gives; newcomers take the places."""

    lab: Text = parameter("", "Id of the lab; every lab where it is empty.", "none")
    share: Probability = parameter(..., "Chance of each of these people to go.", "probability")
    among: Literal["everyone", "access", "reporters"] = parameter(
        "access",
        "Who may have to go: everyone, people with access to an open incident of the lab, or those who have filed a "
        "report (which a lab cannot know: a worst case).",
        "none",
    )


class Change(Table):
    """One of `[[changes]]`. Nobody foresees it: what came before is the same as without it."""

    at: Number = parameter(
        ..., "When it happens; at a whole period, before that period's decision.", "periods", gt=0.0, le=1e6
    )
    set: Annotated[dict[Annotated[str, Strict()], Any], Strict()] = parameter(
        {},
        "Dotted path to the value that holds from then on; a value of a lab's own still comes first.",
        "none",
    )
    purge: Annotated[Purge | None, Field(json_schema_extra={"unit": "none"})] = Field(
        None, description="Staff that a lab gets rid of."
    )
