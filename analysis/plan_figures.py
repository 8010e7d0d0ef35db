"""The figure of a plan: error by lead, where counter and exponential mechanism cross, several reports."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import LogLocator, MaxNLocator, NullLocator, StrMethodFormatter

from .style import (
    BOUND_STYLE,
    FLOOR_STYLE,
    figure,
    floor,
    legend_outside,
    mechanism_label,
    mechanism_style,
    panel_title,
)

__all__ = ["plan_figure"]

_LEAD = "Lead of the leader (active reports)"
_STYLE_OF = {"binary_tree": "tca-binary_tree", "blt": "tca-blt", "independent": "tca-independent"}
_DRAWN = ("greedy", "uniform", "rr", "tca", "exponential", "binary_tree", "blt", "independent")
_MARKERS = 8  # on each line

_WHOLE = mechanism_style("tca") | {"markerfacecolor": "white"}
_DIFFERENT = mechanism_style("tca") | {"linestyle": (0, (1, 1)), "marker": "d", "markerfacecolor": "white"}
_APART = mechanism_style("tca") | {"linestyle": (0, (4, 1.5)), "linewidth": 0.9, "markerfacecolor": "white"}
_APART_MARKERS = "<>v^"


def plan_figure(
    misselection: pd.DataFrame, leads: pd.DataFrame, group: pd.DataFrame
) -> tuple[Figure, pd.DataFrame]:
    """Draw a plan in three panels.

    Parameters
    ----------
    misselection
        Columns `mechanism` (`lower_bound` for the floor), `gap`, `probability`.
    leads
        Columns `mechanism`, `programme` (`whole` or `part`), `run_length`, `lead` (undefined if none is enough).
    group
        Columns `k`, `linear`, `same_counter`, `different_targets`, `exponential`, `rr`, and
        `separated_<periods>` for some numbers of periods.

    Returns
    -------
    figure, data
        What is drawn, tidy: columns `panel`, `series`, `x`, `y`.
    """
    with figure("full", 2.6) as fig:
        left, middle, right = fig.subplots(1, 3)
        drawn = [_errors(left, misselection), _leads(middle, leads), _groups(right, group)]
        apart = _separations(group)
        handles: list[Artist] = [
            *(Line2D([], [], **_style(name)) for name in _DRAWN),
            Patch(**FLOOR_STYLE),
            Line2D([], [], **_WHOLE),
            Line2D([], [], **_DIFFERENT),
            *(Line2D([], [], **_apart(i)) for i in range(len(apart))),
            Line2D([], [], **BOUND_STYLE),
        ]
        labels = [
            *(mechanism_label(_STYLE_OF.get(name, name)) for name in _DRAWN),
            "a: No private rule below this",
            "b: TCA, horizon = run length",
            "c: TCA, on different targets",
            *(f"c: TCA, {periods} periods apart" for periods in apart),
            "c: Any rule",
        ]
        legend_outside(fig, handles, labels, columns=3)
    return fig, pd.concat(drawn, ignore_index=True)


def _style(name: str) -> dict[str, Any]:
    return mechanism_style(_STYLE_OF.get(name, name))


def _apart(i: int) -> dict[str, Any]:
    return _APART | {"marker": _APART_MARKERS[i % len(_APART_MARKERS)]}


def _separations(group: pd.DataFrame) -> list[int]:
    return [int(str(c).removeprefix("separated_")) for c in group.columns if str(c).startswith("separated_")]


def _line(
    axes: Axes, panel: str, series: str, x: Sequence[Any], y: Sequence[Any], **style: Any
) -> pd.DataFrame:
    axes.plot(x, y, **style)
    return pd.DataFrame({"panel": panel, "series": series, "x": x, "y": y})


def _errors(axes: Axes, misselection: pd.DataFrame) -> pd.DataFrame:
    by_mechanism = {str(name): rows for name, rows in misselection.groupby("mechanism")}
    bound = by_mechanism["lower_bound"]
    floor(axes, bound["gap"], bound["probability"])
    x, y = bound["gap"].tolist(), bound["probability"].tolist()
    drawn = [pd.DataFrame({"panel": "error", "series": "lower_bound", "x": x, "y": y})]
    for i, name in enumerate(_DRAWN):
        rows = by_mechanism[name]
        every = max(1, len(rows) // _MARKERS)
        # markers of different lines at different leads: some lie on one another
        marks = (i * every // len(_DRAWN), every)
        x, y = rows["gap"].tolist(), rows["probability"].tolist()
        drawn.append(_line(axes, "error", name, x, y, markevery=marks, **_style(name)))
    axes.set(xlabel=_LEAD, ylabel="Chance of a wrong target", ylim=(-0.02, 1.02))
    panel_title(axes, "a", "Error")
    return pd.concat(drawn)


def _leads(axes: Axes, leads: pd.DataFrame) -> pd.DataFrame:
    panel, drawn = "lead for 90 %", []
    # greedy needs no more than one report, and uniform and randomized response cannot do it
    for name in ("exponential", "independent", "binary_tree", "tca", "blt"):
        rows = leads[(leads["mechanism"] == name) & (leads["programme"] == "part")].dropna()
        marks = (1, 2) if name == "blt" else (0, 1)  # it lies on tca
        x, y = rows["run_length"].tolist(), rows["lead"].tolist()
        drawn.append(_line(axes, panel, f"{name}, part programme", x, y, markevery=marks, **_style(name)))
    rows = leads[(leads["mechanism"] == "tca") & (leads["programme"] == "whole")].dropna()
    x, y = rows["run_length"].tolist(), rows["lead"].tolist()
    drawn.append(_line(axes, panel, "tca, whole programme", x, y, **_WHOLE))
    data = pd.concat(drawn)
    axes.set(xscale="log", xlabel="Run length (periods)", ylabel="Lead needed for 90 % (reports)")
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axes.xaxis.set_minor_locator(NullLocator())
    if data["y"].min() > 0:  # a single target needs no lead
        axes.set_yscale("log")
        wide = data["y"].max() > 200.0 * data["y"].min()
        axes.yaxis.set_major_locator(LogLocator(10.0, (1.0,) if wide else (1.0, 2.0, 5.0)))
        axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        axes.yaxis.set_minor_locator(NullLocator())
    else:
        axes.set_ylim(bottom=0.0)
    panel_title(axes, "b", "Where they cross")
    return data


def _groups(axes: Axes, group: pd.DataFrame) -> pd.DataFrame:
    styles = {
        "same_counter": _style("tca"),
        "different_targets": _DIFFERENT,
        "exponential": _style("exponential"),
        "rr": _style("rr"),
        "linear": dict(BOUND_STYLE),
    }
    styles |= {f"separated_{periods}": _apart(i) for i, periods in enumerate(_separations(group))}
    drawn = []
    for series, style in styles.items():
        rows = group[["k", series]].dropna()
        drawn.append(
            _line(axes, "several reports", series, rows["k"].tolist(), rows[series].tolist(), **style)
        )
    axes.set(xlabel="Reports by one person", ylabel="Total variation, at most", ylim=(-0.02, 1.02))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    panel_title(axes, "c", "Several reports")
    return pd.concat(drawn)
