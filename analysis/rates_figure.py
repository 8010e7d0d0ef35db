"""Who was retaliated against in a single run: reporters, split by channel, and those who never reported."""

from typing import Any

import numpy as np
import pandas as pd

from .drawing import Drawing
from .intervals import wilson
from .style import (
    INK,
    MUTED,
    channel_label,
    channel_style,
    figure,
)
from .tables import CHANNELS

__all__ = ["retaliation_rates_figure"]


def retaliation_rates_figure(
    metrics: dict[str, float | int | None], title: str = "", *, width: str | float = "column"
) -> Drawing:
    """Draw the shares of people retaliated against: reporters, split by channel, and those who never reported.

    Parameters
    ----------
    metrics
        Of one run (`run_metrics`). The intervals are Wilson's and hold within this run.
    title
        Heads the caption.
    width
        As for `figure`.

    Returns
    -------
    Drawing
        With data: group, metric, numerator, denominator, rate, low, high (NaN where undefined).
    """
    groups = [("Reporters, all channels", "retaliation_rate")]
    groups += [(channel_label(c), f"retaliation_rate_{c}") for c in CHANNELS]
    groups += [("Others with access", "false_retaliation_rate")]
    rows = []
    for label, key in groups:
        one = wilson(float(metrics[f"{key}_numerator"] or 0), float(metrics[f"{key}_denominator"] or 0))
        rows.append((label, key, one.numerator, one.denominator, one.value, one.low, one.high))
    names = ["group", "metric", "numerator", "denominator", "rate", "low", "high"]
    data = pd.DataFrame(rows, columns=names).astype(dict.fromkeys(names[4:], "float64"))

    marks: list[dict[str, Any]] = [{"color": INK, "marker": "o"}]
    marks += [channel_style(c) | {"linestyle": "none"} for c in CHANNELS]
    marks += [{"color": INK, "marker": "o", "markerfacecolor": "white"}]
    with figure(width, 1.75) as fig:
        axes = fig.subplots()
        place = np.array([0, 1, 2, 3, 4, 5.3])
        percent = 100 * data[["rate", "low", "high"]].to_numpy()
        for y, mark, (rate, low, high), row in zip(place, marks, percent, rows, strict=True):
            if np.isnan(rate):
                axes.text(0.0, y, " nobody", va="center", fontsize=7, color=MUTED)
                continue
            axes.errorbar(rate, y, xerr=[[rate - low], [high - rate]], fmt="none", ecolor=INK, elinewidth=0.9)
            edge = {"markeredgecolor": INK, "markersize": 6.0, "zorder": 3, "clip_on": False}
            axes.plot([rate], [y], **(mark | edge))
            text = f"{row[2]:.0f} of {row[3]:.0f}"
            axes.annotate(text, (high, y), (5, 0), textcoords="offset points", va="center", fontsize=7)
        axes.set_yticks(place, [label for label, _ in groups])
        axes.set_ylim(5.9, -0.6)
        axes.tick_params(axis="y", length=0, pad=7)
        axes.grid(visible=False, axis="y")
        top = 100 * float(np.nanmax(data["high"])) if data["high"].notna().any() else 10.0
        # room for "12 of 345" right of the longest interval
        axes.set_xlim(0, top * (1.45 if fig.get_size_inches()[0] < 5 else 1.18))
        axes.set_xlabel("Retaliated against (% of people)")
    return Drawing(fig, "retaliation_rates", data, _rates_caption(data, title))


def _rates_caption(data: pd.DataFrame, title: str) -> str:
    reporters, others = data.iloc[0], data.iloc[-1]
    parts = [f"{title.rstrip('.')}." if title else "", "One run."]
    if reporters["denominator"]:
        parts.append(
            f"Share of distinct reporters (n = {reporters['denominator']:.0f}) retaliated against after reporting, "
            "in all and by the channel through which the lab came to suspect."
        )
    else:
        parts.append("Nobody reported.")
    if others["denominator"]:
        parts.append(
            f"Others with access: people with access to an incident who never reported (n = "
            f"{others['denominator']:.0f})."
        )
    if reporters["denominator"] or others["denominator"]:
        parts.append(
            "Bars: Wilson's 95 % intervals, within this run and as if people were independent. The difference "
            "between reporters and others is confounded and not bounded by delta; the causal effect needs twin runs."
        )
    return " ".join(part for part in parts if part)
