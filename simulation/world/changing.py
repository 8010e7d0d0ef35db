"""What happens at the times of [[changes]]."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from mesa.time import Priority

from ...agents.base import Actor
from ...scenarios import ScenarioConfig
from ...scenarios.schema import Purge

__all__ = ["ChangeSource", "people_to_purge"]


class ChangeSource(Actor):
    """Puts each stage of a scenario in force at its time, before anything else of that instant.

    Parameters
    ----------
    model
        The Mesa model.
    stages
        When which scenario comes into force (`timeline`), the first left out.
    enforce
        Called with the number of the stage, from 1.
    """

    def __init__(
        self, model: Any, stages: Sequence[tuple[float, ScenarioConfig]], enforce: Callable[[int], None]
    ) -> None:
        super().__init__(model)
        for number, (at, _) in enumerate(stages, 1):
            self.call_at(at, enforce, number, priority=Priority.HIGH)


def people_to_purge(model: Any, lab: int, purge: Purge) -> list[int]:
    """Who at a lab may have to go in a purge."""
    population = model.population
    if purge.among == "everyone":
        first, last = population.first_slot[lab : lab + 2].tolist()
        return list(map(population.holder, range(first, last)))
    if purge.among == "access":
        known = [incident.people for incident in model.book.open_of(lab)]
        return sorted(set(np.concatenate(known).tolist())) if known else []
    return [person for person in population.n_reports if population.lab_of(person) == lab]
