"""The figures of the paper's experiments: errors by gap, running averages, and where two mechanisms cross."""

import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.artist import Artist
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from .style import (
    BOUND_STYLE,
    Drawing,
    band,
    figure,
    legend_outside,
    mechanism_label,
    mechanism_style,
    panel_title,
)

__all__ = ["crossing_figure", "dynamic_figure", "save_static_figure", "static_figure"]

_ERROR = "Probability of missing the leader"
_BOUND_LABEL = "No private rule below this"
_METRICS = {
    "deficit": "Deficit (reports)",
    "normalized_deficit": "Normalised deficit",
    "resolved": "Reports resolved per audit",
}
_SYMBOL = {"n_targets": "C", "delta": "δ"}
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_POINTS = 200  # drawn of a running average, whatever the horizon
_MARKERS = 8  # on each line


def static_figure(points: pd.DataFrame, curves: pd.DataFrame, *, rows: str, stem: str) -> Drawing:
    """Draw Experiment 1: a panel per run length (columns) and per delta or number of targets (rows).

    Parameters
    ----------
    points
        Rows of `exp1.csv`: `n_targets, run_length, delta, gap, mechanism, trials, misselection`.
    curves
        Exact probabilities and the lower bound (as mechanism `lower_bound`) on a finer grid of gaps:
        `n_targets, run_length, delta, gap, mechanism, exact`.
    rows
        What differs between rows of panels, `delta` or `n_targets`; the other has one value in all of the data.
    stem
        Name of the files.
    """
    fixed = {"delta": "n_targets", "n_targets": "delta"}[rows]
    (fixed_value,), (trials,) = points[fixed].unique(), points["trials"].unique()
    levels, run_lengths = sorted(points[rows].unique()), sorted(points["run_length"].unique())
    names = list(dict.fromkeys(points["mechanism"]))
    by_point = dict(list(points.groupby([rows, "run_length", "mechanism"])))
    by_curve = dict(list(curves.groupby([rows, "run_length", "mechanism"])))
    with figure("full", 1.75 * len(levels) + 0.3) as fig:
        grid = fig.subplots(len(levels), len(run_lengths), sharex=True, sharey=True, squeeze=False)
        cells = itertools.product(levels, run_lengths)
        for letter, axes, cell in zip(_LETTERS, grid.flat, cells, strict=False):
            bound = by_curve[(*cell, "lower_bound")]
            axes.plot(bound["gap"], bound["exact"], **BOUND_STYLE)
            for k, name in enumerate(names):
                style = mechanism_style(name)
                marker = style.pop("marker")
                exact, trial = by_curve[(*cell, name)], by_point[(*cell, name)]
                axes.plot(exact["gap"], exact["exact"], linewidth=1.0, zorder=2.9 - 0.1 * k, **style)
                # every other point, and the others for the next mechanism: some curves lie on one another
                shown = trial.iloc[k % 2 :: 2]
                axes.plot(shown["gap"], shown["misselection"], marker, color=style["color"], markersize=3.0)
            panel_title(axes, letter, f"{_SYMBOL[rows]} = {cell[0]:g}, L = {cell[1]}")
            axes.set_ylim(-0.03, 1.03)
        for axes in grid[-1]:
            axes.set_xlabel("Gap Δ (reports)")
        fig.supylabel(_ERROR, fontsize=8.0)
        handles, labels = _mechanism_handles(names)
        legend_outside(fig, [*handles, Line2D([], [], **BOUND_STYLE)], [*labels, _BOUND_LABEL], columns=4)
        _freeze_layout(fig)
    columns = ["n_targets", "run_length", "delta", "gap", "mechanism"]
    data = curves.merge(points[[*columns, "trials", "misselection"]], on=columns, how="outer")
    caption = (
        f"Experiment 1 with {_SYMBOL[fixed]} = {fixed_value:g}. One decision at run length L, which is also the "
        "horizon: the leader has Δ active reports, the others none. Lines: exact probability of auditing "
        f"another target than the leader; markers: {trials} trials each, every other point shown. Dashes: the bound "
        "max(0, (C - 1)/C - Δδ), which no (0, δ)-DP rule that treats targets alike can undercut at a first decision."
    )
    return Drawing(fig, stem, data, caption)


