"""What a scenario guarantees: which mechanism makes which decisions, and what a report costs over the whole run.

A run is cut into *segments*, each of them one mechanism in one go. A new one begins where [[changes]] put another
mechanism into office, and where `auditor.renewal` starts it afresh at the end of its horizon. Active reports are
taken along, so a report that is still active in m segments is exposed m times, each time to randomness that is
fresh: its guarantee is the composed one.

Nobody foresees a change: a mechanism is calibrated for the decisions that are left when it comes into office.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import ceil, hypot

from ..agents.auditor.mechanisms import CounterMechanism, Mechanism, build, mechanism
from ..agents.auditor.privacy import (
    delta_for_mu,
    exponential_group_delta,
    linear_group_delta,
    mu_for_delta,
    rr_group_delta,
)
from ..scenarios import InputError, ResolvedScenario, ScenarioConfig, cell_config, sweep_cells
from ..scenarios.changing import timeline
from ..scenarios.schema import Auditor

__all__ = [
    "Segment",
    "StatedGuarantee",
    "check_horizons",
    "published_deltas",
    "segments",
    "stated_guarantee",
]

_CLOCK = ("auditor.", "time.", "changes")  # paths that decide how long a guarantee has to last


@dataclass(frozen=True)
class Segment:
    """Decisions `first` to `last` (from 1, both included), made by one mechanism in one go.

    Attributes
    ----------
    regime
        0 until [[changes]] put another mechanism into office, then 1, and so on.
    auditor
        The table [auditor] that holds.
    horizon
        Decisions for which the mechanism is calibrated, in its own way of counting them.
    planned
        Decisions of a run that it can make in one go, at most all of them. It may make fewer: a change, which
        nobody foresees, or the end of the run comes first.
    """

    first: int
    last: int
    regime: int
    auditor: Auditor
    horizon: int
    planned: int

    def build(self) -> Mechanism:
        """Make the mechanism, in its first state."""
        auditor = self.auditor
        return build(auditor.mechanism, auditor.delta, self.horizon, counter=auditor.counter)


@dataclass(frozen=True)
class StatedGuarantee:
    """What may be said of a run, before it is run.

    Attributes
    ----------
    delta
        Total variation that one report can cost over the whole run, in the worst case; 1 says nothing.
    segments
        Number of segments in which one report can be active, in the worst case.
    reports
        Reports that one employee may file about one incident.
    person_delta, person_delta_linear
        What all these together can cost: the tightest bound that we know, and the linear one, `min(1, k delta)`.
    text
        All this in words.
    """

    delta: float
    segments: int
    reports: int
    person_delta: float
    person_delta_linear: float
    text: str


def segments(config: ScenarioConfig) -> tuple[Segment, ...]:
    """Cut a run into segments.

    Raises
    ------
    InputError
        The horizon is shorter than the run (several audits a period may use it up faster), and there is no renewal.
    """
    periods = config.time.periods
    offices = _offices(config)
    result: list[Segment] = []
    for regime, (first, auditor) in enumerate(offices):
        last = offices[regime + 1][0] - 1 if regime + 1 < len(offices) else periods
        result += (s for s in _planned(auditor, regime, first, last, periods))
    return tuple(result)


def _offices(config: ScenarioConfig) -> list[tuple[int, Auditor]]:
    """First decision and [auditor] of each mechanism that comes into office."""
    offices: list[tuple[int, Auditor]] = []
    for at, stage in timeline(config):
        first, auditor = max(ceil(at), 1), stage.auditor
        if offices and _rule(offices[-1][1]) == _rule(auditor):
            continue
        if offices and offices[-1][0] == first:
            offices.pop()
        offices.append((first, auditor))
    return offices


def _rule(auditor: Auditor) -> tuple[str, float, str]:
    return auditor.mechanism, auditor.delta, auditor.counter


def _planned(auditor: Auditor, regime: int, first: int, last: int, periods: int) -> Iterator[Segment]:
    """Segments of one regime from `first` to `last`, calibrated for the run's whole rest."""
    cls = mechanism(auditor.mechanism)
    needed = cls.horizon_of(periods - first + 1, auditor.audits_per_period)
    horizon = auditor.horizon or needed
    each = horizon // cls.horizon_of(1, auditor.audits_per_period) if cls.needs_horizon else periods
    if each < last - first + 1 and not (auditor.renewal and each):
        several = auditor.audits_per_period > 1
        raise InputError(
            f"auditor.horizon = {horizon}: less than the {needed} decisions that the guarantee would have to cover"
            + (f" (each audit of a period is one under {auditor.mechanism})" if several else "")
            + ("; auditor.renewal = true starts it afresh, at a price" if each else "")
        )
    while first <= last:
        yield Segment(first, min(first + each - 1, last), regime, auditor, horizon, min(each, periods))
        first += each


