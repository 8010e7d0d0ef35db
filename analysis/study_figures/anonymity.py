"""How many people had access, and how often a reporter among them is found out."""

from ..drawing import Drawing
from ..group_estimates import group_estimates, group_lendable
from ..groups import ANONYMITY_LEVELS
from ..results import MECHANISM, Results
from ..slices import mechanism_order, reference_slice
from ..style import figure, legend_outside, mechanism_style, panel_title
from ..wording import wording
from .marks import dodged, interval, mechanism_handles, note_n

__all__ = ["anonymity_figure"]

_PANELS = ("retaliation_rate", "strong_identification_rate", "reporting_rate")
_FEWEST = 5
"""Outcomes behind a mark: fewer say nothing, and their intervals would fill the panel."""


def anonymity_figure(results: Results) -> Drawing | None:
    """Draw retaliation, worst-case identification and reporting by the number of people with access."""
    part, groups = reference_slice(results), results.tables.get("groups")
    if groups is None or not len(groups) or not len(part.runs):
        return None
    by = [MECHANISM] if MECHANISM in part.runs else []
    lent = None if part.lent is None else group_lendable(groups, results.runs, "anonymity_set")
    data = group_estimates(groups, part.runs, "anonymity_set", _PANELS, by, lent=lent)
    marks = data[data["denominator"] >= _FEWEST]
    shown = [m for m in _PANELS if (marks["metric"] == m).any()]
    if not shown:
        return None
    levels = [level for level in ANONYMITY_LEVELS if level in set(marks["level"])]
    place = {level: i for i, level in enumerate(levels)}
    names = mechanism_order(set(data[MECHANISM])) if by else [""]
    with figure("full", 2.1) as fig:
        panels = fig.subplots(1, len(shown), squeeze=False)[0]
        for letter, axes, metric in zip("abc", panels, shown, strict=False):
            for shift, name in zip(dodged(len(names), 0.5), names, strict=True):
                rows = marks[marks["metric"] == metric]
                rows = rows[rows[MECHANISM] == name] if name else rows
                rows = rows.assign(_x=rows["level"].map(place)).sort_values("_x")
                style = mechanism_style(name or "tca") | {"linewidth": 0.7, "markersize": 3.2}
                values = 100 * rows[["value", "low", "high"]].to_numpy()
                interval(
                    axes, rows["_x"] + shift, values[:, 0], values[:, 1], values[:, 2], line=True, **style
                )
            labels = [level.replace("-", "–") for level in levels]
            axes.set_xticks(range(len(levels)), labels, fontsize=6.0)
            axes.set(xlabel="People with access", ylabel=wording(metric).unit)
            axes.set_ylim(bottom=0)
            axes.grid(visible=False, axis="x")
            panel_title(axes, letter, _TITLES[metric])
        note_n(panels[-1], f"n = {part.n_runs} runs each" if part.n_runs > 1 else "n = 1 run")
        if by:
            legend_outside(fig, *mechanism_handles(names), columns=3)
    told = part.told()
    caption = (
        f"Anonymity sets{f' at {told}' if told else ''}: how many people had access to what was reported. "
        + "; ".join(f"{letter}: {_SAID[m]}" for letter, m in zip("abc", shown, strict=False))
        + ". Levels are powers of two; marks of one level are set apart. Bars: 95 % intervals (Wilson's, for runs as "
        f"clusters); levels with fewer than {_FEWEST} outcomes are in the data alone. n = {part.n_runs} runs of each "
        "mechanism."
    )
    return Drawing(fig, "anonymity", data, caption)


_TITLES = {
    "retaliation_rate": "Retaliated against",
    "strong_identification_rate": "Identified, worst case",
    "reporting_rate": "Reporting",
}
_SAID = {
    "retaliation_rate": "reporters retaliated against, by the smallest set of their reports",
    "strong_identification_rate": "reports whose exact worst-case posterior reaches the lab's threshold",
    "reporting_rate": "notices that led to a decision to report",
}
