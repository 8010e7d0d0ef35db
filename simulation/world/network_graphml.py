"""Networks as GraphML (http://graphml.graphdrawing.org): read with expat, so that a million edges take seconds."""

from collections.abc import Mapping, Sequence
from typing import Any
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from ...scenarios.errors import InputError
from ...scenarios.wording import did_you_mean, likely_names
from .network import COMPARTMENT_ATTRIBUTES, EMPLOYEE_ATTRIBUTES, Network, Side, bad_id, quoted, refuse

__all__ = ["GraphmlFile", "graphml_text", "read_graphml", "sorted_out"]

_KINDS = {"0": "employee", "1": "compartment", "0.0": "employee", "1.0": "compartment"}


class GraphmlFile:
    """Nodes with their attributes and edges of a GraphML file, whatever they mean.

    Parameters
    ----------
    label
        What messages call the file.
    content
        The file.

    Attributes
    ----------
    nodes
        Id to attributes, by their names.
    sources, targets, lines
        Ends of each edge, and the line where it stands.

    Raises
    ------
    InputError
        It is no well-formed XML, no GraphML, or uses what a plain graph does not have.
    """

    def __init__(self, label: str, content: bytes) -> None:
        self.label = label
        self.nodes: dict[str, dict[str, str]] = {}
        self.sources: list[str] = []
        self.targets: list[str] = []
        self.lines: list[int] = []
        self._names: dict[str, str] = {}
        self._defaults: dict[str, str] = {}
        self._node: dict[str, str] | None = None
        self._text: list[str] = []
        self._key = ""
        self._of_nodes = False
        self._begun = False
        self._graphs = 0
        if not content.strip():
            raise InputError(f"{label}: empty")
        parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.EntityDeclHandler = self._entity
        self._parser = parser
        try:
            parser.Parse(content, True)
        except expat.ExpatError as error:
            reason = expat.ErrorString(error.code)
            raise InputError(
                f"{label}:{error.lineno}:{error.offset + 1}: not well-formed XML: {reason}"
            ) from None
        except (LookupError, ValueError) as error:
            raise InputError(f"{label}: cannot be read as XML: {error}") from None

    def _fail(self, text: str) -> InputError:
        return InputError(f"{self.label}:{self._parser.CurrentLineNumber}: {text}")

    def _entity(self, *_: Any) -> None:
        raise self._fail("declares an entity; plain GraphML has none")

    # called for every element of a file that may have millions: the frequent ones come first
    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if ":" in name:
            name = name.rpartition(":")[2]
        if name == "edge" and self._begun:
            try:
                self.sources.append(attributes["source"].strip())
                self.targets.append(attributes["target"].strip())
            except KeyError as error:
                raise self._fail(f"an edge without {error.args[0]}") from None
            self.lines.append(self._parser.CurrentLineNumber)
        elif name == "data":
            if self._node is not None:
                self._key = attributes.get("key", "")
                self._listen()
        elif name == "node" and self._begun:
            node = attributes.get("id", "").strip()
            if reason := bad_id(node):
                raise self._fail(f"the id of a node {'is ' * (reason == 'empty')}{reason}")
            if node in self.nodes:
                raise self._fail(f"a second node {quoted(node)}")
            self._node = self.nodes[node] = {}
        elif not self._begun and name != "graphml":
            raise self._fail(f"not GraphML: it begins with <{name}>")
        else:
            self._start_other(name, attributes)

    def _start_other(self, name: str, attributes: dict[str, str]) -> None:
        if name == "graphml":
            self._begun = True
        elif name == "key":
            self._key = attributes.get("id", "")
            self._names[self._key] = attributes.get("attr.name", self._key).strip()
            self._of_nodes = attributes.get("for", "all") in ("node", "all")
        elif name == "default":
            self._listen()
        elif name == "graph":
            self._graphs += 1
            if self._graphs > 1:
                raise self._fail("a second graph; one is wanted")
        elif name in ("hyperedge", "port"):
            raise self._fail(f"a <{name}>; only nodes and edges between two are understood")

    def _listen(self) -> None:
        self._text = []
        self._parser.CharacterDataHandler = self._text.append

    def _heard(self) -> str:
        self._parser.CharacterDataHandler = None
        return "".join(self._text).strip()

    def _end(self, name: str) -> None:
        if ":" in name:
            name = name.rpartition(":")[2]
        if name == "data":
            if self._node is not None and (value := self._heard()):
                self._node[self._names.get(self._key, self._key)] = value
        elif name == "node":
            self._node = None
        elif name == "default":
            value = self._heard()
            if self._of_nodes:
                self._defaults[self._key] = value
        elif name == "graphml":
            for key, value in self._defaults.items():
                for node in self.nodes.values():
                    node.setdefault(self._names[key], value)


def read_graphml(label: str, content: bytes) -> Network:
    """Read a network of employees and compartments.

    Raises
    ------
    InputError
        With a message for each of the first things that are wrong.
    """
    file = GraphmlFile(label, content)
    return sorted_out(label, file.nodes, file.sources, file.targets, file.lines)


