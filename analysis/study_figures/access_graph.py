"""Who had access to what at one lab, whom it suspected, and who had really reported."""

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.collections import LineCollection
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.lines import Line2D

from ..drawing import Drawing
from ..results import Results
from ..style import INK, MUTED, figure, legend_outside
from .posteriors import suspects

__all__ = ["access_graph_figure", "access_layout"]

_GOLDEN = np.pi * (3 - np.sqrt(5))
_SUSPICION = LinearSegmentedColormap.from_list("suspicion", ["#F4F0E6", "#E0B040", "#8C2D1E", "#2A0A12"])
_MOST_PEOPLE = 1500


def access_graph_figure(results: Results) -> Drawing | None:
    """Draw the access graph of the lab whose suspicion went highest."""
    access, believed = results.events.get("access"), suspects(results.events)
    if (
        access is None
        or not {"person", "lab", "target", "compartment"} <= set(access.columns)
        or not len(access)
    ):
        return None
    lab = _lab(results, believed)
    mine = access[access["lab"] == lab].sort_values(["compartment", "person"], kind="stable")
    people = access_layout(mine)
    if len(people) > _MOST_PEOPLE:
        return None
    believed = believed[believed["lab"] == lab]
    highest = believed.groupby("person")["posterior"].max()
    people["posterior"] = people["person"].map(highest).astype(float)
    reported = results.events.get("reports", pd.DataFrame(columns=["person"]))["person"]
    hit = results.events.get("retaliations", pd.DataFrame(columns=["person"]))["person"]
    people["reporter"] = people["person"].isin(reported)
    people["retaliated"] = people["person"].isin(hit)
    top = max(float(np.nanmax(people["posterior"])) if people["posterior"].notna().any() else 1.0, 0.05)
    with figure(5.2, 3.9) as fig:
        axes = fig.subplots()
        places = people.set_index("person")[["x", "y"]]
        hubs = people.attrs["hubs"]
        several = mine[mine.groupby("person")["compartment"].transform("nunique") > 1]
        lines = [
            [tuple(places.loc[person]), tuple(hubs[compartment][:2])]
            for person, compartment in zip(several["person"], several["compartment"], strict=True)
        ]
        axes.add_collection(LineCollection(lines, colors="#C9C9C9", linewidths=0.5, zorder=1))
        norm = Normalize(0, top)
        for reporter, marker, size in ((False, "o", 13), (True, "s", 17)):
            for hit_, edge, width in ((False, MUTED, 0.35), (True, INK, 1.3)):
                some = people[(people["reporter"] == reporter) & (people["retaliated"] == hit_)]
                axes.scatter(
                    some["x"],
                    some["y"],
                    s=size,
                    c=some["posterior"].fillna(0.0),
                    cmap=_SUSPICION,
                    norm=norm,
                    marker=marker,
                    edgecolors=edge,
                    linewidths=width,
                    zorder=2 + hit_,
                )
        names = dict(zip(mine["compartment"], mine["target"].astype(str), strict=True))
        several_per_target = len(set(names.values())) < len(names)
        for compartment, (x, y, radius) in hubs.items():
            text = names[compartment].removeprefix(f"{lab}/")
            text += f" {compartment}" if several_per_target and len(hubs) <= 12 else ""
            side = -1 if y < -1e-9 else 1
            axes.text(
                x, y + side * (radius + 0.02 * people.attrs["extent"]), text, fontsize=6.5, fontweight="bold",
                ha="center", va="bottom" if side > 0 else "top",
            )  # fmt: skip
        axes.set_aspect("equal")
        axes.set_axis_off()
        axes.margins(0.14, 0.08)
        colours = fig.colorbar(
            axes.collections[1], ax=axes, shrink=0.6, pad=0.02, label="Highest posterior of having reported"
        )
        colours.outline.set_linewidth(0.5)
        looks = (
            ("o", MUTED, 0.5, "Never reported"),
            ("s", MUTED, 0.5, "Reported"),
            ("o", INK, 1.5, "Retaliated against (thick edge)"),
        )
        handles = [
            Line2D([], [], marker=m, linestyle="none", markerfacecolor="#E0B040", markeredgecolor=edge,
                   markeredgewidth=width, markersize=5)
            for m, edge, width, _ in looks
        ]  # fmt: skip
        legend_outside(fig, handles, [label for *_, label in looks])
    columns = ["person", "compartments", "x", "y", "posterior", "reporter", "retaliated"]
    return Drawing(fig, "access", people[columns].reset_index(drop=True), _caption(results, lab, people))


