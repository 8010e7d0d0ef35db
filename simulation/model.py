"""The Mesa model: builds a world from a scenario and lets things happen (docs/odd.md).

Time is continuous, in audit periods. Decisions happen at whole periods; everything else happens when it happens.
Nothing here costs time per idle employee and period.
"""

from collections.abc import Callable, Sequence

import mesa
import numpy as np

from ..agents.auditor.agent import AuditorAgent
from ..agents.auditor.mechanisms import Mechanism
from ..agents.employee.agent import EmployeeAgent
from ..agents.organization.agent import OrganizationAgent
from ..agents.organization.inference import KnownIncidents
from ..agents.organization.inference.strong import strong_scorer
from ..agents.organization.suspects import Suspects
from ..agents.ports import FloatArray, IntArray
from ..scenarios import ScenarioConfig
from ..scenarios.changing import timeline
from .calendar import WEEKS_PER_YEAR
from .clock import clock
from .draws import KeyedDraws
from .guarantees import published_deltas, segments
from .intervention import Intervention
from .records import EventLog
from .world.book import IncidentBook
from .world.changing import ChangeSource, people_to_purge
from .world.chronicle import Chronicle
from .world.colleagues import colleague_graph
from .world.desk import ReportDesk
from .world.deterrence import Deterrence
from .world.focal import FocalReport
from .world.incidents import Incident, draw_incidents
from .world.layout import Layout, draw_access
from .world.outside import draw_outside_reports
from .world.policies import policy_of
from .world.population import Population
from .world.sightings import Sighting, draw_sightings
from .world.society import Society
from .world.sources import Source, TurnoverSource
from .world.worst_case import WorstCaseMeter

__all__ = ["DeniabilityModel"]


