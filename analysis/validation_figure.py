"""The figure of a validation: each pattern's value with its interval against the values that show it."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from .drawing import Drawing
from .style import INK, MUTED, figure, legend_outside

__all__ = ["patterns_figure"]

_RANGE = "#D8E6F3"
_LOOK: dict[str, dict[str, Any]] = {
    "holds": {"marker": "o", "markerfacecolor": INK},
    "undecided": {"marker": "D", "markerfacecolor": "white"},
    "fails": {"marker": "X", "markerfacecolor": "#C8442E"},
}


def patterns_figure(patterns: pd.DataFrame, title: str = "") -> Drawing:
    """Draw every pattern on a scale of its own: the range that shows it, the value and its interval.

    Parameters
    ----------
    patterns
        As `pattern_table` gives it.
    title
        Heads the caption.
    """
    count = len(patterns)
    with figure("full", 0.42 * count + 0.2) as fig:
        panels = fig.subplots(count, 1, squeeze=False).ravel()
        for axes, row in zip(panels, patterns.to_dict("records"), strict=True):
            _draw(axes, row)
        marks: dict[str, Any] = {"color": INK, "linestyle": "none", "markersize": 5, "markeredgecolor": INK}
        handles: list[Artist] = [
            Patch(facecolor=_RANGE, edgecolor="none"),
            *(Line2D([], [], **marks | look) for look in _LOOK.values()),
        ]
        legend_outside(
            fig, handles, ["Values that show the pattern", *(name.capitalize() for name in _LOOK)], 4
        )
    verdicts = patterns["verdict"].value_counts()
    told = ", ".join(
        f"{verdicts.get(name, 0)} {name}" for name in ("holds", "undecided", "fails", "undefined")
    )
    caption = (
        f"{title + ': p' if title else 'P'}atterns of surveys and theory against the model (n = "
        f"{int(patterns['runs'].max())} runs of each variant; {told}). Bars are 95 % intervals over runs, shaded the "
        "values that show a pattern; the world was tuned for those marked tuned, and for no other."
    )
    return Drawing(fig, "patterns", patterns, caption)


def _draw(axes: Axes, row: Mapping[Any, Any]) -> None:
    factor = 1.0 if row["unit"] == "reports" else 100.0
    ends = {key: row[key] * factor for key in ("value", "low", "high", "range_low", "range_high")}
    known = [ends[key] for key in ("low", "high", "range_low", "range_high") if pd.notna(ends[key])]
    left, right = min([0.0, *known]), max(known)
    room = 0.06 * (right - left)
    left, right = left - room, right + room * (4 if pd.isna(ends["range_high"]) else 1)
    from_, to = (ends["range_low"] if pd.notna(ends["range_low"]) else left), ends["range_high"]
    axes.axvspan(from_, to if pd.notna(to) else right, color=_RANGE, linewidth=0)
    if pd.notna(ends["value"]):
        axes.plot([ends["low"], ends["high"]], [0, 0], color=INK, linewidth=1.0)
        axes.plot(ends["value"], 0, color=INK, markeredgecolor=INK, markersize=5, **_LOOK[row["verdict"]])
    axes.set(xlim=(left, right), ylim=(-1, 1), yticks=[0])
    axes.set_yticklabels([f"{row['number']}  {row['name']}\n    {row['role']}"])
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False)
    axes.spines["left"].set_visible(False)
    unit = {"share": "%", "points": "points", "reports": "per 100 staff, year"}[row["unit"]]
    axes.annotate(unit, (1.01, 0.5), xycoords="axes fraction", va="center", fontsize=6.5, color=MUTED)
