"""A network that came from a file: people, compartments, who has access to what, and their attributes.

A network is a graph with two sides, employees and compartments; every edge joins one of each. Employees may have a
`lab`, a `department` and a `team`, compartments a `lab` and a `target`; "" stands for none. Reading and writing are
in `network_csv`, `network_graphml` and `network_files`.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ...agents.ports import IntArray
from ...scenarios.errors import InputError
from ...scenarios.wording import did_you_mean, likely_names, printable

if TYPE_CHECKING:
    import networkx as nx

__all__ = [
    "COMPARTMENT_ATTRIBUTES",
    "EMPLOYEE_ATTRIBUTES",
    "Network",
    "Side",
    "bad_id",
    "quoted",
    "refuse",
]

EMPLOYEE_ATTRIBUTES = ("lab", "department", "team")
COMPARTMENT_ATTRIBUTES = ("lab", "target")

_MOST_MESSAGES = 10
_UNWRITABLE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def refuse(messages: Sequence[str]) -> None:
    """Raise an `InputError` if there are any messages: the first ten, and how many more there are.

    Raises
    ------
    InputError
        There are some.
    """
    if messages:
        more = len(messages) - _MOST_MESSAGES
        rest = [f"{messages[0].split(':', 1)[0]}: and {more} more of these"] if more > 0 else []
        raise InputError([*messages[:_MOST_MESSAGES], *rest])


def quoted(name: str) -> str:
    """A name as messages show it, cut to a line."""
    return f"'{printable(name[:60])}{'…' if len(name) > 60 else ''}'"


def bad_id(name: str) -> str:
    """What is wrong with the id of a node, or ""."""
    if not name:
        return "empty"
    return "holds a control character or a line break" if _UNWRITABLE.search(name) else ""


@dataclass(frozen=True)
class Side:
    """One side of the graph.

    Attributes
    ----------
    ids
        Names of the nodes, each once, in the order of the file.
    attributes
        Attribute to a value per node; "" where a node has none. An attribute that no node has is left out.
    """

    ids: tuple[str, ...]
    attributes: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.ids)

    def of(self, attribute: str) -> tuple[str, ...] | None:
        """Values of an attribute; None where no node has it."""
        return self.attributes.get(attribute)

    def only(self, rows: IntArray) -> "Side":
        """The side with these nodes alone."""

        def taken(values: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(values[row] for row in rows.tolist())

        return Side(taken(self.ids), {name: taken(values) for name, values in self.attributes.items()})

    def without_blank_attributes(self) -> "Side":
        """The same without attributes that no node has."""
        return Side(self.ids, {name: values for name, values in self.attributes.items() if any(values)})


@dataclass(frozen=True)
class Network:
    """A graph of employees and compartments.

    Attributes
    ----------
    label
        What messages call the file.
    employees, compartments
        The two sides.
    employee, compartment
        The ends of each edge, positions in the sides, shape (edges,).
    """

    label: str
    employees: Side
    compartments: Side
    employee: IntArray
    compartment: IntArray

    @property
    def n_edges(self) -> int:
        """Number of edges."""
        return len(self.employee)

    def check(self, lines: Sequence[int] | None = None) -> "Network":
        """Return the network if it is sound.

        Parameters
        ----------
        lines
            Where each edge stands in the file, for messages.

        Raises
        ------
        InputError
            An edge comes twice, nobody has access to anything, or nobody has access to some compartment.
        """
        if not self.n_edges:
            raise InputError(f"{self.label}: nobody has access to anything: there are no edges")
        refuse([*self._repeated(lines), *self._empty()])
        return self

    def _repeated(self, lines: Sequence[int] | None) -> Iterable[str]:
        key = self.employee * len(self.compartments) + self.compartment
        again = np.flatnonzero(pd.Index(key).duplicated())
        for edge in again.tolist():
            first = int(np.flatnonzero(key == key[edge])[0]) if edge in again[:_MOST_MESSAGES] else edge
            at, before = (f":{lines[edge]}", f"; the first is in line {lines[first]}") if lines else ("", "")
            yield (
                f"{self.label}{at}: a second edge between employee {quoted(self.employees.ids[self.employee[edge]])} "
                f"and compartment {quoted(self.compartments.ids[self.compartment[edge]])}{before}"
            )

    def _empty(self) -> Iterable[str]:
        size = np.bincount(self.compartment, minlength=len(self.compartments))
        for index in np.flatnonzero(size == 0).tolist():
            yield f"{self.label}: nobody has access to compartment {quoted(self.compartments.ids[index])}"

    def of_lab(self, lab: str, known: Collection[str]) -> "Network":
        """The part of one lab; all of it where the file tells no labs apart.

        Parameters
        ----------
        lab
            The lab's id.
        known
            Ids of all labs of the scenario.

        Raises
        ------
        InputError
            The file names a lab that is not there, leaves out somebody's, joins two, or has nobody of this one.
        """
        given, owner = self.employees.of("lab"), self.compartments.of("lab")
        if given is None and owner is None:
            return self
        people = self._labs(self.employees, given, self.employee, self.compartment, owner)
        things = self._labs(self.compartments, owner, self.compartment, self.employee, given)
        messages = [
            f"{self.label}: {kind} {quoted(side.ids[row])}: {told}"
            for kind, side, labs in (
                ("employee", self.employees, people),
                ("compartment", self.compartments, things),
            )
            for row, name in enumerate(labs)
            if (told := _lab_problem(name, known))
        ]
        messages += [
            f"{self.label}: employee {quoted(self.employees.ids[a])} of {people[a]} has access to compartment "
            f"{quoted(self.compartments.ids[b])} of {things[b]}: a compartment belongs to one lab"
            for a, b in zip(self.employee.tolist(), self.compartment.tolist(), strict=True)
            if people[a] != things[b]
        ]
        refuse(messages)
        inside = np.array([name == lab for name in people], dtype=bool)
        own = np.array([name == lab for name in things], dtype=bool)
        if not own.any():
            there = ", ".join(sorted(set(things)))
            raise InputError(f"{self.label}: nobody has access to anything in {lab}; it has {there}")
        edges = own[self.compartment]
        return Network(
            self.label,
            self.employees.only(np.flatnonzero(inside)),
            self.compartments.only(np.flatnonzero(own)),
            (np.cumsum(inside) - 1)[self.employee[edges]],
            (np.cumsum(own) - 1)[self.compartment[edges]],
        )

    @staticmethod
    def _labs(
        side: Side,
        given: tuple[str, ...] | None,
        here: IntArray,
        there: IntArray,
        other: tuple[str, ...] | None,
    ) -> list[str]:
        """Labs of the nodes of a side, taken from a neighbour where only the other side tells them."""
        labs = list(given or [""] * len(side))
        if other is not None and not all(labs):
            for a, b in zip(here.tolist(), there.tolist(), strict=True):
                labs[a] = labs[a] or other[b]
        return labs

    def to_networkx(self) -> "nx.Graph":
        """The graph with ids as nodes, `bipartite` 0 for employees and 1 for compartments, and the attributes.

        Raises
        ------
        InputError
            An employee and a compartment have the same id.
        """
        import networkx as nx  # what draws no graph should not wait for it

        graph = nx.Graph()
        for number, side in enumerate((self.employees, self.compartments)):
            for row, name in enumerate(side.ids):
                if name in graph:
                    raise InputError(f"{self.label}: {quoted(name)} is an employee and a compartment")
                own = {key: values[row] for key, values in side.attributes.items() if values[row]}
                graph.add_node(name, bipartite=number, **own)
        graph.add_edges_from(
            (self.employees.ids[a], self.compartments.ids[b])
            for a, b in zip(self.employee.tolist(), self.compartment.tolist(), strict=True)
        )
        return graph


def _lab_problem(name: str, known: Collection[str]) -> str:
    if not name:
        return "has no lab, while others have"
    if name in known:
        return ""
    return f"lab {quoted(name)}: there are {', '.join(known)}{did_you_mean(likely_names(name, known, 1))}"
