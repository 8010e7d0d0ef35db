"""The people a lab can suspect: those with access to its open incidents."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...agents.organization.suspects import Suspects
from .incidents import Incident
from .population import Population

__all__ = ["suspect_rows"]

_NOTHING = np.zeros(0, dtype=np.int64)
_NOBODY = Suspects(
    incident=_NOTHING,
    person=_NOTHING,
    target=_NOTHING,
    incident_time=np.zeros(0),
    anonymity_set=_NOTHING,
    candidate=_NOTHING,
    found=_NOTHING,
)


def suspect_rows(incidents: Sequence[Incident], population: Population) -> Suspects:
    """Everyone who had access to `incidents`, still works here, and has not been retaliated against."""
    if not incidents:
        return _NOBODY
    sizes = [i.anonymity_set for i in incidents]

    def repeated(values: Sequence[float], kind: type) -> Any:
        return np.repeat(np.asarray(values, dtype=kind), sizes)

    person = np.concatenate([i.people for i in incidents])
    candidate = np.concatenate([i.candidate for i in incidents])
    keep = np.fromiter(map(population.can_be_punished, person.tolist()), bool, len(person))
    return Suspects(
        incident=repeated([i.incident for i in incidents], np.int64)[keep],
        person=person[keep],
        target=repeated([i.target for i in incidents], np.int64)[keep],
        incident_time=repeated([i.time for i in incidents], np.float64)[keep],
        anonymity_set=repeated(sizes, np.int64)[keep],
        candidate=candidate[keep],
        found=repeated([not i.is_open for i in incidents], np.int64)[keep],
    )
