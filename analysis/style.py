"""The house style of every figure: one colour, marker and line per mechanism and channel, sizes, saving.

Colours stay apart under the three forms of dichromacy, and the five main mechanisms differ in lightness too;
marker and line style say it again, so that a figure survives a grey printer. Figures are made without
pyplot, so nothing global is kept or changed:

>>> import pandas as pd
>>> with figure("column") as fig:
...     axes = fig.subplots()
...     line = axes.plot([1, 2], [3, 4], label=mechanism_label("tca"), **mechanism_style("tca"))
>>> fig.get_size_inches().tolist()
[3.35, 2.34]

`drawing.save_figure` writes the same bytes whenever the same figure is made again: no dates, fixed identifiers.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any

import matplotlib as mpl
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.legend import Legend

__all__ = [
    "BOUND_STYLE",
    "CHANNEL_HATCH",
    "CHANNEL_LABEL",
    "CHANNEL_STYLE",
    "COLUMN_WIDTH",
    "FLOOR_STYLE",
    "FULL_WIDTH",
    "INK",
    "MECHANISM_LABEL",
    "MECHANISM_STYLE",
    "MUTED",
    "band",
    "channel_label",
    "channel_style",
    "figure",
    "floor",
    "house_style",
    "legend_outside",
    "mechanism_label",
    "mechanism_style",
    "panel_title",
]

COLUMN_WIDTH = 3.35
"""Width of a one-column figure, in inches (85 mm)."""
FULL_WIDTH = 7.0
"""Width of a figure across the page, in inches (178 mm)."""

INK = "#1A1A1A"
"""Text and marks that belong to no mechanism."""
MUTED = "#6B6B6B"
"""Annotations, secondary marks."""
GRID = "#E3E3E3"


def _style(color: str, marker: str, linestyle: Any) -> Mapping[str, Any]:
    return MappingProxyType({"color": color, "marker": marker, "linestyle": linestyle})


MECHANISM_STYLE: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "greedy": _style("#000000", "v", (0, (1, 1))),
        "uniform": _style("#949494", "D", (0, (4, 2))),
        "rr": _style("#E0B040", "^", (0, (6, 1.5, 1, 1.5))),
        "tca": _style("#004C99", "o", "-"),
        "exponential": _style("#C8442E", "s", (0, (7, 1.5))),
        "tca-binary_tree": _style("#77BBEE", "P", (0, (3, 1, 1, 1, 1, 1))),
        "tca-blt": _style("#117755", "X", (0, (5, 1, 1, 1))),
        "tca-independent": _style("#EE99BB", "*", (0, (2, 1))),
    }
)
"""Keyword arguments of `Axes.plot` for each mechanism; `tca-<counter>` are its variants."""

MECHANISM_LABEL: Mapping[str, str] = MappingProxyType(
    {
        "greedy": "Greedy (no privacy)",
        "uniform": "Uniform",
        "rr": "Randomized response",
        "tca": "Toeplitz (TCA)",
        "exponential": "Reset-aware exponential",
        "tca-binary_tree": "TCA, binary tree",
        "tca-blt": "TCA, buffered Toeplitz",
        "tca-independent": "TCA, independent noise",
    }
)
"""Names of the mechanisms for people."""

CHANNEL_STYLE: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "transcript": _style("#332288", "o", "-"),
        "side_information": _style("#44AA99", "s", (0, (6, 1.5))),
        "self_disclosure": _style("#DDCC77", "^", (0, (4, 1, 1, 1))),
        "audit_scope": _style("#AA4499", "D", (0, (1, 1))),
    }
)
"""Keyword arguments of `Axes.plot` for each channel of retaliation."""

CHANNEL_HATCH: Mapping[str, str] = MappingProxyType(
    {"transcript": "", "side_information": "////", "self_disclosure": "....", "audit_scope": "xxxx"}
)
"""Hatches of bars split by channel, for grey print."""

CHANNEL_LABEL: Mapping[str, str] = MappingProxyType(
    {
        "transcript": "Transcript (inference)",
        "side_information": "Side information (leak)",
        "self_disclosure": "Self-disclosure",
        "audit_scope": "Audit scope (findings)",
    }
)
"""Names of the channels for people."""

BOUND_STYLE: Mapping[str, Any] = MappingProxyType(
    {"color": INK, "linestyle": (0, (2, 2)), "linewidth": 0.9, "zorder": 1.5}
)
"""Keyword arguments of the line of a bound (delta, or an impossibility line)."""

_FLOOR = {"facecolor": "#DEDEDE", "edgecolor": MUTED, "linewidth": 0.8}
FLOOR_STYLE: Mapping[str, Any] = MappingProxyType(_FLOOR)
"""Keyword arguments of a patch: what no rule can reach. An area, so that nobody takes its edge for a rule's line."""

_OTHERS = tuple(
    _style(color, marker, (0, (3, 1)))
    for color, marker in (("#7A5195", "<"), ("#5B8C3A", ">"), ("#A6761D", "p"), ("#1B9AAA", "h"))
)

