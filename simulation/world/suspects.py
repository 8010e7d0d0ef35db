"""The people a lab can suspect: those with access to its open incidents."""

from collections.abc import Sequence

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
    person = np.concatenate([i.people for i in incidents])
    (rows,) = population.punishable(person).nonzero()
    which = np.repeat(np.arange(len(incidents)), [i.anonymity_set for i in incidents])[rows]
    facts = np.array(
        [(i.incident, i.target, i.anonymity_set, not i.is_open) for i in incidents], dtype=np.int64
    )
    incident, target, anonymity_set, found = facts.take(which, axis=0).T
    return Suspects(
        incident=incident,
        person=person[rows],
        target=target,
        incident_time=np.array([i.time for i in incidents])[which],
        anonymity_set=anonymity_set,
        candidate=np.concatenate([i.candidate for i in incidents])[rows],
        found=found,
    )
