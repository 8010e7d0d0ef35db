"""The figures of a study: what is drawn is what was estimated, nothing overlaps, the same bytes each time."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniability.analysis.estimates import estimates
from deniability.analysis.results import Results
from deniability.analysis.study_figures import (
    access_graph_figure,
    anonymity_figure,
    chosen_figures,
    effects_figure,
    frontier_figure,
    indices_figure,
    mechanisms_figure,
    pareto,
    posteriors_figure,
    reporting_figure,
    sweep_figure,
    tipping_figure,
)
from deniability.analysis.study_figures.access_graph import access_layout
from deniability.analysis.study_figures.posteriors import suspects

from .conftest import make_tables
from .made_up_batch import SCENARIO, make_groups, make_runs, make_series


def results(runs, kind="batch", **more):
    tables = {"runs": runs, "groups": make_groups(runs), "series": make_series(runs)}
    return Results(kind, "made-up", {"resolved_scenario": SCENARIO}, tables, **more)


@pytest.fixture(scope="module")
def batch():
    return results(make_runs(6))


@pytest.fixture(scope="module")
def one_run():
    tables = make_tables(3)
    events = {name: table for name, table in tables.items() if name != "series"}
    return Results("run", "one", {"resolved_scenario": SCENARIO}, {"series": tables["series"]}, events)


EFFECTS = pd.DataFrame(
    [
        ("certified", "transcript", 0.04, -0.01, 0.09, 80, 0.1),
        ("certified", "side_information", 0.0, -0.02, 0.02, 80, 0.1),
        ("total", "transcript", 0.05, 0.0, 0.1, 80, 0.1),
        ("total", "any", 0.2, 0.1, 0.3, 80, 0.1),
    ],
    columns=["kind", "channel", "effect", "low", "high", "pairs", "bound"],
)


def indices(kinds):
    names = ["incidents.rate", "employees.beliefs.fear_mean", "organizations.retaliation_probability"]
    rows = [
        ("reporting_rate", name, kind, 0.5 / (i + 1) + 0.1 * j, 0.4 / (i + 1), 0.6 / (i + 1) + 0.1)
        for i, name in enumerate(names)
        for j, kind in enumerate(kinds)
    ]
    return pd.DataFrame(rows, columns=["metric", "parameter", "index", "value", "low", "high"])


def clashes(fig):
    """Pairs of texts that overlap, texts that leave the figure, and legends over axes."""
    fig.canvas.draw()
    renderer = fig.canvas.get_renderer()
    width, height = fig.canvas.get_width_height()
    boxes = []
    for axes in fig.axes:
        if not axes.get_visible():
            continue
        ticks = []
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            shown = axis.get_major_ticks()
            ticks += [t.label1 for t in shown if t.label1.get_visible() and low <= t.get_loc() <= high]
        titles = [axes.title, axes._left_title, axes._right_title]
        boxes += [
            (text.get_text(), text.get_window_extent(renderer))
            for text in [*ticks, *titles, axes.xaxis.label, axes.yaxis.label, *axes.texts]
            if text.get_text()
        ]
    sup = [fig._supxlabel] if fig._supxlabel is not None else []
    boxes += [(text.get_text(), text.get_window_extent(renderer)) for text in sup]
    for legend in fig.legends:
        boxes += [(text.get_text(), text.get_window_extent(renderer)) for text in legend.get_texts()]
    found = [
        (a, b)
        for (a, one), (b, other) in itertools.combinations(boxes, 2)
        if min(one.x1, other.x1) - max(one.x0, other.x0) > 0.5
        and min(one.y1, other.y1) - max(one.y0, other.y0) > 0.5
    ]
    found += [
        (text, "outside")
        for text, box in boxes
        if min(box.x0, box.y0) < -1 or box.x1 > width + 1 or box.y1 > height + 1
    ]
    for legend, axes in itertools.product(fig.legends, fig.axes):
        one, other = legend.get_window_extent(renderer), axes.get_window_extent(renderer)
        if min(one.y1, other.y1) - max(one.y0, other.y0) > 1 and min(one.x1, other.x1) > max(
            one.x0, other.x0
        ):
            found.append(("legend", "axes"))
    return found


def test_the_check_for_clashes_sees_them():
    """Negative control: a label over a label, and one that is cut."""
    from deniability.analysis.style import figure

    with figure("column") as fig:
        axes = fig.subplots()
        axes.text(0.5, 0.5, "one label")
        axes.text(0.5, 0.5, "another")
        fig.set_layout_engine("none")
        axes.text(0.9, 0.2, "a text that runs out of the figure on the right")
    found = clashes(fig)
    assert ("one label", "another") in found
    assert any(b == "outside" for _, b in found)


BATCH = (mechanisms_figure, sweep_figure, frontier_figure, reporting_figure, anonymity_figure, tipping_figure)


@pytest.mark.parametrize("make", BATCH, ids=lambda f: f.__name__)
def test_one_replicate_is_drawn_without_intervals(make):
    """A mean over one run has no interval: what has none is drawn without."""
    drawing = make(results(make_runs(1)))
    assert drawing is None or drawing.data is not None
    if drawing is not None:
        drawing.figure.canvas.draw()


@pytest.mark.parametrize("make", BATCH, ids=lambda f: f.__name__)
def test_nothing_overlaps_in_a_figure_of_a_batch(make, batch):
    drawing = make(batch)
    assert clashes(drawing.figure) == []
    assert "n = " in drawing.caption
    assert drawing.caption.endswith(".")
    assert len(drawing.data)


@pytest.mark.parametrize("make", [posteriors_figure, access_graph_figure], ids=lambda f: f.__name__)
def test_nothing_overlaps_in_a_figure_of_a_run(make, one_run):
    drawing = make(one_run)
    assert clashes(drawing.figure) == []
    assert "one run" in drawing.caption


@pytest.mark.parametrize("kinds", [("ST", "S1"), ("mu_star", "sigma")], ids=["sobol", "morris"])
def test_nothing_overlaps_in_the_figure_of_indices(kinds):
    study = Results("sensitivity", "s", {}, {}, summaries={"indices": indices(kinds)})
    assert clashes(indices_figure(study).figure) == []


def test_nothing_overlaps_in_the_figure_of_effects_and_the_bound_is_drawn():
    drawing = effects_figure(Results("twin", "t", {}, {}, summaries={"effects": EFFECTS}))
    assert clashes(drawing.figure) == []
    bounds = [c.get_segments() for c in drawing.figure.axes[0].collections]
    assert any({round(s[0][0], 6) for s in segments} == {-10.0, 10.0} for segments in bounds)


def test_a_figure_draws_what_is_estimated(batch):
    data = mechanisms_figure(batch).data
    every = estimates(batch.runs, list(dict.fromkeys(data["metric"])))
    expected = every[every["auditor.delta"] == 0.1].drop(columns="auditor.delta").reset_index(drop=True)
    pd.testing.assert_frame_equal(data, expected)


def test_no_bound_is_drawn_over_what_it_does_not_bound(batch):
    """Filed and unfiled reports are different reports, so delta does not bound the difference of their rates."""
    drawing = sweep_figure(batch)
    (axes,) = [a for a in drawing.figure.axes if "Worst-case advantage" in a._left_title.get_text()]
    assert not [
        line for line in axes.lines if np.allclose(line.get_ydata(), 100 * np.asarray(line.get_xdata()))
    ]
    assert "no bound is drawn" in drawing.caption


def test_the_frontier_shows_each_setting_once(batch):
    data = frontier_figure(batch).data
    panel = data[data["panel"] == "a"]
    # greedy and uniform stand once, the others at four deltas
    assert panel["auditor.mechanism"].value_counts().to_dict() == {
        "rr": 4,
        "tca": 4,
        "exponential": 4,
        "greedy": 1,
        "uniform": 1,
    }
    assert panel["pareto"].any()


points = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=12)


@given(points)
def test_pareto_is_what_nothing_beats(some):
    x, y = zip(*some, strict=True)
    for i, kept in enumerate(pareto(x, y)):
        beaten = any(a <= x[i] and b <= y[i] and (a, b) != (x[i], y[i]) for a, b in some)
        assert kept == (not beaten)


def test_undefined_points_are_on_no_frontier():
    assert pareto([1, np.nan, 2], [2, 0, np.nan]).tolist() == [True, False, False]


@given(st.dictionaries(st.integers(0, 60), st.sets(st.integers(0, 5), min_size=1), min_size=1))
def test_people_of_the_access_graph_stand_apart(access):
    rows = [(person, compartment) for person, some in access.items() for compartment in some]
    table = access_layout(pd.DataFrame(rows, columns=["person", "compartment"]))
    assert sorted(table["person"]) == sorted(access)
    assert table.set_index("person")["compartments"].to_dict() == {p: len(s) for p, s in access.items()}
    # people with the same access never touch; discs of those with one compartment keep clear of each other
    hubs = table.attrs["hubs"]
    for (x1, y1, r1), (x2, y2, r2) in itertools.combinations(hubs.values(), 2):
        assert np.hypot(x1 - x2, y1 - y2) >= r1 + r2
    key = table["person"].map(lambda p: tuple(sorted(access[p])))
    for _, some in table.groupby(key):
        for (_, one), (_, other) in itertools.combinations(some.iterrows(), 2):
            assert np.hypot(one["x"] - other["x"], one["y"] - other["y"]) > 0.3


def test_who_had_reported_by_then_is_told_by_incident_and_time():
    inferences = pd.DataFrame(
        {
            "time": [5.0, 5.0, 5.0, 9.0],
            "lab": "lab-a",
            "person": [1, 1, 2, 2],
            "incident": [0, 1, 0, 0],
            "posterior": [0.5, 0.4, 0.3, 0.6],
        }
    )
    reports = pd.DataFrame({"person": [1, 2, 2], "incident": [0, 0, 0], "time": [4.0, 8.0, 6.0]})
    found = suspects({"inferences": inferences, "reports": reports})
    assert found["reporter"].tolist() == [True, False, False, True]
    assert len(suspects({"inferences": inferences})) == 0


def test_reports_gained_are_differences_within_seeds(batch):
    data = reporting_figure(batch).data
    gained = data[data["quantity"] == "gained"]
    # every mechanism has the same reports here, so the paired difference is nothing at all
    assert (gained[["value", "low", "high"]] == 0).all().all()
    assert len(gained) == 5 * 20
    # two weeks a period: reports per period become half as many per week
    rate = data[(data["quantity"] == "reports") & (data["auditor.mechanism"] == "tca")]
    series = batch.tables["series"]
    mine = series[series["run_id"].str.startswith("tca-0.1") & (series["time"] > 0)]
    assert rate["value"].mean() == pytest.approx(mine["reports"].mean() / 2)
    assert rate["time"].tolist() == [2 * t - 1.0 for t in range(1, 21)]


def test_a_swept_number_gets_its_figure_and_tipping_follows_it():
    key = "organizations.retaliation_probability"
    runs = make_runs(5, ["tca"], [0.1])
    parts = [runs.assign(run_id=runs["run_id"] + str(v), **{key: v}) for v in (0.0, 0.4, 0.8)]
    both = Results(
        "batch", "b", {"resolved_scenario": SCENARIO}, {"runs": pd.concat(parts, ignore_index=True)}
    )
    drawn = {drawing.stem: drawing for drawing in chosen_figures(both)}
    assert f"sweep-{key.replace('.', '-')}" in drawn
    assert key in drawn["tipping"].data
    for drawing in drawn.values():
        assert clashes(drawing.figure) == []


@pytest.mark.parametrize(
    "runs",
    [make_runs(2).iloc[:0], make_runs(1).iloc[:1], make_runs(3).drop(columns="auditor.mechanism")],
    ids=["none", "one", "no mechanism"],
)
def test_what_cannot_be_drawn_is_not(runs):
    bare = Results("batch", "b", {}, {"runs": runs})
    for make in BATCH:
        drawing = make(bare)
        assert drawing is None or len(drawing.data)


@pytest.mark.slow
@pytest.mark.parametrize(("make", "study"), [(frontier_figure, "batch"), (access_graph_figure, "one_run")])
def test_a_figure_is_the_same_bytes_when_made_again(make, study, request, tmp_path):
    study = request.getfixturevalue(study)
    first, second = (make(study).save(tmp_path / folder, {"seed": 1}) for folder in ("a", "b"))
    assert [f.name for f in first] == [f.name for f in second]
    for one, other in zip(first, second, strict=True):
        assert one.read_bytes() == other.read_bytes()
