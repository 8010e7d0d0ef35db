"""An employee: notices, decides once per incident, reports after a delay, and learns from what is visible.

An employee who has never noticed anything has no agent: the population tables hold everyone, and an agent is made
when something first happens to a person. So an idle employee costs nothing while the simulation runs.
"""

from statistics import NormalDist
from typing import Any, Protocol

from ...scenarios.schema import Decision
from ..base import Actor
from ..ports import Draws, Recorder
from .decision import perceived_exposure, report_logit, report_probability

__all__ = ["EmployeeAgent", "EmployeeWorld", "Observation"]

_STANDARD_NORMAL = NormalDist()


class Observation(Protocol):
    """What an employee knows of an incident, and what was drawn for the two."""

    @property
    def incident(self) -> int:
        """Number of the incident."""
        ...

    @property
    def severity(self) -> float:
        """How bad it is, from 0 to 1."""
        ...

    @property
    def decision(self) -> float:
        """Uniform below which a probability of reporting means a report."""
        ...

    @property
    def report_time(self) -> float:
        """When a report is filed, in periods."""
        ...

    @property
    def anonymity_set(self) -> int:
        """Number of people with access."""
        ...

    @property
    def is_open(self) -> bool:
        """Whether no audit has brought it to light yet."""
        ...


class EmployeeWorld(Protocol):
    """What an employee sees of the world."""

    draws: Draws
    log: Recorder
    time: float
    weights: Decision
    published_delta: float | None

    def fear_of(self, person: int) -> float:
        """The person's belief that a reporter who is identified is retaliated against."""
        ...

    def efficacy_at(self, lab: int) -> float:
        """The belief at a lab that reporting gets things fixed."""
        ...

    def repeat_wait(self, person: int, incident: int, repeat: int) -> float | None:
        """Time until the person's further report number `repeat` (from 1), in periods; None if there is none."""
        ...

    def file_report(self, observation: Any, repeat: int) -> None:
        """Hand the observer's report to the auditor: the first (`repeat` 0), or a further one (1, 2, …)."""
        ...


class EmployeeAgent(Actor):
    """An employee who has noticed something.

    Parameters
    ----------
    model
        The Mesa model, which is also the `EmployeeWorld`.
    person
        The person's number, which keys every draw about him or her.
    lab
        Index of the lab.
    """

    def __init__(self, model: Any, person: int, lab: int) -> None:
        super().__init__(model)
        self.world: EmployeeWorld = model
        self.person = person
        self.lab = lab
        self.silenced = False
        self.n_reports = 0
        z = _STANDARD_NORMAL.inv_cdf(self.world.draws.uniform("employee.conscience", person))
        self.conscience = self.world.weights.conscience_sd * z

    def notice(self, observation: Observation) -> None:
        """Notice an incident, and decide once whether to report it."""
        world, weights = self.world, self.world.weights
        fear, efficacy = world.fear_of(self.person), world.efficacy_at(self.lab)
        exposure = perceived_exposure(
            observation.anonymity_set,
            form=weights.exposure,
            delta=world.published_delta,
            trust=weights.trust,
        )
        probability = report_probability(
            report_logit(
                intercept=weights.intercept,
                severity=observation.severity,
                severity_weight=weights.severity_weight,
                efficacy=efficacy,
                efficacy_weight=weights.efficacy_weight,
                fear=fear,
                fear_weight=weights.fear_weight,
                exposure=exposure,
                conscience=self.conscience,
                anonymity_set=observation.anonymity_set,
                bystander_weight=weights.bystander_weight,
            )
        )
        if self.silenced:
            probability = 0.0
        dares = observation.decision < probability
        world.log.record(
            "notices",
            incident=observation.incident,
            person=self.person,
            time=world.time,
            decision="report" if dares else "silenced" if self.silenced else "silent",
            probability=probability,
            fear=fear,
            efficacy=efficacy,
            exposure=exposure,
        )
        if dares:
            self.call_at(observation.report_time, self._file, observation)

    def _file(self, observation: Observation, repeat: int = 0) -> None:
        if self.silenced or (repeat and not observation.is_open):
            return
        self.n_reports += 1
        self.world.file_report(observation, repeat)
        wait = self.world.repeat_wait(self.person, observation.incident, repeat + 1)
        if wait is not None:
            self.call_at(self.world.time + wait, self._file, observation, repeat + 1)

    def fall_silent(self) -> None:
        """Report nothing any more."""
        self.silenced = True
