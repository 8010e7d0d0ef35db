"""Where reports come in: they count for the auditor, are put on record, and may leak or be known to the lab."""

from typing import Any

from .focal import FocalReport
from .outside import OutsideReport
from .sightings import Sighting

__all__ = ["ReportDesk"]


class ReportDesk:
    """Takes reports.

    Parameters
    ----------
    model
        The Mesa model.
    focal
        The report around which a twin run turns, if this is one.
    """

    def __init__(self, model: Any, focal: FocalReport | None) -> None:
        self._model = model
        self._focal = focal
        self.n_this_period = 0

    def take(self, sighting: Sighting, repeat: int) -> None:
        """Take an employee's report; `repeat` is 0 for the person's first about the incident."""
        focal, incident = self._focal, sighting.of
        if focal is None or not focal.concerns(sighting.person, incident.incident):
            told = self._lets_out(sighting, repeat)
            self._put_down(sighting, repeat, self._model.auditor.receive(incident.target), *told)
            self._let_out(sighting, *told)
        else:
            self._take_focal(focal, sighting, repeat)

    def _take_focal(self, focal: FocalReport, sighting: Sighting, repeat: int) -> None:
        person, incident = sighting.person, sighting.of
        focal.is_past = True
        if focal.holds("b"):
            self._model.employee(person).fall_silent()
        if focal.intervention.withheld:
            return
        period = self._model.auditor.receive(incident.target)
        if focal.intervention.certified and not repeat:
            focal.enter(incident, self._model.auditor.mechanism)
        told = self._lets_out(sighting, repeat)
        if not focal.holds("a"):
            self._put_down(sighting, repeat, period, *told)
        if not focal.holds("c"):
            self._let_out(sighting, *told)
        if focal.intervention.certified and not focal.holds("b"):
            self._await_outcome(person, disclosed=False)

    def _put_down(self, sighting: Sighting, repeat: int, period: int, leaked: bool, disclosed: bool) -> None:
        """Let the report count among those of the incident and of the person, and go on record."""
        model, person, incident = self._model, sighting.person, sighting.of
        incident.file(sighting.row, period, repeat)
        self.n_this_period += 1
        reports = model.population.n_reports
        reports[person] = reports.get(person, 0) + 1
        model.log.record(
            "reports",
            report=model.log.count("reports"),
            incident=incident.incident,
            person=person,
            lab=incident.lab,
            target=incident.target,
            time=model.time,
            period=period,
            repeat=repeat,
            anonymity_set=incident.anonymity_set,
            covered=model.organizations[incident.lab].covers(person),
            leaked=leaked,
            disclosed=disclosed,
        )

    def _lets_out(self, sighting: Sighting, repeat: int) -> tuple[bool, bool]:
        """Whether the report leaks, and whether its author is known."""
        policy = self._model.organizations[sighting.of.lab].policy
        leak, disclosure = sighting.leak, sighting.disclosure
        if repeat:
            key = (sighting.person, sighting.incident, repeat)
            leak = self._model.draws.uniform("report.leak", *key)
            disclosure = self._model.draws.uniform("report.disclosure", *key)
        return leak < policy.leak_probability, disclosure < policy.disclosure_probability

    def _let_out(self, sighting: Sighting, leaked: bool, disclosed: bool) -> None:
        """Let the lab know what leaks or is disclosed; the outcome will be seen."""
        self._await_outcome(sighting.person, disclosed=disclosed)
        if disclosed or leaked:
            channel = "self_disclosure" if disclosed else "side_information"
            organization = self._model.organizations[sighting.of.lab]
            organization.identify(sighting.person, sighting.incident, channel)

    def _await_outcome(self, person: int, *, disclosed: bool) -> None:
        model = self._model
        safe_time = model.time + model.in_force.employees.beliefs.outcome_weeks / model.period_weeks
        if safe_time <= model.config.time.periods:
            model.employee(person).call_at(safe_time, self._outcome, person, disclosed)

    def _outcome(self, person: int, disclosed: bool) -> None:
        self._model.society.see_safe_outcome(person, disclosed=disclosed)

    def take_from_outside(self, report: OutsideReport) -> None:
        """Take a report by nobody who works at a lab."""
        model = self._model
        self.n_this_period += 1
        model.log.record(
            "reports",
            report=model.log.count("reports"),
            incident=-1,
            person=report.person,
            lab=int(model.layout.lab_of_target[report.target]),
            target=report.target,
            time=model.time,
            period=model.auditor.receive(report.target),
            repeat=0,
            anonymity_set=0,
            covered=False,
            leaked=False,
            disclosed=False,
        )

    def close_period(self) -> int:
        """Return the number of reports since the last decision, and start counting afresh."""
        count, self.n_this_period = self.n_this_period, 0
        return count
