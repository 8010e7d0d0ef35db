"""Reporting over time, and the beliefs that move it."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..drawing import Drawing
from ..estimates import seed_column
from ..intervals import t_interval
from ..results import MECHANISM, Results
from ..slices import mechanism_order, reference_slice
from ..style import band, figure, legend_outside, mechanism_style, panel_title
from ..wording import short_mechanism
from .marks import mechanism_handles, note_n

__all__ = ["reporting_figure"]

_BINS = 26
_PANELS = (
    ("reports", "Reports filed", "per {unit}"),
    ("gained", "More reports than under {base}", "since the start"),
    ("fear", "Fear", "mean belief"),
    ("efficacy", "Efficacy", "mean belief"),
)


def reporting_figure(results: Results) -> Drawing | None:
    """Draw reports, fear and efficacy over time by mechanism, at the reference delta."""
    series = results.tables.get("series")
    part = reference_slice(results)
    if series is None or not len(part.runs) or not {"run_id", "time", "reports"} <= set(series.columns):
        return None
    keys = ["run_id", seed_column(part.runs), *([MECHANISM] if MECHANISM in part.runs else [])]
    frame = series.merge(part.runs[list(dict.fromkeys(keys))], on="run_id")
    if MECHANISM not in frame:
        frame[MECHANISM] = ""
    if not len(frame):
        return None
    unit, scale = results.unit
    single = "audit period" if unit == "audit periods" else "week"
    names = mechanism_order(set(frame[MECHANISM]) - {""}) or [""]
    base = "greedy" if "greedy" in names else names[0]
    data = _averages(frame, scale, base if len(names) > 1 else None)
    shown = [panel for panel in _PANELS if (data["quantity"] == panel[0]).any()]
    with figure("full", 1.8 * -(-len(shown) // 2)) as fig:
        panels = fig.subplots(-(-len(shown) // 2), 2, sharex=True, squeeze=False).ravel()
        for letter, axes, (quantity, title, label) in zip("abcd", panels, shown, strict=False):
            for i, name in enumerate(names):
                rows = data[(data[MECHANISM] == name) & (data["quantity"] == quantity)]
                style = mechanism_style(name or "tca")
                every = max(1, len(rows) // 6)
                axes.plot(rows["time"], rows["value"], markevery=(i % every, every), **style)
                band(axes, rows["time"], rows["low"], rows["high"], style["color"])
            axes.set_ylabel(label.format(unit=single))
            if quantity == "reports":
                axes.set_ylim(bottom=0)
            panel_title(axes, letter, title.format(base=short_mechanism(base)))
        for axes in panels[len(shown) :]:
            axes.set_visible(False)
        panels[0].set_xlim(0, scale * float(frame["time"].max()))
        for axes in panels[max(len(shown) - 2, 0) : len(shown)]:
            axes.set_xlabel(f"Time ({unit})")
            axes.tick_params(labelbottom=True)
        note_n(panels[len(shown) - 1], f"n = {part.n_runs} runs each" if part.n_runs > 1 else "n = 1 run")
        if names != [""]:
            legend_outside(fig, *mechanism_handles(names), columns=3)
    told = part.told()
    width = scale * float(frame["time"].max()) / _bins(float(frame["time"].max()))
    step = f"{width:.0f} {unit}" if round(width) != 1 else f"one {single}"
    gained = (
        f"reports filed since the start beyond those of the same runs under {short_mechanism(base)} (by seed); "
        if len(names) > 1
        else ""
    )
    n = (
        f"n = {part.n_runs} runs of each mechanism, on common random numbers."
        if part.n_runs > 1
        else "One run."
    )
    caption = (
        f"Reporting over time{f' at {told}' if told else ''}, in steps of about {step}: reports filed; {gained}"
        "mean belief of employees that an identified reporter is retaliated against (fear), and that reporting gets "
        f"things fixed (efficacy). Lines: means over runs; bands: 95 % intervals (Student's t). {n}"
    )
    return Drawing(fig, "reporting", data, caption)


def _bins(end: float) -> int:
    return min(_BINS, max(int(end), 1))


def _averages(frame: pd.DataFrame, scale: float, base: str | None) -> pd.DataFrame:
    """Mean over runs of each quantity in each bin of time; reports become a rate per unit of time."""
    end = float(frame["time"].max())
    edges = np.linspace(0, end, _bins(end) + 1)
    # what is counted over a period belongs to the period that ends at its time; time 0 is a state, not a period
    place = np.searchsorted(edges, frame["time"].to_numpy() - 1e-9, side="right") - 1
    frame = frame.assign(_bin=place)[frame["time"].to_numpy() > 0]
    seed = seed_column(frame)
    cells = frame.groupby([MECHANISM, "_bin", seed], sort=True)
    quantities: dict[str, pd.Series[float]] = {"reports": cells["reports"].mean() / scale}
    if base is not None:
        # a row for each bin and seed, a column for each mechanism
        so_far = cells["reports"].sum().unstack(MECHANISM).groupby(level=seed).cumsum()
        for name in so_far.columns:
            quantities[f"gained:{name}"] = so_far[name] - so_far[base]
    quantities |= {name: cells[name].mean() for name in ("fear", "efficacy") if name in frame}
    rows = []
    for quantity, values in quantities.items():
        title, _, name = quantity.partition(":")
        flat = values.rename("value").reset_index()
        flat[MECHANISM] = name if name else flat[MECHANISM]
        for (mechanism, where), some in _cells(flat):
            middle = scale * (edges[where] + edges[where + 1]) / 2
            found = t_interval(some)
            rows.append((mechanism, title, middle, found.value, found.low, found.high, found.n_runs))
    names = [MECHANISM, "quantity", "time", "value", "low", "high", "n_runs"]
    return pd.DataFrame(rows, columns=names).astype(dict.fromkeys(("value", "low", "high"), "float64"))


def _cells(flat: pd.DataFrame) -> Iterator[tuple[tuple[str, int], npt.NDArray[np.float64]]]:
    """Values of each mechanism in each bin."""
    values, bins, names = (flat[c].to_numpy() for c in ("value", "_bin", MECHANISM))
    for name in dict.fromkeys(names.tolist()):
        for where in np.unique(bins):
            yield (str(name), int(where)), values[(names == name) & (bins == where)].astype(np.float64)
