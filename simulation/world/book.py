"""The book of incidents: which have happened, which are open, and who can be suspected of reporting them."""

from collections.abc import Iterable

import numpy as np

from ...agents.organization.inference import KnownIncidents
from ...agents.organization.suspects import Suspects
from ...agents.ports import IntArray
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
        self._open: dict[int, Incident] = {}
        self._of_lab: list[list[Incident]] = [[] for _ in range(n_labs)]

    @property
    def n_open(self) -> int:
        """Number of open incidents, those found at the decision that is being made included."""
        return len(self._open)

    def add(self, incident: Incident) -> None:
        """Enter an incident that has just happened."""
        self._open[incident.incident] = incident
        self._of_lab[incident.lab].append(incident)

    def open_at(self, target: int) -> list[Incident]:
        """Open incidents of one target."""
        return [i for i in self._open.values() if i.target == target]

    def close_found(self) -> None:
        """Strike out what the audits of this decision have found."""
        for number in [n for n, i in self._open.items() if not i.is_open]:
            del self._open[number]

    def suspects(self, lab: int, targets: Iterable[int] | None) -> Suspects:
        """People who can be punished, with access to open incidents of `lab` (on `targets`; None: on any)."""
        wanted = None if targets is None else set(targets)
        incidents = [
            i for i in self._open.values() if i.lab == lab and (wanted is None or i.target in wanted)
        ]
        return suspect_rows(incidents, self._population)

    def known(self, lab: int) -> KnownIncidents:
        """The lab's own incidents so far, open or found."""
        own = self._of_lab[lab]

        def column(values: Iterable[float]) -> IntArray:
            return np.array(list(values), dtype=np.int64)

        return KnownIncidents(
            incident=column(i.incident for i in own),
            target=column(i.target for i in own),
            time=np.array([i.time for i in own], dtype=np.float64),
            anonymity_set=column(i.anonymity_set for i in own),
        )
