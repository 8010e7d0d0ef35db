"""Incidents of misconduct: when and where they happen, and what becomes of them."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.special import betaincinv

from ...agents.ports import BoolArray, Draws, FloatArray, IntArray
from .access import Access

__all__ = ["Incident", "draw_incidents"]


@dataclass(eq=False)
class Incident:
    """One incident; times are in audit periods.

    The fields below `severity` are filled when it happens; rows are the people who had access then.
    """

    incident: int
    time: float
    lab: int
    target: int
    compartment: int
    severity: float
    people: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    due_period: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    """Decision at which each person's report first counts, or would."""
    filed: BoolArray = field(default_factory=lambda: np.zeros(0, dtype=np.bool_))
    candidate: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    """The worst-case adversary's number for each person's (would-be) report; -1 before its period."""
    n_notices: int = 0
    n_reports: int = 0
    found_time: float = np.nan
    happened: bool = False

    @property
    def anonymity_set(self) -> int:
        """Number of people with access when it happened."""
        return len(self.people)

    @property
    def is_open(self) -> bool:
        """Whether no audit has brought it to light yet."""
        return self.found_time != self.found_time  # NaN; a plain comparison, as this is asked often

    def happen(self, people: IntArray, due_period: IntArray) -> None:
        """Let it happen: who has access now, and when each person's report would first count."""
        self.happened = True
        self.people = people
        self.due_period = due_period
        self.filed = np.zeros(len(people), dtype=np.bool_)
        self.candidate = np.full(len(people), -1, dtype=np.int64)

    def file(self, row: int, period: int, repeat: int = 0) -> None:
        """Take note of a report by the person of a row, which first counts at decision `period`.

        The person's further reports (`repeat` above 0) only count.
        """
        self.n_reports += 1
        if repeat:
            return
        if period != self.due_period[row]:
            raise RuntimeError(f"a report counted at decision {period}, not at {self.due_period[row]}")
        self.filed[row] = True

    def score_as_filed(self, person: int, *, filed: bool) -> None:
        """Tell the worst-case adversary's arithmetic whether a report is in the counts that it sees."""
        self.filed[(self.people == person).argmax()] = filed  # who had access is there


def draw_incidents(
    draws: Draws,
    access: Access,
    *,
    n_periods: int,
    rates: Sequence[tuple[float, FloatArray]],
    severity_mean: float,
    severity_concentration: float,
) -> list[Incident]:
    """Draw all incidents of a run, a Poisson process per compartment, numbered in order of time.

    Parameters
    ----------
    draws
        Keyed draws.
    access
        The access graph.
    n_periods
        Length of the run.
    rates
        From when on, and incidents per period of each compartment, shape (compartments,); the first from 0.
    severity_mean, severity_concentration
        The Beta distribution of the severity: mean, and the sum of its two parameters.
    """
    found: list[tuple[float, int, int]] = []
    ends = [*(start for start, _ in rates[1:]), float(n_periods)]
    for compartment in range(access.n_compartments):
        count = 0
        wait = draws.exponential("incident.gap", compartment, count)  # in the time in which the rate is 1
        for (start, rate), end in zip(rates, ends, strict=True):
            time, pace = start, float(rate[compartment])
            while pace > 0.0 and time + wait / pace < end:
                time += wait / pace
                found.append((time, compartment, count))
                count += 1
                wait = draws.exponential("incident.gap", compartment, count)
            wait -= (end - time) * pace
    found.sort()
    incidents = []
    for number, (time, compartment, count) in enumerate(found):
        u = draws.uniform("incident.severity", compartment, count)
        severity = betaincinv(
            severity_mean * severity_concentration, (1.0 - severity_mean) * severity_concentration, u
        )
        incidents.append(
            Incident(
                incident=number,
                time=time,
                lab=int(access.lab[compartment]),
                target=int(access.target[compartment]),
                compartment=compartment,
                severity=float(severity),
            )
        )
    return incidents
