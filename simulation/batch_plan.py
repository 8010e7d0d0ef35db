"""What a batch is to run: the cells of the sweep, times replicates, each run with its identity and its seed.

Replicate i has the same seed in every cell, so it meets the same incidents, people and decisions under every
mechanism and delta (common random numbers), and cells can be compared pair by pair.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

from ..scenarios import InputError, ResolvedScenario, ScenarioConfig, cell_config, content_hash, sweep_cells
from ..scenarios.paths import render_path
from ..scenarios.sweeps import with_cell
from ..scenarios.wording import written
from .draws import child_seed
from .guarantees import segments
from .provenance import run_id

__all__ = ["BatchPlan", "Cell", "PlannedRun", "replicate_seed", "replicates_of", "told"]

_ABOUT = ("scenario", "evidence", "sources", "sweep")  # tables that no run reads


class PlannedRun(NamedTuple):
    """One run that is to be made."""

    run_id: str
    cell: int
    replicate: int
    seed: int


@dataclass(frozen=True)
class Cell:
    """One combination of swept values.

    Attributes
    ----------
    number
        Place in the plan, from 0.
    values
        Dotted path to value.
    config
        The scenario with these values, without what is said about it (title, evidence, sources).
    content_hash
        What tells its runs apart from those of other cells.
    """

    number: int
    values: Mapping[str, Any]
    config: ScenarioConfig
    content_hash: str


@dataclass(frozen=True)
class BatchPlan:
    """The runs of a batch.

    Attributes
    ----------
    scenario
        What was asked for.
    seed
        Root seed, from which those of the replicates come.
    cells
        In the order of `sweep_cells`.
    """

    scenario: ResolvedScenario
    seed: int
    cells: tuple[Cell, ...]

    @classmethod
    def of(cls, scenario: ResolvedScenario, seed: int) -> "BatchPlan":
        """Lay out the cells of a scenario's sweep.

        Raises
        ------
        InputError
            Two cells are the same scenario, the sweep would override a setting, or a cell's guarantee would end
            before its run.
        """
        values = sweep_cells(scenario)
        _refuse_overridden(scenario, values[0])
        bare = replace(scenario, tree={k: v for k, v in scenario.tree.items() if k not in _ABOUT})
        configs = [cell_config(bare, cell) for cell in values]
        cells = tuple(
            Cell(number, cell, config, content_hash(config))
            for number, (cell, config) in enumerate(zip(values, configs, strict=True))
        )
        _refuse_twins(cells)
        _refuse_short_guarantees(cells)
        return cls(scenario, seed, cells)

    @property
    def keys(self) -> tuple[str, ...]:
        """The swept keys, in the order of the columns."""
        return tuple(self.cells[0].values)

    @cached_property
    def identity(self) -> str:
        """Hash of the cells and the root seed: what one directory of results is about.

        The number of replicates is left out, so a batch can be extended.
        """
        material = [self.seed, self.keys, [cell.content_hash for cell in self.cells]]
        return hashlib.sha256(json.dumps(material).encode()).hexdigest()

    def run(self, cell: int, replicate: int) -> PlannedRun:
        """The run of a cell and a replicate, both counted from 0."""
        seed = replicate_seed(self.seed, replicate)
        return PlannedRun(run_id(self.cells[cell].content_hash, seed), cell, replicate, seed)

    def runs(self, replicates: int) -> Iterator[PlannedRun]:
        """Every run in the order of the tables: cell by cell, replicate by replicate."""
        seeds = [replicate_seed(self.seed, replicate) for replicate in range(replicates)]
        for cell in self.cells:
            for replicate, seed in enumerate(seeds):
                yield PlannedRun(run_id(cell.content_hash, seed), cell.number, replicate, seed)

    def scenario_of(self, cell: int) -> ResolvedScenario:
        """The scenario of one cell with everything that is said about it, as a single run takes it."""
        values = self.cells[cell].values
        return replace(
            self.scenario,
            config=cell_config(self.scenario, values),
            tree=with_cell(self.scenario.tree, values),
        )


def replicates_of(scenario: ResolvedScenario, replicates: int | None) -> int:
    """Replicates to begin with: those asked for, or the scenario's.

    Raises
    ------
    InputError
        They are more than a target of precision allows, or fewer than one.
    """
    sweep = scenario.config.sweep
    count = sweep.replicates if replicates is None else replicates
    if count < 1:
        raise InputError(f"--replicates {count}: must be at least 1")
    if sweep.precision.metric and count > sweep.precision.max_replicates:
        raise InputError(
            f"--replicates {count}: more than sweep.precision.max_replicates = {sweep.precision.max_replicates}"
        )
    return count


def replicate_seed(seed: int, replicate: int) -> int:
    """Root seed of a replicate: 63 bits, so that a signed column and `run --seed` can hold it."""
    return child_seed(seed, "replicate", replicate) >> 1


def told(values: Mapping[str, Any]) -> str:
    """A cell in words."""
    return ", ".join(f"{path} = {written(value)}" for path, value in values.items()) or "the scenario itself"


def _refuse_overridden(scenario: ResolvedScenario, cell: Mapping[str, Any]) -> None:
    sweep = scenario.config.sweep
    axes = {"grid": sweep.grid, "zip": sweep.zip}
    for path in cell:
        if (origin := scenario.origins.get(path)) and origin.file.startswith("--"):
            table = next((name for name, axis in axes.items() if path in axis), "")
            narrower = f"sweep.{table}.{render_path((path,))}" if table else ""
            advice = f"; to narrow the sweep: --set '{narrower}=[…]'" if narrower else ""
            raise InputError(
                f"{origin.file} {path}: the scenario's sweep varies it, and would override this{advice}"
            )


def _refuse_twins(cells: tuple[Cell, ...]) -> None:
    first: dict[str, Cell] = {}
    for cell in cells:
        if (other := first.setdefault(cell.content_hash, cell)) is not cell:
            raise InputError(
                f"sweep: the cells {told(other.values)} and {told(cell.values)} are the same scenario, so one would "
                "be counted twice: what is swept is overridden elsewhere, in every lab perhaps"
            )


def _refuse_short_guarantees(cells: tuple[Cell, ...]) -> None:
    for cell in cells:
        try:
            segments(cell.config)
        except InputError as error:
            raise InputError(f"sweep: the cell {told(cell.values)}: {error}") from None
