"""Teams and departments: runs of neighbouring places of a lab."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ...agents.ports import IntArray

__all__ = ["Teams"]


@dataclass(frozen=True)
class Teams:
    """Where teams and departments begin; each is a run of places, and a department is a run of teams.

    Attributes
    ----------
    team_start, department_start
        First place of each team and of each department, and at the end the number of places.
    """

    team_start: IntArray
    department_start: IntArray

    @property
    def n_teams(self) -> int:
        """Number of teams."""
        return len(self.team_start) - 1

    @property
    def n_departments(self) -> int:
        """Number of departments."""
        return len(self.department_start) - 1

    def teammates(self, slot: int) -> IntArray:
        """The other places of the team of a place."""
        after = int(self.team_start.searchsorted(slot, side="right"))
        first, last = self.team_start.item(after - 1), self.team_start.item(after)
        return np.array([*range(first, slot), *range(slot + 1, last)], dtype=np.int64)

    def team_of(self, slots: IntArray) -> IntArray:
        """Team of each place."""
        return np.searchsorted(self.team_start, slots, side="right") - 1

    def department_of(self, slots: IntArray) -> IntArray:
        """Department of each place."""
        return np.searchsorted(self.department_start, slots, side="right") - 1

    def team(self, number: int) -> IntArray:
        """Places of a team."""
        return np.arange(self.team_start[number], self.team_start[number + 1], dtype=np.int64)

    def department(self, number: int) -> IntArray:
        """Places of a department."""
        return np.arange(self.department_start[number], self.department_start[number + 1], dtype=np.int64)

    def places_of(self, teams: IntArray) -> IntArray:
        """Places of several teams (distinct), sorted."""
        teams = np.sort(teams)
        first, size = self.team_start[teams], self.team_start[teams + 1] - self.team_start[teams]
        before = np.cumsum(size) - size
        result: IntArray = np.repeat(first - before, size) + np.arange(int(size.sum()), dtype=np.int64)
        return result

    @classmethod
    def even(cls, n_places: int, team_size: int, teams_per_department: int) -> "Teams":
        """Teams of one size, and departments of as many teams each; the last of either may be smaller."""

        def starts(step: int) -> IntArray:
            return np.append(np.arange(0, n_places, step, dtype=np.int64), n_places)

        return cls(starts(team_size), starts(min(team_size * teams_per_department, max(n_places, 1))))

    @classmethod
    def of_departments(cls, sizes: Sequence[int], team_size: int) -> "Teams":
        """Departments of these sizes (at least 1 each), divided into teams of `team_size`."""
        ends = np.cumsum(np.asarray(sizes, dtype=np.int64))
        starts = [
            np.arange(end - size, end, team_size, dtype=np.int64)
            for end, size in zip(ends.tolist(), sizes, strict=True)
        ]
        n_places = int(ends[-1])
        return cls(
            np.concatenate([*starts, [n_places]]).astype(np.int64),
            np.concatenate([[0], ends]).astype(np.int64),
        )

    @classmethod
    def joined(cls, parts: Iterable["Teams"]) -> "Teams":
        """The teams of several labs, one after the other."""
        teams, departments, offset = [], [], 0
        for part in parts:
            teams.append(part.team_start[:-1] + offset)
            departments.append(part.department_start[:-1] + offset)
            offset += int(part.team_start[-1])
        end = np.array([offset], dtype=np.int64)
        return cls(np.concatenate([*teams, end]), np.concatenate([*departments, end]))
