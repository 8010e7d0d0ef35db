"""The people a lab can suspect."""

from dataclasses import dataclass, fields

from ..ports import FloatArray, IntArray

__all__ = ["Suspects"]


@dataclass(frozen=True)
class Suspects:
    """People with access to a set of open incidents: one row per person and incident, all arrays of shape (rows,)."""

    incident: IntArray
    person: IntArray
    target: IntArray
    incident_time: FloatArray
    """In periods."""
    anonymity_set: IntArray
    """Number of people who had access."""
    candidate: IntArray
    """The worst-case adversary's number for the (would-be) report; -1 before its period."""
    found: IntArray
    """1 where an audit has just brought the incident to light."""

    def only(self, person: int, incident: int) -> "Suspects":
        """The row about one person and incident, if there is one."""
        keep = (self.person == person) & (self.incident == incident)
        return Suspects(**{field.name: getattr(self, field.name)[keep] for field in fields(self)})
