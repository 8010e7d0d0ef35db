"""What the figures of a study share: points with intervals, legends of mechanisms, notes of n, axes in percent."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from ..style import MUTED, mechanism_label, mechanism_style
from ..wording import level_text, wording

__all__ = ["dodged", "freeze", "interval", "mechanism_handles", "note_n", "scale_of", "ticks_at_levels"]


def scale_of(metric: str) -> float:
    """100 where a metric is shown in percent, else 1."""
    return 100.0 if wording(metric).is_share else 1.0


def interval(
    axes: Axes,
    x: npt.ArrayLike,
    y: npt.ArrayLike,
    low: npt.ArrayLike,
    high: npt.ArrayLike,
    *,
    horizontal: bool = False,
    line: bool = False,
    **style: Any,
) -> None:
    """Points with their intervals; those without an interval stand alone, undefined ones are left out.

    Parameters
    ----------
    x, y
        Places; `low` and `high` belong to x if `horizontal`, else to y.
    line
        Join the points.
    style
        Of the marks, as of `Axes.plot`.
    """
    across, up = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    start, stop = np.asarray(low, dtype=float), np.asarray(high, dtype=float)
    value = across if horizontal else up
    known = ~np.isnan(start) & ~np.isnan(stop) & ~np.isnan(value)
    # a bootstrap's percentiles need not hold the estimate itself
    reach = np.maximum(np.vstack([value - start, stop - value])[:, known], 0.0)
    bars = {"xerr" if horizontal else "yerr": reach}
    color = style.get("color", MUTED)
    axes.errorbar(across[known], up[known], fmt="none", ecolor=color, elinewidth=0.8, capsize=1.8, **bars)
    if not line:
        style["linestyle"] = "none"
    axes.plot(across, up, **({"clip_on": False, "zorder": 3} | style))


def mechanism_handles(names: Sequence[str], *, line: bool = True) -> tuple[list[Artist], list[str]]:
    """Handles and labels of a legend of mechanisms."""
    handles: list[Artist] = []
    for name in names:
        style = mechanism_style(name)
        handles.append(Line2D([], [], **(style if line else style | {"linestyle": "none"})))
    return handles, [mechanism_label(name) for name in names]


def note_n(axes: Axes, text: str) -> None:
    """Say n at the upper right of a panel, outside the data."""
    axes.set_title(text, loc="right", fontsize=6.5, fontweight="normal", color=MUTED)


def ticks_at_levels(axes: Axes, levels: Sequence[float]) -> None:
    """Label an axis of swept numbers at its levels; a logarithmic one where they span a factor of four."""
    positive = min(levels) > 0
    if positive and max(levels) / min(levels) >= 4:
        axes.set_xscale("log")
        axes.minorticks_off()
    if len(levels) <= 6:
        axes.set_xticks(list(levels), [level_text(level) for level in levels])
        axes.minorticks_off()


def dodged(n: int, width: float = 0.6) -> npt.NDArray[np.float64]:
    """Offsets that keep n marks of one place apart."""
    return np.linspace(-width / 2, width / 2, n) if n > 1 else np.zeros(1)


def freeze(fig: Figure) -> None:
    """Place everything once, instead of once for each file format.

    At the resolution of print: on a coarse grid of pixels small letters come out narrower than they are.
    """
    dpi = fig.dpi
    fig.set_dpi(300)
    fig.draw_without_rendering()
    fig.set_layout_engine(None)  # "none" would leave a placeholder, and with any engine all is drawn twice
    fig.set_dpi(dpi)
