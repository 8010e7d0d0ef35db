"""The Mesa model: builds a world from a scenario and lets things happen (SPEC, section 6).

Time is continuous, in audit periods. Decisions happen at whole periods; everything else happens when it happens.
Nothing here costs time per idle employee and period.
"""

from collections.abc import Callable

import mesa
import numpy as np

from ..agents.auditor.agent import AuditorAgent
from ..agents.auditor.mechanisms import build
from ..agents.employee.agent import EmployeeAgent, Observation
from ..agents.employee.beliefs import Beliefs
from ..agents.organization.agent import OrganizationAgent, Suspects
from ..agents.organization.inference import KnownIncidents, inference
from ..agents.organization.inference.scope import ScopeEvidence
from ..agents.organization.inference.strong import strong_scorer
from ..agents.ports import FloatArray, IntArray
from ..scenarios import ScenarioConfig
from .calendar import WEEKS_PER_YEAR
from .draws import KeyedDraws
from .records import EventLog
from .world.incidents import Incident, draw_incidents
from .world.layout import Layout, draw_access
from .world.population import Population
from .world.public import public_knowledge
from .world.sources import IncidentSource, TurnoverSource
from .world.suspects import SuspectRows, suspect_rows
from .world.worst_case import WorstCaseMeter

__all__ = ["DeniabilityModel"]


