"""The people a lab can suspect: those with access to its open incidents."""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from ...agents.ports import FloatArray, IntArray
from .incidents import Incident
from .population import Population

__all__ = ["SuspectRows", "suspect_rows"]


@dataclass(frozen=True)
class SuspectRows:
    """One row per person and incident; all arrays of shape (rows,)."""

    incident: IntArray
    person: IntArray
    target: IntArray
    incident_time: FloatArray
    anonymity_set: IntArray
    candidate: IntArray
    found: IntArray
    """1 where an audit has just brought the incident to light."""

    def only(self, person: int) -> "SuspectRows":
        """The rows about one person."""
        keep = self.person == person
        return SuspectRows(**{field.name: getattr(self, field.name)[keep] for field in fields(self)})


def suspect_rows(incidents: Sequence[Incident], population: Population) -> SuspectRows:
    """Everyone who had access to `incidents`, still works here, and has not been retaliated against."""
    sizes = [i.anonymity_set for i in incidents]

    def repeated(values: Sequence[float], kind: type) -> np.ndarray:
        return np.repeat(np.asarray(values, dtype=kind), sizes)

    empty = np.zeros(0, dtype=np.int64)
    person = np.concatenate([i.people for i in incidents]) if incidents else empty
    candidate = np.concatenate([i.candidate for i in incidents]) if incidents else empty
    keep = np.fromiter(map(population.can_be_punished, person.tolist()), bool, len(person))
    return SuspectRows(
        incident=repeated([i.incident for i in incidents], np.int64)[keep],
        person=person[keep],
        target=repeated([i.target for i in incidents], np.int64)[keep],
        incident_time=repeated([i.time for i in incidents], np.float64)[keep],
        anonymity_set=repeated(sizes, np.int64)[keep],
        candidate=candidate[keep],
        found=repeated([not i.is_open for i in incidents], np.int64)[keep],
    )