def sorted_out(
    label: str,
    nodes: Mapping[str, Mapping[str, str]],
    sources: Sequence[str],
    targets: Sequence[str],
    lines: Sequence[int] | None,
) -> Network:
    """Tell employees and compartments apart, and make a network of them.

    Parameters
    ----------
    label
        What messages call the file.
    nodes
        Id to attributes. `kind` (`employee`, `compartment`) or `bipartite` (0, 1) says which side it is on.
    sources, targets
        The ends of each edge, in any order.
    lines
        Where each edge stands, if that is known.

    Raises
    ------
    InputError
        With a message for each of the first things that are wrong.
    """
    rows: tuple[dict[str, int], dict[str, int]] = ({}, {})
    messages = []
    for node, data in nodes.items():
        kind, told = _kind_of(data)
        if told:
            messages.append(f"{label}: node {quoted(node)}: {told}")
        else:
            side = rows[kind == "compartment"]
            side[node] = len(side)
    refuse(messages)
    employees, compartments = rows
    ends = np.zeros((2, len(sources)), dtype=np.int64)
    for edge, (a, b) in enumerate(zip(sources, targets, strict=True)):
        if a in employees and b in compartments:
            ends[0, edge], ends[1, edge] = employees[a], compartments[b]
        elif a in compartments and b in employees:
            ends[0, edge], ends[1, edge] = employees[b], compartments[a]
        else:
            at = f":{lines[edge]}" if lines else ""
            messages.append(f"{label}{at}: {_wrong_edge(a, b, employees, compartments)}")
    refuse(messages)
    network = Network(
        label,
        _side(nodes, employees, EMPLOYEE_ATTRIBUTES),
        _side(nodes, compartments, COMPARTMENT_ATTRIBUTES),
        ends[0],
        ends[1],
    )
    return network.check(lines)


def _kind_of(data: Mapping[str, str]) -> tuple[str, str]:
    """The kind of a node, or what is wrong."""
    if "kind" in data:
        kind = data["kind"]
        return kind, "" if kind in ("employee", "compartment") else (
            f"kind = {quoted(kind)}: must be employee or compartment"
        )
    if "bipartite" in data:
        kind = _KINDS.get(data["bipartite"], "")
        return kind, "" if kind else (
            f"bipartite = {quoted(data['bipartite'])}: must be 0 (employee) or 1 (compartment)"
        )
    near = [name for name in data if likely_names(name, ["kind", "bipartite"], 1)]
    return (
        "",
        f"neither kind (employee, compartment) nor bipartite (0, 1) says what it is{did_you_mean(near)}",
    )


def _wrong_edge(a: str, b: str, employees: Mapping[str, int], compartments: Mapping[str, int]) -> str:
    for end in (a, b):
        if end not in employees and end not in compartments:
            near = likely_names(end, [*employees, *compartments][:10_000], 1)
            return f"an edge to {quoted(end)}, which is no node{did_you_mean(near)}"
    if a in employees:
        return (
            f"an edge between two employees, {quoted(a)} and {quoted(b)}: access joins an employee and a "
            "compartment; who knows whom belongs into colleagues.file"
        )
    return f"an edge between two compartments, {quoted(a)} and {quoted(b)}: access joins one and an employee"


def _side(nodes: Mapping[str, Mapping[str, str]], rows: Mapping[str, int], names: Sequence[str]) -> Side:
    side = Side(tuple(rows), {name: tuple(nodes[node].get(name, "") for node in rows) for name in names})
    return side.without_blank_attributes()


def graphml_text(network: Network) -> str:
    """Write a network as GraphML, with `kind`, `bipartite` and the attributes of its nodes."""
    names = dict.fromkeys((*network.employees.attributes, *network.compartments.attributes))
    lines = [
        "<?xml version='1.0' encoding='utf-8'?>",
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">',
        '<key id="bipartite" for="node" attr.name="bipartite" attr.type="long"/>',
        *(
            f'<key id="{name}" for="node" attr.name="{name}" attr.type="string"/>'
            for name in ("kind", *names)
        ),
        '<graph edgedefault="undirected">',
    ]
    for number, (kind, side) in enumerate(
        (("employee", network.employees), ("compartment", network.compartments))
    ):
        for row, node in enumerate(side.ids):
            own = "".join(
                f'<data key="{name}">{escape(values[row])}</data>'
                for name, values in side.attributes.items()
                if values[row]
            )
            lines.append(
                f'<node id={quoteattr(node)}><data key="bipartite">{number}</data>'
                f'<data key="kind">{kind}</data>{own}</node>'
            )
    people = [quoteattr(name) for name in network.employees.ids]
    things = [quoteattr(name) for name in network.compartments.ids]
    lines += [
        f"<edge source={people[a]} target={things[b]}/>"
        for a, b in zip(network.employee.tolist(), network.compartment.tolist(), strict=True)
    ]
    return "\n".join([*lines, "</graph>", "</graphml>", ""])
