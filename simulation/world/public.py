"""What is public about a scenario: rates and the mechanism, from which a careful lab computes.

Nothing here comes from a realised run: the draws are keyed by the scenario alone, so the same scenario cell
gives the same tables under every seed, and in both worlds of a twin.
"""

from functools import cached_property
from math import ceil

import numpy as np

from ...agents.organization.inference import Knowledge
from ...agents.organization.inference.hazards import HazardTable, estimate_hazards
from ...agents.ports import IntArray
from ...scenarios import ScenarioConfig, content_hash
from ...scenarios.changing import timeline
from ..calendar import WEEKS_PER_YEAR
from ..draws import KeyedDraws
from ..guarantees import Segment, segments
from .layout import Layout
from .outside import outside_rates

__all__ = ["PublicHazards", "public_arrivals", "public_knowledge"]

_PROBES = 50_000  # visits of a probe target, over all replicates
_hazards: dict[tuple[object, ...], HazardTable] = {}


def public_knowledge(
    scenario: ScenarioConfig, in_force: ScenarioConfig, layout: Layout, lab: str
) -> Knowledge:
    """What a lab knows before anything happens, of the scenario of a run and of what of it is in force."""
    policy, employees = in_force.organization_of(lab), in_force.employees
    weeks = in_force.time.period_weeks
    return Knowledge(
        prior=policy.prior,
        window_weeks=policy.timing_window_weeks,
        period_weeks=weeks,
        notice_delay_weeks=employees.notice_delay_weeks,
        report_delay_weeks=employees.report_delay_weeks,
        hazards=PublicHazards(scenario, layout, lab),
        outside_reports=outside_rates(in_force.reports, layout, weeks).tolist().__getitem__,
    )


class PublicHazards:
    """The hazard tables of a run as a lab reckons them: one for each mechanism that is started (`Segment`).

    A table is estimated when a decision of its segment is first judged, with the rates and the lab's prior that held
    when the segment began, and for all decisions that its mechanism could make in one go: nobody foresees a change,
    and none alters what held before it. Tables are kept for the life of the process by what they depend on, so that
    labs, runs and renewals share them.

    Parameters
    ----------
    scenario
        The scenario of the run, with its changes.
    layout
        Labs and targets.
    lab
        Id of the lab.
    """

    def __init__(self, scenario: ScenarioConfig, layout: Layout, lab: str) -> None:
        self._scenario, self._layout, self._lab = scenario, layout, lab

    def __call__(self, decision: int) -> list[tuple[int, HazardTable]]:
        """First decision and table of each segment begun by `decision`, in order of time."""
        return [
            (part.first, _table(part, stage, key, self._layout, stage.organization_of(self._lab).prior))
            for part, stage, key in self._parts
            if part.first <= decision
        ]

    @cached_property
    def _parts(self) -> list[tuple[Segment, ScenarioConfig, str]]:
        """Each segment with what is in force at its first decision, and the hash of that."""
        stages = [(max(ceil(at), 1), stage, content_hash(stage)) for at, stage in timeline(self._scenario)]
        return [
            (part, *[(stage, key) for first, stage, key in stages if first <= part.first][-1])
            for part in segments(self._scenario)
        ]


def _table(part: Segment, stage: ScenarioConfig, stage_key: str, layout: Layout, prior: float) -> HazardTable:
    auditor = part.auditor
    key = (stage_key, prior, auditor.mechanism, auditor.delta, auditor.counter, part.horizon, part.planned)
    if key not in _hazards:
        generator, n_replicates = KeyedDraws(0).generator("public.hazards"), max(_PROBES // part.planned, 1)
        arrivals = public_arrivals(stage, layout, prior, n_replicates, generator, part.planned)
        _hazards[key] = estimate_hazards(
            part.build(), arrivals, generator, audits_per_period=stage.auditor.audits_per_period
        )
    return _hazards[key]


def public_arrivals(
    config: ScenarioConfig,
    layout: Layout,
    prior: float,
    n_replicates: int,
    generator: np.random.Generator,
    periods: int | None = None,
) -> IntArray:
    """Reports drawn from the public rates, shape (replicates, periods, targets); by default the periods of the run.

    Incidents are Poisson, anonymity sets as the access generators say, and each person with access reports with
    probability `prior` after the two exponential delays. Outside reports are Poisson; nobody foresees a burst.
    """
    weeks, periods = config.time.period_weeks, periods or config.time.periods
    employees = config.employees
    rate = config.incidents.rate * weeks / WEEKS_PER_YEAR * periods * (layout.compartments_of_target > 0)
    n_incidents = generator.poisson(rate, size=(n_replicates, layout.n_targets))
    replicate, target = np.nonzero(n_incidents)
    times = n_incidents[replicate, target]
    replicate, target = np.repeat(replicate, times), np.repeat(target, times)
    n_reports = generator.binomial(layout.public_sizes(target, generator), prior)
    happened = np.repeat(generator.random(len(target)) * periods, n_reports)
    replicate, target = np.repeat(replicate, n_reports), np.repeat(target, n_reports)
    notice = generator.standard_exponential(len(target)) * employees.notice_delay_weeks
    report = generator.standard_exponential(len(target)) * employees.report_delay_weeks
    period = np.maximum(np.ceil(happened + (notice + report) / weeks), 1.0).astype(np.int64) - 1
    arrivals = np.zeros((n_replicates, periods, layout.n_targets), dtype=np.int64)
    inside = period < periods
    np.add.at(arrivals, (replicate[inside], period[inside], target[inside]), 1)
    outside = outside_rates(config.reports, layout, weeks)
    if outside.any():
        arrivals += generator.poisson(outside, size=arrivals.shape)
    return arrivals
