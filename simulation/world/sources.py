"""What happens of itself: incidents and turnover. Each is one chain of events, whatever the headcount."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...agents.base import Actor
from ...agents.ports import Draws
from .incidents import Incident

__all__ = ["IncidentSource", "TurnoverSource"]


_BLOCK = 256  # departures drawn at a time


class IncidentSource(Actor):
    """Lets the drawn incidents happen, one after the other.

    Parameters
    ----------
    model
        The Mesa model.
    incidents
        In order of time.
    happen
        Called with each at its time.
    """

    def __init__(self, model: Any, incidents: Sequence[Incident], happen: Callable[[Incident], None]) -> None:
        super().__init__(model)
        self._coming = iter(incidents)
        self._happen = happen
        self._await_next()

    def _await_next(self) -> None:
        incident = next(self._coming, None)
        if incident is not None:
            self.call_at(incident.time, self._arrive, incident)

    def _arrive(self, incident: Incident) -> None:
        self._happen(incident)
        self._await_next()


class TurnoverSource(Actor):
    """Replaces the holders of a lab's places at random: a Poisson process per lab.

    Parameters
    ----------
    model
        The Mesa model.
    draws
        Keyed draws.
    lab, first_slot, headcount
        The lab and its places.
    rate
        Departures per place and period.
    replace
        Called with the lab and the place at each departure.
    """

    def __init__(
        self,
        model: Any,
        draws: Draws,
        lab: int,
        first_slot: int,
        headcount: int,
        rate: float,
        replace: Callable[[int, int], None],
    ) -> None:
        super().__init__(model)
        self._draws = draws
        self._lab = lab
        self._first_slot = first_slot
        self._headcount = headcount
        self._rate = rate * headcount
        self._replace = replace
        self._count = 0
        if self._rate > 0.0:
            self._await_next()

    def _await_next(self) -> None:
        row = self._count % _BLOCK
        if row == 0:  # many at once: one by one the hash would cost more than the event
            numbers = np.arange(self._count, self._count + _BLOCK)
            gaps = self._draws.exponentials("turnover.gap", self._lab, numbers) / self._rate
            slots = self._draws.uniforms("turnover.slot", self._lab, numbers) * self._headcount
            self._gaps: list[float] = gaps.tolist()
            self._slots: list[int] = (self._first_slot + slots.astype(np.int64)).tolist()
        self.call_at(self.model.time + self._gaps[row], self._depart, self._slots[row])

    def _depart(self, slot: int) -> None:
        self._count += 1
        self._replace(self._lab, slot)
        self._await_next()
