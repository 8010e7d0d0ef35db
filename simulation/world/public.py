"""What is public about a scenario: rates and the mechanism, from which a careful lab computes.

Nothing here comes from a realised run: the draws are keyed by the scenario alone, so the same scenario cell
gives the same tables under every seed, and in both worlds of a twin.
"""

import numpy as np

from ...agents.organization.inference import Knowledge
from ...agents.organization.inference.hazards import HazardTable, estimate_hazards
from ...agents.ports import IntArray
from ...scenarios import ScenarioConfig, content_hash
from ...scenarios.schema import Organizations
from ..calendar import WEEKS_PER_YEAR
from ..draws import KeyedDraws
from ..guarantees import segments
from .layout import Layout
from .outside import outside_rates

__all__ = ["public_arrivals", "public_hazards", "public_knowledge"]

_PROBES = 50_000  # visits of a probe target, over all replicates
_hazards: dict[tuple[str, float], HazardTable] = {}


def public_knowledge(config: ScenarioConfig, layout: Layout, policy: Organizations) -> Knowledge:
    """What a lab with this policy knows before anything happens."""
    return Knowledge(
        prior=policy.prior,
        window_weeks=policy.timing_window_weeks,
        period_weeks=config.time.period_weeks,
        notice_delay_weeks=config.employees.notice_delay_weeks,
        report_delay_weeks=config.employees.report_delay_weeks,
        hazards=lambda: public_hazards(config, layout, policy.prior),
        outside_reports=outside_rates(config.reports, layout, config.time.period_weeks).tolist().__getitem__,
    )


def public_hazards(config: ScenarioConfig, layout: Layout, prior: float) -> HazardTable:
    """The hazard table of a scenario cell, estimated once and kept for the life of the process."""
    key = (content_hash(config), prior)
    if key not in _hazards:
        # the mechanism's first segment stands for all: a lab does not reckon with its being started afresh
        part = segments(config)[0]
        periods = part.last - part.first + 1
        generator = KeyedDraws(0).generator("public.hazards")
        arrivals = public_arrivals(config, layout, prior, max(_PROBES // periods, 1), generator, periods)
        _hazards[key] = estimate_hazards(
            part.build(), arrivals, generator, audits_per_period=config.auditor.audits_per_period
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