_RC: Mapping[str, Any] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],  # comes with matplotlib, so the same bytes everywhere
    "mathtext.fontset": "dejavusans",
    "font.size": 8.0,
    "axes.titlesize": 8.0,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 8.0,
    "xtick.labelsize": 7.0,
    "ytick.labelsize": 7.0,
    "legend.fontsize": 7.0,
    "legend.frameon": False,
    "legend.handlelength": 2.8,
    "legend.columnspacing": 1.4,
    "figure.dpi": 100.0,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "savefig.bbox": None,  # the printed width is the width asked for
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.6,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.unicode_minus": True,
    "axes.formatter.useoffset": False,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "lines.linewidth": 1.3,
    "lines.markersize": 4.0,
    "lines.markeredgewidth": 0.5,
    "hatch.linewidth": 0.5,
    "errorbar.capsize": 2.0,
    "pdf.fonttype": 42,  # embedded TrueType: text stays text
    "ps.fonttype": 42,  # read for PDF too: with 3, Greek letters would go into a second copy of each font
    "svg.fonttype": "path",
    "svg.hashsalt": "deniability",
}


@contextmanager
def house_style() -> Iterator[None]:
    """Apply the house style to whatever is drawn inside the `with` block, and undo it after."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_RC)  # type: ignore[arg-type]  # its keys are typed as literals
        yield


@contextmanager
def figure(width: str | float = "full", height: float | None = None) -> Iterator[Figure]:
    """Give a new figure to draw on in the house style.

    Parameters
    ----------
    width
        "column" (3.35 in), "full" (7 in), or a number of inches.
    height
        Inches; by default 0.7 of a column's width, 0.45 of a full one.

    Yields
    ------
    matplotlib.figure.Figure
        With a constrained layout, so that legends outside the axes get room. It stays usable after the block.
    """
    if isinstance(width, str):
        if width not in ("column", "full"):
            raise ValueError(f'width must be "column", "full" or inches, got {width!r}')
        inches, ratio = (COLUMN_WIDTH, 0.7) if width == "column" else (FULL_WIDTH, 0.45)
    else:
        inches, ratio = width, 0.45
    with house_style():
        fig = Figure(figsize=(inches, round(inches * ratio, 2) if height is None else height))
        FigureCanvasAgg(fig)
        fig.set_layout_engine("constrained", w_pad=0.03, h_pad=0.03)
        yield fig


def mechanism_style(name: str) -> dict[str, Any]:
    """Colour, marker and line style of a mechanism; one that others plugged in always gets the same."""
    return dict(MECHANISM_STYLE.get(name) or _other(name))


def mechanism_label(name: str) -> str:
    """Name of a mechanism for people; an unknown one keeps its own."""
    return MECHANISM_LABEL.get(name, name)


def channel_style(name: str) -> dict[str, Any]:
    """Colour, marker and line style of a channel of retaliation; an unknown one always gets the same."""
    return dict(CHANNEL_STYLE.get(name) or _other(name))


def channel_label(name: str) -> str:
    """Name of a channel for people; an unknown one keeps its own, with spaces."""
    return CHANNEL_LABEL.get(name, name.replace("_", " ").capitalize())


def _other(name: str) -> Mapping[str, Any]:
    return _OTHERS[hashlib.sha256(name.encode()).digest()[0] % len(_OTHERS)]


def band(axes: Axes, x: Any, low: Any, high: Any, color: str) -> None:
    """Draw a 95 % band under a line of the same colour."""
    axes.fill_between(x, low, high, color=color, alpha=0.18, linewidth=0)


def floor(axes: Axes, x: Any, y: Any) -> None:
    """Shade what lies below a bound that no rule can undercut."""
    axes.plot(x, y, color=FLOOR_STYLE["edgecolor"], linewidth=FLOOR_STYLE["linewidth"], zorder=1.5)
    # not `fill_between`, which takes twice as long to draw
    axes.fill([min(x), *x, max(x)], [0, *y, 0], color=FLOOR_STYLE["facecolor"], linewidth=0, zorder=0.8)


def panel_title(axes: Axes, letter: str, text: str = "", *, y: float | None = None) -> None:
    """Title a panel "a  text", flush left.

    Parameters
    ----------
    axes
        The panel.
    letter, text
        What to write.
    y
        Where, as a fraction of the panel's height, if nothing but the frame (at 1) can be in the way; by default
        whatever lies above the panel is looked for each time the figure is drawn, which takes a tenth of the time.
    """
    axes.set_title(f"{letter}  {text}" if text else letter, y=y)


def legend_outside(
    fig: Figure, handles: Sequence[Artist], labels: Sequence[str], columns: int | None = None
) -> Legend:
    """Put a legend above the axes, where it can hide no data.

    The figure grows by the height of the legend, so that the axes keep the height they were made with.

    Parameters
    ----------
    fig
        Made by `figure`.
    handles, labels
        What to name, and how.
    columns
        As many as the width holds by default.
    """
    width, height = fig.get_size_inches()
    if columns is None:
        # 7 pt text takes about 0.047 in a character; the handle and its gaps half an inch
        entry = 0.047 * max((len(label) for label in labels), default=1) + 0.5
        columns = max(1, min(len(labels), int(width // entry)))
    rows = -(-len(labels) // columns)
    fig.set_size_inches(width, height + 0.15 * rows)
    return fig.legend(handles, labels, loc="outside upper left", ncols=columns)
