"""What reporting does to the person who reports: the effects of a twin study with their bound."""

import pandas as pd
from matplotlib.lines import Line2D

from ..drawing import Drawing
from ..results import Results
from ..style import BOUND_STYLE, INK, channel_label, channel_style, figure, legend_outside
from .marks import interval

__all__ = ["effects_figure"]

_NEEDED = {"kind", "channel", "effect", "low", "high", "pairs", "bound"}


def effects_figure(results: Results) -> Drawing | None:
    """Draw certified and total effects by channel."""
    effects = results.summaries.get("effects")
    if effects is None or not set(effects.columns) >= _NEEDED or not effects["effect"].notna().any():
        return None
    bound = float(effects["bound"].iloc[0])
    rows = [
        row for row in effects.to_dict("records") if row["kind"] == "total" or row["channel"] == "transcript"
    ]
    rows.sort(key=lambda row: (row["kind"] == "total", row["channel"] != "any"))
    labels, place, y = [], [], 0.0
    with figure("full", 0.26 * len(rows) + 0.75) as fig:
        axes = fig.subplots()
        for row in rows:
            y += 0.4 if row["kind"] == "total" and row["channel"] == "any" else 0.0
            certified = row["kind"] == "certified"
            name = "all channels" if row["channel"] == "any" else channel_label(str(row["channel"]))
            labels.append(
                "Certified, through the transcript" if certified else f"Total, {name[0].lower()}{name[1:]}"
            )
            place.append(y)
            look = (
                {"color": INK, "marker": "D"}
                if row["channel"] == "any"
                else channel_style(str(row["channel"]))
            )
            look = dict(look) | {"markersize": 5.5, "markeredgecolor": INK}
            if pd.notna(row["effect"]):
                values = [100 * row[k] for k in ("effect", "low", "high")]
                interval(axes, [values[0]], [y], [values[1]], [values[2]], horizontal=True, **look)
            y += 1.0
        axes.axvline(0.0, color=INK, linewidth=0.6)
        if bound < 1:
            axes.vlines([-100 * bound, 100 * bound], -0.45, 0.45, **BOUND_STYLE)
            legend_outside(
                fig, [Line2D([], [], **BOUND_STYLE)], [f"Bound ±δ = {100 * bound:g} points, certified only"]
            )
        axes.set_yticks(place, labels)
        axes.set_ylim(y - 0.4, -0.6)
        axes.tick_params(axis="y", length=0)
        axes.grid(visible=False, axis="y")
        axes.set_xlabel("Effect of reporting on being retaliated against (percentage points)")
    n = int(effects["pairs"].max())
    caption = (
        f"What reporting does to the person who reports: differences within n = {n} pairs of runs that differ in one "
        "report, with 95 % intervals (Tango). Certified: held to the conditions under which the guarantee "
        "bounds the mean effect through the transcript"
        + (f" by δ = {bound:g} (dashes)" if bound < 1 else "; this mechanism gives no bound")
        + ". Total: everything runs freely, own learning, leaks and findings included; no bound is claimed for it."
    )
    return Drawing(fig, "effects", effects, caption)
