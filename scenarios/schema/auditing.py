"""How the auditor chooses its targets and what an audit brings to light."""

from typing import Annotated, Literal

from pydantic import Field

from .base import Number, Probability, RegistryName, Table, Whole, YesNo, parameter

__all__ = ["Auditor"]


class Auditor(Table):
    """`[auditor]`: one mechanism, one guarantee."""

    mechanism: RegistryName = parameter("tca", "Rule that picks the audited target from the reports.", "none")
    delta: Number = parameter(
        0.1,
        "Deniability level per report: no test on the public transcript tells filed from not filed better than "
        "TPR = FPR + delta.",
        "probability",
        gt=0.0,
        lt=1.0,
    )
    counter: RegistryName = parameter(
        "toeplitz", "Continual counter behind a counter-based mechanism; others ignore it.", "none"
    )
    audits_per_period: Whole = parameter(
        1, "Audits per period, of different targets.", "audits/period", ge=1, le=100_000
    )
    horizon: Annotated[Whole, Field(ge=1, le=1_000_000_000)] | None = parameter(
        None, "Decisions that the guarantee covers; the decisions of the run where it is absent.", "decisions"
    )
    renewal: YesNo = parameter(
        False,
        "Whether the mechanism starts afresh when its horizon ends before the run does; a report that is still "
        "active then costs its delta once more.",
        "none",
    )
    published: YesNo = parameter(
        True, "Whether employees are told the guarantee, so that they can trust it.", "none"
    )
    discovery_probability: Probability = parameter(
        0.8, "Chance that an audit of a target brings one open incident there to light.", "probability"
    )
    scope: Literal["independent", "report-led"] = parameter(
        "independent",
        "Whether reports steer what an audit looks at; a report-led scope is a leak that no selection rule covers.",
        "none",
    )
    unreported_discovery_factor: Probability = parameter(
        0.5,
        "Under a report-led scope, multiplies the discovery probability of an incident without reports.",
        "factor",
    )
