"""Who has access to what: the bipartite graph of places and compartments, and the generators that make it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...agents.ports import IntArray
from ...scenarios.errors import InputError
from .access_fitted import Fitted
from .access_generators import AccessGenerator, NeedToKnow, Open, TeamBased
from .access_imported import Imported

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["GENERATORS", "Access", "access_from_networkx"]


@dataclass(frozen=True)
class Access:
    """An access graph.

    Attributes
    ----------
    target, lab
        The target and the lab of each compartment, shape (compartments,).
    members
        The places with access to each compartment, sorted.
    """

    target: IntArray
    lab: IntArray
    members: tuple[IntArray, ...]

    @property
    def n_compartments(self) -> int:
        """Number of compartments."""
        return len(self.members)

    @property
    def sizes(self) -> IntArray:
        """Number of people with access to each compartment: its anonymity set, shape (compartments,)."""
        return np.array([len(members) for members in self.members], dtype=np.int64)

    def n_compartments_of(self, n_slots: int) -> IntArray:
        """Number of compartments to which each place has access, shape (n_slots,)."""
        counts = np.zeros(n_slots, dtype=np.int64)
        for members in self.members:
            counts[members] += 1
        return counts

    def to_networkx(self) -> "nx.Graph":
        """The graph: nodes `("employee", slot)` and `("compartment", index)`, with attribute `bipartite` 0 and 1."""
        import networkx as nx  # what draws no graph should not wait for it

        graph = nx.Graph()
        for index, members in enumerate(self.members):
            node = ("compartment", index)
            graph.add_node(node, bipartite=1, target=int(self.target[index]), lab=int(self.lab[index]))
            for slot in members.tolist():
                graph.add_node(("employee", slot), bipartite=0, lab=int(self.lab[index]), slot=slot)
                graph.add_edge(("employee", slot), node)
        return graph


def access_from_networkx(graph: "nx.Graph") -> Access:
    """Take over an access graph from networkx; `Access.to_networkx` gives one that comes back the same.

    Parameters
    ----------
    graph
        Nodes have `bipartite`, 0 for an employee and 1 for a compartment. An employee may have a whole number `slot`,
        else employees are numbered in the order of the graph; a compartment may have `target` and `lab`, else 0.

    Raises
    ------
    InputError
        A node has no `bipartite`, an edge does not join an employee and a compartment, or two people share a place.
    """
    sides: tuple[list[object], list[object]] = ([], [])
    for node, data in graph.nodes(data=True):
        if data.get("bipartite") not in (0, 1):
            raise InputError(f"graph: node {node!r}: bipartite = {data.get('bipartite')!r}: must be 0 or 1")
        sides[data["bipartite"]].append(node)
    people, things = sides
    slot = {node: int(graph.nodes[node].get("slot", row)) for row, node in enumerate(people)}
    if len(set(slot.values())) < len(slot) or min(slot.values(), default=0) < 0:
        raise InputError("graph: slot: every employee must have another one, none below 0")
    for a, b in graph.edges():
        if (a in slot) == (b in slot):
            kind = "employees" if a in slot else "compartments"
            raise InputError(f"graph: an edge between two {kind}, {a!r} and {b!r}")
    members = [np.sort(np.array([slot[n] for n in graph[node]], dtype=np.int64)) for node in things]
    return Access(
        target=np.array([int(graph.nodes[node].get("target", 0)) for node in things], dtype=np.int64),
        lab=np.array([int(graph.nodes[node].get("lab", 0)) for node in things], dtype=np.int64),
        members=tuple(members),
    )


GENERATORS: dict[str, type[AccessGenerator]] = {
    cls.name: cls for cls in (NeedToKnow, TeamBased, Open, Imported, Fitted)
}
"""The access generators of scenario files by name."""
