"""The figures of the paper's experiments: errors by gap and by run length, running averages."""

import itertools
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.text import Text
from matplotlib.ticker import MaxNLocator, NullLocator, StrMethodFormatter

from .drawing import Drawing
from .intervals import wilson_bounds
from .style import (
    FLOOR_STYLE,
    band,
    figure,
    floor,
    legend_outside,
    mechanism_label,
    mechanism_style,
    panel_title,
)

__all__ = ["dynamic_figure", "static_figure"]

_METRICS = {
    "deficit": "Deficit (reports)",
    "normalized_deficit": "Normalised deficit",
    "resolved": "Reports resolved per audit",
}
_SYMBOL = {"n_targets": "C", "delta": "δ"}
_POINTS = 200  # drawn of a running average, whatever the horizon
_MARKERS = 8  # on each line
_COINCIDE = 0.005  # curves this near are one line on paper
_CROSSING_LINE = {"linewidth": 1.0, "markersize": 3.0, "markevery": 3}


def static_figure(
    points: pd.DataFrame,
    curves: pd.DataFrame,
    *,
    rows: str,
    stem: str,
    crossing: pd.DataFrame | None = None,
) -> Drawing:
    """Draw Experiment 1: a panel per run length (columns) and per delta or number of targets (rows).

    Parameters
    ----------
    points
        Rows of `exp1.csv`: `n_targets, run_length, delta, gap, mechanism, trials, misselections, misselection`.
    curves
        Exact probabilities and the lower bound (as mechanism `lower_bound`) on a finer grid of gaps:
        `n_targets, run_length, delta, gap, mechanism, exact`.
    rows
        What differs between rows of panels, `delta` or `n_targets`; the other has one value in all of the
        data.
    stem
        Name of the files.
    crossing
        Exact probabilities by run length instead, for one number of targets and delta, columns as in
        `curves`: one more row, a panel per gap (as many as there are run lengths in `points`), that shows
        where rules cross.
    """
    fixed = {"delta": "n_targets", "n_targets": "delta"}[rows]
    (fixed_value,), (trials,) = points[fixed].unique(), points["trials"].unique()
    levels, run_lengths = sorted(points[rows].unique()), sorted(points["run_length"].unique())
    names = list(dict.fromkeys(points["mechanism"]))
    low, high = wilson_bounds(points["misselections"], points["trials"])
    points = points.assign(misselection_low=low, misselection_high=high)
    by_point = dict(list(points.groupby([rows, "run_length", "mechanism"])))
    by_curve = dict(list(curves.groupby([rows, "run_length", "mechanism"])))
    n_rows = len(levels) + (crossing is not None)
    with figure("full", 1.75 * n_rows + 0.3) as fig:
        grid = fig.subplots(n_rows, len(run_lengths), sharex="row", sharey=True, squeeze=False)
        letters = iter("abcdefghijklmnopqrstuvwxyz")
        for axes, cell in zip(grid.flat, itertools.product(levels, run_lengths), strict=False):
            bound = by_curve[(*cell, "lower_bound")]
            floor(axes, bound["gap"], bound["exact"])
            known: list[np.ndarray] = []
            for k, name in enumerate(names):
                style = mechanism_style(name)
                marker, color = style.pop("marker"), style["color"]
                exact, trial = by_curve[(*cell, name)], by_point[(*cell, name)]
                axes.plot(exact["gap"], exact["exact"], linewidth=1.0, zorder=2.9 - 0.1 * k, **style)
                curve = exact["exact"].to_numpy()
                hides = any(np.abs(curve - other).max() < _COINCIDE for other in known)
                known.append(curve)
                _draw_trials(axes, trial, marker, color, every=2 if hides else 1)
            panel_title(axes, next(letters), f"{_SYMBOL[rows]} = {cell[0]:g}, L = {cell[1]}", y=1.0)
        for axes in grid[len(levels) - 1]:
            axes.set_xlabel("Gap Δ (reports)")
        for row in grid[: len(levels) - 1]:
            row[0].tick_params(labelbottom=False)
            for axes in row[1:]:
                axes.tick_params(labelbottom=False)
        if crossing is not None:
            _draw_crossing(grid[-1], crossing, letters)
        grid[0, 0].set(ylim=(-0.03, 1.03), yticks=(0.0, 0.5, 1.0))
        fig.supylabel("Probability of missing the leader", fontsize=8.0)
        handles, labels = _mechanism_handles(names)
        legend_outside(
            fig,
            [*handles, Patch(**FLOOR_STYLE)],
            [*labels, "No private rule below this"],
            columns=4,
        )
        _freeze_layout(fig)
    columns = ["n_targets", "run_length", "delta", "gap", "mechanism"]
    drawn = ["trials", "misselection", "misselection_low", "misselection_high"]
    data = curves.merge(points[[*columns, *drawn]], on=columns, how="outer")
    caption = (
        f"Experiment 1 with {_SYMBOL[fixed]} = {fixed_value:g}. One decision at run length L, which is also the "
        "horizon: the leader has Δ active reports, the others none. Lines: exact probability of auditing another "
        f"target than the leader; markers: {trials} trials each, with 95 % intervals (Wilson); a curve "
        "that lies on another has a marker at every other gap. Shaded: below the bound "
        "max(0, (C - 1)/C - Δδ), which no (0, δ)-DP rule that treats targets alike can undercut at a first decision."
    )
    if crossing is not None:
        data = pd.concat([data, crossing], ignore_index=True)
        caption += (
            " Last row: the same by run length for the Toeplitz counter and the exponential mechanism, whose error "
            "does not depend on the horizon; at short run lengths the counter is better."
        )
    return Drawing(fig, stem, data, caption)


