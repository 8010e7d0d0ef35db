"""The figures of a single run: they show what the tables hold, at any size, and overlap nothing."""

import itertools

import numpy as np
import pandas as pd
import pytest

from deniability.analysis.intervals import wilson
from deniability.analysis.metrics import run_metrics
from deniability.analysis.rates_figure import retaliation_rates_figure
from deniability.analysis.timeline_figure import timeline_figure
from deniability.scenarios.errors import InputError


def texts_of(fig):
    fig.draw_without_rendering()
    boxes = []
    for axes in fig.axes:
        labels = list(axes.texts)
        for axis, (low, high) in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, sorted(axes.get_ylim()))):
            ticks = [tick for tick in axis.get_major_ticks() if low - 1e-9 <= tick.get_loc() <= high + 1e-9]
            labels += [tick.label1 for tick in ticks if tick.label1.get_visible()]
        labels += [axes.xaxis.label, axes.yaxis.label, axes._left_title]
        boxes += [label for label in labels if label.get_text() and label.get_visible()]
    for legend in fig.legends:
        boxes += legend.get_texts()
    low, high = fig.bbox.get_points()
    inside = []
    for label in boxes:
        box = label.get_window_extent()
        assert (box.min >= low - 1).all(), label.get_text()
        assert (box.max <= high + 1).all(), label.get_text()
        inside.append((label.get_text(), box))
    return inside


def overlaps(fig):
    """Pairs of texts that cover one another by more than a pixel; also asserts that none leaves the figure."""
    found = []
    for (one, a), (other, b) in itertools.combinations(texts_of(fig), 2):
        if min(a.x1, b.x1) - max(a.x0, b.x0) > 1 and min(a.y1, b.y1) - max(a.y0, b.y0) > 1:
            found.append((one, other))
    return found


@pytest.mark.parametrize("width", ["full", "column"])
def test_timeline_texts_do_not_overlap(run_tables, width):
    drawing = timeline_figure(run_tables(1, outside=3), "A title", width=width, period_weeks=1.0)
    assert overlaps(drawing.figure) == []


@pytest.mark.parametrize("width", ["full", "column"])
@pytest.mark.parametrize("arguments", [{}, {"p_identified": 0.0}, {"p_identified": 1.0}, {"p_report": 0.0}])
def test_rates_texts_do_not_overlap(run_tables, width, arguments):
    metrics = run_metrics(run_tables(1, **arguments), 1.0)
    assert overlaps(retaliation_rates_figure(metrics, "A title", width=width).figure) == []


def test_negative_control_an_overlap_is_seen(run_tables):
    drawing = timeline_figure(run_tables(1))
    drawing.figure.axes[1].text(0.0, 0.0, "0.0 on top of a tick label", ha="right")
    assert overlaps(drawing.figure)


def test_timeline_data_hold_every_event(run_tables):
    tables = run_tables(1, outside=3)
    data = timeline_figure(tables, period_weeks=4.345).data
    counts = data["kind"].value_counts()
    for kind, table in {"incident": "incidents", "report": "reports", "audit": "audits"}.items():
        assert counts[kind] == len(tables[table]), kind
    hits = data[data["kind"] == "retaliation"]
    assert sorted(hits["person"]) == sorted(tables["retaliations"]["person"])
    np.testing.assert_allclose(data.loc[data["kind"] == "audit", "time"], 4.345 * tables["audits"]["time"])
    # each act of retaliation lies in the lane of its incident
    target_of = tables["incidents"].set_index("incident")["target"]
    assert list(hits["target"]) == [target_of[i] for i in tables["retaliations"]["incident"]]


def test_timeline_lanes_keep_a_labs_targets_together(run_tables):
    drawing = timeline_figure(run_tables(1))
    lanes = [label.get_text() for label in drawing.figure.axes[0].get_yticklabels()]
    assert lanes == ["deployment", "training", "safeguards", "security", "training", "evaluations"]
    assert [text.get_text() for text in drawing.figure.axes[0].texts] == ["lab-a", "lab-b", "lab-c"]


