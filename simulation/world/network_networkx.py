"""Networks from networkx graphs; the way back is `Network.to_networkx`."""

from typing import TYPE_CHECKING

from ...scenarios.errors import InputError
from .network import Network
from .network_graphml import sorted_out

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["network_from_networkx"]


def network_from_networkx(graph: "nx.Graph", label: str = "graph") -> Network:
    """Take over a bipartite graph.

    Parameters
    ----------
    graph
        Nodes have `bipartite` (0 employee, 1 compartment) or `kind`; other attributes as in files. Ids become text.
    label
        What messages call it.

    Raises
    ------
    InputError
        A node has neither, or an edge does not join an employee and a compartment.
    """
    nodes = {
        str(node): {key: str(value) for key, value in data.items()} for node, data in graph.nodes(data=True)
    }
    if len(nodes) < len(graph):
        raise InputError(f"{label}: two nodes have the same name as text")
    edges = [(str(a), str(b)) for a, b in graph.edges()]
    return sorted_out(label, nodes, [a for a, _ in edges], [b for _, b in edges], None)
