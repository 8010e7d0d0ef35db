"""Networks as CSV: a list of edges, and optionally a list of nodes with their attributes."""

import csv
import io
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from ...agents.ports import IntArray
from ...scenarios.errors import InputError
from ...scenarios.files import decoded
from ...scenarios.wording import did_you_mean, likely_names
from .network import COMPARTMENT_ATTRIBUTES, EMPLOYEE_ATTRIBUTES, Network, Side, bad_id, quoted, refuse

__all__ = ["Cells", "edges_text", "nodes_text", "read_cells", "read_csv"]

_EDGE_COLUMNS = ("employee", "compartment")
_NODE_COLUMNS = ("node", "kind")
_ATTRIBUTES = tuple(dict.fromkeys((*EMPLOYEE_ATTRIBUTES, *COMPARTMENT_ATTRIBUTES)))


class Cells(NamedTuple):
    """A table of text.

    Attributes
    ----------
    columns
        Name to cells, for the columns that are understood.
    lines
        Line of each row, from 1.
    """

    columns: dict[str, list[str]]
    lines: list[int]


def read_cells(label: str, content: bytes, needed: Sequence[str], optional: Sequence[str]) -> Cells:
    """Read a CSV file with a header; columns of other names are passed over, unless they look misspelt.

    Raises
    ------
    InputError
        It is empty or no UTF-8, a column is missing or there twice, or a row has another number of cells.
    """
    text = decoded(label, content)
    if not text.strip():
        raise InputError(f"{label}: empty: it needs a header with the columns {', '.join(needed)}")
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    rows: list[list[str]] = []
    lines: list[int] = []
    try:
        header = [name.strip().lower() for name in next(filter(None, reader))]
        places = _places(label, header, needed, optional)
        width = len(header)
        messages = []
        for row in reader:
            if len(row) == width:
                rows.append(row)
                lines.append(reader.line_num)
            elif row:  # a blank line is none
                messages.append(f"{label}:{reader.line_num}: {len(row)} cells, while the header has {width}")
    except csv.Error as error:
        raise InputError(f"{label}:{reader.line_num}: not valid CSV: {error}") from None
    refuse(messages)
    return Cells({name: [row[at].strip() for row in rows] for name, at in places.items()}, lines)


def _places(label: str, header: list[str], needed: Sequence[str], optional: Sequence[str]) -> dict[str, int]:
    understood = (*needed, *optional)
    if len(header) == 1 and (";" in header[0] or "\t" in header[0]):
        raise InputError(f"{label}:1: the header is {quoted(header[0])}: columns must be separated by commas")
    messages = [
        f"{label}:1: the column {name} is missing; the header has {', '.join(map(quoted, header))}"
        for name in needed
        if name not in header
    ]
    for at, name in enumerate(header):
        if name in header[:at]:
            messages.append(f"{label}:1: the column {quoted(name)} is there twice")
        elif name not in understood and (near := likely_names(name, set(understood) - set(header), 1)):
            messages.append(f"{label}:1: unknown column {quoted(name)}{did_you_mean(near)}")
    refuse(messages)
    return {name: header.index(name) for name in understood if name in header}


def read_csv(label: str, content: bytes, nodes: tuple[str, bytes] | None = None) -> Network:
    """Read a network of employees and compartments.

    Parameters
    ----------
    label, content
        The list of edges: columns `employee` and `compartment`, and, if wanted, `lab`, `department`, `team` (of the
        employee) and `target` (of the compartment; `lab` speaks for both).
    nodes
        Label and content of the list of nodes: columns `node`, `kind` (`employee`, `compartment`), and the same
        attributes. Where there is one, every end of an edge must be in it, and people without access may be.

    Raises
    ------
    InputError
        With a message for each of the first things that are wrong.
    """
    cells = read_cells(label, content, _EDGE_COLUMNS, _ATTRIBUTES)
    listed = _listed(*nodes) if nodes else None
    sides: list[Side] = []
    ends: list[IntArray] = []
    for kind, names in (("employee", EMPLOYEE_ATTRIBUTES), ("compartment", COMPARTMENT_ATTRIBUTES)):
        codes, ids = pd.factorize(np.array(cells.columns[kind], dtype=object))
        refuse(
            [
                f"{label}:{cells.lines[_first(codes, index)]}: {kind}: {reason}"
                for index, name in enumerate(ids)
                if (reason := bad_id(name))
            ]
        )
        side = Side(tuple(ids))
        for name in [name for name in names if name in cells.columns]:
            side.attributes[name] = _attribute(label, cells, kind, name, codes, side.ids)
        if listed is not None and nodes is not None:
            side, codes = _joined(label, nodes[0], kind, side, codes, listed[kind], cells.lines)
        sides.append(side.without_blank_attributes())
        ends.append(codes.astype(np.int64))
    both = set(sides[0].ids) & set(sides[1].ids)
    refuse(
        [
            f"{label}:{line}: an edge between two employees, {quoted(a)} and {quoted(b)}: {quoted(b)} stands under "
            "employee elsewhere; who knows whom belongs into colleagues.file"
            for a, b, line in zip(
                cells.columns["employee"], cells.columns["compartment"], cells.lines, strict=True
            )
            if b in both
        ]
        if both
        else []
    )
    return Network(label, sides[0], sides[1], ends[0], ends[1]).check(cells.lines)


