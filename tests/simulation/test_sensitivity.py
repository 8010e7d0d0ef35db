"""The verb sensitivity: designs over the declared ranges, resumable, with indices that a report can read."""

import json

import pytest
from typer.testing import CliRunner

from deniability.analysis.report import make_report
from deniability.scenarios.errors import InputError
from deniability.simulation import load_scenario
from deniability.simulation.command_line import application
from deniability.simulation.sensitivity import design_of, sensitivity

SMALL = ["time.periods=10", "employees.scale=0.05"]
RANGES = [
    'sweep.sample.linear."incidents.rate"=[2.0, 6.0]',
    'sweep.sample.linear."organizations.budget"=[1, 3]',
    'sweep.sample.log."organizations.retaliation_hazard"=[0.05, 0.5]',
]


def scenario(ranges=RANGES):
    return load_scenario("five-labs", overrides=[*SMALL, *ranges])


def test_points_lie_in_the_declared_ranges():
    values = design_of(scenario(), "sobol", 32).values
    assert values["incidents.rate"].between(2, 6).all()
    assert sorted(values["organizations.budget"].unique()) == [1, 2, 3]
    hazard = values["organizations.retaliation_hazard"]
    assert hazard.between(0.05, 0.5).all()
    # even in the logarithm: half of the points below the geometric mean
    assert (hazard < (0.05 * 0.5) ** 0.5).mean() == pytest.approx(0.5, abs=0.1)


def test_morris_steps_change_one_parameter_at_a_time():
    design = design_of(scenario(), "morris", 4)
    assert len(design.values) == 4 * 4
    for start in range(0, 16, 4):
        part = design.shares[start : start + 4]
        changed = (part[1:] != part[:-1]).sum(axis=1)
        assert changed.tolist() == [1, 1, 1]
    assert len(design.cells) == len(design.cells.drop_duplicates()) <= 16


@pytest.mark.parametrize(
    ("ranges", "options", "message"),
    [
        ([], {"method": "morris"}, "gives no ranges"),
        (RANGES, {"method": "fast"}, "one of morris, sobol"),
        (RANGES, {"method": "sobol", "samples": 24}, "power of 2 for sobol, such as 32"),
        (RANGES, {"method": "morris", "samples": 1}, "at least 2"),
    ],
)
def test_what_does_not_suit_is_refused(ranges, options, message):
    with pytest.raises(InputError, match=message):
        design_of(scenario(ranges), **options)


def test_an_unknown_metric_is_refused_before_anything_runs(tmp_path):
    with pytest.raises(InputError, match="no such metric"):
        sensitivity(scenario(), tmp_path / "s", ["fame"])
    assert not (tmp_path / "s").exists()


@pytest.mark.slow
def test_a_study_is_made_resumed_and_reported(tmp_path):
    out = tmp_path / "s"
    settings = [part for text in [*SMALL, *RANGES] for part in ("--set", text)]
    command = [
        "sensitivity",
        "five-labs",
        "--out",
        str(out),
        "--samples",
        "2",
        "--replicates",
        "1",
        "--jobs",
        "1",
    ]
    command += ["--metric", "reporting_rate", "--quiet", *settings]
    first = CliRunner().invoke(application(), [*command, "--json"])
    assert first.exit_code == 0, first.output
    told = json.loads(first.stdout)
    assert told["points"] == 8
    assert {row["parameter"] for row in told["indices"]} == {
        "incidents.rate",
        "organizations.budget",
        "organizations.retaliation_hazard",
    }
    parts = sorted((out / "runs" / "parts").iterdir())
    again = CliRunner().invoke(application(), [*command, "--json", "--metric", "harm"])
    assert again.exit_code == 0, again.output
    # another metric of the same design costs no run, and the first one is what it was
    assert sorted((out / "runs" / "parts").iterdir()) == parts
    both = json.loads(again.stdout)["indices"]
    assert [row for row in both if row["metric"] == "reporting_rate"] == told["indices"]
    report = make_report(out)
    assert report.results.kind == "sensitivity"
    assert any(one.topic.startswith("What moves") for one in report.findings)
    assert "measured under" in report.findings[0].sentence