def test_timeline_of_many_targets_has_a_lane_a_lab(run_tables):
    """Beyond 40 targets lanes would be unreadable."""
    tables = run_tables(1)
    many = pd.DataFrame(
        {"person": 0, "lab": "lab-z", "target": [f"lab-z/t{i}" for i in range(60)], "compartment": 0}
    )
    tables["access"] = pd.concat([tables["access"], many], ignore_index=True)
    drawing = timeline_figure(tables)
    assert [label.get_text() for label in drawing.figure.axes[0].get_yticklabels()] == [
        "lab-a",
        "lab-b",
        "lab-c",
        "lab-z",
    ]
    assert "a lane for each lab" in drawing.caption
    assert overlaps(drawing.figure) == []


def test_captions_count_what_is_drawn(run_tables):
    tables = run_tables(1, outside=3)
    metrics = run_metrics(tables, 1.0)
    caption = timeline_figure(tables, "Three labs.").caption
    assert caption.startswith("Three labs. One run")
    assert f"reports when filed (n = {len(tables['reports'])})" in caption
    assert f"audits (n = {len(tables['audits'])})" in caption
    caption = retaliation_rates_figure(metrics, "Three labs").caption
    assert f"reporters (n = {metrics['retaliation_rate_denominator']})" in caption
    assert f"never reported (n = {metrics['false_retaliation_rate_denominator']})" in caption
    assert "confounded and not bounded by delta" in caption


def test_rates_are_drawn_where_they_are(run_tables):
    metrics = run_metrics(run_tables(1), 1.0)
    drawing = retaliation_rates_figure(metrics)
    for row in drawing.data.itertuples():
        one = wilson(metrics[f"{row.metric}_numerator"], metrics[f"{row.metric}_denominator"])
        assert (row.rate, row.low, row.high) == (one.value, one.low, one.high)
    drawn = [
        line.get_xdata()[0] for line in drawing.figure.axes[0].lines if line.get_marker() not in ("|", "None")
    ]
    assert drawn == pytest.approx(list(100 * drawing.data["rate"]))
    noted = [text.get_text() for text in drawing.figure.axes[0].texts]
    assert noted[0] == f"{metrics['retaliation_rate_numerator']} of {metrics['retaliation_rate_denominator']}"


def test_nothing_happened(empty_tables, tmp_path):
    drawing = timeline_figure(empty_tables, "Quiet")
    assert drawing.caption == (
        "Quiet. One run, a lane for each audit target, labs apart. No incident happened and nothing was reported."
    )
    assert len(drawing.save(tmp_path, {})) == 5
    rates = retaliation_rates_figure(run_metrics(empty_tables, 1.0), "Quiet")
    assert rates.caption == "Quiet. One run. Nobody reported."
    assert rates.data["rate"].isna().all()
    rates.save(tmp_path, {})
    bare = {name: pd.DataFrame() for name in empty_tables}
    assert timeline_figure(bare).data.empty


@pytest.mark.parametrize("seed", range(3))
def test_one_of_each_is_enough(run_tables, seed):
    tables = {name: frame.head(1) for name, frame in run_tables(seed).items()}
    timeline_figure(tables).figure.draw_without_rendering()
    metrics = run_metrics(tables, 1.0)
    retaliation_rates_figure(metrics).figure.draw_without_rendering()


def test_missing_column_is_named(run_tables):
    tables = run_tables(0)
    tables["retaliations"] = tables["retaliations"].drop(columns="channel")
    with pytest.raises(InputError, match="'retaliations' has no column 'channel'"):
        timeline_figure(tables)


def test_a_channel_of_somebody_elses_rule_is_drawn_too(run_tables):
    tables = run_tables(1)
    tables["retaliations"]["channel"] = tables["retaliations"]["channel"].replace("audit_scope", "rumour")
    drawing = timeline_figure(tables)
    assert "Retaliation: rumour" in [text.get_text() for text in drawing.figure.legends[0].get_texts()]


def test_figures_are_the_same_bytes_when_made_again(run_tables, tmp_path):
    for name in ("one", "two"):
        timeline_figure(run_tables(1), width="column").save(tmp_path / name, {"seed": 1})
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes(), path.suffix
