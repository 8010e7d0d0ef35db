"""What of a world follows from the scenario and the seed before anything happens: labs, targets, access."""

from dataclasses import dataclass

import numpy as np

from ...agents.ports import Draws, IntArray
from ...scenarios import ScenarioConfig
from .access import Access, need_to_know

__all__ = ["Layout", "draw_access"]


@dataclass(frozen=True)
class Layout:
    """Labs and targets by index, and the number of places."""

    lab_names: tuple[str, ...]
    target_names: tuple[str, ...]
    """`lab/target`, all labs' together."""
    lab_of_target: IntArray
    headcounts: IntArray
    compartments_of_target: IntArray

    @classmethod
    def of(cls, config: ScenarioConfig) -> "Layout":
        """The layout of a scenario; `employees.scale` multiplies every headcount, rounded, at least 1."""
        labs = list(config.labs.items())
        return cls(
            lab_names=tuple(name for name, _ in labs),
            target_names=tuple(f"{name}/{target}" for name, lab in labs for target in lab.targets),
            lab_of_target=np.repeat(np.arange(len(labs)), [len(lab.targets) for _, lab in labs]),
            compartments_of_target=np.array(
                [config.access_of(name).compartments_per_target for name, lab in labs for _ in lab.targets]
            ),
            headcounts=np.array([max(round(lab.employees * config.employees.scale), 1) for _, lab in labs]),
        )

    @property
    def n_targets(self) -> int:
        """Number of targets, all labs' together."""
        return len(self.target_names)


def draw_access(config: ScenarioConfig, layout: Layout, draws: Draws) -> Access:
    """Draw the access graph that the scenario describes."""
    target = np.repeat(np.arange(layout.n_targets, dtype=np.int64), layout.compartments_of_target)
    lab = layout.lab_of_target[target]
    first_slot = np.concatenate([[0], np.cumsum(layout.headcounts)])
    members = []
    for compartment, owner in enumerate(lab.tolist()):
        spread = config.access_of(layout.lab_names[owner])
        members.append(
            need_to_know(
                draws,
                compartment,
                int(first_slot[owner]),
                int(layout.headcounts[owner]),
                median=spread.median_access,
                sigma=spread.access_sigma,
            )
        )
    return Access(target, lab, tuple(members))
