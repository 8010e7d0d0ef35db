"""Who notices an incident, and what is drawn for each person and incident, for everyone at a time."""

from itertools import repeat
from typing import NamedTuple

import numpy as np

from ...agents.ports import Draws, IntArray
from ...scenarios.schema import Employees
from .incidents import Incident

__all__ = ["Sighting", "draw_sightings"]

_OF_ALL = ("employee.notice", "employee.notice_delay", "employee.report_delay")
_OF_WITNESSES = ("employee.decision", "report.leak", "report.disclosure")  # in the order of `Sighting`
_FEW = 500  # people for whom everything is drawn at once, as a draw costs more to begin than to extend


class Sighting(NamedTuple):
    """An incident as one person notices it, with what was drawn for the two of them."""

    of: Incident
    person: int
    row: int
    """The person's row in the arrays of the incident."""
    report_time: float
    """When a report reaches the auditor, in periods."""
    decision: float
    """Uniform below which a probability of reporting means a report."""
    leak: float
    """Uniform that decides whether the first report leaks."""
    disclosure: float
    """Uniform that decides whether its author is known."""

    @property
    def incident(self) -> int:
        """Number of the incident."""
        return self.of.incident

    @property
    def severity(self) -> float:
        """Severity of the incident."""
        return self.of.severity

    @property
    def anonymity_set(self) -> int:
        """Number of people with access when it happened."""
        return len(self.of.people)

    @property
    def is_open(self) -> bool:
        """Whether no audit has brought it to light yet."""
        return self.of.is_open


def draw_sightings(
    draws: Draws, incident: Incident, people: IntArray, employees: Employees, period_weeks: float, end: float
) -> list[tuple[float, Sighting]]:
    """Let an incident happen, and draw who notices it.

    Draws are keyed by person and incident, so they are the same whenever they are made; one by one, when somebody
    notices, decides and reports, each would cost more than the event.

    Parameters
    ----------
    draws
        Keyed draws.
    incident
        The incident; when reports on it would first count is noted in it.
    people
        Everyone with access.
    employees
        Chances and delays.
    period_weeks, end
        Length of a period, and of the run in periods.

    Returns
    -------
    list
        When each sighting happens, in periods, by row; none after the end.
    """
    number = incident.incident
    few = len(people) <= _FEW
    drawn = draws.several(_OF_ALL + _OF_WITNESSES if few else _OF_ALL, people, number)
    notice, notice_wait, report_wait = drawn[: len(_OF_ALL)]
    notice_time = incident.time - np.log(notice_wait) * (employees.notice_delay_weeks / period_weeks)
    report_time = notice_time - np.log(report_wait) * (employees.report_delay_weeks / period_weeks)
    incident.happen(people, np.maximum(np.ceil(report_time), 1.0).astype(np.int64))
    (rows,) = ((notice < employees.notice_probability) & (notice_time <= end)).nonzero()
    who = people[rows]
    theirs = drawn[len(_OF_ALL) :, rows] if few else draws.several(_OF_WITNESSES, who, number)
    columns = (who.tolist(), rows.tolist(), report_time[rows].tolist(), *theirs.tolist())
    seen = map(Sighting._make, zip(repeat(incident), *columns, strict=False))
    return list(zip(notice_time[rows].tolist(), seen, strict=True))
