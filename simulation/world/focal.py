"""The focal report of a twin run: how it reaches the auditor, and what must not know of it (docs/adversary.md)."""

from ...agents.auditor.mechanisms import Mechanism, MemorylessMechanism
from ...agents.ports import IntArray
from ..intervention import Intervention
from .incidents import Incident

__all__ = ["FocalReport"]


class FocalReport:
    """One report, and how far it has got.

    Parameters
    ----------
    intervention
        Whose report it is, and what is done about it.
    """

    def __init__(self, intervention: Intervention) -> None:
        self.intervention = intervention
        self.is_past = False
        """Whether its time has come, in both twins."""
        self._incident: Incident | None = None  # while it is active in the auditor's counts
        self._hidden = False

    def concerns(self, person: int, incident: int) -> bool:
        """Whether this is the focal report, or a further one by the same person about the same incident."""
        return self.intervention.concerns(person, incident)

    def holds(self, condition: str) -> bool:
        """Whether the run is held to a certified condition, by its letter."""
        return self.intervention.holds(condition)

    @property
    def judged_alone(self) -> bool:
        """Whether an omniscient lab has to leave everyone else alone by now: condition (g)."""
        return self.is_past and self.holds("g")

    def enter(self, incident: Incident, mechanism: Mechanism) -> None:
        """Put the report into the auditor's counts, where the worst-case adversary's arithmetic must find it.

        The score has to be the same function of the transcript in both twins. Exact scores are, however the report is
        entered: the two worlds are compared in either. A particle filter's are so only if both twins run it in the
        world without the report, so there the report is hidden from it.
        """
        self._incident = incident
        self._place(mechanism)

    def succeed(self, mechanism: Mechanism) -> None:
        """Let another mechanism take over while the report may be active."""
        if self._incident is not None:
            self._place(mechanism)

    def _place(self, mechanism: Mechanism) -> None:
        if self._incident is not None:
            # without (a) it is an ordinary report of its incident, and nothing is certified
            self._hidden = self.holds("a") and not isinstance(mechanism, MemorylessMechanism)
            self._incident.score_as_filed(self.intervention.person, filed=not self._hidden)

    def without_hidden(self, active_reports: IntArray) -> IntArray:
        """Give the counts that the adversary's arithmetic is to see."""
        if self._incident is None or not self._hidden:
            return active_reports
        seen = active_reports.copy()
        seen[self._incident.target] -= 1
        return seen

    def audited(self, targets: list[int]) -> None:
        """Take note of an audit, which takes the report out of the counts."""
        if self._incident is not None and self._incident.target in targets:
            self._incident = None
