"""A lab: it knows its own misconduct, who had access and the public transcript; it never sees a report.

It is the retaliating adversary. What it learns comes through channels that are kept apart: `transcript`
(inference), `audit_scope` (what the findings say about the reports, if the scope depends on them),
`side_information` (a report leaks outside the guarantee) and `self_disclosure` (the reporter was known).
"""

from collections.abc import Sequence
from math import log1p
from typing import Any, Protocol

import numpy as np

from ...scenarios.schema import Organizations
from ..base import Actor
from ..ports import BoolArray, Draws, FloatArray, IntArray, Recorder
from .inference.base import Case, Inference, KnownIncidents
from .inference.scope import ScopeEvidence
from .retaliation import acts_on, identified
from .suspects import Suspects

__all__ = ["LabWorld", "OrganizationAgent"]


class LabWorld(Protocol):
    """What a lab sees of the world."""

    draws: Draws
    log: Recorder
    period_weeks: float
    time: float

    def suspects(self, lab: int, targets: Sequence[int] | None) -> Suspects:
        """People who can be punished, with access to open incidents of `lab` (on `targets`; None: on any)."""
        ...

    def known_incidents(self, lab: int) -> KnownIncidents:
        """The lab's own incidents so far, open or found."""
        ...

    def audits_of(self, target: int) -> IntArray:
        """Decisions at which `target` was audited so far."""
        ...

    def worst_case_log_likelihood_ratios(self, suspects: Suspects) -> FloatArray:
        """The exact worst-case log likelihood ratio of each suspect's report (0 before its would-be time)."""
        ...

    def can_be_punished(self, person: int) -> bool:
        """Whether the person still works here and has not been retaliated against already."""
        ...

    def has_reported(self, person: int) -> bool:
        """Whether the person has filed a report. The world's knowledge, for the record only."""
        ...

    def punish(self, person: int, channel: str) -> None:
        """Let the consequences of retaliation follow: what colleagues see, departure or silence."""
        ...


