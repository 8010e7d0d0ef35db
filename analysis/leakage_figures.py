"""The figure of a distinguishing game: the receiver operating curve under its bounds, and the evidence itself."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from .drawing import Drawing
from .intervals import wilson_bounds
from .style import (
    BOUND_STYLE,
    INK,
    MUTED,
    band,
    figure,
    legend_outside,
    mechanism_label,
    mechanism_style,
    panel_title,
)

__all__ = ["LeakageCurves", "leakage_figure", "receiver_curve"]

type _Floats = npt.NDArray[np.float64]

_POINTS = 201  # of a drawn curve


@dataclass(frozen=True)
class LeakageCurves:
    """What is drawn of a distinguishing game.

    Attributes
    ----------
    mechanism
        Label of the mechanism, as in `style.MECHANISM_LABEL`.
    setting
        Sizes and level, for the caption.
    without, with_report
        Log likelihood ratios of the transcripts of each world, shape (transcripts,).
    point
        False- and true-positive rate of the test that says "filed" where the ratio exceeds 1.
    advantage
        Its advantage and the ends of its 95 % interval.
    bound
        What the guarantee allows the advantage to be at most.
    trade_off
        Columns `fpr`, `tpr`: the mechanism's own bound, tighter than `fpr + bound`; None where there is none.
    cap
        Largest likelihood ratio that can occur, if there is a largest.
    """

    mechanism: str
    setting: str
    without: _Floats
    with_report: _Floats
    point: tuple[float, float]
    advantage: tuple[float, float, float]
    bound: float
    trade_off: pd.DataFrame | None
    cap: float | None


def receiver_curve(without: _Floats, with_report: _Floats) -> tuple[_Floats, _Floats]:
    """False- and true-positive rates of all thresholds on the likelihood ratio, from (0, 0) to (1, 1).

    >>> fpr, tpr = receiver_curve(np.array([0.0, 1.0]), np.array([1.0, 2.0]))
    >>> fpr.tolist(), tpr.tolist()
    ([0.0, 0.0, 0.5, 1.0], [0.0, 0.5, 1.0, 1.0])
    """
    thresholds = np.unique(np.concatenate([without, with_report]))[::-1]
    alarms = without.size - np.searchsorted(np.sort(without), thresholds, side="left")
    hits = with_report.size - np.searchsorted(np.sort(with_report), thresholds, side="left")
    return np.append(0.0, alarms / without.size), np.append(0.0, hits / with_report.size)


def leakage_figure(curves: LeakageCurves) -> Drawing:
    """Draw a distinguishing game in two panels: the receiver operating curve, and the evidence.

    Returns
    -------
    Drawing
        Its data has the columns `panel`, `series`, `x`, `y`, `low`, `high`.
    """
    parts: list[pd.DataFrame] = []
    with figure("full", 2.9) as fig:
        left, right = fig.subplots(1, 2)
        _draw_receiver(left, curves, parts)
        _draw_evidence(right, curves, parts)
        handles, labels = left.get_legend_handles_labels()
        for handle, label in zip(*right.get_legend_handles_labels(), strict=True):
            handles.append(handle)
            labels.append(label)
        legend_outside(fig, handles, labels, columns=3)
    data = pd.concat(parts, ignore_index=True)
    return Drawing(fig, "leakage", data, _caption(curves))


def _take(
    parts: list[pd.DataFrame], panel: str, series: str, x: _Floats, y: _Floats, **more: _Floats
) -> None:
    parts.append(pd.DataFrame({"panel": panel, "series": series, "x": x, "y": y} | more))


def _thin(x: _Floats, y: _Floats) -> tuple[_Floats, _Floats]:
    """At most `_POINTS` points of a curve, evenly along it, both ends kept."""
    along = np.unique(np.linspace(0, x.size - 1, min(x.size, _POINTS)).round().astype(np.int64))
    return x[along], y[along]


def _draw_receiver(axes: Axes, curves: LeakageCurves, parts: list[pd.DataFrame]) -> None:
    style = mechanism_style(curves.mechanism)
    fpr, tpr = _thin(*receiver_curve(curves.without, curves.with_report))
    low, high = wilson_bounds(tpr * curves.with_report.size, curves.with_report.size)
    band(axes, fpr, low, high, style["color"])
    axes.plot(fpr, tpr, color=style["color"], label=mechanism_label(curves.mechanism))
    _take(parts, "receiver", "measured", fpr, tpr, low=low, high=high)
    net = np.linspace(0.0, 1.0, _POINTS)
    bound = np.minimum(1.0, net + curves.bound)
    axes.plot(net, bound, label="Bound: FPR + δ" if 0.0 < curves.bound < 1.0 else "Bound", **BOUND_STYLE)
    _take(parts, "receiver", "bound", net, bound)
    if curves.trade_off is not None:
        x, y = curves.trade_off["fpr"].to_numpy(), curves.trade_off["tpr"].to_numpy()
        axes.plot(x, y, color=MUTED, linewidth=1.0, label="Bound: trade-off curve")
        _take(parts, "receiver", "trade_off", x, y)
    axes.plot([0, 1], [0, 1], color=MUTED, linewidth=0.6, linestyle=(0, (1, 2)), label="No evidence")
    axes.plot(
        *curves.point,
        linestyle="",
        marker=style["marker"],
        color=INK,
        markersize=5,
        label="Says filed if ratio > 1",
    )
    _take(parts, "receiver", "ratio above 1", *(np.array([v]) for v in curves.point))
    axes.set(
        xlabel="False-positive rate (not filed, says filed)",
        ylabel="True-positive rate",
        xlim=(-0.02, 1.02),
        ylim=(-0.02, 1.02),
    )
    panel_title(axes, "a", "Telling the worlds apart")


def _draw_evidence(axes: Axes, curves: LeakageCurves, parts: list[pd.DataFrame]) -> None:
    style = mechanism_style(curves.mechanism)
    finite = np.concatenate([curves.without, curves.with_report, [0.0]])
    finite = finite[np.isfinite(finite)]
    margin = 0.03 + 0.1 * float(np.ptp(finite))
    left = float(finite.min()) - margin
    right = max(float(finite.max()), 0.0 if curves.cap is None else float(np.log(curves.cap))) + margin
    for series, scores, line in (
        ("Not filed", curves.without, {"linestyle": (0, (4, 1.5)), "color": MUTED}),
        ("Filed", curves.with_report, {"linestyle": "-", "color": style["color"]}),
    ):
        # infinite evidence stands at the edges
        ordered = np.sort(np.clip(scores, left, right))
        share = np.arange(1, ordered.size + 1) / ordered.size
        x, y = _thin(np.append(left, ordered), np.append(0.0, share))
        x, y = np.append(x, right), np.append(y, 1.0)
        axes.plot(np.exp(x), y, drawstyle="steps-post", label=series, **line)
        _take(parts, "evidence", series.lower(), np.exp(x), y)
    if curves.cap is not None:
        axes.axvline(curves.cap, label=f"Cap on the ratio: {curves.cap:.3f}", **BOUND_STYLE)
        _take(parts, "evidence", "cap", np.array([curves.cap]), np.array([np.nan]))
    axes.axvline(1.0, color=MUTED, linewidth=0.6, linestyle=(0, (1, 2)))
    axes.set(
        xlabel="Likelihood ratio of the transcript (filed : not filed)",
        ylabel="Share of transcripts at or below",
        xlim=(np.exp(left), np.exp(right)),
        ylim=(-0.02, 1.02),
    )
    if right - left > 3.0:
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.xaxis.set_minor_formatter(NullFormatter())
    panel_title(axes, "b", "Evidence")


def _caption(curves: LeakageCurves) -> str:
    value, low, high = curves.advantage
    cap = "" if curves.cap is None else f" No ratio can exceed {curves.cap:.4g}."
    trade_off = "" if curves.trade_off is None else " and the mechanism's own trade-off curve"
    n = min(curves.without.size, curves.with_report.size)
    return (
        f"What transcripts betray about one report under {mechanism_label(curves.mechanism)}; {curves.setting}; "
        f"n = {n:,} transcripts in each world. The adversary knows every other report. "
        f"Saying filed where the likelihood ratio exceeds 1, a rule fixed beforehand, has the advantage {value:.4f} "
        f"(95 % interval {low:.4f} to {high:.4f}; at most {curves.bound:g} is allowed). "
        "a: true- against false-positive rate over all thresholds, with a pointwise 95 % band, under the bound"
        f"{trade_off}; thresholds other than the marked one are chosen with the outcome in sight. "
        f"b: distribution of the likelihood ratio in both worlds.{cap}"
    )
