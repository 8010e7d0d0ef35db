"""What happened in a single run, and when: incidents, reports, audits and retaliation by target or lab."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from .drawing import Drawing
from .style import (
    COLUMN_WIDTH,
    FULL_WIDTH,
    INK,
    MUTED,
    channel_label,
    channel_style,
    figure,
    legend_outside,
    panel_title,
)
from .tables import CHANNELS, Columns, Tables

__all__ = ["timeline_figure"]

_MOST_LANES = 40
_OPEN = "#C9C9C9"
_BELIEFS = {"fear": "-", "efficacy": "--"}


def timeline_figure(
    tables: Tables, title: str = "", *, width: str | float = "full", period_weeks: float | None = None
) -> Drawing:
    """Draw one run over time: a lane a target, by lab; incidents, reports, audits, retaliation; beliefs below.

    Parameters
    ----------
    tables
        The tables of the run: incidents, reports, audits, retaliations, access, series.
    title
        Heads the caption.
    width
        As for `figure`.
    period_weeks
        If given, time is shown in weeks; else in audit periods.

    Returns
    -------
    Drawing
        With one row an event in its data: kind, time, end, lab, target, channel, person, reporter, found, value.

    Raises
    ------
    InputError
        If a table or a column is missing.
    """
    read = Columns.of(tables)
    unit, scale = ("audit periods", 1.0) if period_weeks is None else ("weeks", period_weeks)
    data = _timeline_data(read, scale)
    # a run in which nothing has happened yet still has an axis
    end = float(np.nanmax([scale, *data["time"], *data["end"]]))
    lanes = _lanes(read)
    by_lab = len(lanes) > _MOST_LANES
    if by_lab:
        lanes = [(lab, lab) for lab in dict.fromkeys(lab for lab, _ in lanes)]
    events = data[data["lab" if by_lab else "target"].isin([lane for _, lane in lanes])]
    place = {lane: i for i, (_, lane) in enumerate(lanes)}
    events = events.assign(lane=events["lab" if by_lab else "target"].map(place).astype("float64"))
    beliefs = data[data["kind"].isin(list(_BELIEFS)) & data["value"].notna()]

    narrow = (width if isinstance(width, float) else COLUMN_WIDTH if width == "column" else FULL_WIDTH) < 5
    heights = [max(min(0.28 * len(lanes), 2.2), 0.16 * len(lanes), 0.4)] + ([0.7] if len(beliefs) else [])
    with figure(width, sum(heights) + 0.55 + 0.25 * (len(heights) - 1)) as fig:
        panels = fig.subplots(len(heights), 1, sharex=True, squeeze=False, height_ratios=heights)[:, 0]
        handles = list(_draw_lanes(panels[0], events, end, narrow=narrow))
        _dress_lanes(panels[0], lanes, 20 if narrow else 34, by_lab=by_lab)
        if len(beliefs):
            for name, dashes in _BELIEFS.items():
                rows = beliefs[beliefs["kind"] == name]
                panels[1].plot(rows["time"], rows["value"], color=INK, linestyle=dashes)
            panels[1].set(ylim=(0, 1), ylabel="Mean belief", yticks=[0, 0.5, 1])
            panel_title(panels[0], "a", f"What happened, by {'lab' if by_lab else 'target'}")
            panel_title(panels[1], "b", "Fear (solid) and efficacy (dashed)")
        panels[-1].set(xlabel=f"Time ({unit})", xlim=(0, end))
        if handles:
            legend_outside(fig, handles, [str(handle.get_label()) for handle in handles])
    return Drawing(fig, "timeline", data, _timeline_caption(read, title, by_lab=by_lab))


def _timeline_data(read: Columns, scale: float) -> pd.DataFrame:
    incidents = pd.DataFrame(
        {
            "kind": "incident",
            "time": read.floats("incidents", "time"),
            "end": read.floats("incidents", "found_time"),
            "lab": read.column("incidents", "lab"),
            "target": read.column("incidents", "target"),
            "found": ~np.isnan(read.floats("incidents", "found_time")),
        }
    )
    reports = pd.DataFrame(
        {
            "kind": "report",
            "time": read.floats("reports", "time"),
            "lab": read.column("reports", "lab"),
            "target": read.column("reports", "target"),
            "person": read.column("reports", "person"),
        }
    )
    audits = pd.DataFrame(
        {
            "kind": "audit",
            "time": read.floats("audits", "time"),
            "lab": read.column("audits", "lab"),
            "target": read.column("audits", "target"),
            "found": read.column("audits", "found") > 0,
        }
    )
    target_of = dict(
        zip(
            read.column("incidents", "incident").tolist(),
            read.column("incidents", "target").tolist(),
            strict=True,
        )
    )
    retaliations = pd.DataFrame(
        {
            "kind": "retaliation",
            "time": read.floats("retaliations", "time"),
            "lab": read.column("retaliations", "lab"),
            "target": [target_of.get(i) for i in read.column("retaliations", "incident").tolist()],
            "person": read.column("retaliations", "person"),
            "channel": read.column("retaliations", "channel"),
            "reporter": read.truths("retaliations", "reporter"),
        }
    )
    beliefs = [
        pd.DataFrame(
            {"kind": name, "time": read.floats("series", "time"), "value": read.floats("series", name)}
        )
        for name in _BELIEFS
    ]
    types = {
        "kind": "str",
        "time": "float64",
        "end": "float64",
        "lab": "str",
        "target": "str",
        "channel": "str",
        "person": "Int64",
        "reporter": "boolean",
        "found": "boolean",
        "value": "float64",
    }
    parts = [incidents, reports, audits, retaliations, *beliefs]
    data = pd.concat([part.reindex(columns=list(types)).astype(types) for part in parts], ignore_index=True)
    return data.assign(time=data["time"] * scale, end=data["end"] * scale)


def _lanes(read: Columns) -> list[tuple[str, str]]:
    """Labs and targets, a lab's targets together, in the order in which the scenario has them."""
    seen: dict[str, dict[str, None]] = {}
    for table in ("access", "audits", "incidents"):
        labs, targets = read.column(table, "lab").tolist(), read.column(table, "target").tolist()
        for lab, target in dict.fromkeys(zip(labs, targets, strict=True)):
            seen.setdefault(str(lab), {}).setdefault(str(target))
    return [(lab, target) for lab, targets in seen.items() for target in targets]