def _first(codes: IntArray, index: int) -> int:
    return int(np.flatnonzero(codes == index)[0])


def _attribute(
    label: str, cells: Cells, kind: str, name: str, codes: IntArray, ids: tuple[str, ...]
) -> tuple[str, ...]:
    """An attribute given with the edges: the same in all rows of a node, or blank."""
    column = cells.columns[name]
    values = [""] * len(ids)
    messages = []
    for row, (node, value) in enumerate(zip(codes.tolist(), column, strict=True)):
        if value and not values[node]:
            values[node] = value
        elif value and value != values[node]:
            messages.append(
                f"{label}:{cells.lines[row]}: {kind} {quoted(ids[node])}: {name} {quoted(value)}, but "
                f"{quoted(values[node])} before"
            )
    refuse(messages)
    return tuple(values)


def _listed(label: str, content: bytes) -> dict[str, Side]:
    """Employees and compartments of a list of nodes."""
    cells = read_cells(label, content, _NODE_COLUMNS, _ATTRIBUTES)
    nodes, kinds = cells.columns["node"], cells.columns["kind"]
    seen: dict[str, int] = {}
    messages = []
    for node, kind, line in zip(nodes, kinds, cells.lines, strict=True):
        if reason := bad_id(node):
            messages.append(f"{label}:{line}: node: {reason}")
        elif node in seen:
            messages.append(
                f"{label}:{line}: {quoted(node)} a second time; the first is in line {seen[node]}"
            )
        if kind not in ("employee", "compartment"):
            messages.append(f"{label}:{line}: kind = {quoted(kind)}: must be employee or compartment")
        seen.setdefault(node, line)
    refuse(messages)

    def side(kind: str, names: Sequence[str]) -> Side:
        rows = [row for row, given in enumerate(kinds) if given == kind]
        return Side(
            tuple(nodes[row] for row in rows),
            {
                name: tuple(cells.columns[name][row] for row in rows)
                for name in names
                if name in cells.columns
            },
        )

    return {
        "employee": side("employee", EMPLOYEE_ATTRIBUTES),
        "compartment": side("compartment", COMPARTMENT_ATTRIBUTES),
    }


def _joined(
    label: str, nodes: str, kind: str, side: Side, codes: IntArray, listed: Side, lines: Sequence[int]
) -> tuple[Side, IntArray]:
    """Number the ends of edges as the list of nodes does, and take its attributes where the edges have none."""
    index = pd.Index(listed.ids, dtype=object)
    row = index.get_indexer(pd.Index(side.ids, dtype=object))
    near: Callable[[str], list[str]] = lambda name: likely_names(name, listed.ids[:10_000], 1)  # noqa: E731
    refuse(
        [
            f"{label}:{lines[_first(codes, at)]}: unknown {kind} {quoted(side.ids[at])}: not in {nodes}"
            f"{did_you_mean(near(side.ids[at]))}"
            for at in np.flatnonzero(row < 0).tolist()
        ]
    )
    attributes = dict(listed.attributes)
    messages = []
    for name, given in side.attributes.items():
        values = list(attributes.get(name, [""] * len(listed)))
        for at, value in zip(row.tolist(), given, strict=True):
            if value and values[at] and value != values[at]:
                messages.append(
                    f"{label}: {kind} {quoted(listed.ids[at])}: {name} {quoted(value)}, but {quoted(values[at])} "
                    f"in {nodes}"
                )
            values[at] = values[at] or value
        attributes[name] = tuple(values)
    refuse(messages)
    return Side(listed.ids, attributes), row[codes]


def edges_text(network: Network) -> str:
    """Write the edges as CSV, without attributes."""
    people, things = network.employees.ids, network.compartments.ids
    pairs = zip(network.employee.tolist(), network.compartment.tolist(), strict=True)
    return _text(_EDGE_COLUMNS, ((people[a], things[b]) for a, b in pairs))


def nodes_text(network: Network) -> str:
    """Write the nodes as CSV, with their attributes."""
    names = [
        n for n in _ATTRIBUTES if n in network.employees.attributes or n in network.compartments.attributes
    ]
    rows = (
        (node, kind, *(side.attributes[name][row] if name in side.attributes else "" for name in names))
        for kind, side in (("employee", network.employees), ("compartment", network.compartments))
        for row, node in enumerate(side.ids)
    )
    return _text((*_NODE_COLUMNS, *names), rows)


def _text(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    file = io.StringIO(newline="")
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return file.getvalue()
