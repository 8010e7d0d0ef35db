"""Files that say who knows whom: a list of edges as CSV, or GraphML."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...agents.ports import IntArray
from ...scenarios.errors import InputError
from ...scenarios.linked import read_linked
from ...scenarios.wording import did_you_mean, likely_names, printable
from .network import bad_id, quoted, refuse
from .network_csv import read_cells
from .network_files import format_of
from .network_graphml import GraphmlFile

__all__ = ["ColleagueNetwork", "read_colleagues"]


@dataclass(frozen=True)
class ColleagueNetwork:
    """People and who knows whom.

    Attributes
    ----------
    label
        What messages call the file.
    people
        Their ids, in the order of the file.
    lab
        The lab of each; None where the file tells no labs apart.
    first, second
        The ends of each edge, positions in `people`.
    """

    label: str
    people: tuple[str, ...]
    lab: tuple[str, ...] | None
    first: IntArray
    second: IntArray

    def check_labs(self, known: Sequence[str]) -> None:
        """Raise an `InputError` if somebody's lab is not `known`."""
        refuse(
            [
                f"{self.label}: {quoted(name)}: lab {quoted(lab)}: there are {', '.join(known)}"
                f"{did_you_mean(likely_names(lab, known, 1))}"
                for name, lab in zip(self.people, self.lab or (), strict=False)
                if lab not in known
            ]
        )

    def rows_of(self, lab: str) -> IntArray:
        """Positions of a lab's people; everybody where the file tells no labs apart."""
        if self.lab is None:
            return np.arange(len(self.people), dtype=np.int64)
        return np.flatnonzero(np.array(self.lab, dtype=object) == lab).astype(np.int64)


def read_colleagues(path: str) -> ColleagueNetwork:
    """Read a graph of colleagues.

    Parameters
    ----------
    path
        CSV with columns `employee` and `colleague`, and, if wanted, `lab` of both; or GraphML, whose nodes may have
        an attribute `lab`.

    Raises
    ------
    InputError
        With a message for each of the first things that are wrong.
    """
    label = printable(path)
    return (_graphml if format_of(path) == ".graphml" else _csv)(label, read_linked(path))


def _csv(label: str, content: bytes) -> ColleagueNetwork:
    cells = read_cells(label, content, ("employee", "colleague"), ("lab",))
    pairs = [
        name
        for pair in zip(cells.columns["employee"], cells.columns["colleague"], strict=True)
        for name in pair
    ]
    codes, ids = pd.factorize(np.array(pairs, dtype=object))
    messages = [f"{label}: an id of a person is {told}" for name in ids if (told := bad_id(name))]
    lab: list[str] | None = None
    if "lab" in cells.columns:
        lab = [""] * len(ids)
        for row, (node, own) in enumerate(
            zip(codes.tolist(), np.repeat(cells.columns["lab"], 2).tolist(), strict=True)
        ):
            if lab[node] and own != lab[node]:
                messages.append(
                    f"{label}:{cells.lines[row // 2]}: {quoted(ids[node])}: lab {quoted(own)}, but "
                    f"{quoted(lab[node])} before"
                )
            lab[node] = lab[node] or own
    refuse(messages)
    return _checked(label, tuple(ids), lab, codes.reshape(-1, 2).astype(np.int64), cells.lines)


def _graphml(label: str, content: bytes) -> ColleagueNetwork:
    file = GraphmlFile(label, content)
    row = {node: number for number, node in enumerate(file.nodes)}
    messages = [
        f"{label}:{line}: an edge to {quoted(end)}, which is no node{did_you_mean(likely_names(end, row, 1))}"
        for ends in (file.sources, file.targets)
        for end, line in zip(ends, file.lines, strict=True)
        if end not in row
    ]
    messages += [
        f"{label}: {quoted(node)} is a compartment; who has access to what belongs into access.file"
        for node, data in file.nodes.items()
        if data.get("kind") == "compartment"
    ]
    refuse(messages)
    lab = [data.get("lab", "") for data in file.nodes.values()]
    pairs = np.array(
        [[row[a], row[b]] for a, b in zip(file.sources, file.targets, strict=True)], dtype=np.int64
    )
    return _checked(label, tuple(row), lab if any(lab) else None, pairs.reshape(-1, 2), file.lines)


def _checked(
    label: str, people: tuple[str, ...], lab: list[str] | None, pairs: IntArray, lines: Sequence[int]
) -> ColleagueNetwork:
    if not len(pairs):
        raise InputError(f"{label}: nobody knows anybody: there are no edges")
    low, high = pairs.min(axis=1), pairs.max(axis=1)
    messages = [
        f"{label}:{lines[edge]}: {quoted(people[low[edge]])} as a colleague of his or her own"
        for edge in np.flatnonzero(low == high).tolist()
    ]
    messages += [
        f"{label}:{lines[edge]}: a second edge between {quoted(people[low[edge]])} and {quoted(people[high[edge]])}"
        for edge in np.flatnonzero(pd.Index(low * len(people) + high).duplicated()).tolist()
    ]
    refuse(messages)
    return ColleagueNetwork(label, people, None if lab is None else tuple(lab), low, high)
