"""The Mesa model: builds a world from a scenario and lets things happen (SPEC, section 6).

Time is continuous, in audit periods. Decisions happen at whole periods; everything else happens when it happens.
Nothing here costs time per idle employee and period.
"""

from collections.abc import Callable

import mesa
import numpy as np

from ..agents.auditor.agent import AuditorAgent
from ..agents.auditor.mechanisms import MemorylessMechanism, build
from ..agents.employee.agent import EmployeeAgent, Observation
from ..agents.organization.agent import OrganizationAgent
from ..agents.organization.inference import KnownIncidents, inference
from ..agents.organization.inference.scope import ScopeEvidence
from ..agents.organization.inference.strong import strong_scorer
from ..agents.organization.suspects import Suspects
from ..agents.ports import FloatArray, IntArray
from ..scenarios import ScenarioConfig
from .calendar import WEEKS_PER_YEAR
from .draws import KeyedDraws
from .intervention import Intervention
from .records import EventLog
from .world.book import IncidentBook
from .world.colleagues import colleague_graph
from .world.incidents import Incident, draw_incidents
from .world.layout import Layout, draw_access
from .world.population import Population
from .world.public import public_knowledge
from .world.society import Society
from .world.sources import IncidentSource, TurnoverSource
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
    log
        What happened, as it happened.
    """

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
        self.weights = config.employees.decision
        self.intervention = intervention
        self._hidden_target = -1  # where a focal report counts that the adversary's arithmetic must not see
        self._progress = progress
        self._reports_this_period = 0
        self._retaliations_seen = 0
        self._build_labs()
        self._build_auditor()

    def _build_labs(self) -> None:
        config, draws, layout = self.config, self.draws, Layout.of(self.config)
        period_years = self.period_weeks / WEEKS_PER_YEAR
        self.layout = layout
        self.population = Population(layout.headcounts, layout.teams)
        n_labs = len(layout.lab_names)
        self.society = Society(self, config, self.population, n_labs, draws, self.log)
        self.book = IncidentBook(n_labs, self.population)
        self.access = draw_access(layout, draws)
        self.population.colleagues = colleague_graph(config, layout, self.access, draws)
        self.incidents = draw_incidents(
            draws,
            self.access,
            n_periods=config.time.periods,
            rate_per_period=config.incidents.rate
            * period_years
            / layout.compartments_of_target[self.access.target],
            severity_mean=config.incidents.severity_mean,
            severity_concentration=config.incidents.severity_concentration,
        )
        self._source = IncidentSource(self, self.incidents, self._happen)
        self.organizations = [self._organization(lab, name) for lab, name in enumerate(layout.lab_names)]
        rate = config.employees.turnover * period_years
        for lab, headcount in enumerate(layout.headcounts.tolist()):
            first = int(self.population.first_slot[lab])
            TurnoverSource(self, draws, lab, first, headcount, rate, self.society.turn_over)

    def _organization(self, lab: int, name: str) -> OrganizationAgent:
        policy, auditor = self.config.organization_of(name), self.config.auditor
        rule = inference(policy.inference)(public_knowledge(self.config, self.layout, policy))
        scope = None
        if auditor.scope == "report-led":
            scope = ScopeEvidence(
                auditor.discovery_probability, auditor.unreported_discovery_factor, policy.prior
            )
        return OrganizationAgent(self, lab, name, rule, policy, scope)

    def _build_auditor(self) -> None:
        auditor, periods = self.config.auditor, self.config.time.periods
        horizon = auditor.horizon or periods * auditor.audits_per_period
        mechanism = build(auditor.mechanism, auditor.delta, horizon, counter=auditor.counter)
        guarantee = mechanism.guarantee()
        self.published_delta = guarantee if auditor.published and guarantee < 1.0 else None
        n_targets = self.layout.n_targets
        self.auditor = AuditorAgent(self, mechanism, n_targets, periods, auditor.audits_per_period)
        self.meter = WorstCaseMeter(
            strong_scorer(mechanism, n_targets, self.draws.generator("adversary.particles"))
        )

    def run(self) -> None:
        """Run to the end, the last decision included."""
        self.run_until(self.config.time.periods)

    # ---- incidents, and what employees do ---------------------------------------------------------------------

    def _happen(self, incident: Incident) -> None:
        employees, end, number = self.config.employees, self.config.time.periods, incident.incident
        people = self.population.holders(self.access.members[incident.compartment])
        notice_wait = self.draws.exponentials("employee.notice_delay", people, number)
        notice_time = self.time + notice_wait * (employees.notice_delay_weeks / self.period_weeks)
        report_wait = self.draws.exponentials("employee.report_delay", people, number)
        report_time = notice_time + report_wait * (employees.report_delay_weeks / self.period_weeks)
        incident.happen(people, np.maximum(np.ceil(report_time), 1.0).astype(np.int64))
        self.population.observe(people)
        self.book.add(incident)
        self.meter.expect(incident)
        notices = self.draws.uniforms("employee.notice", people, number) < employees.notice_probability
        for row in np.flatnonzero(notices & (notice_time <= end)).tolist():
            agent = self.employee(int(people[row]))
            agent.call_at(float(notice_time[row]), self._notice, agent, incident)
        patience = self.time + employees.beliefs.outcome_weeks / self.period_weeks
        if patience <= end:
            self._source.call_at(patience, self._lose_patience, incident)

    def _notice(self, agent: EmployeeAgent, incident: Incident) -> None:
        incident.n_notices += 1
        agent.notice(incident)

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

    def report_wait(self, person: int, incident: int) -> float:
        """Time from the decision to the filing of a report, in periods."""
        mean = self.config.employees.report_delay_weeks / self.period_weeks
        return self.draws.exponential("employee.report_delay", person, incident) * mean

    def file_report(self, person: int, lab: int, observation: Observation) -> None:
        """Hand a report to the auditor, and let it leak or be known as the scenario has it."""
        incident, focal = self.incidents[observation.incident], self.intervention
        if focal is None or not focal.concerns(person, incident.incident):
            self._receive(person, lab, incident)
        elif focal.certified:
            self.employee(person).fall_silent()
            if not focal.withheld:
                self.auditor.receive(incident.target)
                if isinstance(self.auditor.mechanism, MemorylessMechanism):
                    # exact scores are the same function of the transcript however the report is entered
                    incident.score_as_filed(person)
                else:
                    # a particle filter's are so only if both twins run it in the world without the report
                    self._hidden_target = incident.target
        elif not focal.withheld:
            self._receive(person, lab, incident)

    def _receive(self, person: int, lab: int, incident: Incident) -> None:
        organization, number = self.organizations[lab], incident.incident
        period = self.auditor.receive(incident.target)
        incident.file(person, period)
        self._reports_this_period += 1
        reports = self.population.n_reports
        reports[person] = reports.get(person, 0) + 1
        policy = organization.policy
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
            organization.identify(person, number, "self_disclosure")
        elif leaked:
            organization.identify(person, number, "side_information")

    def _outcome(self, person: int, disclosed: bool) -> None:
        self.society.see_safe_outcome(person, disclosed=disclosed)

    # ---- what the auditor does --------------------------------------------------------------------------------

    def before_decision(self, decision: int) -> None:
        """Admit the worst-case adversary's candidates of this period."""
        self.meter.before_decision(decision)

    def audit_target(self, decision: int, target: int) -> tuple[int, int, float]:
        """Carry out the audit: incidents open before it, incidents found, and the sanction."""
        auditor, lab = self.config.auditor, int(self.layout.lab_of_target[target])
        here = self.book.open_at(target)
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
            self.society.see_audit(lab, fixed=n_found > 0)
        return len(here), n_found, sanction

    def publish(self, decision: int, active_reports: IntArray, audited: IntArray) -> None:
        """Make the decision public, let the labs judge, and close what was found."""
        self.meter.observe(self._without_hidden(active_reports, audited), audited)
        labs = self.layout.lab_of_target[audited]
        for organization in self.organizations:
            organization.read_transcript(decision, audited[labs == organization.lab].tolist())
        self._record_period(active_reports, audited)
        self.book.close_found()
        if self._progress is not None:
            self._progress(decision)

    def _without_hidden(self, active_reports: IntArray, audited: IntArray) -> IntArray:
        if self._hidden_target < 0:
            return active_reports
        seen = active_reports.copy()
        seen[self._hidden_target] -= 1
        if self._hidden_target in audited:
            self._hidden_target = -1
        return seen

    def _record_period(self, active_reports: IntArray, audited: IntArray) -> None:
        weeks, layout, targets = self.time * self.period_weeks, self.layout, audited.tolist()
        labs = dict.fromkeys(layout.lab_of_target[audited].tolist())
        retaliations = self.log.count("retaliations")
        self.log.record(
            "series",
            time=self.time,
            reports=self._reports_this_period,
            active_reports=int(active_reports.sum()),
            audited="; ".join(layout.target_names[target] for target in targets),
            lab="; ".join(layout.lab_names[lab] for lab in labs),
            deficit=int(active_reports.max() - active_reports[targets[0]]),
            open_incidents=self.book.n_open,
            retaliations=retaliations - self._retaliations_seen,
            fear=self.society.fear.average(weeks),
            efficacy=self.society.efficacy.average(weeks),
        )
        self._reports_this_period = 0
        self._retaliations_seen = retaliations

    # ---- what labs see and do ---------------------------------------------------------------------------------

    def suspects(self, lab: int, targets: IntArray | None) -> Suspects:
        """People who can be punished, with access to open incidents of `lab` (on `targets`; None: on any)."""
        rows, focal = (
            self.book.suspects(lab, None if targets is None else targets.tolist()),
            self.intervention,
        )
        if focal is not None and focal.certified and self.organizations[lab].inference.omniscient:
            return rows.only(focal.person)
        return rows

    def known_incidents(self, lab: int) -> KnownIncidents:
        """The lab's own incidents so far, open or found."""
        return self.book.known(lab)

    def audits_of(self, target: int) -> IntArray:
        """Decisions at which `target` was audited so far."""
        transcript = enumerate(self.auditor.transcript, 1)
        return np.array([decision for decision, audited in transcript if target in audited], dtype=np.int64)

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
