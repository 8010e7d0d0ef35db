"""The book of incidents: which have happened, which are open, and who can be suspected of reporting them."""

from collections.abc import Iterable

import numpy as np

from ...agents.organization.inference import KnownIncidents
from ...agents.organization.suspects import Suspects
from .incidents import Incident
from .population import Population
from .suspects import suspect_rows

__all__ = ["IncidentBook"]


class IncidentBook:
    """Incidents that have happened, by lab, and those that are open.

    Parameters
    ----------
    n_labs
        Number of labs.
    population
        Who works where.
    """

    def __init__(self, n_labs: int, population: Population) -> None:
        self._population = population
        self._open: dict[int, dict[int, Incident]] = {}  # of each target that has any, by number
        self._of_lab: list[list[Incident]] = [[] for _ in range(n_labs)]
        self._found: list[Incident] = []
        self.n_open = 0

    def add(self, incident: Incident) -> None:
        """Enter an incident that has just happened."""
        self._open.setdefault(incident.target, {})[incident.incident] = incident
        self._of_lab[incident.lab].append(incident)
        self.n_open += 1

    def open_at(self, target: int) -> list[Incident]:
        """Open incidents of one target, those found at the decision that is being made included."""
        return list(self._open.get(target, {}).values())

    def open_of(self, lab: int) -> list[Incident]:
        """Open incidents of one lab, in order of time."""
        targets = dict.fromkeys(incident.target for incident in self._of_lab[lab])
        return sorted((i for target in targets for i in self.open_at(target)), key=lambda i: i.incident)

    def found(self, incident: Incident, time: float) -> None:
        """Note that an audit has brought an incident to light; it is struck out when the labs have judged."""
        incident.found_time = time
        self._found.append(incident)

    def close_found(self) -> None:
        """Strike out what the audits of this decision have found."""
        for incident in self._found:
            del self._open[incident.target][incident.incident]
        self.n_open -= len(self._found)
        self._found.clear()

    def suspects(self, lab: int, targets: Iterable[int] | None) -> Suspects:
        """People who can be punished, with access to open incidents of `lab` (on `targets`; None: on any)."""
        if targets is None:
            incidents = self.open_of(lab)
        else:
            incidents = sorted((i for t in set(targets) for i in self.open_at(t)), key=lambda i: i.incident)
        return suspect_rows(incidents, self._population)

    def known(self, lab: int) -> KnownIncidents:
        """The lab's own incidents so far, open or found."""
        own = self._of_lab[lab]
        numbers = [(i.incident, i.target, i.anonymity_set) for i in own]
        incident, target, anonymity_set = np.array(numbers, dtype=np.int64).reshape(-1, 3).T.copy()
        times = np.array([i.time for i in own], dtype=np.float64)
        return KnownIncidents(incident, target, times, anonymity_set)