class DeniabilityModel(mesa.Model):
    """A world of labs, employees and one auditor.

    Parameters
    ----------
    config
        The scenario. (Mesa reserves the name `scenario`.)
    seed
        Root seed of every draw.
    progress
        Called after each decision with its number.
    intervention
        What a twin run does differently.

    Attributes
    ----------
    in_force
        The scenario as [[changes]] have made it by now.
    log
        What happened, as it happened.

    Raises
    ------
    InputError
        The guarantee would end before the run, or a file that the scenario names is wrong.
    """

    time = clock

    def __init__(
        self,
        config: ScenarioConfig,
        seed: int,
        progress: Callable[[int], None] | None = None,
        intervention: Intervention | None = None,
    ) -> None:
        super().__init__(rng=0)  # Mesa's own generator is never used
        self.config = config
        self.draws = KeyedDraws(seed)
        self.log = EventLog()
        self.period_weeks = config.time.period_weeks
        self.focal = FocalReport(intervention) if intervention else None
        self._progress = progress
        self._stages = timeline(config)
        self._changes = sorted(config.changes, key=lambda change: change.at)
        self._published = published_deltas(config)
        self._build_world()
        self._build_labs()
        self._build_auditor()
        self._take_effect(0)
        ChangeSource(self, self._stages[1:], self._change)

    def _build_world(self) -> None:
        config, draws = self.config, self.draws
        self.layout = layout = Layout.of(config)
        n_labs, per_period = len(layout.lab_names), self.period_weeks / WEEKS_PER_YEAR
        self.population = Population(layout.headcounts, layout.teams)
        self.society = Society(self, config, self.population, n_labs, draws, self.log)
        self.book = IncidentBook(n_labs, self.population)
        self.deterrence = Deterrence(n_labs)
        self.access = draw_access(layout, draws)
        self.population.colleagues = colleague_graph(config, layout, self.access, draws)
        share = 1.0 / layout.compartments_of_target[self.access.target]
        self.incidents = draw_incidents(
            draws,
            self.access,
            n_periods=config.time.periods,
            rates=[(at, stage.incidents.rate * per_period * share) for at, stage in self._stages],
            severity_mean=config.incidents.severity_mean,
            severity_concentration=config.incidents.severity_concentration,
        )
        self.desk = ReportDesk(self, self.focal)
        self._source = Source(self, self.incidents, self._happen)
        Source(self, draw_outside_reports(draws, self._stages, layout), self.desk.take_from_outside)
        rate = config.employees.turnover * per_period
        for lab, headcount in enumerate(layout.headcounts.tolist()):
            first = int(self.population.first_slot[lab])
            TurnoverSource(self, draws, lab, first, headcount, rate, self.society.leave)

    def _build_labs(self) -> None:
        config, first = self.config, self._stages[0][1]
        self.organizations = [
            OrganizationAgent(self, lab, name, *policy_of(config, first, self.layout, name))
            for lab, name in enumerate(self.layout.lab_names)
        ]

    def _build_auditor(self) -> None:
        config, n_targets = self.config, self.layout.n_targets
        offices, n_audits = [(p.first, p.build) for p in segments(config)], config.auditor.audits_per_period
        self.auditor = AuditorAgent(self, offices, n_targets, config.time.periods, n_audits)
        particles = self.draws.generator("adversary.particles")
        self.meter = WorstCaseMeter(strong_scorer(self.auditor.mechanism, n_targets, particles), n_targets)
        self._lab_of_target: list[int] = self.layout.lab_of_target.tolist()
        self.chronicle = Chronicle(self)

    def run(self) -> None:
        """Run to the end, the last decision included."""
        self.run_until(self.config.time.periods)

    # ---- changes ----------------------------------------------------------------------------------------------

    def _take_effect(self, stage: int) -> None:
        self.in_force = self._stages[stage][1]
        self.weights = self.in_force.employees.decision
        self.society.employees = self.in_force.employees
        self.published_delta = self._published[stage]

    def _change(self, stage: int) -> None:
        before = self.in_force
        self._take_effect(stage)
        now = self.in_force
        if (before.auditor, before.organizations, before.labs) != (now.auditor, now.organizations, now.labs):
            for organization in self.organizations:
                organization.adopt(*policy_of(self.config, self.in_force, self.layout, organization.name))
        purge = self._changes[stage - 1].purge
        for lab, name in enumerate(self.layout.lab_names if purge else ()):
            if purge and purge.lab in ("", name):
                self.society.purge(lab, people_to_purge(self, lab, purge), purge.share, stage)

    # ---- incidents, and what employees do ---------------------------------------------------------------------

    def _happen(self, incident: Incident) -> None:
        employees, end, number = self.in_force.employees, self.config.time.periods, incident.incident
        deterred = self.deterrence.level(incident.lab, self.time * self.period_weeks, self.in_force.incidents)
        if deterred > 0.0 and self.draws.uniform("incident.deterred", number) < deterred:
            return
        people = self.population.holders(self.access.members[incident.compartment])
        seen = draw_sightings(self.draws, incident, people, employees, self.period_weeks, end)
        self.population.observe(people)
        self.book.add(incident)
        self.meter.expect(incident)
        for time, sighting in seen:
            agent = self.employee(sighting.person)
            agent.call_at(time, self._notice, agent, sighting)
        patience = self.time + employees.beliefs.outcome_weeks / self.period_weeks
        if patience <= end:
            self._source.call_at(patience, self._lose_patience, incident)

    def _notice(self, agent: EmployeeAgent, sighting: Sighting) -> None:
        sighting.of.n_notices += 1
        agent.notice(sighting)

    def _lose_patience(self, incident: Incident) -> None:
        if incident.is_open:
            self.society.see_audit(incident.lab, fixed=False)

    def employee(self, person: int) -> EmployeeAgent:
        """The person's agent, made when something first happens to him or her."""
        return self.society.agent(person)

    def fear_of(self, person: int) -> float:
        """The person's belief that a reporter who is identified is retaliated against."""
        return self.society.fear_of(person)

    def efficacy_at(self, lab: int) -> float:
        """The belief at a lab that reporting gets things fixed."""
        return self.society.efficacy_at(lab)

    def repeat_wait(self, person: int, incident: int, repeat: int) -> float | None:
        """Time until the person's further report number `repeat` (from 1), in periods; None if there is none."""
        employees = self.in_force.employees
        if repeat > employees.repeat_reports:
            return None
        mean = employees.repeat_delay_weeks / self.period_weeks
        return self.draws.exponential("employee.repeat_delay", person, incident, repeat) * mean

    def file_report(self, observation: Sighting, repeat: int) -> None:
        """Hand a report to the auditor: the first about this incident (`repeat` 0), or a further one (1, 2, …)."""
        self.desk.take(observation, repeat)

    # ---- what the auditor does --------------------------------------------------------------------------------

    def succeed(self, mechanism: Mechanism) -> None:
        """Let the worst-case adversary reckon with another mechanism from the coming decision on."""
        if self.focal is not None:
            self.focal.succeed(mechanism)
        particles = self.draws.generator("adversary.particles", len(self.auditor.transcript))
        self.meter.succeed(strong_scorer(mechanism, self.layout.n_targets, particles))

    def before_decision(self, decision: int) -> None:
        """Admit the worst-case adversary's candidates of this period."""
        self.meter.before_decision(decision)

    def audit_target(self, decision: int, target: int) -> tuple[int, int, float]:
        """Carry out the audit: incidents open before it, incidents found, and the sanction."""
        auditor, lab = self.in_force.auditor, self._lab_of_target[target]
        here = self.book.open_at(target)
        if not here:
            return 0, 0, 0.0
        sanction, n_found = 0.0, 0
        for incident in here:
            chance = auditor.discovery_probability
            if auditor.scope == "report-led" and incident.n_reports == 0:
                chance *= auditor.unreported_discovery_factor
            if self.draws.uniform("audit.discovery", incident.incident, decision) < chance:
                self.book.found(incident, self.time)
                n_found += 1
                sanction += self.organizations[lab].sanction()
        self.society.see_audit(lab, fixed=n_found > 0)
        if n_found:
            self.deterrence.found(lab, self.time * self.period_weeks, self.in_force.incidents)
        return len(here), n_found, sanction

    def publish(self, decision: int, active_reports: IntArray, audited: IntArray) -> None:
        """Make the decision public, let the labs judge, and close what was found."""
        targets, focal = audited.tolist(), self.focal
        self.meter.observe(focal.without_hidden(active_reports) if focal else active_reports, audited)
        if focal:
            focal.audited(targets)
        own: dict[int, list[int]] = {}
        for target in targets:
            own.setdefault(self._lab_of_target[target], []).append(target)
        for organization in self.organizations:
            if organization.lab in own or organization.policy.evaluate == "every-decision":
                organization.read_transcript(decision, own.get(organization.lab, []))
        self.chronicle.close_period(active_reports, targets)
        self.book.close_found()
        if self._progress is not None:
            self._progress(decision)

    # ---- what labs see and do ---------------------------------------------------------------------------------

    def suspects(self, lab: int, targets: Sequence[int] | None) -> Suspects:
        """People who can be punished, with access to open incidents of `lab` (on `targets`; None: on any)."""
        rows = self.book.suspects(lab, targets)
        if self.focal and self.focal.judged_alone and self.organizations[lab].inference.omniscient:
            return rows.only(self.focal.intervention.person, self.focal.intervention.incident)
        return rows

    def known_incidents(self, lab: int) -> KnownIncidents:
        """The lab's own incidents so far, open or found."""
        return self.book.known(lab)

    def audits_of(self, target: int) -> IntArray:
        """Decisions at which `target` was audited so far."""
        return np.flatnonzero([target in audited for audited in self.auditor.transcript]) + 1

    def worst_case_log_likelihood_ratios(self, suspects: Suspects) -> FloatArray:
        """The exact worst-case log likelihood ratio of each suspect's report (0 before its would-be time)."""
        return self.meter.log_likelihood_ratios(suspects.candidate)

    def can_be_punished(self, person: int) -> bool:
        """Whether the person still works here and has not been retaliated against already."""
        return self.population.can_be_punished(person)

    def has_reported(self, person: int) -> bool:
        """Whether the person has filed a report."""
        return person in self.population.n_reports

    def punish(self, person: int, channel: str) -> None:
        """Let the consequences of retaliation follow: what colleagues see, departure or silence."""
        self.society.punish(person, channel)
