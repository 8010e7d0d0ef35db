"""The whole scenario."""

from collections.abc import Iterator
from difflib import get_close_matches
from typing import Annotated, Any, Self

from pydantic import Field, Strict, model_validator
from pydantic_core import PydanticCustomError

from .auditing import Auditor
from .base import Identifier, Table, Text, parameter
from .changes import Change
from .incidents import Incidents
from .labs import Access, Colleagues, Lab
from .organizations import Organizations
from .people import Employees
from .reports import Reports
from .study import Study, Time
from .sweeping import Sweep

__all__ = ["SPANNED", "ScenarioConfig"]

SPANNED = frozenset(
    {
        "auditor.audits_per_period",
        "auditor.horizon",
        "auditor.renewal",
        "changes",
        "employees.beliefs.retaliation_visibility",
        "employees.beliefs.safe_visibility",
        "labs.<id>.targets",
        "reports.bursts",
        "reports.lead",
        "reports.rates",
        "time.periods",
    }
)
"""Parameters of rules that span several of them: only these can be right one by one and wrong together."""

type Texts = Annotated[dict[Annotated[str, Strict()], Text], Strict()]


class ScenarioConfig(Table):
    """Everything that a scenario file can say, with defaults filled in.

    Rates are per year and delays in weeks. Each value has one dotted path (`employees.beliefs.decay`), used alike by
    `--set`, `[sweep]`, `[evidence]` and messages.
    """

    scenario: Study = Field(default_factory=Study)
    time: Time = Field(default_factory=Time)
    auditor: Auditor = Field(default_factory=Auditor)
    labs: Annotated[dict[Identifier, Lab], Strict(), Field(min_length=1, max_length=100_000)]
    access: Access = Field(default_factory=Access)
    colleagues: Colleagues = Field(default_factory=Colleagues)
    incidents: Incidents = Field(default_factory=Incidents)
    employees: Employees = Field(default_factory=Employees)
    organizations: Organizations = Field(default_factory=Organizations)
    reports: Reports = Field(default_factory=Reports)
    changes: tuple[Change, ...] = parameter(
        (),
        "What changes during a run, each at its time; a list, in the file as [[changes]].",
        "none",
        strict=False,
    )
    sweep: Sweep = Field(default_factory=Sweep)
    evidence: Texts = Field(
        default_factory=dict,
        description="Dotted path (or a table's) to where its value comes from: a key of [sources], or an assumption.",
        json_schema_extra={"unit": "none"},
    )
    sources: Texts = Field(
        default_factory=dict,
        description="Key to the full citation that [evidence] refers to.",
        json_schema_extra={"unit": "none"},
    )

    @property
    def n_targets(self) -> int:
        """Number of audit targets in all labs."""
        return sum(len(lab.targets) for lab in self.labs.values())

    @property
    def target_names(self) -> list[str]:
        """`lab/target` of every audit target, in the order in which they are numbered."""
        return [f"{lab_id}/{target}" for lab_id, lab in self.labs.items() for target in lab.targets]

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if found := list(self._conflicts()):
            raise PydanticCustomError(
                "conflicts", "{told}", {"told": "; ".join(text for _, text in found), "found": found}
            )
        return self

    def _conflicts(self) -> Iterator[tuple[tuple[str | int, ...], str]]:
        auditor = self.auditor
        if auditor.audits_per_period > self.n_targets:
            yield (
                ("auditor", "audits_per_period"),
                f"auditor.audits_per_period = {auditor.audits_per_period}: the audits of a period are of different "
                f"targets, and there are only {self.n_targets}",
            )
        if auditor.horizon is not None and auditor.horizon < self.time.periods and not auditor.renewal:
            yield (
                ("auditor", "horizon"),
                f"auditor.horizon = {auditor.horizon}: less than time.periods = {self.time.periods}, so the "
                "guarantee would end before the run; auditor.renewal = true starts it afresh, at a price",
            )
        targets = set(self.target_names) if (named := self.reports.named_targets()) else set()
        for place, target in named:
            if target not in targets:
                near = get_close_matches(target, targets, n=1)
                hint = f'did you mean "{near[0]}"?' if near else f'one is "{self.target_names[0]}"'
                shown = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place)
                told = f"reports{shown}" if place[0] != "rates" else "reports.rates"
                yield ("reports", *place), f'{told}: there is no target "{target}"; {hint}'
        for number, change in enumerate(self.changes):
            if change.at > self.time.periods:
                yield (
                    ("changes", number, "at"),
                    f"changes[{number}].at = {change.at:g}: after the end of the run (time.periods = "
                    f"{self.time.periods})",
                )
            if change.purge and change.purge.lab and change.purge.lab not in self.labs:
                yield (
                    ("changes", number, "purge", "lab"),
                    f'changes[{number}].purge.lab = "{change.purge.lab}": there is no such lab; there are '
                    f"{', '.join(self.labs)}",
                )

    def access_of(self, lab_id: str) -> Access:
        """[access] as it holds in one lab."""
        return _overridden(self.access, self.labs[lab_id].access)

    def organization_of(self, lab_id: str) -> Organizations:
        """[organizations] as it holds in one lab."""
        return _overridden(self.organizations, self.labs[lab_id].organization)


def _overridden[T: Table](table: T, overrides: Any) -> T:
    # both sides were checked when they were read, and no rule of these tables spans two keys
    return table.model_copy(update=dict(overrides)) if overrides else table
