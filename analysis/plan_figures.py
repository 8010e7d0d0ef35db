"""The figure of a plan: error by lead, where counter and exponential mechanism cross, several reports."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from .style import (
    BOUND_STYLE,
    figure,
    legend_outside,
    mechanism_label,
    mechanism_style,
    panel_title,
)

__all__ = ["plan_figure"]

_LEAD = "Lead of the leader (active reports)"
_STYLE_OF = {"binary_tree": "tca-binary_tree", "blt": "tca-blt", "independent": "tca-independent"}
_DRAWN = ("greedy", "uniform", "rr", "tca", "exponential", "binary_tree")


def plan_figure(
    misselection: pd.DataFrame, crossings: pd.DataFrame, group: pd.DataFrame
) -> tuple[Figure, pd.DataFrame]:
    """Draw a plan in three panels.

    Parameters
    ----------
    misselection
        Columns `mechanism` (`lower_bound` for the floor), `gap`, `probability`.
    crossings
        Columns `programme` (`whole` or `part`), `run_length`, `counter_gap`, `exponential_gap`.
    group
        Columns `k`, `linear`, `same_counter`, `different_targets`, `exponential`, `rr`.

    Returns
    -------
    figure, data
        What is drawn, tidy: columns `panel`, `series`, `x`, `y`.
    """
    drawn: list[pd.DataFrame] = []

    def line(axes: Axes, panel: str, series: str, x: pd.Series, y: pd.Series, **style: object) -> None:
        # some ten markers a line, so that lines in grey can be told apart and are not hidden
        axes.plot(x, y, markevery=max(1, len(x) // 10), **style)  # type: ignore[arg-type]
        drawn.append(pd.DataFrame({"panel": panel, "series": series, "x": x.to_numpy(), "y": y.to_numpy()}))

    with figure("full", 2.5) as fig:
        left, middle, right = fig.subplots(1, 3)

        by_mechanism = {str(name): rows for name, rows in misselection.groupby("mechanism")}
        for name in _DRAWN:
            rows = by_mechanism[name]
            style = mechanism_style(_STYLE_OF.get(name, name))
            label = mechanism_label(_STYLE_OF.get(name, name))
            line(left, "error", name, rows["gap"], rows["probability"], label=label, **style)
        floor = by_mechanism["lower_bound"]
        line(
            left,
            "error",
            "lower_bound",
            floor["gap"],
            floor["probability"],
            label="Bound for every private rule",
            **BOUND_STYLE,
        )
        left.set(xlabel=_LEAD, ylabel="Chance of a wrong target", ylim=(-0.02, 1.02))
        panel_title(left, "a", "Error")

        for programme, fill in (("whole", "white"), ("part", None)):
            rows = crossings[crossings["programme"] == programme]
            style = mechanism_style("tca") | ({} if fill is None else {"markerfacecolor": fill})
            if fill is not None:
                style["label"] = "TCA, horizon = run length"
            line(
                middle,
                "lead for 90 %",
                f"tca, {programme} programme",
                rows["run_length"],
                rows["counter_gap"],
                **style,
            )
        rows = crossings[crossings["programme"] == "part"]
        line(
            middle,
            "lead for 90 %",
            "exponential",
            rows["run_length"],
            rows["exponential_gap"],
            **mechanism_style("exponential"),
        )
        middle.set(xscale="log", xlabel="Run length (periods)", ylabel="Lead needed for 90 % (reports)")
        middle.set_ylim(bottom=0)
        panel_title(middle, "b", "Where they cross")

        for series, name in (
            ("same_counter", "tca"),
            ("different_targets", "tca"),
            ("exponential", "exponential"),
            ("rr", "rr"),
        ):
            style = mechanism_style(name)
            if series == "different_targets":
                style |= {"linestyle": (0, (1, 1)), "marker": "d", "markerfacecolor": "white"}
                style["label"] = "TCA, reports on different targets"
            line(right, "several reports", series, group["k"], group[series], **style)
        line(right, "several reports", "linear", group["k"], group["linear"], **BOUND_STYLE)
        right.set(xlabel="Reports by one person", ylabel="Total variation, at most", ylim=(-0.02, 1.02))
        right.xaxis.set_major_locator(MaxNLocator(integer=True))
        panel_title(right, "c", "Several reports")

        handles, labels = [], []
        for axes in (left, middle, right):
            for handle, text in zip(*axes.get_legend_handles_labels(), strict=True):
                handles.append(handle)
                labels.append(text)
        legend_outside(fig, handles, labels, columns=3)
    return fig, pd.concat(drawn, ignore_index=True)
