"""Retaliation under each mechanism: reporters and non-reporters, and the channels."""

from typing import Any

import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from ..drawing import Drawing
from ..estimates import available_metrics, estimates
from ..results import MECHANISM, Results
from ..slices import mechanism_order, reference_slice
from ..style import (
    INK,
    channel_label,
    channel_style,
    figure,
    legend_outside,
    mechanism_label,
    mechanism_style,
    panel_title,
)
from ..tables import CHANNELS
from .marks import dodged, interval, note_n

__all__ = ["mechanisms_figure"]


def mechanisms_figure(results: Results) -> Drawing | None:
    """Draw rates of retaliation by mechanism at the reference delta."""
    part = reference_slice(results)
    shown = [m for m in available_metrics(part.runs) if "retaliation_rate" in m]
    if not len(part.runs) or MECHANISM not in part.runs or "retaliation_rate" not in shown:
        return None
    data = estimates(part.runs, shown, by=[MECHANISM], lent=part.lent)
    names = mechanism_order(set(data[MECHANISM]))
    channels = [c for c in CHANNELS if f"retaliation_rate_{c}" in shown]
    height = 0.34 * len(names) + 0.62
    with figure("full", height) as fig:
        left, right = fig.subplots(1, 2, sharey=True)
        for y, name in enumerate(names):
            style = mechanism_style(name) | {"markersize": 5.0, "linestyle": "none"}
            both = (("retaliation_rate", -0.13, None), ("false_retaliation_rate", 0.13, "white"))
            for metric, shift, fill in both:
                one = data[(data[MECHANISM] == name) & (data["metric"] == metric)]
                look = style if fill is None else style | {"markerfacecolor": fill, "markeredgewidth": 1.0}
                if fill is None:
                    look = look | {"markeredgecolor": INK}
                _row(left, one, y + shift, look)
            for shift, channel in zip(dodged(len(channels), 0.54), channels, strict=True):
                one = data[(data[MECHANISM] == name) & (data["metric"] == f"retaliation_rate_{channel}")]
                look = channel_style(channel) | {"markersize": 4.0, "markeredgecolor": INK}
                _row(right, one, y + shift, look)
        left.set_yticks(range(len(names)), [mechanism_label(name) for name in names])
        left.set_ylim(len(names) - 0.5, -0.5)
        for axes in (left, right):
            axes.tick_params(axis="y", length=0)
            axes.grid(visible=False, axis="y")
            axes.set_xlim(left=0)
        left.set_xlabel("Retaliated against (% of people)")
        right.set_xlabel("Retaliated against (% of reporters)")
        panel_title(left, "a", "Reporters and others")
        panel_title(right, "b", "Reporters, by channel")
        note_n(right, f"n = {part.n_runs} run{'s' if part.n_runs != 1 else ''} each")
        handles: list[Artist] = [
            Line2D([], [], color=INK, marker="o", linestyle="none"),
            Line2D([], [], color=INK, marker="o", linestyle="none", markerfacecolor="white"),
        ]
        labels = ["Reporters", "Others with access"]
        for channel in channels:
            look = channel_style(channel) | {"linestyle": "none", "markeredgecolor": INK}
            handles.append(Line2D([], [], **look))
            labels.append(channel_label(channel))
        legend_outside(fig, handles, labels, columns=3)
    return Drawing(fig, "retaliation", data, _caption(data, part.told(), part.n_runs))


def _row(axes: Axes, rows: pd.DataFrame, y: float, style: dict[str, Any]) -> None:
    if len(rows) and rows["value"].notna().all():
        values = 100 * rows[["value", "low", "high"]].to_numpy()[0]
        interval(axes, [values[0]], [y], [values[1]], [values[2]], horizontal=True, **style)


def _caption(data: pd.DataFrame, told: str, n_runs: int) -> str:
    reporters = data[data["metric"] == "retaliation_rate"]
    counts = "; ".join(
        f"{mechanism_label(str(row[MECHANISM]))} {row['denominator']:,.0f}"
        for row in reporters.to_dict("records")
    )
    return (
        f"Retaliation by audit mechanism{f' at {told}' if told else ''}. a: share of distinct reporters retaliated "
        "against after reporting (filled), and of people with access to an incident who never reported (hollow). "
        "b: reporters by the channel through which the lab came to suspect. Bars: 95 % intervals (Wilson's, for runs "
        f"as clusters). n = {n_runs} runs of each mechanism, on common random numbers; reporters in all: {counts}. "
        "The difference between reporters and others is confounded and is not bounded by δ."
    )
