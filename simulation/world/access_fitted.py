"""An access graph like that of an imported organisation, rescaled to the lab's headcount.

The model is a bipartite configuration model with department blocks. Kept are, department by department, the numbers
of compartments to which people have access, and, compartment by compartment, how many people of each department have
access to it; who they are is left to chance. The configuration model for bipartite graphs with given degrees is that
of Newman, Strogatz & Watts (2001, Phys. Rev. E 64, 026118, https://doi.org/10.1103/PhysRevE.64.026118; also
`networkx.algorithms.bipartite.configuration_model`); blocks with kept degrees follow the degree-corrected block model
(Karrer & Newman 2011, Phys. Rev. E 83, 016107, https://doi.org/10.1103/PhysRevE.83.016107; bipartite: Larremore,
Clauset & Jacobs 2014, Phys. Rev. E 90, 012805, https://doi.org/10.1103/PhysRevE.90.012805).
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...agents.ports import Draws, IntArray
from .access_generators import AccessGenerator, LabPlan
from .access_imported import lab_network, target_of_compartments
from .network import Network
from .teams import Teams

__all__ = ["AccessFit", "Fitted", "fit_access", "matched"]

_ROUNDS = 200  # of moving edges that would be double


@dataclass(frozen=True)
class AccessFit:
    """What is kept of an organisation.

    Attributes
    ----------
    department
        Department of each employee (0, 1, … in order of appearance), shape (employees,).
    degree
        Number of compartments to which each employee has access, shape (employees,).
    mix
        How many people of each department have access to each compartment, shape (compartments, departments).
    """

    department: IntArray
    degree: IntArray
    mix: IntArray

    @property
    def n_departments(self) -> int:
        """Number of departments."""
        return int(self.mix.shape[1])

    def headcounts(self, headcount: int) -> IntArray:
        """Divide `headcount` among the departments by largest remainders; at least 1 each as far as they go."""
        size = np.bincount(self.department, minlength=self.n_departments)
        exact = headcount * size / size.sum()
        whole = np.floor(exact).astype(np.int64)
        rest = np.argsort(whole - exact, kind="stable")[: headcount - int(whole.sum())]
        whole[rest] += 1
        for empty in np.flatnonzero(whole == 0).tolist():
            if whole.max() > 1:
                whole[np.argmax(whole)] -= 1
                whole[empty] = 1
        return whole


def fit_access(network: Network) -> AccessFit:
    """Measure degrees and departments; people without a department are one more."""
    names = network.employees.of("department") or ("",) * len(network.employees)
    department, found = pd.factorize(np.array(names, dtype=object))
    mix = np.zeros((len(network.compartments), len(found)), dtype=np.int64)
    np.add.at(mix, (network.compartment, department[network.employee]), 1)
    degree = np.bincount(network.employee, minlength=len(network.employees))
    return AccessFit(department.astype(np.int64), degree.astype(np.int64), mix)


class Fitted(AccessGenerator):
    """A random graph with the degrees and departments of a file.

    Compartments grow with the headcount, so that both distributions of degrees are kept: `k` compartments of a file
    with `n` people become `k N / n` for a headcount of `N`, at least one a target. Each is like one of the file's of
    the same target, each person like one of the same department, all of them equally often up to one. The file is
    one organisation, whatever labs it names.
    """

    name = "fitted"

    def __init__(self, plan: LabPlan) -> None:
        super().__init__(plan)
        network = lab_network(plan)
        self.fit = fit_access(network)
        self._headcounts = self.fit.headcounts(plan.headcount)
        self._departments = np.flatnonzero(self._headcounts)
        self.teams = Teams.of_departments(
            self._headcounts[self._departments].tolist(), plan.colleagues.team_size
        )
        self._template_target = target_of_compartments(network, plan)
        ratio = plan.headcount / len(network.employees)
        number = np.bincount(self._template_target, minlength=len(plan.targets))
        self._numbers = np.maximum(np.rint(number * ratio), 1).astype(np.int64)
        self.target = np.repeat(np.arange(len(plan.targets), dtype=np.int64), self._numbers)

    def draw(self, draws: Draws) -> tuple[IntArray, ...]:
        """Places with access to each compartment, sorted."""
        generator = draws.generator(f"access/{self.plan.lab}")
        templates = np.concatenate(
            [
                _taken(np.flatnonzero(self._template_target == target), number, generator)
                for target, number in enumerate(self._numbers.tolist())
            ]
        )
        first = np.concatenate([[0], np.cumsum(self._headcounts)])
        found: list[tuple[IntArray, IntArray]] = []
        for department in self._departments.tolist():
            size = int(self._headcounts[department])
            people = np.flatnonzero(self.fit.department == department)
            degree = generator.permutation(self.fit.degree[_taken(people, size, generator)])
            wanted = np.minimum(self.fit.mix[templates, department], size)
            compartment, person = matched(wanted, degree, generator)
            found.append((compartment, person + first[department]))
        return self._split(found, generator)

    def _split(
        self, found: list[tuple[IntArray, IntArray]], generator: np.random.Generator
    ) -> tuple[IntArray, ...]:
        compartment = np.concatenate([c for c, _ in found])
        place = np.concatenate([p for _, p in found])
        rows = np.lexsort((place, compartment))
        ends = np.cumsum(np.bincount(compartment, minlength=len(self.target)))[:-1]
        parts = np.split(place[rows], ends)
        # only where a small lab has no room for a department: somebody has to know
        return tuple(p if len(p) else generator.integers(self.plan.headcount, size=1) for p in parts)

    def public_sizes(self, target: IntArray, generator: np.random.Generator) -> IntArray:
        """The size of a compartment of the file that belongs to each target, picked evenly."""
        order = np.argsort(self._template_target, kind="stable")
        size = np.minimum(self.fit.mix, self._headcounts).sum(axis=1)[order]
        start = np.searchsorted(self._template_target[order], np.arange(len(self.plan.targets) + 1))
        number = np.diff(start)[target]
        chosen = start[target] + (generator.random(len(target)) * number).astype(np.int64)
        sizes: IntArray = np.maximum(size[chosen], 1)
        return sizes


def _taken(templates: IntArray, number: int, generator: np.random.Generator) -> IntArray:
    """Take so many templates, each equally often; which ones come once more is left to chance."""
    times, rest = divmod(number, len(templates))
    return np.concatenate([np.tile(templates, times), generator.choice(templates, size=rest, replace=False)])


def matched(wanted: IntArray, degree: IntArray, generator: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Match the ends of edges at random, no edge twice.

    Where the two sides do not add up, the compartments' numbers are kept: spare ends of people are left out at
    random, missing ones are added in proportion to the degrees. Edges that would be double are exchanged with others
    at random; one that is still double after many rounds (which takes a nearly complete graph) is left out.

    Parameters
    ----------
    wanted
        Number of people for each compartment, at most the number of people.
    degree
        Number of compartments for each person.

    Returns
    -------
    compartment, person
        The ends of each edge.
    """
    n_people = len(degree)
    compartment = np.repeat(np.arange(len(wanted), dtype=np.int64), wanted)
    ends = np.repeat(np.arange(n_people, dtype=np.int64), degree)
    missing = len(compartment) - len(ends)
    if missing > 0:
        pool = ends if len(ends) else np.arange(n_people, dtype=np.int64)
        ends = np.concatenate([ends, generator.choice(pool, size=missing)])
    person = generator.permutation(ends)[: len(compartment)]
    for _ in range(_ROUNDS):
        double = np.flatnonzero(pd.Index(compartment * n_people + person).duplicated())
        if not len(double):
            break
        others = generator.integers(len(person), size=len(double))
        both = np.unique(np.concatenate([double, others]))
        person[both] = generator.permutation(person[both])
    keep = ~pd.Index(compartment * n_people + person).duplicated()
    return compartment[keep], person[keep]