def _draw_lanes(axes: Axes, events: pd.DataFrame, end: float, *, narrow: bool) -> Iterator[Artist]:
    """Draw every event in its lane, and give what the legend names, for what there is."""
    of = {str(kind): rows for kind, rows in events.groupby("kind")}
    if "incident" in of:
        rows = of["incident"]
        until = rows["end"].fillna(end)
        spans = [[(a, y), (b, y)] for a, b, y in zip(rows["time"], until, rows["lane"], strict=True)]
        axes.add_collection(LineCollection(spans, colors=_OPEN, linewidths=5, capstyle="butt", zorder=1.6))
        yield Patch(color=_OPEN, label="Incident, while open")
    if "audit" in of:
        for found, size, color, label in (
            (False, 4.0, MUTED, "Audit"),
            (True, 9.0, INK, "Audit that found one"),
        ):
            rows = of["audit"][of["audit"]["found"] == found]
            if len(rows):
                stroke = {
                    "marker": "|",
                    "color": color,
                    "markersize": size,
                    "markeredgewidth": 1.1 if found else 0.8,
                }
                yield _marks(axes, rows["time"], rows["lane"], zorder=2.2, label=label, **stroke)
    if "report" in of:
        dot = {"marker": "o", "color": INK, "markersize": 2.6, "markeredgewidth": 0, "label": "Report"}
        yield _marks(axes, of["report"]["time"], of["report"]["lane"] + 0.15, zorder=2.4, **dot)
    if "retaliation" in of:
        hits = of["retaliation"]
        for channel in dict.fromkeys([*CHANNELS, *hits["channel"]]):
            for reporter in (True, False):
                rows = hits[(hits["channel"] == channel) & (hits["reporter"] == reporter)]
                if not len(rows):
                    continue
                style = channel_style(str(channel)) | {"markersize": 5.0, "zorder": 2.6}
                style |= {"markeredgecolor": INK} if reporter else {"markerfacecolor": "white"}
                style |= {"markeredgewidth": 0.4 if reporter else 1.1}
                through = channel_label(str(channel)).split(" (")[0].lower()
                if narrow:
                    style["label"] = f"{'Hit' if reporter else 'Innocent'}: {through}"
                else:
                    style["label"] = f"Retaliation: {through}{'' if reporter else ', innocent'}"
                yield _marks(axes, rows["time"], rows["lane"] - 0.2, **style)


def _marks(axes: Axes, x: pd.Series, y: pd.Series, **style: Any) -> Artist:
    style["linestyle"] = "none"
    axes.plot(x, y, clip_on=False, **style)
    return Line2D([], [], **style)


def _dress_lanes(axes: Axes, lanes: list[tuple[str, str]], longest: int, *, by_lab: bool) -> None:
    labels = []
    for i, (lab, lane) in enumerate(lanes):
        name = lane.removeprefix(f"{lab}/")
        name = name if len(name) <= longest else f"{name[: longest - 1]}…"
        first = i == 0 or lanes[i - 1][0] != lab
        labels.append(name)
        if first and i:
            axes.axhline(i - 0.5, color=MUTED, linewidth=0.6)
        if first and not by_lab and lane != lab:
            middle = i + (sum(other == lab for other, _ in lanes) - 1) / 2
            right = axes.get_yaxis_transform()
            axes.text(1.01, middle, lab, transform=right, va="center", fontsize=6.5, fontweight="bold")
    axes.set_yticks(range(len(lanes)), labels, fontsize=6)
    axes.set_ylim(max(len(lanes), 1) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")


def _timeline_caption(read: Columns, title: str, *, by_lab: bool) -> str:
    found_time = read.floats("incidents", "found_time")
    n_open, n_reports = int(np.isnan(found_time).sum()), len(read.column("reports", "report"))
    productive = read.column("audits", "found") > 0
    innocent = ~read.truths("retaliations", "reporter")
    parts = [
        (f"{title.rstrip('.')}. " if title else "")
        + f"One run, a lane for each {'lab' if by_lab else 'audit target, labs apart'}."
    ]
    if len(found_time):
        parts.append(
            f"Grey bars: incidents of misconduct while open (n = {len(found_time)}; {n_open} not found by the end)."
        )
    if n_reports:
        parts.append(f"Dots: reports when filed (n = {n_reports}).")
    if len(productive):
        parts.append(
            f"Strokes: audits (n = {len(productive)}), long and dark where an open incident came to light "
            f"({int(productive.sum())})."
        )
    if len(innocent):
        parts.append(
            f"Coloured marks: retaliation (n = {len(innocent)}), in the lane of the incident, by the channel through "
            f"which the lab came to suspect; hollow where the person had not reported ({int(innocent.sum())})."
        )
    if not (len(found_time) or n_reports or len(innocent)):
        parts.append("No incident happened and nothing was reported.")
    if np.isfinite(read.floats("series", "fear")).any():
        parts.append(
            "Below: mean beliefs that an identified reporter is hit (fear) and that reporting helps (efficacy)."
        )
    return " ".join(parts)
