"""Everyone who works at the labs, as arrays: a place (slot) each, and whoever holds it at the time."""

from bisect import bisect_right
from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd

from ...agents.ports import BoolArray, FloatArray, IntArray
from .teams import Teams

__all__ = ["Population"]


class Population:
    """People in places. A place belongs to a lab and a team; when its holder leaves, a newcomer takes it over.

    A person's number is `slot + generation * n_slots`, so it does not depend on what happened elsewhere: the same
    newcomer makes the same draws in two runs that differ in the mechanism.

    Parameters
    ----------
    headcounts
        Number of places of each lab, shape (labs,).
    teams
        Teams and departments of all places.

    Attributes
    ----------
    colleagues
        Place to the places whose holders see the fate of its holder; the same team, unless something else is set.
    """

    def __init__(self, headcounts: IntArray, teams: Teams) -> None:
        self.headcounts = headcounts
        self.teams = teams
        self.colleagues: Callable[[int], IntArray] = teams.teammates
        self.n_slots = int(headcounts.sum())
        self.first_slot: IntArray = np.concatenate([[0], np.cumsum(headcounts)]).astype(np.int64)
        self._first_slot: list[int] = self.first_slot.tolist()
        self._generation: dict[int, int] = {}  # only of places that have changed hands
        self._left: dict[int, float] = {}  # when; a newcomer has joined when whoever was there before left
        self.n_reports: dict[int, int] = {}
        self.punished: dict[int, str] = {}
        self._observed: list[IntArray] = []

    def lab_of(self, person: int) -> int:
        """Index of the person's lab."""
        return bisect_right(self._first_slot, person % self.n_slots) - 1

    def holder(self, slot: int) -> int:
        """Number of the person who holds a place now."""
        return slot + self._generation.get(slot, 0) * self.n_slots

    def holders(self, slots: IntArray) -> IntArray:
        """Numbers of the people who hold `slots` now."""
        if not self._generation:
            return slots.copy()
        generation = np.array([self._generation.get(s, 0) for s in slots.tolist()], dtype=np.int64)
        result: IntArray = slots + generation * self.n_slots
        return result

    def in_place(self, person: int) -> bool:
        """Whether the person still holds his or her place."""
        return self._generation.get(person % self.n_slots, 0) == person // self.n_slots

    def can_be_punished(self, person: int) -> bool:
        """Whether the person is in place and has not been retaliated against."""
        return self.in_place(person) and person not in self.punished

    def punishable(self, people: IntArray) -> BoolArray:
        """Whether each person, who has come, is still in place and has not been retaliated against; same shape."""
        left, punished = self._left, self.punished
        each = [p not in left and p not in punished for p in people.tolist()]
        return np.array(each, dtype=np.bool_)

    def replace(self, slot: int, time: float) -> int:
        """Let the holder of `slot` leave and a newcomer take the place; returns who has left."""
        generation = self._generation.get(slot, 0)
        leaver = slot + generation * self.n_slots
        self._generation[slot] = generation + 1
        self._left[leaver] = time
        return leaver

    def observe(self, people: IntArray) -> None:
        """Note that an incident happened to which `people` have access."""
        self._observed.append(people)

    def frame(self, n_compartments: IntArray, employee_ids: Mapping[int, str]) -> pd.DataFrame:
        """The table `people`: everyone who ever worked here, by place and then by generation.

        Parameters
        ----------
        n_compartments
            Number of compartments to which each place has access, shape (slots,).
        employee_ids
            What an imported file calls the first holder of a place, by place.
        """
        joined = {leaver + self.n_slots: time for leaver, time in self._left.items()}
        newcomers = np.fromiter(sorted(joined), np.int64, len(joined))
        person = np.concatenate([np.arange(self.n_slots, dtype=np.int64), newcomers])
        person = person[np.lexsort((person, person % self.n_slots))]
        slot = person % self.n_slots
        lab = np.searchsorted(self.first_slot, slot, side="right") - 1
        row = pd.Index(person)

        def filled(values: dict[int, float], default: float) -> FloatArray:
            column = np.full(len(person), default)
            if values:
                column[row.get_indexer(pd.Index(list(values)))] = list(values.values())
            return column

        observed = np.zeros(len(person), dtype=np.int64)
        if self._observed:
            who, times = np.unique(np.concatenate(self._observed), return_counts=True)
            observed[row.get_indexer(pd.Index(who))] = times

        def told(values: Mapping[int, str]) -> pd.Series:
            column = np.full(len(person), None, dtype=object)
            column[row.get_indexer(pd.Index(list(values), dtype=np.int64))] = list(values.values())
            return pd.Series(column, dtype="str")

        channel = told(self.punished)
        first = self.first_slot[lab]
        return pd.DataFrame(
            {
                "person": person,
                "lab": lab,
                "team": self.teams.team_of(slot) - self.teams.team_of(first),
                "department": self.teams.department_of(slot) - self.teams.department_of(first),
                "compartments": n_compartments[slot],
                "joined": filled(joined, 0.0),
                "left": filled(self._left, np.nan),
                "observed_incidents": observed,
                "reports": filled({p: float(n) for p, n in self.n_reports.items()}, 0.0).astype(np.int64),
                "retaliated": channel.notna().to_numpy(),
                "channel": channel,
                "employee_id": told(employee_ids),
            }
        )