def check_horizons(scenario: ResolvedScenario) -> None:
    """Check that the guarantee lasts as long as the run, in every cell of the sweep.

    Raises
    ------
    InputError
        As `segments`, with the cell.
    """
    segments(scenario.config)
    seen: list[dict[str, object]] = []
    for cell in sweep_cells(scenario):
        own = {path: value for path, value in cell.items() if path.startswith(_CLOCK)}
        if own and own not in seen:
            seen.append(own)
            try:
                segments(cell_config(scenario, own))
            except InputError as error:
                told = ", ".join(f"{path} = {value}" for path, value in own.items())
                raise InputError(f"sweep: the cell {told}: {error}") from None


def published_deltas(config: ScenarioConfig) -> tuple[float | None, ...]:
    """Guarantee of one report that employees are told of in each stage of `timeline`; None where there is none.

    It is that of a report filed when the mechanism came into office, with renewals until the end of the run and no
    later change foreseen.
    """
    periods = config.time.periods
    result: list[float | None] = []
    before, delta = None, 1.0
    for at, stage in timeline(config):
        auditor = stage.auditor
        if before is None or _rule(before) != _rule(auditor):
            delta = _composed(_planned(auditor, 0, max(ceil(at), 1), periods, periods), 1)
        result.append(delta if auditor.published and delta < 1.0 else None)
        before = auditor
    return tuple(result)


def _composed(parts: Iterable[Segment], n_reports: int) -> float:
    """Total variation that `n_reports` reports can cost which are active in all `parts`."""
    rules = [part.build() for part in parts]
    if len(rules) == n_reports == 1:
        return rules[0].guarantee()
    mu, kept = 0.0, 1.0
    for rule in rules:
        if isinstance(rule, CounterMechanism):
            # Gaussian DP composes in squares, and k reports shift k times as far
            mu = hypot(mu, n_reports * float(mu_for_delta(rule.guarantee())))
        else:
            kept *= 1.0 - _group(rule, n_reports)
    if mu:
        kept *= 1.0 - float(delta_for_mu(mu))
    return 1.0 - kept


def _group(rule: Mechanism, n_reports: int) -> float:
    """Total variation that `n_reports` reports can cost under a mechanism without a counter."""
    alone, k = rule.guarantee(), float(n_reports)
    if n_reports == 1 or not 0.0 < alone < 1.0:
        return alone
    known = {"exponential": exponential_group_delta, "rr": rr_group_delta}
    return float(known.get(rule.id, linear_group_delta)(alone, k))


def stated_guarantee(config: ScenarioConfig) -> StatedGuarantee:
    """Say what a scenario guarantees.

    Raises
    ------
    InputError
        As `segments`.

    Examples
    --------
    >>> from deniability.simulation import load_scenario
    >>> stated_guarantee(load_scenario("five-labs").config).delta
    0.1
    >>> renewed = ["auditor.horizon=52", "auditor.renewal=true", "employees.repeat_reports=1"]
    >>> stated = stated_guarantee(load_scenario("five-labs", overrides=renewed).config)
    >>> stated.segments, round(stated.delta, 4), round(stated.person_delta, 4)
    (2, 0.1411, 0.2777)
    """
    parts = segments(config)
    reports = 1 + max(stage.employees.repeat_reports for _, stage in timeline(config))
    delta, several = _composed(parts, 1), _composed(parts, reports)
    linear = min(1.0, reports * delta)
    several = min(several, linear)
    return StatedGuarantee(
        delta=delta,
        segments=len(parts),
        reports=reports,
        person_delta=several,
        person_delta_linear=linear,
        text=" ".join(_sentences(config, parts, delta, reports, several, linear)),
    )


def _sentences(
    config: ScenarioConfig,
    parts: tuple[Segment, ...],
    delta: float,
    reports: int,
    several: float,
    linear: float,
) -> Iterator[str]:
    names = [f"{part.build().label} at {part.build().guarantee():.4g}" for part in parts]
    if delta >= 1.0:
        yield "Nothing is guaranteed: the transcript may betray a report for sure."
    elif delta == 0.0:
        yield "The transcript does not depend on the reports at all."
    else:
        yield f"One report changes the chance of anything in the public transcript by at most {delta:.4g}."
    regimes = {part.regime for part in parts}
    if len(parts) > len(regimes):
        yield (
            f"The mechanism starts afresh every {parts[0].last - parts[0].first + 1} periods and takes active "
            f"reports along, so this is for a report that stays active in all {len(parts)} horizons; one whose "
            f"target is audited within its first horizon costs {parts[0].build().guarantee():.4g}."
        )
    if len(regimes) > 1:
        offices = dict.fromkeys(
            f"{name} (from decision {part.first} on)"
            for name, part, before in zip(names, parts, (None, *parts), strict=False)
            if before is None or before.regime != part.regime
        )
        yield (
            f"The mechanism changes: {', then '.join(offices)}. The bound is for a report that stays active "
            "through all of them; one that is filed and audited under one of them has that one's."
        )
    if reports > 1:
        yield (
            f"One employee may file {reports} reports about one incident: all of them together change it by at "
            f"most {several:.4g} (by the linear rule {linear:.4g})."
        )
    if config.reports.people_share > 0.0:
        yield (
            f"The {config.reports.people} who file {config.reports.people_share:.0%} of the outside reports file "
            "without limit: k reports of one person have a bound that grows with k up to 1."
        )
