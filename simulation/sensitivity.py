"""Sensitivity of a metric to the parameters that a scenario gives ranges for, through the batch machinery.

The ranges are those of `[sweep.sample]`. Every point of the design is a cell of a batch in `DIR/runs/`, so an
interrupted study goes on where it ended, and another metric of the same design costs no run. Replicate i has the same
seed at every point (common random numbers), so that points differ by their parameters and not by their luck.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..agents.ports import FloatArray
from ..analysis.estimates import available_metrics, estimates
from ..analysis.indices import morris_design, morris_indices, sobol_design, sobol_indices
from ..analysis.metrics import METRICS
from ..scenarios import InputError, ResolvedScenario, resolve_tree
from ..scenarios.paths import parse_path
from ..scenarios.reference import find_parameter
from .batch_results import BatchResult
from .batches import batch
from .registries import known_names

__all__ = ["METHODS", "Design", "SensitivityResult", "design_of", "sensitivity"]

METHODS = {"morris": 10, "sobol": 64}
"""Methods, and samples taken by default: trajectories (morris), or rows of the base sample (sobol)."""

_DIGITS = 10  # of a sampled number, so that a last bit that differs between machines makes no other run


@dataclass(frozen=True)
class Design:
    """Points at which a scenario is run.

    Attributes
    ----------
    method
        "morris" or "sobol".
    parameters
        Dotted paths.
    shares
        Each point as shares of the ranges, shape (points, parameters).
    values
        The same as values of the parameters, one column each.
    """

    method: str
    parameters: tuple[str, ...]
    shares: FloatArray
    values: pd.DataFrame

    @property
    def cells(self) -> pd.DataFrame:
        """The points without repetition: what has to be run."""
        return self.values.drop_duplicates(ignore_index=True)


@dataclass(frozen=True)
class SensitivityResult:
    """What a sensitivity study gave.

    Attributes
    ----------
    design
        Its points.
    batch
        The runs.
    points
        The design with the metrics at each point.
    indices
        metric, parameter, index, value, low, high.
    """

    design: Design
    batch: BatchResult
    points: pd.DataFrame
    indices: pd.DataFrame


def design_of(scenario: ResolvedScenario, method: str, samples: int | None = None) -> Design:
    """Lay out the points of a study.

    Parameters
    ----------
    scenario
        Its `[sweep.sample]` gives the ranges; the grid and the zipped lists of its sweep are left aside.
    method
        "morris" or "sobol".
    samples
        Trajectories (morris), rows of the base sample (sobol, a power of 2).

    Raises
    ------
    InputError
        There are no ranges, the method is unknown, or `samples` does not suit it.
    """
    if method not in METHODS:
        raise InputError(f"--method {method}: one of {', '.join(METHODS)}")
    count = METHODS[method] if samples is None else samples
    if count < 2:
        raise InputError(f"--samples {count}: must be at least 2")
    if method == "sobol" and count & (count - 1):
        raise InputError(
            f"--samples {count}: must be a power of 2 for sobol, such as {1 << count.bit_length()}"
        )
    sample = scenario.config.sweep.sample
    ranges = {**sample.linear, **sample.log}
    if not ranges:
        raise InputError(
            "sweep.sample: the scenario gives no ranges to vary over; declare them under [sweep.sample.linear] or "
            "[sweep.sample.log], or with --set 'sweep.sample.linear.\"incidents.rate\"=[0.5, 2.0]'"
        )
    make = morris_design if method == "morris" else sobol_design
    shares = make(len(ranges), count, sample.seed % 2**32)
    values = {
        path: [_value(path, share, low, high, log=path in sample.log) for share in shares[:, i].tolist()]
        for i, (path, (low, high)) in enumerate(ranges.items())
    }
    return Design(method, tuple(ranges), shares, pd.DataFrame(values))


def sensitivity(
    scenario: ResolvedScenario,
    out: str | PathLike[str],
    metrics: Sequence[str],
    *,
    method: str = "morris",
    samples: int | None = None,
    replicates: int | None = None,
    seed: int = 1,
    jobs: int | None = None,
    force: bool = False,
    command: Sequence[str] = (),
    progress: Callable[[int, int], None] = lambda _done, _total: None,
    tell: Callable[[str], None] = lambda _sentence: None,
) -> SensitivityResult:
    """Run a study, or go on with it.

    Parameters
    ----------
    scenario
        Its `[sweep.sample]` gives the ranges.
    out
        The runs go to `runs/` in it.
    metrics
        Keys of metrics.
    method, samples
        As for `design_of`.
    replicates, seed, jobs, force, command, progress, tell
        As for `batch`.

    Raises
    ------
    InputError
        The scenario or an option is bad, or a metric is undefined at some points.
    """
    if unknown := [key for key in metrics if key not in {one.key for one in METRICS}]:
        raise InputError(
            f"--metric {unknown[0]}: no such metric; one of {', '.join(one.key for one in METRICS)}"
        )
    design = design_of(scenario, method, samples)
    made = batch(
        _swept(scenario, design.cells),
        Path(out) / "runs",
        replicates=replicates,
        seed=seed,
        jobs=jobs,
        force=force,
        command=command,
        progress=progress,
        tell=tell,
    )
    points = _measured(design, made.runs, metrics)
    tables = []
    for metric in metrics:
        y = points[metric].to_numpy(np.float64)
        found = (
            morris_indices(design.parameters, design.shares, y)
            if method == "morris"
            else sobol_indices(design.parameters, y)
        )
        found.insert(0, "metric", metric)
        tables.append(found)
    return SensitivityResult(design, made, points, pd.concat(tables, ignore_index=True))


def _swept(scenario: ResolvedScenario, cells: pd.DataFrame) -> ResolvedScenario:
    """The scenario with the points as its sweep."""
    columns: Mapping[str, list[Any]] = {str(path): cells[path].tolist() for path in cells}
    tree = dict(scenario.tree)
    tree["sweep"] = {"replicates": scenario.config.sweep.replicates, "zip": dict(columns)}
    return resolve_tree(tree, known_names=known_names(), label="sensitivity")


def _measured(design: Design, runs: pd.DataFrame, metrics: Sequence[str]) -> pd.DataFrame:
    """Each metric at each point of the design."""
    parameters = list(design.parameters)
    have = available_metrics(runs)
    table = estimates(runs, [m for m in metrics if m in have], by=parameters)
    wide = table.pivot(index=parameters, columns="metric", values="value").reset_index()
    points = design.values.merge(wide, how="left", on=parameters, validate="many_to_one")
    for metric in metrics:
        n_missing = int(points[metric].isna().sum()) if metric in points else len(points)
        if n_missing:
            raise InputError(
                f"--metric {metric}: undefined at {n_missing} of {len(points)} points (nothing to divide by, or the "
                "runs failed); take more --replicates or another metric. The finished runs are kept"
            )
    return points


def _value(path: str, share: float, low: float, high: float, *, log: bool) -> float | int:
    """The value at a share of the range, 0 <= share <= 1; each whole number gets an equal piece."""
    row = find_parameter(parse_path(path))
    whole = row is not None and row.type == "whole number"
    top = high + 1 if whole else high
    value = (
        math.exp(math.log(low) + share * (math.log(top) - math.log(low)))
        if log
        else low + share * (top - low)
    )
    return min(math.floor(value), int(high)) if whole else float(f"{value:.{_DIGITS}g}")
