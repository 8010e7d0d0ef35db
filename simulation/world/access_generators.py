"""Access graphs that are drawn from a few numbers: need-to-know, team-based, open.

A generator makes the graph of one lab, whose places are numbered from 0. What it draws depends on the seed, the lab's
id, the target's name and the number of the compartment within its target, and on nothing else: a lab keeps its graph
when another one changes, or when the mechanism does.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...agents.ports import Draws, FloatArray, IntArray
from ...scenarios.schema import Access as AccessTable
from ...scenarios.schema import Colleagues as ColleaguesTable
from .teams import Teams

__all__ = ["AccessGenerator", "LabPlan", "NeedToKnow", "Nobody", "Open", "TeamBased"]


@dataclass(frozen=True)
class LabPlan:
    """What a generator knows about its lab.

    Attributes
    ----------
    lab
        Its id.
    labs
        Ids of all labs of the scenario.
    headcount
        Number of places.
    targets
        Names of its targets.
    access, colleagues
        The tables of the scenario as they hold in this lab.
    """

    lab: str
    labs: tuple[str, ...]
    headcount: int
    targets: tuple[str, ...]
    access: AccessTable
    colleagues: ColleaguesTable


class AccessGenerator(ABC):
    """Makes the access graph of one lab.

    Parameters
    ----------
    plan
        The lab.

    Attributes
    ----------
    teams
        Teams and departments of the lab's places.
    target
        Position of each compartment's target in `plan.targets`, in non-decreasing order, shape (compartments,).
    employee_ids
        What a file calls the holders of the first places; empty where there is no such file.
    """

    name: ClassVar[str]

    def __init__(self, plan: LabPlan) -> None:
        self.plan = plan
        self.teams = Teams.even(
            plan.headcount, plan.colleagues.team_size, plan.colleagues.teams_per_department
        )
        self.target: IntArray = np.repeat(
            np.arange(len(plan.targets), dtype=np.int64), plan.access.compartments_per_target
        )
        self.employee_ids: tuple[str, ...] = ()

    @abstractmethod
    def draw(self, draws: Draws) -> tuple[IntArray, ...]:
        """Places with access to each compartment, sorted."""

    @abstractmethod
    def public_sizes(self, target: IntArray, generator: np.random.Generator) -> IntArray:
        """Numbers of people with access that incidents at these targets may have, as anybody can know them.

        Parameters
        ----------
        target
            A target for each incident (positions in `plan.targets`).
        generator
            Draws that belong to no run.
        """

    def _generators(self, draws: Draws) -> list[np.random.Generator]:
        """A generator for each compartment."""
        first = np.searchsorted(self.target, self.target)
        return [
            draws.generator(f"access/{self.plan.lab}/{self.plan.targets[target]}", index - start)
            for index, (target, start) in enumerate(zip(self.target.tolist(), first.tolist(), strict=True))
        ]


class Nobody(AccessGenerator):
    """No compartments: a lab without employees, about which reports come from outside only."""

    name = "nobody"

    def __init__(self, plan: LabPlan) -> None:
        super().__init__(plan)
        self.target = self.target[:0]

    def draw(self, draws: Draws) -> tuple[IntArray, ...]:  # noqa: ARG002 - there is nothing to draw
        """Nothing."""
        return ()

    def public_sizes(self, target: IntArray, generator: np.random.Generator) -> IntArray:  # noqa: ARG002
        """Nobody."""
        return np.zeros(len(target), dtype=np.int64)


class NeedToKnow(AccessGenerator):
    """Access for those who need it: a log-normal number of people, most of them from a few teams.

    The number is `exp(N(ln median_access, access_sigma²))`, rounded, at least 1 and at most the headcount. One person
    and a share `cross_team` of the others (a binomial number) are picked evenly from the whole lab; the rest are
    picked evenly from the teams of those. Where these teams are too small, further teams, picked at random, are
    filled up one by one. So `cross_team = 1` takes no notice of teams, and 0 keeps a matter within one team as long
    as it has room.
    """

    name = "need-to-know"

    def draw(self, draws: Draws) -> tuple[IntArray, ...]:
        """Places with access to each compartment, sorted."""
        return tuple(self._draw_one(generator) for generator in self._generators(draws))

    def _draw_one(self, generator: np.random.Generator) -> IntArray:
        access, headcount = self.plan.access, self.plan.headcount
        size = int(
            _breadth(generator.standard_normal(1), access.median_access, access.access_sigma, headcount)[0]
        )
        n_picked = 1 + int(generator.binomial(size - 1, access.cross_team))
        picked = generator.choice(headcount, size=n_picked, replace=False, shuffle=False).astype(np.int64)
        n_missing = size - n_picked
        if not n_missing:
            return np.sort(picked)
        home = np.unique(self.teams.team_of(picked))
        colleagues = np.setdiff1d(self.teams.places_of(home), picked, assume_unique=True)
        if len(colleagues) >= n_missing:
            chosen = generator.choice(colleagues, size=n_missing, replace=False, shuffle=False)
            return np.sort(np.concatenate([picked, chosen]))
        inside = np.concatenate([picked, colleagues])
        return np.sort(np.concatenate([inside, self._overflow(home, size - len(inside), generator)]))

    def _overflow(self, home: IntArray, n_missing: int, generator: np.random.Generator) -> IntArray:
        """So many places of teams other than `home`: team after team, the last one in part."""
        others = generator.permutation(np.setdiff1d(np.arange(self.teams.n_teams), home, assume_unique=True))
        room = np.cumsum(self.teams.team_start[others + 1] - self.teams.team_start[others])
        last = int(np.searchsorted(room, n_missing))
        whole = self.teams.places_of(others[:last])
        rest = generator.choice(
            self.teams.team(int(others[last])), size=n_missing - len(whole), replace=False
        )
        return np.concatenate([whole, rest])

    def public_sizes(self, target: IntArray, generator: np.random.Generator) -> IntArray:
        """Log-normal numbers, drawn afresh: how many have access is public, who has is not."""
        access = self.plan.access
        normals = generator.standard_normal(len(target))
        return _breadth(normals, access.median_access, access.access_sigma, self.plan.headcount)


class TeamBased(AccessGenerator):
    """Access for whole teams: as many, picked at random, as come nearest to a log-normal number of people.

    The number of people is that of need-to-know; the number of teams is that divided by `team_size` and rounded, at
    least 1.
    """

    name = "team-based"

    def draw(self, draws: Draws) -> tuple[IntArray, ...]:
        """Places with access to each compartment, sorted."""
        members = []
        for generator in self._generators(draws):
            n_teams = int(self._n_teams(generator.standard_normal(1))[0])
            members.append(
                self.teams.places_of(generator.choice(self.teams.n_teams, size=n_teams, replace=False))
            )
        return tuple(members)

    def _n_teams(self, normals: FloatArray) -> IntArray:
        access, size = self.plan.access, self.plan.colleagues.team_size
        people = np.exp(np.log(access.median_access) + access.access_sigma * normals)
        result: IntArray = np.clip(np.rint(people / size), 1, self.teams.n_teams).astype(np.int64)
        return result

    def public_sizes(self, target: IntArray, generator: np.random.Generator) -> IntArray:
        """Whole teams of full size, at most the headcount."""
        people = self._n_teams(generator.standard_normal(len(target))) * self.plan.colleagues.team_size
        return np.minimum(people, self.plan.headcount)


class Open(AccessGenerator):
    """Everybody in the lab has access to everything."""

    name = "open"

    def draw(self, draws: Draws) -> tuple[IntArray, ...]:  # noqa: ARG002 - nothing is left to chance
        """Places with access to each compartment: all, one array for all compartments."""
        everybody = np.arange(self.plan.headcount, dtype=np.int64)
        return (everybody,) * len(self.target)

    def public_sizes(self, target: IntArray, generator: np.random.Generator) -> IntArray:  # noqa: ARG002
        """The headcount."""
        return np.full(len(target), self.plan.headcount, dtype=np.int64)


def _breadth(normals: FloatArray, median: float, sigma: float, headcount: int) -> IntArray:
    people = np.exp(np.log(median) + sigma * normals)
    result: IntArray = np.clip(np.rint(people), 1, headcount).astype(np.int64)
    return result
