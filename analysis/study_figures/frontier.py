"""The frontier of protection against usefulness: every mechanism at every delta, and which of them nothing beats."""

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from ..drawing import Drawing
from ..estimates import available_metrics, estimates
from ..results import DELTA, MECHANISM, Results
from ..slices import IGNORES_DELTA, mechanism_order, reference_slice
from ..style import INK, MUTED, figure, legend_outside, mechanism_style, panel_title
from ..wording import wording
from .marks import interval, mechanism_handles, scale_of

__all__ = ["frontier_figure", "pareto"]

_PANELS = (
    ("mean_deficit", "strong_identification_rate"),
    ("restricted_weeks_to_audit", "strong_identification_rate"),
    ("restricted_weeks_to_audit", "retaliation_rate"),
)


def pareto(x: npt.ArrayLike, y: npt.ArrayLike) -> npt.NDArray[np.bool_]:
    """Points that no other beats in one of two costs without being worse in the other. Undefined ones never are.

    >>> pareto([1, 2, 3, 2], [3, 2, 1, 3]).tolist()
    [True, True, True, False]
    """
    a, b = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    no_worse = (a[:, None] <= a) & (b[:, None] <= b)
    better = (a[:, None] < a) | (b[:, None] < b)
    result: npt.NDArray[np.bool_] = ~(no_worse & better).any(axis=0) & ~np.isnan(a) & ~np.isnan(b)
    return result


def frontier_figure(results: Results) -> Drawing | None:
    """Draw what is lost in protection against what is lost in usefulness; lower left is better."""
    part = reference_slice(results, vary=(MECHANISM, DELTA))
    runs = part.runs
    if not len(runs) or not {MECHANISM, DELTA} <= set(runs.columns):
        return None
    have = available_metrics(runs)
    pairs = [pair for pair in _PANELS if set(pair) <= set(have)]
    wanted = sorted({m for pair in pairs for m in pair})
    table = estimates(runs, wanted, by=[MECHANISM, DELTA], lent=part.lent)
    # mechanisms that ignore delta stand once
    first = table.groupby(MECHANISM)[DELTA].transform("min")
    table = table[~table[MECHANISM].isin(IGNORES_DELTA) | (table[DELTA] == first)]
    points = table.pivot(index=[MECHANISM, DELTA], columns="metric", values=["value", "low", "high"])
    pairs = [p for p in pairs if all(points[("value", m)].notna().any() for m in p)]
    if len(points) < 2 or not pairs:
        return None
    names = mechanism_order(set(points.index.get_level_values(0)))
    data = []
    with figure("full", 2.35) as fig:
        panels = fig.subplots(1, len(pairs), squeeze=False)[0]
        for letter, axes, (cost, harm) in zip("abc", panels, pairs, strict=False):
            x, y = (points[("value", m)] * scale_of(m) for m in (cost, harm))
            best = pareto(x, y)
            for name in names:
                _path(axes, points[points.index.get_level_values(0) == name], name, cost, harm)
            chosen = np.argsort(x[best].to_numpy())
            axes.plot(
                x[best].to_numpy()[chosen],
                y[best].to_numpy()[chosen],
                "o",
                color=INK,
                markersize=9,
                markerfacecolor="none",
                markeredgewidth=0.8,
                zorder=3.5,
                clip_on=False,
            )
            across, up = (f"{wording(metric).name}\n({wording(metric).unit})" for metric in (cost, harm))
            axes.set(xlabel=across, ylabel=up)
            axes.set_ylim(bottom=min(0.0, float(np.nanmin(y))) - 0.02 * float(np.nanmax(y) or 1.0))
            panel_title(axes, letter)
            rows = points.index.to_frame(index=False)
            for axis, metric in (("x", cost), ("y", harm)):
                for end in ("value", "low", "high"):
                    rows[f"{axis}_{end}"] = points[(end, metric)].to_numpy()
            rows = rows.assign(panel=letter, x_metric=cost, y_metric=harm, pareto=best)
            data.append(rows)
        fig.supxlabel(f"n = {part.n_runs} runs in each setting", fontsize=6.5, color=MUTED, x=1.0, ha="right")
        handles, labels = mechanism_handles(names)
        handles.append(
            Line2D([], [], marker="o", color=INK, linestyle="none", markersize=7, markerfacecolor="none")
        )
        labels.append("On the frontier")
        legend_outside(fig, handles, labels, columns=3)
    return Drawing(fig, "frontier", pd.concat(data, ignore_index=True), _caption(part.told(), part.n_runs))


def _path(axes: Axes, rows: pd.DataFrame, name: str, cost: str, harm: str) -> None:
    """A mechanism's way through the plane as delta grows, with both intervals; marks grow with delta."""
    (a, k), (b, m) = (cost, scale_of(cost)), (harm, scale_of(harm))
    x, y = k * rows[("value", a)].to_numpy(), m * rows[("value", b)].to_numpy()
    style = mechanism_style(name)
    axes.plot(x, y, **(style | {"marker": "none", "linewidth": 1.0}))
    hidden = style | {"linestyle": "none", "marker": "none"}
    interval(axes, x, y, m * rows[("low", b)], m * rows[("high", b)], **hidden)
    interval(axes, x, y, k * rows[("low", a)], k * rows[("high", a)], horizontal=True, **hidden)
    sizes = np.linspace(2.6, 5.4, len(x)) if len(x) > 1 else [4.2]
    for across, up, size in zip(x, y, sizes, strict=True):
        axes.plot(
            [across], [up], clip_on=False, zorder=3, **(style | {"markersize": size, "linestyle": "none"})
        )


def _caption(told: str, n_runs: int) -> str:
    where = f", at {told}" if told else ""
    return (
        f"The frontier of protection against usefulness: every mechanism at every δ of the sweep{where}. Down and to "
        "the left is better in every panel. Points of one mechanism are joined in the order of δ, and grow with it; "
        "greedy and uniform, which ignore δ, stand once. Rings: settings that no other setting beats in one of the "
        "two without being worse in the other (the Pareto set), by the estimates as they are; settings whose "
        f"intervals overlap need not differ. Bars: 95 % intervals. n = {n_runs} runs in each setting."
    )
