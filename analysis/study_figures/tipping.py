"""Silence that tips: run by run, because a mean of two outcomes is an outcome that never happens."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from ..drawing import Drawing
from ..estimates import estimates
from ..results import DELTA, MECHANISM, Results
from ..slices import Slice, mechanism_order, numeric_keys, reference_slice
from ..style import INK, figure, legend_outside, mechanism_label, mechanism_style, panel_title
from ..wording import key_label
from .marks import dodged, interval, mechanism_handles, note_n

__all__ = ["tipping_figure"]

_NEEDED = ("reporting_rate_numerator", "reporting_rate_denominator", "final_fear")
_REPORTED = "Reported (% of notices)"
_MOST_PLACES = 12


def tipping_figure(results: Results, key: str | None = None) -> Drawing | None:
    """Draw each run's reporting against fear, and against a key that may tip it (else by mechanism).

    Parameters
    ----------
    results
        A batch.
    key
        A swept number; by default the first one besides delta, where there is one.
    """
    whole = results.runs
    if key is None and len(whole):
        key = next((k for k in numeric_keys(whole) if k != DELTA), None)
    part = reference_slice(results, vary=(MECHANISM,) if key is None else (MECHANISM, key))
    runs = part.runs
    if not len(runs) or set(_NEEDED) - set(runs.columns):
        return None
    below = pd.to_numeric(runs[_NEEDED[1]])
    runs = runs.assign(reported=pd.to_numeric(runs[_NEEDED[0]]) / below.where(below > 0))
    runs = runs.dropna(subset=["reported", "final_fear"])
    if not len(runs):
        return None
    names = mechanism_order(set(runs[MECHANISM])) if MECHANISM in runs else [""]
    # one setting alone: clouds of different settings would look like outcomes of one
    held = set(reference_slice(results).runs["run_id"])
    alike = runs[runs["run_id"].isin(held)]
    with figure("full", 2.35) as fig:
        left, right = fig.subplots(1, 2)
        for name in names:
            some = alike[alike[MECHANISM] == name] if name else alike
            _cloud(left, some["final_fear"], 100 * some["reported"], name)
        left.xaxis.set_major_locator(MaxNLocator(4))
        left.set(xlabel="Fear at the end of a run (mean belief)", ylabel=_REPORTED)
        if key is None:
            _strips(right, runs, names, part.lent)
        else:
            _against(right, runs, names, key, part.lent)
        panel_title(left, "a", "Each run: reporting and fear")
        panel_title(right, "b", "Each run, and the mean")
        note_n(right, f"n = {len(runs)} runs")
        if names != [""]:
            legend_outside(fig, *mechanism_handles(names, line=False), columns=3)
    columns = ["run_id", *[k for k in (MECHANISM, key) if k and k in runs], "reported", "final_fear"]
    return Drawing(
        fig,
        "tipping",
        runs[columns].reset_index(drop=True),
        _caption(part, reference_slice(results).told() if key else "", len(runs), key),
    )


def _cloud(axes: Axes, x: pd.Series, y: pd.Series, name: str) -> None:
    style = mechanism_style(name or "tca") | {"linestyle": "none", "markersize": 3.2, "alpha": 0.75}
    axes.plot(x, y, **(style | {"markeredgewidth": 0.2, "markeredgecolor": "white"}))


def _strips(axes: Axes, runs: pd.DataFrame, names: list[str], lent: Mapping[str, float] | None) -> None:
    means = estimates(runs, ["reporting_rate"], by=[MECHANISM] if MECHANISM in runs else [], lent=lent)
    for y, name in enumerate(names):
        some = runs[runs[MECHANISM] == name] if name else runs
        spread = pd.Series(dodged(len(some), 0.5), index=some.sort_values("run_id").index)
        _cloud(axes, 100 * some["reported"], (y + spread).reindex(some.index), name)
        one = means[means[MECHANISM] == name] if name else means
        values = 100 * one[["value", "low", "high"]].to_numpy()[0]
        look: dict[str, Any] = {
            "color": INK,
            "marker": "d",
            "markersize": 5.5,
            "markerfacecolor": "white",
            "zorder": 4,
        }
        interval(axes, [values[0]], [y], [values[1]], [values[2]], horizontal=True, **look)
    axes.set_yticks(range(len(names)), [mechanism_label(name) for name in names])
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")
    axes.set_xlabel(_REPORTED)


def _against(
    axes: Axes, runs: pd.DataFrame, names: list[str], key: str, lent: Mapping[str, float] | None
) -> None:
    levels = sorted(float(v) for v in runs[key].unique())
    few = len(levels) <= _MOST_PLACES
    # few levels get a place each, within which the mechanisms stand apart; many stand where they are
    place = {level: i for i, level in enumerate(levels)}
    for shift, name in zip(dodged(len(names), 0.6), names, strict=True):
        some = runs[runs[MECHANISM] == name] if name else runs
        across = some[key].map(place) + shift if few else some[key]
        _cloud(axes, across, 100 * some["reported"], name)
        if few:
            means = estimates(some, ["reporting_rate"], by=[key], lent=lent)
            look: dict[str, Any] = {"marker": "_", "markersize": 9, "zorder": 4, "color": INK}
            values = 100 * means[["value", "low", "high"]].to_numpy()
            interval(axes, means[key].map(place) + shift, values[:, 0], values[:, 1], values[:, 2], **look)
    if few:
        axes.set_xticks(range(len(levels)), [f"{level:g}" for level in levels])
    axes.set(xlabel=key_label(key), ylabel=_REPORTED)


def _caption(part: Slice, at: str, n: int, key: str | None) -> str:
    told = part.told()
    right = (
        "b: the same shares by mechanism; diamonds: estimates with 95 % intervals over runs as clusters."
        if key is None
        else f"b: the same shares by {key_label(key)}; dashes: estimates with 95 % intervals over runs as clusters. "
        "Marks of one value are set apart."
    )
    return (
        f"Does silence tip? Each mark is one run{f', at {told}' if told else ''} (n = {n}). a: share of notices that "
        f"led to a decision to report, against the mean fear at the end{f', at {at}' if at else ''}. {right} If "
        "silence tipped, the runs of one mechanism and one setting would gather in two clouds, and their mean would "
        "lie in neither."
    )
