"""Reports from outside: a Poisson stream per target, and bursts ([reports])."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...agents.ports import Draws, FloatArray, IntArray
from ...scenarios import ScenarioConfig
from ...scenarios.schema import Reports
from ..calendar import WEEKS_PER_YEAR
from .layout import Layout

__all__ = ["OutsideReport", "draw_outside_reports", "outside_rates"]

_BLOCK = 512  # arrivals drawn at a time


class OutsideReport(NamedTuple):
    """One report; its person has a number below 0, and nobody else has that number."""

    time: float
    target: int
    person: int


def outside_rates(reports: Reports, layout: Layout, period_weeks: float) -> FloatArray:
    """Expected outside reports about each target in a period, bursts left out; shape (targets,)."""
    index = {name: number for number, name in enumerate(layout.target_names)}
    rates = np.full(layout.n_targets, reports.rate)
    if reports.lead:
        rates[index[reports.lead]] = reports.lead_rate
    for target, rate in reports.rates.items():
        rates[index[target]] = rate
    return rates * (period_weeks / WEEKS_PER_YEAR) if reports.rates_per == "year" else rates


def draw_outside_reports(
    draws: Draws, stages: Sequence[tuple[float, ScenarioConfig]], layout: Layout
) -> list[OutsideReport]:
    """Draw all outside reports of a run, in order of time.

    A stream is drawn in the time in which its rate is 1, so that it stays the same up to a change of its rate.

    Parameters
    ----------
    draws
        Keyed draws, by target and number.
    stages
        When which scenario comes into force (`timeline`).
    layout
        The targets.
    """
    first = stages[0][1]
    reports, end = first.reports, float(first.time.periods)
    starts = np.array([*(at for at, _ in stages), end])
    rates = np.array([outside_rates(c.reports, layout, c.time.period_weeks) for _, c in stages])
    parts: list[tuple[FloatArray, IntArray, IntArray]] = []
    for target in np.flatnonzero(rates.any(axis=0)).tolist():
        times = _stream(draws, target, starts, rates[:, target])
        number = np.arange(len(times))
        key = np.full(len(times), target)
        parts.append((times, key, _people(draws, "outside", reports, target, number)))
    index = {name: number for number, name in enumerate(layout.target_names)}
    for burst_number, burst in enumerate(reports.bursts):
        for name in burst.targets:
            target, number = index[name], np.arange(burst.size)
            spread = burst.spread_weeks / first.time.period_weeks
            times = burst.at + spread * draws.uniforms("burst.time", burst_number, target, number)
            key = np.full(burst.size, target)
            parts.append((times, key, _people(draws, "burst", reports, burst_number, target, number)))
    if not parts:
        return []
    time, about, person = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.lexsort((about, time))
    order = order[time[order] <= end]
    time, about, person = time[order], about[order], person[order]
    alone = person == 0  # everyone else files once, and gets a number of his or her own
    person[alone] = -reports.people - 1 - np.arange(int(alone.sum()))
    return [OutsideReport(*row) for row in zip(time.tolist(), about.tolist(), person.tolist(), strict=True)]


def _stream(draws: Draws, target: int, starts: FloatArray, rates: FloatArray) -> FloatArray:
    """Times of a Poisson stream whose rate is `rates[i]` from `starts[i]` to the next one."""
    passed = np.concatenate([[0.0], np.cumsum(rates * np.diff(starts))])
    arrivals: list[FloatArray] = []
    count, reached = 0, 0.0
    while reached < passed[-1]:
        block = draws.exponentials("outside.gap", target, np.arange(count, count + _BLOCK))
        arrivals.append(reached + np.cumsum(block))
        reached = float(arrivals[-1][-1])
        count += _BLOCK
    ticks = np.concatenate(arrivals) if arrivals else np.zeros(0)
    ticks = ticks[ticks < passed[-1]]
    stage = np.searchsorted(passed, ticks, side="right") - 1
    result: FloatArray = starts[stage] + (ticks - passed[stage]) / rates[stage]
    return result


def _people(draws: Draws, purpose: str, reports: Reports, *ids: int | IntArray) -> IntArray:
    """Number of the person behind each report: -1, -2, … for the few, 0 for someone who files but this one."""
    few = draws.uniforms(f"{purpose}.share", *ids) < reports.people_share
    which = (draws.uniforms(f"{purpose}.person", *ids) * reports.people).astype(np.int64)
    return np.where(few, -1 - which, 0)