def dynamic_figure(averages: pd.DataFrame, *, seeds: int, setting: str) -> Drawing:
    """Draw Experiment 2: running averages with 95 % bands.

    Parameters
    ----------
    averages
        Rows of `exp2.csv`.
    seeds
        Number of seeds averaged over.
    setting
        Sizes and rates, for the caption.
    """
    names = list(dict.fromkeys(averages["mechanism"]))
    horizon = int(averages["step"].max())
    steps = pd.Index(sorted({1 + round(i * (horizon - 1) / (_POINTS - 1)) for i in range(_POINTS)}))
    data = averages[averages["step"].isin(steps)].reset_index(drop=True)
    with figure("full", 2.5) as fig:
        for letter, axes, (metric, label) in zip(
            _LETTERS, fig.subplots(1, 3), _METRICS.items(), strict=False
        ):
            for i, (name, rows) in enumerate(data.groupby("mechanism", sort=False)):
                style = mechanism_style(str(name))
                every = max(1, len(rows) // _MARKERS)
                # markers of different mechanisms at different steps, so that none hides another
                axes.plot(rows["step"], rows[metric], markevery=(i * every // len(names), every), **style)
                band(axes, rows["step"], rows[f"{metric}_low"], rows[f"{metric}_high"], style["color"])
            axes.set(xlabel="Decision t", ylabel=label)
            axes.set_ylim(bottom=0.0)
            axes.xaxis.set_major_locator(MaxNLocator(4, integer=True))
            panel_title(axes, letter)
        legend_outside(fig, *_mechanism_handles(names), columns=4)
        _freeze_layout(fig)
    caption = (
        f"Experiment 2: {setting}. Running averages up to decision t, mean over {seeds} seeds with the 95 % "
        "interval (Student's t over seeds). Every mechanism sees the same reports and keeps its own active counts. "
        "Deficit: most active reports of any target minus those of the audited one; normalised: divided by the most "
        "active reports plus 1; resolved: active reports of the audited target."
    )
    return Drawing(fig, "exp2", data, caption)


def crossing_figure(crossing: pd.DataFrame) -> Drawing:
    """Draw exact errors by run length: where Toeplitz noise is better, and where the exponential mechanism.

    Parameters
    ----------
    crossing
        `n_targets, delta, run_length, gap, mechanism, exact`, of one number of targets and delta.
    """
    (n_targets,), (delta,) = crossing["n_targets"].unique(), crossing["delta"].unique()
    names, gaps = list(dict.fromkeys(crossing["mechanism"])), sorted(crossing["gap"].unique())
    with figure("full", 2.3) as fig:
        panels = fig.subplots(1, len(gaps), sharey=True, squeeze=False)
        for letter, axes, gap in zip(_LETTERS, panels[0], gaps, strict=False):
            for name in names:
                rows = crossing[(crossing["gap"] == gap) & (crossing["mechanism"] == name)]
                style = BOUND_STYLE if name == "lower_bound" else mechanism_style(name)
                axes.plot(rows["run_length"], rows["exact"], markevery=max(1, len(rows) // 5), **style)
            axes.set(xscale="log", xlabel="Run length L (periods)", ylim=(-0.03, 1.03))
            panel_title(axes, letter, f"Δ = {gap}")
        fig.supylabel(_ERROR, fontsize=8.0)
        drawn = [n for n in names if n != "lower_bound"]
        handles, labels = _mechanism_handles(drawn)
        legend_outside(fig, [*handles, Line2D([], [], **BOUND_STYLE)], [*labels, _BOUND_LABEL], columns=3)
        _freeze_layout(fig)
    caption = (
        "Where the Toeplitz counter and the exponential mechanism cross: exact probability of missing a leader that "
        f"is Δ reports ahead of {n_targets - 1} others, at δ = {delta:g}, by run length L (also the horizon). "
        "The counter is better at short horizons; the exponential mechanism does not depend on the horizon."
    )
    return Drawing(fig, "exp1-crossing", crossing, caption)


def save_static_figure(
    points: pd.DataFrame,
    curves: pd.DataFrame,
    rows: str,
    stem: str,
    directory: Path,
    provenance: Mapping[str, Any],
) -> None:
    """Draw and save Experiment 1, for a process of its own: it loads nothing but this layer."""
    static_figure(points, curves, rows=rows, stem=stem).save(directory, provenance)


def _freeze_layout(fig: Figure) -> None:
    """Place everything once, instead of once for each file format."""
    fig.draw_without_rendering()
    fig.set_layout_engine("none")


def _mechanism_handles(names: Sequence[str]) -> tuple[list[Artist], list[str]]:
    return [Line2D([], [], **mechanism_style(n)) for n in names], [mechanism_label(n) for n in names]
