"""What people believe, and what becomes of them: fear, efficacy, retaliation, departure."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from ...agents.employee.agent import EmployeeAgent
from ...agents.employee.beliefs import Beliefs
from ...agents.ports import Draws, Recorder
from ...scenarios import ScenarioConfig
from .population import Population

__all__ = ["Society"]


class Society:
    """The people of all labs with their beliefs.

    Parameters
    ----------
    model
        The Mesa model; employees' agents join it when something first happens to them.
    config, population, n_labs
        The scenario and its people.
    draws, log
        Keyed draws and the event log.
    """

    def __init__(
        self,
        model: Any,
        config: ScenarioConfig,
        population: Population,
        n_labs: int,
        draws: Draws,
        log: Recorder,
    ) -> None:
        beliefs = config.employees.beliefs
        self._model = model
        self.employees = config.employees
        """What holds now; changes during a run put another table here."""
        self._draws = draws
        self._record_departure = log.recorder("departures")
        self._agents: dict[int, EmployeeAgent] = {}
        self.population = population
        self.fear = Beliefs(population.n_slots, beliefs.fear_mean, beliefs.fear_strength, beliefs.decay)
        self.efficacy = Beliefs(n_labs, beliefs.efficacy_mean, beliefs.efficacy_strength, beliefs.decay)

    @property
    def _weeks(self) -> float:
        return float(self._model.time * self._model.period_weeks)

    def agent(self, person: int) -> EmployeeAgent:
        """The person's agent, made when something first happens to him or her."""
        agent = self._agents.get(person)
        if agent is None:
            agent = EmployeeAgent(self._model, person, self.population.lab_of(person))
            self._agents[person] = agent
        return agent

    def fear_of(self, person: int) -> float:
        """The person's belief that a reporter who is identified is retaliated against."""
        return self.fear.level(person % self.population.n_slots, self._weeks)

    def efficacy_at(self, lab: int) -> float:
        """The belief at a lab that reporting gets things fixed."""
        return self.efficacy.level(lab, self._weeks)

    def see_audit(self, lab: int, *, fixed: bool) -> None:
        """Let a lab's people see an audit that fixed something, or misconduct that nobody stopped."""
        if fixed:
            self.efficacy.add(lab, self._weeks, evidence_for=1.0)
        else:
            self.efficacy.add(lab, self._weeks, evidence_against=1.0)

    def see_safe_outcome(self, person: int, *, disclosed: bool) -> None:
        """Let a report that was not punished for so long count as safe, for colleagues only if it was known."""
        if person in self.population.punished:
            return
        slot, beliefs = person % self.population.n_slots, self.employees.beliefs
        self.fear.add(slot, self._weeks, evidence_against=1.0)
        if disclosed:
            visible = beliefs.colleague_weight * beliefs.safe_visibility
            self.fear.add(self.population.colleagues(slot), self._weeks, evidence_against=visible)

    def punish(self, person: int, channel: str) -> None:
        """Let the consequences of retaliation follow: what colleagues see, departure or silence."""
        population, beliefs = self.population, self.employees.beliefs
        population.punished[person] = channel
        slot = person % population.n_slots
        visible = beliefs.colleague_weight * beliefs.retaliation_visibility
        self.fear.add(slot, self._weeks, evidence_for=1.0)
        self.fear.add(population.colleagues(slot), self._weeks, evidence_for=visible)
        self.agent(person).fall_silent()
        if self._draws.uniform("employee.departure", person) < self.employees.departure_probability:
            self.leave(population.lab_of(person), slot, "retaliation")

    def purge(self, lab: int, people: Iterable[int], share: float, number: int) -> None:
        """Let some of `people` go: each with chance `share`, drawn per person and purge (`number`)."""
        among = np.array(sorted(p for p in people if self.population.in_place(p)), dtype=np.int64)
        goes = self._draws.uniforms("purge", among, number) < share
        for person in among[goes].tolist():
            self.leave(lab, person % self.population.n_slots, "purge")

    def leave(self, lab: int, slot: int, reason: str = "turnover") -> None:
        """Let the holder of a place leave, and a newcomer take it."""
        time = self._model.time
        person = self.population.replace(slot, time)
        self._record_departure((time, lab, person, reason))
        self.fear.forget(slot)
        agent = self._agents.pop(person, None)
        if agent is not None:
            agent.remove()
