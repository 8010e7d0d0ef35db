"""Who has access to what: the bipartite graph of places and compartments."""

from collections.abc import Sequence
from dataclasses import dataclass

import networkx as nx
import numpy as np

from ...agents.ports import Draws, IntArray

__all__ = ["GENERATORS", "Access", "need_to_know"]


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

    def n_compartments_of(self, n_slots: int) -> IntArray:
        """Number of compartments to which each place has access, shape (n_slots,)."""
        counts = np.zeros(n_slots, dtype=np.int64)
        for members in self.members:
            counts[members] += 1
        return counts

    def to_networkx(self) -> nx.Graph:
        """The graph: nodes `("employee", slot)` and `("compartment", index)`, with attribute `bipartite` 0 and 1."""
        graph = nx.Graph()
        for index, members in enumerate(self.members):
            node = ("compartment", index)
            graph.add_node(node, bipartite=1, target=int(self.target[index]), lab=int(self.lab[index]))
            for slot in members.tolist():
                graph.add_node(("employee", slot), bipartite=0, lab=int(self.lab[index]))
                graph.add_edge(("employee", slot), node)
        return graph


def need_to_know(
    draws: Draws, compartment: int, first_slot: int, headcount: int, *, median: float, sigma: float
) -> IntArray:
    """Places with access to one compartment: a log-normal number of people, picked evenly from the lab.

    Parameters
    ----------
    draws
        Keyed draws; the same compartment always has the same people.
    compartment
        Index of the compartment.
    first_slot, headcount
        The lab's places.
    median, sigma
        Median number of people, and the standard deviation of its logarithm. The number is rounded, at least 1 and
        at most the headcount.
    """
    generator = draws.generator("access", compartment)
    size = round(float(np.exp(np.log(median) + sigma * generator.standard_normal())))
    size = min(max(size, 1), headcount)
    chosen = generator.choice(headcount, size=size, replace=False, shuffle=False)
    return np.sort(chosen).astype(np.int64) + first_slot


GENERATORS: Sequence[str] = ("need-to-know",)
"""Names of the access generators in scenario files."""