class DeniabilityModel(mesa.Model):  # type: ignore[misc]
    """A world of labs, employees and one auditor.

    Parameters
    ----------
    config
        The scenario. (Mesa reserves the name `scenario`.)
    seed
        Root seed of every draw.
    progress
        Called after each decision with its number.

    Attributes
    ----------
    log
        What happened, as it happened.
    """

    def __init__(
        self, config: ScenarioConfig, seed: int, progress: Callable[[int], None] | None = None
    ) -> None:
        super().__init__(rng=0)  # Mesa's own generator is never used
        self.config = config
        self.draws = KeyedDraws(seed)
        self.log = EventLog()
        self.period_weeks = config.time.period_weeks
        self.weights = config.employees.decision
        self._progress = progress
        self._years = self.period_weeks / WEEKS_PER_YEAR  # of a period
        self._build_labs()
        self._build_beliefs()
        self._build_auditor()
        self._employees: dict[int, EmployeeAgent] = {}
        self._reports_this_period = 0
        self._retaliations_seen = 0

    # ---- set-up -------------------------------------------------------------------------------------------------

    def _build_labs(self) -> None:
        config, draws = self.config, self.draws
        self.layout = Layout.of(config)
        self.population = Population(self.layout.headcounts, config.colleagues.team_size)
        self.access = draw_access(config, self.layout, draws)
        self.incidents = draw_incidents(
            draws,
            self.access,
            n_periods=config.time.periods,
            rate_per_period=config.incidents.rate * self._years / config.access.compartments_per_target,
            severity_mean=config.incidents.severity_mean,
            severity_concentration=config.incidents.severity_concentration,
        )
        self.open_incidents: dict[int, Incident] = {}
        self._source = IncidentSource(self, self.incidents, self._incident)
        names = self.layout.lab_names
        self.organizations = [self._organization(lab, name) for lab, name in enumerate(names)]
        for lab, headcount in enumerate(self.layout.headcounts.tolist()):
            first = int(self.population.first_slot[lab])
            rate = config.employees.turnover * self._years
            TurnoverSource(self, draws, lab, first, headcount, rate, self._turn_over)

    def _organization(self, lab: int, name: str) -> OrganizationAgent:
        policy = self.config.organization_of(name)
        rule = inference(policy.inference)(public_knowledge(self.config, self.layout, policy))
        scope, auditor = None, self.config.auditor
        if auditor.scope == "report-led":
            scope = ScopeEvidence(
                auditor.discovery_probability, auditor.unreported_discovery_factor, policy.prior
            )
        return OrganizationAgent(self, lab, name, rule, policy, scope)

    def _build_beliefs(self) -> None:
        beliefs = self.config.employees.beliefs
        self.fear = Beliefs(self.population.n_slots, beliefs.fear_mean, beliefs.fear_strength, beliefs.decay)
        self.efficacy = Beliefs(
            len(self.layout.lab_names), beliefs.efficacy_mean, beliefs.efficacy_strength, beliefs.decay
        )

    def _build_auditor(self) -> None:
        auditor, periods = self.config.auditor, self.config.time.periods
        horizon = auditor.horizon or periods * auditor.audits_per_period
        mechanism = build(auditor.mechanism, auditor.delta, horizon, counter=auditor.counter)
        guarantee = mechanism.guarantee()
        self.published_delta = guarantee if auditor.published and guarantee < 1.0 else None
        n_targets = self.layout.n_targets
        self.auditor = AuditorAgent(self, mechanism, n_targets, periods, auditor.audits_per_period)
        generator = self.draws.generator("adversary.particles")
        self.meter = WorstCaseMeter(strong_scorer(mechanism, n_targets, generator))

    def run(self) -> None:
        """Run to the end, the last decision included."""
        self.run_until(self.config.time.periods)

    # ---- what employees see and do ------------------------------------------------------------------------------

    def employee(self, person: int) -> EmployeeAgent:
        """The person's agent, made when something first happens to him or her."""
        agent = self._employees.get(person)
        if agent is None:
            agent = EmployeeAgent(self, person, self.population.lab_of(person))
            self._employees[person] = agent
        return agent

    def fear_of(self, person: int) -> float:
        """The person's belief that a reporter who is identified is retaliated against."""
        return self.fear.level(person % self.population.n_slots, self.time * self.period_weeks)

    def efficacy_at(self, lab: int) -> float:
        """The belief at a lab that reporting gets things fixed."""
        return self.efficacy.level(lab, self.time * self.period_weeks)

    def report_wait(self, person: int, incident: int) -> float:
        """Time from the decision to the filing of a report, in periods."""
        mean = self.config.employees.report_delay_weeks / self.period_weeks
        return mean * self.draws.exponential("employee.report_delay", person, incident)

    def _incident(self, incident: Incident) -> None:
        employees = self.config.employees
        people = self.population.holders(self.access.members[incident.compartment])
        self.population.observe(people)
        number = incident.incident
        notice_wait = self.draws.exponentials("employee.notice_delay", people, number)
        notice_wait *= employees.notice_delay_weeks / self.period_weeks
        report_wait = self.draws.exponentials("employee.report_delay", people, number)
        report_wait *= employees.report_delay_weeks / self.period_weeks
        notice_time = self.time + notice_wait
        incident.people = people
        incident.due_period = np.maximum(np.ceil(notice_time + report_wait), 1.0).astype(np.int64)
        incident.filed = np.zeros(len(people), dtype=np.bool_)
        incident.candidate = np.full(len(people), -1, dtype=np.int64)
        self.open_incidents[number] = incident
        self.meter.expect(incident)
        notices = self.draws.uniforms("employee.notice", people, number) < employees.notice_probability
        end = self.config.time.periods
        for row in np.flatnonzero(notices).tolist():
            if notice_time[row] <= end:
                agent = self.employee(int(people[row]))
                agent.call_at(float(notice_time[row]), self._notice, agent, incident)
        patience = self.time + employees.beliefs.outcome_weeks / self.period_weeks
        if patience <= end:
            self._source.call_at(patience, self._nothing_was_done, incident)

    def _notice(self, agent: EmployeeAgent, incident: Incident) -> None:
        incident.n_notices += 1
        agent.notice(incident)

    def _nothing_was_done(self, incident: Incident) -> None:
        if incident.is_open:
            holders = np.array([incident.lab], dtype=np.int64)
            self.efficacy.add(holders, self.time * self.period_weeks, evidence_against=1.0)

    def file_report(self, person: int, lab: int, observation: Observation) -> None:
        """Hand a report to the auditor, and let it leak or be known as the scenario has it."""
        incident = self.incidents[observation.incident]
        policy = self.organizations[lab].policy
        period = self.auditor.receive(incident.target)
        row = incident.row_of(person)
        if period != incident.due_period[row]:
            raise RuntimeError(f"a report counted at decision {period}, not at {incident.due_period[row]}")
        incident.filed[row] = True
        incident.n_reports += 1
        self._reports_this_period += 1
        reports = self.population.n_reports
        reports[person] = reports.get(person, 0) + 1
        number = incident.incident
        leaked = self.draws.uniform("report.leak", person, number) < policy.leak_probability
        disclosed = self.draws.uniform("report.disclosure", person, number) < policy.disclosure_probability
        self.log.record(
            "reports",
            report=self.log.count("reports"),
            incident=number,
            person=person,
            lab=lab,
            target=incident.target,
            time=self.time,
            period=period,
            anonymity_set=incident.anonymity_set,
            leaked=leaked,
            disclosed=disclosed,
        )
        safe_time = self.time + self.config.employees.beliefs.outcome_weeks / self.period_weeks
        if safe_time <= self.config.time.periods:
            self.employee(person).call_at(safe_time, self._outcome, person, disclosed)
        if disclosed:
            self.organizations[lab].identify(person, number, "self_disclosure")
        elif leaked:
            self.organizations[lab].identify(person, number, "side_information")

    def _outcome(self, person: int, disclosed: bool) -> None:
        """A report that was not punished for so long counts as safe."""
        if person in self.population.punished:
            return
        slot, weeks = person % self.population.n_slots, self.time * self.period_weeks
        beliefs = self.config.employees.beliefs
        self.fear.add(np.array([slot]), weeks, evidence_against=1.0)
        if disclosed:
            visible = beliefs.colleague_weight * beliefs.safe_visibility
            self.fear.add(self.population.colleagues(slot), weeks, evidence_against=visible)

    # ---- what the auditor does ----------------------------------------------------------------------------------

    def before_decision(self, decision: int, active_reports: IntArray) -> None:  # noqa: ARG002
        """Admit the worst-case adversary's candidates of this period."""
        self.meter.before_decision(decision)

    def audit_target(self, decision: int, target: int) -> tuple[int, int, float]:
        """Carry out the audit: incidents open before it, incidents found, and the sanction."""
        auditor, lab = self.config.auditor, int(self.layout.lab_of_target[target])
        here = [i for i in self.open_incidents.values() if i.target == target]
        sanction, n_found = 0.0, 0
        for incident in here:
            chance = auditor.discovery_probability
            if auditor.scope == "report-led" and incident.n_reports == 0:
                chance *= auditor.unreported_discovery_factor
            if self.draws.uniform("audit.discovery", incident.incident, decision) < chance:
                incident.found_time = self.time
                n_found += 1
                sanction += self.organizations[lab].sanction()
        if here:
            holders = np.array([lab], dtype=np.int64)
            weeks = self.time * self.period_weeks
            self.efficacy.add(
                holders, weeks, evidence_for=float(n_found > 0), evidence_against=float(n_found == 0)
            )
        return len(here), n_found, sanction

    def publish(self, decision: int, active_reports: IntArray, audited: IntArray) -> None:
        """Make the decision public, let the labs judge, and close what was found."""
        self.meter.observe(active_reports, audited)
        labs = self.layout.lab_of_target[audited]
        for organization in self.organizations:
            organization.read_transcript(decision, audited[labs == organization.lab].tolist())
        n_open = len(self.open_incidents)
        for number in [n for n, i in self.open_incidents.items() if not i.is_open]:
            del self.open_incidents[number]
        self._record_period(active_reports, audited, n_open)
        if self._progress is not None:
            self._progress(decision)

    def _record_period(self, active_reports: IntArray, audited: IntArray, n_open: int) -> None:
        weeks = self.time * self.period_weeks
        retaliations = self.log.count("retaliations")
        self.log.record(
            "series",
            time=self.time,
            reports=self._reports_this_period,
            active_reports=int(active_reports.sum()),
            audited="; ".join(self.layout.target_names[t] for t in audited.tolist()),
            lab="; ".join(
                dict.fromkeys(self.layout.lab_names[i] for i in self.layout.lab_of_target[audited].tolist())
            ),
            deficit=int(active_reports.max() - active_reports[audited[0]]),
            open_incidents=n_open,
            retaliations=retaliations - self._retaliations_seen,
            fear=self.fear.average(weeks),
            efficacy=self.efficacy.average(weeks),
        )
        self._reports_this_period = 0
        self._retaliations_seen = retaliations

    # ---- what labs see and do -----------------------------------------------------------------------------------

    def suspects(self, lab: int, targets: IntArray | None) -> SuspectRows:
        """People who can be punished, with access to open incidents of `lab` (on `targets`; None: on any)."""
        wanted = None if targets is None else set(targets.tolist())
        incidents = [
            i for i in self.open_incidents.values() if i.lab == lab and (wanted is None or i.target in wanted)
        ]
        return suspect_rows(incidents, self.population)

    def known_incidents(self, lab: int) -> KnownIncidents:
        """The lab's own incidents so far, open or found."""
        own = [i for i in self.incidents if i.anonymity_set and i.lab == lab]
        return KnownIncidents(
            incident=np.array([i.incident for i in own], dtype=np.int64),
            target=np.array([i.target for i in own], dtype=np.int64),
            time=np.array([i.time for i in own], dtype=np.float64),
            anonymity_set=np.array([i.anonymity_set for i in own], dtype=np.int64),
        )

    def audits_of(self, target: int) -> IntArray:
        """Decisions at which `target` was audited so far."""
        return np.array(
            [d for d, audited in enumerate(self.auditor.transcript, 1) if target in audited], dtype=np.int64
        )

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
        population, beliefs = self.population, self.config.employees.beliefs
        population.punished[person] = channel
        slot, weeks = person % population.n_slots, self.time * self.period_weeks
        visible = beliefs.colleague_weight * beliefs.retaliation_visibility
        self.fear.add(np.array([slot]), weeks, evidence_for=1.0)
        self.fear.add(population.colleagues(slot), weeks, evidence_for=visible)
        self.employee(person).fall_silent()
        if self.draws.uniform("employee.departure", person) < self.config.employees.departure_probability:
            self._leave(slot, "retaliation")

    def _turn_over(self, slot: int) -> None:
        self._leave(slot, "turnover")

    def _leave(self, slot: int, reason: str) -> None:
        person = self.population.holder(slot)
        self.log.record(
            "departures", time=self.time, lab=self.population.lab_of(person), person=person, reason=reason
        )
        self.population.replace(slot, self.time)
        self.fear.forget(slot)
        agent = self._employees.pop(person, None)
        if agent is not None:
            agent.remove()