def _draw_trials(axes: Axes, trial: pd.DataFrame, marker: str, color: str, every: int) -> None:
    """Markers at every point or every other, and intervals at all, as one broken line: artists cost time."""
    low, value, high = (trial[f"misselection{end}"].to_numpy() for end in ("_low", "", "_high"))
    gap = trial["gap"].to_numpy(np.float64)
    nothing = np.full_like(gap, np.nan)
    x, y = (
        np.stack(parts, axis=1).ravel() for parts in ((gap, gap, gap, nothing), (low, value, high, nothing))
    )
    marks = (4 * every - 3, 4 * every)
    axes.plot(x, y, marker=marker, markersize=2.8, markevery=marks, color=color, linewidth=0.5)


def _draw_crossing(panels: Iterable[Axes], crossing: pd.DataFrame, letters: Iterator[str]) -> None:
    (n_targets,) = crossing["n_targets"].unique()
    for axes, (gap, by_gap) in zip(panels, crossing.groupby("gap"), strict=True):
        for name, rows in by_gap.groupby("mechanism"):
            if name == "lower_bound":
                floor(axes, rows["run_length"], rows["exact"])
            else:
                axes.plot(rows["run_length"], rows["exact"], **(mechanism_style(str(name)) | _CROSSING_LINE))
        axes.set(xscale="log", xlabel="Run length L (periods)")
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter(
            StrMethodFormatter("{x:g}")
        )  # powers of ten would be typeset as mathematics
        panel_title(axes, next(letters), f"C = {n_targets}, Δ = {gap}", y=1.0)


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
        for letter, axes, (metric, label) in zip("abc", fig.subplots(1, 3), _METRICS.items(), strict=False):
            for i, (name, rows) in enumerate(data.groupby("mechanism", sort=False)):
                style = mechanism_style(str(name))
                every = max(1, len(rows) // _MARKERS)
                # markers of different mechanisms at different steps, so that none hides another
                axes.plot(rows["step"], rows[metric], markevery=(i * every // len(names), every), **style)
                band(axes, rows["step"], rows[f"{metric}_low"], rows[f"{metric}_high"], style["color"])
            axes.set(xlabel="Decision t", ylabel=label)
            axes.set_ylim(bottom=0.0)
            axes.xaxis.set_major_locator(MaxNLocator(4, integer=True))
            panel_title(axes, letter, y=1.0)
        legend_outside(fig, *_mechanism_handles(names), columns=4)
        _freeze_layout(fig)
    caption = (
        f"Experiment 2: {setting}. Running averages up to decision t, mean over {seeds} seeds with the 95 % "
        "interval (Student's t over seeds). Every mechanism sees the same reports and keeps its own active counts. "
        "Deficit: most active reports of any target minus those of the audited one; normalised: divided by the most "
        "active reports plus 1; resolved: active reports of the audited target."
    )
    return Drawing(fig, "exp2", data, caption)


def _freeze_layout(fig: Figure) -> None:
    """Place everything once, instead of once for each file format."""
    for axes in fig.axes:
        for spine in axes.spines.values():
            spine.set_in_layout(False)  # asking it takes half of the time; only its ticks may stick out
        for axis in (axes.xaxis, axes.yaxis):
            if not axis.get_label_text():
                axis.set_label_coords(0.5, 0.0)  # else a place beside its ticks is looked for all the same
    for text in fig.findobj(Text):
        if hasattr(text, "set_fontfeatures"):  # a matplotlib that has no such thing has no ligatures either
            text.set_fontfeatures(["-liga"])  # in a PDF they go into a second copy of the font
    engine = fig.get_layout_engine()
    if isinstance(engine, ConstrainedLayoutEngine):
        engine.set(wspace=0.03)
        engine.execute(fig)
    fig.set_layout_engine(None)  # "none" would leave a placeholder, and with any engine all is drawn twice


def _mechanism_handles(names: Sequence[str]) -> tuple[list[Artist], list[str]]:
    return [Line2D([], [], **mechanism_style(n)) for n in names], [mechanism_label(n) for n in names]