class OrganizationAgent(Actor):
    """A lab.

    Parameters
    ----------
    model
        The Mesa model, which is also the `LabWorld`.
    lab
        Index of the lab.
    name
        Its id in the scenario.
    inference
        The rule by which it infers.
    policy
        The parameters of its retaliation.
    scope
        How findings depend on reports, or None if the audits' scope is independent of them.
    """

    def __init__(
        self,
        model: Any,
        lab: int,
        name: str,
        inference: Inference,
        policy: Organizations,
        scope: ScopeEvidence | None,
    ) -> None:
        super().__init__(model)
        self.world: LabWorld = model
        self.lab = lab
        self.name = name
        self.inference = inference
        self.policy = policy
        self.scope = scope
        self.sanctions = 0.0
        self._identified: set[tuple[int, int]] = set()

    def adopt(self, inference: Inference, policy: Organizations, scope: ScopeEvidence | None) -> None:
        """Go by another rule and policy from now on; what the lab believes already, it keeps."""
        self.inference = inference
        self.policy = policy
        self.scope = scope

    def read_transcript(self, decision: int, own_targets: Sequence[int]) -> None:
        """Judge after a decision: when an own target was audited, or at every decision if so set.

        Parameters
        ----------
        decision
            Number of the decision, from 1.
        own_targets
            Which of the lab's own targets were audited at it.
        """
        if self.policy.evaluate == "own-audit":
            if not own_targets:
                return
            suspects = self.world.suspects(self.lab, own_targets)
        else:
            suspects = self.world.suspects(self.lab, None)
        if not len(suspects.person):
            return
        self._judge(decision, suspects, own_targets)

    def _judge(self, decision: int, suspects: Suspects, audited: Sequence[int]) -> None:
        world = self.world
        case = Case(
            decision=decision,
            person=suspects.person,
            incident=suspects.incident,
            target=suspects.target,
            incident_time=suspects.incident_time,
            anonymity_set=suspects.anonymity_set,
            known=world.known_incidents(self.lab),
            audits_of=world.audits_of,
            log_likelihood_ratio=lambda: world.worst_case_log_likelihood_ratios(suspects),
        )
        posterior = self.inference.posteriors(case)
        with_scope = posterior
        if self.scope is not None:
            told = self.scope.log_likelihood_ratios(suspects.found, suspects.anonymity_set)
            told = np.where(np.isin(suspects.target, audited), told, 0.0)
            with_scope = _shift_log_odds(posterior, told)
        acts = acts_on(with_scope, self.policy)
        for row in np.flatnonzero(acts).tolist():
            acts[row] = (int(suspects.person[row]), int(suspects.incident[row])) not in self._identified
        chosen = identified(
            with_scope,
            suspects.person,
            self._tie_break(decision, suspects, acts),
            acts=acts,
            budget=None if self.inference.omniscient else self.policy.budget,
        )
        flagged: BoolArray = np.zeros(len(posterior), dtype=bool)
        flagged[chosen] = True
        world.log.record_block(
            "inferences",
            time=world.time,
            decision=decision,
            lab=self.name,
            target=suspects.target,
            person=suspects.person,
            incident=suspects.incident,
            rule=self.inference.id,
            posterior=with_scope,
            flagged=flagged,
        )
        by_transcript = acts_on(posterior, self.policy)
        for row in chosen.tolist():
            self.identify(
                int(suspects.person[row]),
                int(suspects.incident[row]),
                "transcript" if by_transcript[row] else "audit_scope",
            )

    def _tie_break(self, decision: int, suspects: Suspects, acts: BoolArray) -> FloatArray:
        """Uniforms that order equal posteriors, drawn only where there is something to order."""
        if not acts.any():
            return np.zeros(len(acts))
        return self.world.draws.uniforms("lab.tie", suspects.person, suspects.incident, decision)

    def identify(self, person: int, incident: int, channel: str) -> None:
        """Believe that `person` reported `incident`, and perhaps decide to retaliate.

        The willingness is drawn once per person and incident, so that repeated judgement does not add up to
        certainty.
        """
        world, policy = self.world, self.policy
        if (person, incident) in self._identified or not world.can_be_punished(person):
            return
        self._identified.add((person, incident))
        covered = self.covers(person)
        chance = policy.covered_retaliation_probability if covered else policy.retaliation_probability
        if world.draws.uniform("lab.retaliate", person, incident) >= chance:
            return
        # the hazard is the chance per week: constant in continuous time, so that as many wait longer than a week
        rate = -log1p(-policy.retaliation_hazard)
        wait_weeks = world.draws.exponential("lab.retaliation_delay", person, incident) / rate
        self.call_at(
            world.time + wait_weeks / world.period_weeks,
            self._retaliate,
            person,
            incident,
            channel,
            world.time,
            world.has_reported(person),
        )

    def _retaliate(
        self, person: int, incident: int, channel: str, identified_time: float, reporter: bool
    ) -> None:
        world = self.world
        if not world.can_be_punished(person):
            return
        world.log.record(
            "retaliations",
            time=world.time,
            identified_time=identified_time,
            lab=self.name,
            person=person,
            incident=incident,
            channel=channel,
            covered=self.covers(person),
            reporter=reporter,
        )
        world.punish(person, channel)

    def covers(self, person: int) -> bool:
        """Whether the law covers the person now; drawn once per person, so that nobody loses cover when it grows."""
        share = self.policy.covered_share
        return share > 0.0 and self.world.draws.uniform("lab.covered", person) < share

    def sanction(self) -> float:
        """Take the sanction for one incident that an audit found, and return its size."""
        self.sanctions += self.policy.sanction
        return self.policy.sanction


def _shift_log_odds(posterior: FloatArray, log_likelihood_ratio: FloatArray) -> FloatArray:
    """Bayes' rule on the odds scale; a shift of 0 changes nothing, to the bit."""
    with np.errstate(over="ignore"):
        factor = np.exp(-log_likelihood_ratio)
    shifted = posterior / (posterior + (1.0 - posterior) * factor)
    return np.where(log_likelihood_ratio == 0.0, posterior, shifted)
