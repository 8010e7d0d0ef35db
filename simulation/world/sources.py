"""What happens of itself: incidents, outside reports, turnover. Each is one chain of events at any headcount."""

from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import Any, Protocol

import numpy as np

from ...agents.base import Actor
from ...agents.ports import Draws

__all__ = ["Source", "TurnoverSource"]


_BLOCK = 256  # departures drawn at a time


class Dated(Protocol):
    """Something that happens at a time, in periods."""

    @property
    def time(self) -> float:
        """When."""
        ...


class Source[T: Dated](Actor):
    """Lets what was drawn beforehand happen, one after the other.

    Parameters
    ----------
    model
        The Mesa model.
    coming
        In order of time.
    happen
        Called with each at its time.
    """

    def __init__(self, model: Any, coming: Sequence[T], happen: Callable[[T], None]) -> None:
        super().__init__(model)
        self._coming = iter(coming)
        self._happen = happen
        self._await_next()

    def _await_next(self) -> None:
        one = next(self._coming, None)
        if one is not None:
            self.call_at(one.time, self._arrive, one)

    def _arrive(self, one: T) -> None:
        self._happen(one)
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
        self._coming = self._departures()
        if self._rate > 0.0:
            self._await_next()

    def _departures(self) -> Iterator[tuple[float, int]]:
        """Time and place of each departure; drawn many at once, as the hash would cost more than the event."""
        time: float = self.model.time
        for first in count(0, _BLOCK):
            numbers = np.arange(first, first + _BLOCK)
            gaps = self._draws.exponentials("turnover.gap", self._lab, numbers) / self._rate
            slots = self._draws.uniforms("turnover.slot", self._lab, numbers) * self._headcount
            places = self._first_slot + slots.astype(np.int64)
            for gap, slot in zip(gaps.tolist(), places.tolist(), strict=True):
                time += gap
                yield time, slot

    def _await_next(self) -> None:
        at, self._slot = next(self._coming)
        # the source itself is what Mesa calls: most events are departures, and none needs a task of its own
        self.model.schedule_event(self, at=at)

    def __call__(self) -> None:
        """Let the departure that is due happen."""
        self._replace(self._lab, self._slot)
        self._await_next()
