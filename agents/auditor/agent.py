"""The auditor: at every whole period it selects targets with its mechanism, audits them and publishes which."""

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from mesa.time import Priority

from ..base import Actor
from ..ports import Draws, IntArray, Recorder
from .mechanisms.base import NO_CANDIDATE, Mechanism

__all__ = ["AuditWorld", "AuditorAgent"]


class AuditWorld(Protocol):
    """What the auditor sees of the world."""

    draws: Draws
    log: Recorder
    time: float

    def succeed(self, mechanism: Mechanism) -> None:
        """Take note that another mechanism makes the decisions from the coming one on."""
        ...

    def before_decision(self, decision: int) -> None:
        """Let the world take note that a decision is about to be made."""
        ...

    def audit_target(self, decision: int, target: int) -> tuple[int, int, float]:
        """Carry out the audit: incidents open before it, incidents found, and the sanction."""
        ...

    def publish(self, decision: int, active_reports: IntArray, audited: IntArray) -> None:
        """Make the decision public: everyone may read which targets were audited."""
        ...


class AuditorAgent(Actor):
    """The auditor.

    Parameters
    ----------
    model
        The Mesa model, which is also the `AuditWorld`.
    offices
        Number of the first decision of each mechanism, the first one's 1, and what makes it. Active reports are taken
        along from one to the next.
    n_targets
        Number of targets, all labs' together.
    n_decisions
        How many decisions there will be, at times 1, 2, ….
    audits_per_period
        How many targets are audited at each.
    """

    def __init__(
        self,
        model: Any,
        offices: Sequence[tuple[int, Callable[[], Mechanism]]],
        n_targets: int,
        n_decisions: int,
        audits_per_period: int,
    ) -> None:
        super().__init__(model)
        self.world: AuditWorld = model
        self._coming = deque(offices)
        self._n_offices = 0
        self.audits_per_period = audits_per_period
        self.n_decisions = n_decisions
        self.active_reports: IntArray = np.zeros(n_targets, dtype=np.int64)
        self.transcript: list[tuple[int, ...]] = []
        self.mechanism = self._next_mechanism()
        self._await_decision()

    def _next_mechanism(self) -> Mechanism:
        _, make = self._coming.popleft()
        mechanism, number = make(), self._n_offices
        # a stream of its own for each, and the first one's does not depend on whether there are others
        generator = self.world.draws.generator("auditor.mechanism", *([number] if number else []))
        mechanism.reset(1, len(self.active_reports), generator)
        self._n_offices += 1
        return mechanism

    def _await_decision(self) -> None:
        # LOW, so that reports of the same instant come first
        self.call_at(len(self.transcript) + 1.0, self._decide, priority=Priority.LOW)

    def receive(self, target: int) -> int:
        """Take a report about `target`; returns the number of the decision at which it first counts."""
        self.active_reports[target] += 1
        return len(self.transcript) + 1

    def _decide(self) -> None:
        decision = len(self.transcript) + 1
        if self._coming and self._coming[0][0] == decision:
            self.mechanism = self._next_mechanism()
            self.world.succeed(self.mechanism)
        counts = self.active_reports.copy()
        self.world.before_decision(decision)
        if self.audits_per_period == 1:
            audited = self.mechanism.select(counts[None, :])
        else:
            audited = self.mechanism.select_many(counts[None, :], self.audits_per_period)[0]
        self.transcript.append(tuple(audited.tolist()))
        remaining: list[int] = counts.tolist()
        for target in self.transcript[-1]:
            self._audit(decision, target, remaining[target], max(remaining))
            remaining[target] = NO_CANDIDATE  # audited: no longer a candidate of this period
        self.active_reports[audited] = 0
        self.world.publish(decision, counts, audited)
        if decision < self.n_decisions:
            self._await_decision()

    def _audit(self, decision: int, target: int, active: int, most: int) -> None:
        n_open, n_found, sanction = self.world.audit_target(decision, target)
        self.world.log.record(
            "audits",
            decision=decision,
            time=self.world.time,
            target=target,
            active_reports=active,
            max_active_reports=most,
            misselected=active < most,
            deficit=most - active,
            normalized_deficit=(most - active) / (most + 1),
            open_incidents=n_open,
            found=n_found,
            sanction=sanction,
        )
