"""How protection and usefulness move with one swept number, above all with delta."""

import pandas as pd

from ..contrasts import ADVANTAGE, advantages
from ..drawing import Drawing
from ..estimates import available_metrics, estimates
from ..results import DELTA, MECHANISM, Results, swept_keys
from ..slices import IGNORES_DELTA, mechanism_order, numeric_keys, reference_slice
from ..style import (
    band,
    figure,
    legend_outside,
    mechanism_style,
    panel_title,
)
from ..wording import key_label, wording
from .marks import mechanism_handles, scale_of, ticks_at_levels

__all__ = ["sweep_figure"]

_PANELS = (
    "retaliation_rate_transcript",
    "strong_identification_rate",
    ADVANTAGE,
    "restricted_weeks_to_audit",
    "misselection_rate",
    "reporting_rate",
)
_TITLES = {
    "retaliation_rate_transcript": "Hit through the transcript",
    "misselection_rate": "Missed the leader",
}
_LETTERS = "abcdef"


def sweep_figure(results: Results, key: str = DELTA) -> Drawing | None:
    """Draw protection (upper panels) and usefulness (lower panels) against a swept number, a line a mechanism.

    Parameters
    ----------
    results
        A batch.
    key
        A swept key whose values are numbers.
    """
    part = reference_slice(results, vary=(MECHANISM, key))
    runs = part.runs
    if not len(runs) or key not in numeric_keys(runs):
        return None
    by = [k for k in (MECHANISM, key) if k in swept_keys(runs)]
    shown = [m for m in _PANELS if m in available_metrics(runs)]
    data = estimates(runs, shown, by=by, lent=part.lent)
    gained = advantages(runs, by, lent=part.lent)
    if len(gained):
        data = pd.concat([data, gained], ignore_index=True)
        shown = [m for m in _PANELS if m in (*shown, ADVANTAGE)]
    shown = [m for m in shown if data.loc[data["metric"] == m, "value"].notna().any()]
    if not shown:
        return None
    names = mechanism_order(set(runs[MECHANISM])) if MECHANISM in runs else [""]
    levels = sorted(float(v) for v in runs[key].unique())
    columns = min(len(shown), 3)
    n_rows = -(-len(shown) // columns)
    with figure("full", 1.72 * n_rows + 0.2) as fig:
        panels = fig.subplots(n_rows, columns, sharex=True, squeeze=False)
        for i, (axes, metric) in enumerate(zip(panels.flat, shown, strict=False)):
            scale = scale_of(metric)
            for name in names:
                rows = data[data["metric"] == metric]
                rows = rows[rows[MECHANISM] == name] if name else rows
                rows = rows.dropna(subset="value")
                style = mechanism_style(name or "tca")
                axes.plot(rows[key], scale * rows["value"], **style)
                band(axes, rows[key], scale * rows["low"], scale * rows["high"], style["color"])
            ticks_at_levels(axes, levels)
            axes.set_ylabel(wording(metric).unit)
            panel_title(axes, _LETTERS[i], _TITLES.get(metric, wording(metric).name))
            low, high = axes.get_ylim()
            if scale == 100.0 and low < 0 and metric != ADVANTAGE:
                axes.set_ylim(0, high)
        for axes in panels.flat[len(shown) :]:
            axes.set_visible(False)
        for column in range(columns):
            below = [i for i in range(len(shown)) if i % columns == column]
            axes = panels.flat[below[-1]]
            axes.tick_params(labelbottom=True)
        # one label for all panels: the names of keys are longer than a panel is wide
        fig.supxlabel(f"{key_label(key)}; n = {part.n_runs} runs in each cell", fontsize=8.0)
        handles, labels = mechanism_handles([n for n in names if n])
        if handles:
            legend_outside(fig, handles, labels, columns=3)
    stem = "delta" if key == DELTA else f"sweep-{key.replace('.', '-')}"
    return Drawing(fig, stem, data, _caption(key, shown, names, part.told(), part.n_runs))


def _caption(key: str, shown: list[str], names: list[str], told: str, n_runs: int) -> str:
    what = "; ".join(f"{_LETTERS[i]}: {_TITLES.get(m, wording(m).name).lower()}" for i, m in enumerate(shown))
    text = f"Protection and usefulness by {key_label(key)}{f', at {told}' if told else ''}. {what}. "
    text += f"Lines: estimates; bands: 95 % intervals over n = {n_runs} runs in each cell, on common random numbers."
    if ADVANTAGE in shown:
        text += (
            " Worst-case advantage: share of filed reports whose exact worst-case posterior reaches the lab's "
            "threshold, minus the same share of would-be reports that were not filed, in percentage points."
        )
        if key == DELTA:
            text += (
                " δ bounds this difference for each single report in the two worlds with and without it. Here filed "
                "and unfiled reports are different reports, so no bound is drawn; `deniability leakage` and "
                "`deniability twin` hold the bound itself against what they measure."
            )
    if key == DELTA and set(names) & set(IGNORES_DELTA):
        text += " Greedy and uniform ignore δ; greedy has no guarantee."
    return text