def access_layout(access: pd.DataFrame) -> pd.DataFrame:
    """Place people so that those with the same access stand together: no randomness, no iteration.

    Parameters
    ----------
    access
        Rows person, compartment.

    Returns
    -------
    DataFrame
        person, compartments (how many), x, y. Its `attrs`: `hubs` (compartment to x, y and the radius of those
        with access to it alone), `extent`.
    """
    sets: dict[int, set[int]] = {}
    for person, compartment in zip(access["person"].tolist(), access["compartment"].tolist(), strict=True):
        sets.setdefault(person, set()).add(compartment)
    groups: dict[tuple[int, ...], list[int]] = {}
    for person in sorted(sets):
        groups.setdefault(tuple(sorted(sets[person])), []).append(person)
    hubs_of = sorted({c for compartments in groups for c in compartments})
    radius = {c: 0.6 + np.sqrt(len(groups.get((c,), ()))) * 0.55 for c in hubs_of}
    # a ring on which neighbouring discs keep clear of one another
    arcs = np.array([radius[c] + 0.8 for c in hubs_of])
    ring = 0.0 if len(hubs_of) == 1 else max(float(2 * arcs.sum() / (2 * np.pi)), float(2 * arcs.max()) * 0.9)
    ends = np.cumsum(2 * arcs)
    angles = np.pi / 2 - 2 * np.pi * (ends - arcs - arcs[0]) / ends[-1]
    centre = {c: np.array([ring * np.cos(a), ring * np.sin(a)]) for c, a in zip(hubs_of, angles, strict=True)}
    rows = []
    for compartments in sorted(groups):
        members = groups[compartments]
        middle = np.mean([centre[c] for c in compartments], axis=0)
        offsets = _sunflower(len(members)) * 0.55
        rows += [
            (person, len(compartments), middle[0] + dx, middle[1] + dy)
            for person, (dx, dy) in zip(members, offsets, strict=True)
        ]
    result = pd.DataFrame(rows, columns=["person", "compartments", "x", "y"])
    result.attrs = {
        "hubs": {c: (*centre[c], radius[c]) for c in hubs_of},
        "extent": 2 * (ring + max(radius.values())),
    }
    return result


def _sunflower(n: int) -> npt.NDArray[np.float64]:
    i = np.arange(n)
    r = np.sqrt(i + 0.5)
    return np.column_stack([r * np.cos(i * _GOLDEN), r * np.sin(i * _GOLDEN)])


def _lab(results: Results, believed: pd.DataFrame) -> str:
    """The lab with most retaliation, the highest posterior deciding between equals."""
    access = results.events["access"]
    labs = list(dict.fromkeys(access["lab"].astype(str)))
    hits = results.events.get("retaliations", pd.DataFrame(columns=["lab"]))["lab"].value_counts()
    top = believed.groupby("lab")["posterior"].max()
    sizes = access.groupby("lab")["person"].nunique()
    small = [lab for lab in labs if sizes[lab] <= _MOST_PEOPLE] or labs
    return max(small, key=lambda lab: (int(hits.get(lab, 0)), float(top.get(lab, 0.0))))


def _caption(results: Results, lab: str, people: pd.DataFrame) -> str:
    n_reported, n_hit = int(people["reporter"].sum()), int(people["retaliated"].sum())
    return (
        f"{results.title}, one run: who at {lab} had access to what ({len(people):,} people; discs: access to one "
        "body of restricted information, named; between discs, with lines: access to several). Colour: the highest "
        "probability that the lab ever gave to the person's having reported. Squares reported "
        f"({n_reported}), thick edges were retaliated against ({n_hit}), through whichever channel."
    )
