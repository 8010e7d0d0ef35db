"""Who sees whose fate: graphs of colleagues, of which only the part that is asked for is ever worked out."""

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
import pandas as pd

from ...agents.ports import Draws, IntArray
from ...scenarios import ScenarioConfig
from ...scenarios.errors import InputError
from .access import Access
from .colleague_files import ColleagueNetwork, read_colleagues
from .layout import Layout
from .network import quoted, refuse

__all__ = ["COLLEAGUES", "ColleagueGraph", "colleague_graph"]


class ColleagueGraph(ABC):
    """An undirected graph of places without loops, all of whose edges are within a lab.

    Parameters
    ----------
    config, layout, access, draws
        The scenario, its labs, who has access to what, and keyed draws.
    """

    name: ClassVar[str]

    def __init__(self, config: ScenarioConfig, layout: Layout, access: Access, draws: Draws) -> None:
        self.config = config
        self.layout = layout
        self.access = access
        self.draws = draws

    @abstractmethod
    def __call__(self, slot: int) -> IntArray:
        """Places whose holders see the fate of the holder of `slot`, without `slot`, distinct and sorted."""


class TeamColleagues(ColleagueGraph):
    """Everybody in the same team."""

    name = "teams"

    def __call__(self, slot: int) -> IntArray:
        """Places of the same team."""
        return self.layout.teams.teammates(slot)


class BlockColleagues(ColleagueGraph):
    """A stochastic block model: dense within teams, sparse between the teams of a department, empty beyond.

    Each pair of a team is joined with chance `team_density`, each other pair of a department with chance
    `department_density`, independently (Holland, Laskey & Leinhardt 1983, Social Networks 5, 109-137,
    https://doi.org/10.1016/0378-8733(83)90021-7). A pair's draw is keyed by the lab's id and both places, so an edge
    is the same from either end and nothing is stored; asking costs as much as the department has places.
    """

    name = "stochastic-block"

    def __call__(self, slot: int) -> IntArray:
        """Places joined with `slot`."""
        table, teams = self.config.colleagues, self.layout.teams
        here = np.array([slot])
        others = teams.department(int(teams.department_of(here)[0]))
        others = others[others != slot]
        lab = int(np.searchsorted(self.layout.first_slot, slot, side="right")) - 1
        first = int(self.layout.first_slot[lab])
        low, high = np.minimum(others, slot) - first, np.maximum(others, slot) - first
        chance = np.where(
            teams.team_of(others) == teams.team_of(here), table.team_density, table.department_density
        )
        uniforms = self.draws.uniforms(f"colleagues/{self.layout.lab_names[lab]}", low, high)
        joined: IntArray = others[uniforms < chance]
        return joined


class AccessColleagues(ColleagueGraph):
    """Everybody who has access to a compartment that one has access to; nobody for those without any."""

    name = "shared-access"

    def __init__(self, config: ScenarioConfig, layout: Layout, access: Access, draws: Draws) -> None:
        super().__init__(config, layout, access, draws)
        sizes = access.sizes
        places = np.concatenate(access.members) if len(sizes) else np.zeros(0, dtype=np.int64)
        order = np.argsort(places, kind="stable")
        self._places = places[order]
        self._compartments = np.repeat(np.arange(len(sizes)), sizes)[order]

    def __call__(self, slot: int) -> IntArray:
        """Places that share a compartment with `slot`."""
        start, end = np.searchsorted(self._places, [slot, slot + 1])
        shared = [self.access.members[index] for index in self._compartments[start:end].tolist()]
        if not shared:
            return np.zeros(0, dtype=np.int64)
        together: IntArray = shared[0] if len(shared) == 1 else np.unique(np.concatenate(shared))
        others: IntArray = together[together != slot]
        return others


class ImportedColleagues(ColleagueGraph):
    """The graph of a file (`colleagues.file`).

    In a lab whose access graph is imported, people go by the ids of that file. In any other lab the people of the
    file take the first places, in the order in which the file names them. A file that tells no labs apart speaks of
    each lab.
    """

    name = "imported"

    def __init__(self, config: ScenarioConfig, layout: Layout, access: Access, draws: Draws) -> None:
        super().__init__(config, layout, access, draws)
        if not config.colleagues.file:
            raise InputError(
                'colleagues.generator = "imported" needs colleagues.file, a .csv or .graphml with people and who '
                "knows whom"
            )
        network = read_colleagues(config.colleagues.file)
        network.check_labs(layout.lab_names)
        placed = np.stack([_places(lab, network, layout) for lab in range(len(layout.lab_names))])
        unknown = np.flatnonzero((placed < 0).all(axis=0))
        refuse(
            [
                f"{network.label}: unknown employee {quoted(network.people[row])}: in no lab's access.file"
                for row in unknown.tolist()
            ]
        )
        ends: list[IntArray] = []
        for row in placed:
            a, b = row[network.first], row[network.second]
            across = np.flatnonzero((a >= 0) != (b >= 0))
            refuse(
                [
                    f"{network.label}: {quoted(network.people[network.first[edge]])} and "
                    f"{quoted(network.people[network.second[edge]])} work at different labs"
                    for edge in across.tolist()
                ]
            )
            inside = a >= 0
            ends += [np.stack([a[inside], b[inside]]), np.stack([b[inside], a[inside]])]
        both = np.concatenate(ends, axis=1)
        order = np.lexsort((both[1], both[0]))
        self._from, self._to = both[0][order], both[1][order]

    def __call__(self, slot: int) -> IntArray:
        """Places joined with `slot` in the file."""
        start, end = np.searchsorted(self._from, [slot, slot + 1])
        others: IntArray = self._to[start:end]
        return others


def _places(lab: int, network: ColleagueNetwork, layout: Layout) -> IntArray:
    """Place of each person of the file in a lab, -1 for those who are not there."""
    rows = network.rows_of(layout.lab_names[lab])
    ids, headcount = layout.generators[lab].employee_ids, int(layout.headcounts[lab])
    local = np.arange(len(rows), dtype=np.int64)
    if ids:
        local = pd.Index(ids).get_indexer(pd.Index([network.people[row] for row in rows.tolist()]))
    elif len(rows) > headcount:
        raise InputError(
            f"{network.label}: {len(rows)} people for the {headcount} places of {layout.lab_names[lab]}"
        )
    places = np.full(len(network.people), -1, dtype=np.int64)
    places[rows] = np.where(local >= 0, local + layout.first_slot[lab], -1)
    return places


COLLEAGUES: dict[str, type[ColleagueGraph]] = {
    cls.name: cls for cls in (TeamColleagues, BlockColleagues, AccessColleagues, ImportedColleagues)
}
"""The graphs of colleagues of scenario files by name."""


def colleague_graph(config: ScenarioConfig, layout: Layout, access: Access, draws: Draws) -> ColleagueGraph:
    """The graph of colleagues that the scenario describes."""
    return COLLEAGUES[config.colleagues.generator](config, layout, access, draws)
