"""An access graph taken over from a file as it is."""

import numpy as np
import pandas as pd

from ...agents.ports import BoolArray, Draws, IntArray
from ...scenarios.errors import InputError
from ...scenarios.wording import did_you_mean, likely_names
from .access_generators import AccessGenerator, LabPlan
from .network import Network, Side, quoted, refuse
from .network_files import read_network
from .teams import Teams

__all__ = ["Imported", "lab_network", "target_of_compartments"]


def lab_network(plan: LabPlan) -> Network:
    """The network that `access.file` holds for a lab; all of it where the file tells no labs apart.

    Raises
    ------
    InputError
        No file is named, or it is wrong.
    """
    access = plan.access
    if not access.file:
        raise InputError(
            f'labs.{plan.lab}: access.generator = "{access.generator}" needs access.file, a .csv or .graphml with '
            "people and compartments"
        )
    return read_network(access.file, access.nodes_file).of_lab(plan.lab, plan.labs)


def target_of_compartments(network: Network, plan: LabPlan) -> IntArray:
    """Position in `plan.targets` of each compartment's target.

    By the attribute `target` where compartments have one; else the targets take turns, in the order in which the
    file first names each compartment.

    Raises
    ------
    InputError
        There is no such target, only some compartments have one, or a target is left without a compartment.
    """
    given, names = network.compartments.of("target"), plan.targets
    if given is None:
        target = np.arange(len(network.compartments), dtype=np.int64) % len(names)
    else:
        places = {name: place for place, name in enumerate(names)}
        refuse(
            [
                f"{network.label}: compartment {quoted(node)}: {_no_target(name, plan)}"
                for node, name in zip(network.compartments.ids, given, strict=True)
                if name not in places
            ]
        )
        target = np.array([places[name] for name in given], dtype=np.int64)
    empty = np.setdiff1d(np.arange(len(names)), target)
    refuse(
        [
            f"{network.label}: target {quoted(names[place])} of {plan.lab} is isolated: none of the "
            f"{len(target)} compartments belongs to it, so nothing could happen there"
            for place in empty.tolist()
        ]
    )
    return target


def _no_target(name: str, plan: LabPlan) -> str:
    if not name:
        return "has no target, while others have"
    hint = did_you_mean(likely_names(name, plan.targets, 1))
    return f"target {quoted(name)}: {plan.lab} has {', '.join(plan.targets)}{hint}"


class Imported(AccessGenerator):
    """The graph of a file: its people take the lab's first places, department by department and team by team.

    People without a team are divided into teams of `team_size`, people without a department into departments of
    `teams_per_department` teams. Places beyond the people of the file have access to nothing.
    """

    name = "imported"

    def __init__(self, plan: LabPlan) -> None:
        super().__init__(plan)
        network = lab_network(plan)
        people = network.employees
        if len(people) > plan.headcount:
            raise InputError(
                f"{network.label}: {len(people)} employees for {plan.headcount} places: set "
                f"labs.{plan.lab}.employees (times employees.scale) to at least {len(people)}"
            )
        order, self.teams = _arranged(people, plan)
        self.employee_ids = tuple(people.ids[row] for row in order.tolist())
        target = target_of_compartments(network, plan)
        by_target = np.argsort(target, kind="stable")
        self.target = target[by_target]
        self._members = _members(network, order, by_target)

    def draw(self, draws: Draws) -> tuple[IntArray, ...]:  # noqa: ARG002 - nothing is left to chance
        """Places with access to each compartment, sorted."""
        return self._members

    def public_sizes(self, target: IntArray, generator: np.random.Generator) -> IntArray:
        """The size of a compartment of each target, picked evenly, for incidents spread evenly over them."""
        sizes = np.array([len(members) for members in self._members], dtype=np.int64)
        start = np.searchsorted(self.target, np.arange(len(self.plan.targets) + 1))
        number = np.diff(start)[target]
        chosen: IntArray = start[target] + (generator.random(len(target)) * number).astype(np.int64)
        return sizes[chosen]


def _arranged(people: Side, plan: LabPlan) -> tuple[IntArray, Teams]:
    """The people by department and team, each in order of first appearance, and the lab's teams."""
    blank = ("",) * len(people)
    department, _ = pd.factorize(np.array(people.of("department") or blank, dtype=object))
    names = np.array(people.of("team") or blank, dtype=object)
    team, _ = pd.factorize(names)
    order = np.lexsort((team, department)).astype(np.int64)
    size, per_department = plan.colleagues.team_size, plan.colleagues.teams_per_department
    teams = _runs(department[order], team[order], names[order] == "", size)
    if people.of("department") is None:
        departments = teams[::per_department]
    else:
        departments = np.flatnonzero(np.diff(department[order], prepend=-1))
    own = Teams(*(np.append(starts, len(people)).astype(np.int64) for starts in (teams, departments)))
    if plan.headcount == len(people):
        return order, own
    return order, Teams.joined([own, Teams.even(plan.headcount - len(people), size, per_department)])


def _runs(department: IntArray, team: IntArray, nameless: BoolArray, step: int) -> IntArray:
    """Where a team begins; people of no named team are cut into pieces of `step`."""
    begins = (np.diff(department, prepend=-1) != 0) | (np.diff(team, prepend=-1) != 0)
    row = np.arange(len(team))
    since = row - np.maximum.accumulate(np.where(begins, row, 0))
    return np.flatnonzero(begins | (nameless & (since % step == 0))).astype(np.int64)


def _members(network: Network, order: IntArray, by_target: IntArray) -> tuple[IntArray, ...]:
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    slot = place[network.employee]
    rows = np.lexsort((slot, network.compartment))
    size = np.bincount(network.compartment, minlength=len(by_target))
    parts = np.split(slot[rows], np.cumsum(size)[:-1])
    return tuple(parts[index] for index in by_target.tolist())
