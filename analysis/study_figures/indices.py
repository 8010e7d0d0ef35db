"""What a result is sensitive to: Morris screening or Sobol indices, parameter by parameter."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D

from ..drawing import Drawing
from ..results import Results
from ..style import INK, figure, legend_outside
from ..wording import key_label, wording
from .marks import interval, scale_of

__all__ = ["indices_figure"]

_LOOK: dict[str, tuple[dict[str, Any], str]] = {
    "ST": ({"marker": "o", "color": "#004C99"}, "Total-order index"),
    "S1": ({"marker": "s", "color": "#C8442E", "markerfacecolor": "white"}, "First-order index"),
    "mu_star": ({"marker": "o", "color": "#004C99"}, "Mean absolute elementary effect (μ*)"),
    "sigma": (
        {"marker": "s", "color": "#C8442E", "markerfacecolor": "white"},
        "Its spread (σ): interaction or bend",
    ),
}
_MOST = 24


def indices_figure(results: Results) -> Drawing | None:
    """Draw the indices of a sensitivity study, the most influential parameter on top.

    The table `indices` has columns metric, parameter, index (S1, ST, mu_star, sigma), value, low, high.
    """
    table = results.summaries.get("indices")
    needed = {"metric", "parameter", "index", "value", "low", "high"}
    if table is None or not needed <= set(table.columns):
        return None
    table = table[table["index"].isin(_LOOK)]
    if not table["value"].notna().any():
        return None
    kinds = [kind for kind in _LOOK if (table["index"] == kind).any()]
    metrics = list(dict.fromkeys(table["metric"]))
    leading = table[(table["index"] == kinds[0]) & (table["metric"] == metrics[0])]
    ranked = leading.sort_values("value", ascending=False, kind="stable")["parameter"].tolist()[:_MOST]
    sobol = kinds[0] == "ST"
    with figure("full", 0.22 * len(ranked) + 0.7) as fig:
        panels = fig.subplots(1, len(metrics), sharey=True, squeeze=False)[0]
        for axes, metric in zip(panels, metrics, strict=True):
            for shift, kind in zip(np.linspace(-0.13, 0.13, len(kinds)), kinds, strict=True):
                rows = table[(table["metric"] == metric) & (table["index"] == kind)].set_index("parameter")
                rows = rows.reindex(ranked)
                y = np.arange(len(ranked)) + shift
                scale = 1.0 if sobol else scale_of(str(metric))
                x, low, high = (scale * rows[c] for c in ("value", "low", "high"))
                interval(axes, x, y, low, high, horizontal=True, **_LOOK[kind][0])
            axes.axvline(0.0, color=INK, linewidth=0.6)
            unit = "percentage points" if wording(metric).is_share else wording(metric).unit
            axes.set_xlabel("Share of the variance" if sobol else f"Change over the range ({unit})")
            axes.set_title(wording(metric).name.removeprefix("– "))
            axes.grid(visible=False, axis="y")
            axes.tick_params(axis="y", length=0)
        panels[0].set_yticks(range(len(ranked)), [_short(name) for name in ranked])
        panels[0].set_ylim(len(ranked) - 0.5, -0.5)
        legend_outside(
            fig,
            [Line2D([], [], linestyle="none", **_LOOK[k][0]) for k in kinds],
            [_LOOK[k][1] for k in kinds],
        )
    return Drawing(
        fig, "sensitivity", table.reset_index(drop=True), _caption(results, table, ranked, sobol=sobol)
    )


def _short(parameter: str) -> str:
    return key_label(parameter).split(" (")[0]


def _caption(results: Results, table: pd.DataFrame, ranked: list[str], *, sobol: bool) -> str:
    n = results.manifest.get("samples")
    how = (
        "Sobol indices: the share of the variance that a parameter explains by itself (first order) and with all its "
        "interactions (total order)"
        if sobol
        else "Morris screening: the mean absolute change when one parameter alone moves, per whole width of its "
        "range, and the spread of these changes"
    )
    left = table["parameter"].nunique() - len(ranked)
    return (
        f"Sensitivity. {how}. Bars: 95 % intervals (bootstrap over the design)."
        + (f" n = {n:,} points of the design." if isinstance(n, int) else "")
        + (f" The {left} least influential parameters are in the data only." if left else "")
    )
