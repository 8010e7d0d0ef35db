"""Everyone who works at the labs, as arrays: a place (slot) each, and whoever holds it at the time."""

import numpy as np
import pandas as pd

from ...agents.ports import FloatArray, IntArray

__all__ = ["Population"]


class Population:
    """People in places. A place belongs to a lab and a team; when its holder leaves, a newcomer takes it over.

    A person's number is `slot + generation * n_slots`, so it does not depend on what happened elsewhere: the same
    newcomer makes the same draws in two runs that differ in the mechanism.

    Parameters
    ----------
    headcounts
        Number of places of each lab, shape (labs,).
    team_size
        Number of places in a team; the last team of a lab may be smaller.
    """

    def __init__(self, headcounts: IntArray, team_size: int) -> None:
        self.headcounts = headcounts
        self.team_size = team_size
        self.n_slots = int(headcounts.sum())
        self.first_slot: IntArray = np.concatenate([[0], np.cumsum(headcounts)]).astype(np.int64)
        self._generation: dict[int, int] = {}  # only of places that have changed hands
        self._joined: dict[int, float] = {}
        self._left: dict[int, float] = {}
        self.n_reports: dict[int, int] = {}
        self.punished: dict[int, str] = {}
        self._observed: list[IntArray] = []

    def lab_of(self, person: int) -> int:
        """Index of the person's lab."""
        return int(np.searchsorted(self.first_slot, person % self.n_slots, side="right")) - 1

    def holder(self, slot: int) -> int:
        """Number of the person who holds a place now."""
        return slot + self._generation.get(slot, 0) * self.n_slots

    def holders(self, slots: IntArray) -> IntArray:
        """Numbers of the people who hold `slots` now."""
        if not self._generation:
            return slots.copy()
        generation = np.fromiter((self._generation.get(s, 0) for s in slots.tolist()), np.int64, len(slots))
        result: IntArray = slots + generation * self.n_slots
        return result

    def in_place(self, person: int) -> bool:
        """Whether the person still holds his or her place."""
        return self._generation.get(person % self.n_slots, 0) == person // self.n_slots

    def can_be_punished(self, person: int) -> bool:
        """Whether the person is in place and has not been retaliated against."""
        return self.in_place(person) and person not in self.punished

    def colleagues(self, slot: int) -> IntArray:
        """Places of the same team, without `slot` itself."""
        lab = self.lab_of(slot)
        start = int(self.first_slot[lab])
        first = start + (slot - start) // self.team_size * self.team_size
        team = np.arange(first, min(first + self.team_size, int(self.first_slot[lab + 1])), dtype=np.int64)
        others: IntArray = team[team != slot]
        return others

    def replace(self, slot: int, time: float) -> None:
        """Let the holder of `slot` leave and a newcomer take the place."""
        self._left[self.holder(slot)] = time
        self._generation[slot] = self._generation.get(slot, 0) + 1
        self._joined[self.holder(slot)] = time

    def observe(self, people: IntArray) -> None:
        """Note that an incident happened to which `people` have access."""
        self._observed.append(people)

    def frame(self, n_compartments: IntArray) -> pd.DataFrame:
        """The table `people`: everyone who ever worked here, by place and then by generation.

        Parameters
        ----------
        n_compartments
            Number of compartments to which each place has access, shape (slots,).
        """
        newcomers = np.fromiter(sorted(self._joined), np.int64, len(self._joined))
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
        channel = pd.Series(pd.NA, index=row, dtype="str")
        for someone, through in self.punished.items():
            channel[someone] = through
        return pd.DataFrame(
            {
                "person": person,
                "lab": lab,
                "team": (slot - self.first_slot[lab]) // self.team_size,
                "compartments": n_compartments[slot],
                "joined": filled(self._joined, 0.0),
                "left": filled(self._left, np.nan),
                "observed_incidents": observed,
                "reports": filled({p: float(n) for p, n in self.n_reports.items()}, 0.0).astype(np.int64),
                "retaliated": channel.notna().to_numpy(),
                "channel": channel.to_numpy(),
            }
        )
