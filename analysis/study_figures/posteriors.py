"""One run as the labs saw it: what they believed of each suspect after every audit, and what really happened."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from ..drawing import Drawing
from ..results import Results, value_at
from ..style import (
    BOUND_STYLE,
    INK,
    MUTED,
    channel_label,
    channel_style,
    figure,
    legend_outside,
    panel_title,
)
from ..tables import CHANNELS

__all__ = ["posteriors_figure", "suspects"]

_MOST = 4000
_NEEDED = {
    "inferences": ("time", "lab", "person", "incident", "posterior"),
    "reports": ("person", "incident", "time"),
}


def suspects(events: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Every posterior of every suspect, with whether he or she had reported that incident by then.

    Columns time, lab, person, incident, posterior, reporter; empty where nothing was inferred or told.
    """
    for table, columns in _NEEDED.items():
        if table not in events or set(columns) - set(events[table].columns):
            return pd.DataFrame(columns=[*_NEEDED["inferences"], "reporter"])
    reports = events["reports"][["person", "incident", "time"]].sort_values("time", kind="stable")
    filed = reports.drop_duplicates(["person", "incident"]).rename(columns={"time": "filed"})
    joined = events["inferences"][list(_NEEDED["inferences"])].merge(
        filed, how="left", on=["person", "incident"]
    )
    reporter = (joined["filed"] <= joined["time"]).fillna(value=False)
    return joined.drop(columns="filed").assign(reporter=reporter)


def posteriors_figure(results: Results) -> Drawing | None:
    """Draw the posteriors of one run over time, and below them reports, audits and retaliation by lab."""
    believed = suspects(results.events)
    if not len(believed):
        return None
    unit, scale = results.unit
    threshold = value_at(results.scenario, "organizations.threshold") if results.scenario else None
    believed = believed.assign(time=believed["time"] * scale)
    shown = _thinned(believed)
    labs = list(dict.fromkeys(_labs(results)))
    end = (
        float(results.tables["series"]["time"].max()) * scale
        if "series" in results.tables
        else believed["time"].max()
    )
    with figure("full", 2.2 + 0.17 * len(labs)) as fig:
        upper, lower = fig.subplots(2, 1, sharex=True, height_ratios=[1.7, 0.17 * len(labs) + 0.25])
        looks: tuple[tuple[bool, dict[str, Any], str], ...] = (
            (
                False,
                {"marker": "o", "color": "#B5B5B5", "markersize": 2.2, "markeredgewidth": 0},
                "Had not reported",
            ),
            (
                True,
                {"marker": "s", "color": "#004C99", "markersize": 3.0, "markeredgewidth": 0},
                "Had reported",
            ),
        )
        handles: list[Artist] = []
        for reporter, look, label in looks:
            rows = shown[shown["reporter"] == reporter]
            # set apart: people with the same access often have the same posterior
            apart = (0.0025 if reporter else -0.0025) * end
            upper.plot(rows["time"] + apart, rows["posterior"], linestyle="none", clip_on=False, **look)
            handles.append(Line2D([], [], linestyle="none", label=label, **(look | {"markersize": 4})))
        if threshold is not None:
            upper.axhline(float(threshold), **BOUND_STYLE)
            handles.append(Line2D([], [], label="Threshold for acting", **BOUND_STYLE))
        upper.set(ylim=(0, 1), ylabel="Posterior")
        panel_title(upper, "a", "What the labs believed, suspect by suspect")
        handles += _happened(lower, results, labs, scale)
        panel_title(lower, "b", "What happened")
        lower.set_yticks(range(len(labs)), labs, fontsize=6.5)
        lower.set_ylim(len(labs) - 0.5, -0.5)
        lower.tick_params(axis="y", length=0)
        lower.grid(visible=False, axis="y")
        lower.set(xlabel=f"Time ({unit})", xlim=(0, end))
        legend_outside(fig, handles, [str(handle.get_label()) for handle in handles])
    return Drawing(
        fig, "posteriors", shown.reset_index(drop=True), _caption(results, believed, shown, threshold)
    )


def _thinned(believed: pd.DataFrame) -> pd.DataFrame:
    """All posteriors of reporters, and of others as many, evenly spread, as a figure can bear."""
    others = believed[~believed["reporter"]]
    if len(others) > _MOST:
        keep = np.unique(np.linspace(0, len(others) - 1, _MOST).astype(int))
        others = others.iloc[keep]
    return pd.concat([others, believed[believed["reporter"]]]).sort_values(
        ["time", "lab", "person"], kind="stable"
    )


def _labs(results: Results) -> list[str]:
    for table in ("access", "audits", "reports"):
        frame = results.events.get(table)
        if frame is not None and "lab" in frame and len(frame):
            labs = [str(lab) for lab in dict.fromkeys(frame["lab"])]
            return labs if table == "access" else sorted(labs)
    return []


def _happened(axes: Axes, results: Results, labs: list[str], scale: float) -> list[Artist]:
    place = {lab: i for i, lab in enumerate(labs)}
    handles: list[Artist] = []

    def marks(rows: pd.DataFrame, shift: float, label: str, **look: Any) -> None:
        if len(rows):
            y = rows["lab"].map(place).astype(float) + shift
            axes.plot(rows["time"] * scale, y, linestyle="none", clip_on=False, **look)
            handles.append(Line2D([], [], linestyle="none", label=label, **(look | {"markersize": 4.5})))

    empty = pd.DataFrame(columns=["time", "lab"])
    marks(results.events.get("audits", empty), 0.0, "Audit", marker="|", color=MUTED, markersize=5)
    marks(
        results.events.get("reports", empty),
        0.22,
        "Report",
        marker="o",
        color=INK,
        markersize=1.8,
        markeredgewidth=0,
    )
    hits = results.events.get("retaliations", empty.assign(channel=""))
    for channel in CHANNELS:
        look = channel_style(channel) | {"markersize": 4.0, "markeredgecolor": INK, "markeredgewidth": 0.3}
        look.pop("linestyle")
        name = channel_label(channel).split(" (")[0].lower()
        marks(hits[hits["channel"] == channel], -0.24, f"Retaliation: {name}", zorder=3, **look)
    return handles


def _caption(results: Results, believed: pd.DataFrame, shown: pd.DataFrame, threshold: Any) -> str:
    n_people = believed["person"].nunique()
    text = (
        f"{results.title}, one run. a: after each audit, the probability that the lab gave to each person with "
        f"access to one of its open incidents that he or she had reported it ({len(believed):,} posteriors of "
        f"{n_people:,} people; {int(believed['reporter'].sum()):,} of people who had). Marks of the two groups are "
        "set apart a little."
    )
    if len(shown) < len(believed):
        n_shown = int((~shown["reporter"]).sum())
        text += f" Of people who had not reported, {n_shown:,} posteriors, evenly spread, are shown."
    if threshold is not None:
        text += f" Dashes: the posterior, {float(threshold):g}, from which a lab acts."
    text += " b: reports when filed, audits, and retaliation by the channel through which the lab came to suspect."
    return text
