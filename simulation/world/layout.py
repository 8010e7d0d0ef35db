"""What of a world follows from the scenario and the seed before anything happens: labs, targets, access."""

from dataclasses import dataclass

import numpy as np

from ...agents.ports import Draws, IntArray
from ...scenarios import ScenarioConfig
from .access import GENERATORS, Access
from .access_generators import AccessGenerator, LabPlan, Nobody
from .teams import Teams

__all__ = ["Layout", "draw_access"]


@dataclass(frozen=True)
class Layout:
    """Labs, their targets and their teams by index, and the number of places.

    Attributes
    ----------
    lab_names
        Ids of the labs.
    target_names
        `lab/target`, all labs' together.
    lab_of_target, compartments_of_target
        Shape (targets,).
    headcounts
        Number of places of each lab, shape (labs,).
    generators
        What makes each lab's access graph.
    teams
        Teams and departments of all places.
    """

    lab_names: tuple[str, ...]
    target_names: tuple[str, ...]
    lab_of_target: IntArray
    headcounts: IntArray
    compartments_of_target: IntArray
    generators: tuple[AccessGenerator, ...]
    teams: Teams

    @classmethod
    def of(cls, config: ScenarioConfig) -> "Layout":
        """The layout of a scenario.

        `employees.scale` multiplies every headcount, rounded, at least 1 in a lab that has anybody.

        Raises
        ------
        InputError
            A file that the scenario names is wrong.
        """
        labs = list(config.labs.items())
        headcounts = [
            max(round(lab.employees * config.employees.scale), 1) if lab.employees else 0 for _, lab in labs
        ]
        plans = [
            LabPlan(
                name, tuple(config.labs), headcount, lab.targets, config.access_of(name), config.colleagues
            )
            for (name, lab), headcount in zip(labs, headcounts, strict=True)
        ]
        generators = tuple(
            GENERATORS[plan.access.generator](plan) if plan.headcount else Nobody(plan) for plan in plans
        )
        return cls(
            lab_names=tuple(name for name, _ in labs),
            target_names=tuple(f"{name}/{target}" for name, lab in labs for target in lab.targets),
            lab_of_target=np.repeat(np.arange(len(labs)), [len(lab.targets) for _, lab in labs]),
            headcounts=np.array(headcounts),
            compartments_of_target=np.concatenate(
                [np.bincount(g.target, minlength=len(g.plan.targets)) for g in generators]
            ),
            generators=generators,
            teams=Teams.joined(generator.teams for generator in generators),
        )

    @property
    def n_targets(self) -> int:
        """Number of targets, all labs' together."""
        return len(self.target_names)

    @property
    def first_slot(self) -> IntArray:
        """First place of each lab, and at the end the number of places."""
        return np.concatenate([[0], np.cumsum(self.headcounts)]).astype(np.int64)

    def employee_ids(self) -> dict[int, str]:
        """What imported files call the holders of places, by place."""
        return {
            int(first) + place: name
            for first, generator in zip(self.first_slot[:-1], self.generators, strict=True)
            for place, name in enumerate(generator.employee_ids)
        }

    def public_sizes(self, target: IntArray, generator: np.random.Generator) -> IntArray:
        """Numbers of people with access that incidents at these targets may have, as anybody can know them."""
        sizes = np.zeros(len(target), dtype=np.int64)
        lab, first = (
            self.lab_of_target[target],
            np.searchsorted(self.lab_of_target, np.arange(len(self.lab_names))),
        )
        for number, own in enumerate(self.generators):
            rows = np.flatnonzero(lab == number)
            sizes[rows] = own.public_sizes(target[rows] - first[number], generator)
        return sizes


def draw_access(layout: Layout, draws: Draws) -> Access:
    """Draw the access graph of all labs."""
    first_target = np.searchsorted(layout.lab_of_target, np.arange(len(layout.lab_names)))
    members: list[IntArray] = []
    target: list[IntArray] = []
    for lab, generator in enumerate(layout.generators):
        first = int(layout.first_slot[lab])
        moved: dict[int, IntArray] = {}  # compartments may share one array, and keep doing so
        members += [moved.setdefault(id(m), m + first) for m in generator.draw(draws)]
        target.append(generator.target + first_target[lab])
    targets = np.concatenate(target)
    return Access(targets, layout.lab_of_target[targets], tuple(members))
