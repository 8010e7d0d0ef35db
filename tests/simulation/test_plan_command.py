"""The verb `plan`: streams, exit codes, files, and the account for people."""

import json
import math
import subprocess
import sys
from itertools import pairwise

import pandas as pd
import pytest
from typer.testing import CliRunner

from deniability.analysis.plan_figures import plan_figure
from deniability.simulation.command_line import application, main
from deniability.simulation.plan_tables import crossing_table, group_table, lead_table, misselection_table
from deniability.simulation.plans import COUNTER_KEYS, MECHANISM_KEYS, make_plan

ARGUMENTS = ["plan", "--targets", "10", "--horizon", "52", "--delta", "0.1"]


def run(*arguments):
    return CliRunner().invoke(application(), [*arguments])


def test_json_is_one_object_and_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run(*ARGUMENTS, "--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["gap_for_90"]["rr"] is None
    assert result.stderr == ""
    assert list(tmp_path.iterdir()) == []


def test_account_names_what_matters():
    text = " ".join(run(*ARGUMENTS).stdout.split())
    for phrase in (
        "10 audit targets, 52 decisions, delta = 0.1",
        "at most 10 percentage points more likely to accuse",
        "What each rule costs",
        "tca against exponential",
        "Several reports by one person",
        "tca, 13 periods apart",
        "Other choices",
        "It does not cover access logs",
    ):
        assert phrase in text
    assert run(*ARGUMENTS, "--quiet").stdout == ""


@pytest.mark.parametrize(
    "numbers",
    [
        ("1", "1", "0.5"),
        ("2", "3", "0.999"),
        ("3", "20000", "0.00001"),
        ("2", "3", "1e-9"),  # half of it would be refused
        ("2", "3", "0.4999999"),  # and so would twice this
    ],
)
def test_account_of_extreme_plans(numbers):
    result = run(
        "plan", "--targets", numbers[0], "--horizon", numbers[1], "--delta", numbers[2], "--run-length", "1"
    )
    assert result.exit_code == 0
    assert "nan" not in result.stdout


def test_bad_numbers_end_with_exit_code_2_and_a_line_each(monkeypatch, capsys):
    monkeypatch.setattr(
        sys, "argv", ["deniability", "plan", "--targets", "0", "--horizon", "x", "--delta", "1"]
    )
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert len(captured.err.splitlines()) == 3


def test_out_writes_figure_tables_and_values_and_is_guarded(tmp_path):
    out = tmp_path / "plan"
    assert run(*ARGUMENTS, "--out", str(out), "--quiet").exit_code == 0
    written = {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()}
    assert written == {
        "manifest.json",
        "plan.json",
        *(f"figures/plan.{ending}" for ending in ("pdf", "svg", "png", "csv", "txt")),
        *(f"tables/{name}.csv" for name in ("misselection", "leads", "crossings", "group")),
    }
    values = json.loads((out / "plan.json").read_text())
    assert values == json.loads(run(*ARGUMENTS, "--json").stdout)
    errors = pd.read_csv(out / "tables" / "misselection.csv").set_index(["mechanism", "gap"])["probability"]
    for entry in values["misselection"]["tca"]:
        if ("tca", entry["gap"]) in errors.index:
            assert errors["tca", entry["gap"]] == pytest.approx(entry["probability"], rel=1e-10)
    assert ("tca", 20) in errors.index
    drawn = pd.read_csv(out / "figures" / "plan.csv")
    series = {panel: set(rows["series"]) for panel, rows in drawn.groupby("panel")}
    assert series["error"] == {*MECHANISM_KEYS, "lower_bound"}
    assert series["lead for 90 %"] == {
        "tca, whole programme",
        *(f"{key}, part programme" for key in (*COUNTER_KEYS, "exponential")),
    }
    assert series["several reports"] == {
        *values["group"][0],
        "rr",
        "separated_4",
        "separated_13",
    } - {"k"}
    # another plan does not overwrite this one
    other = run("plan", "--targets", "11", "--horizon", "52", "--delta", "0.1", "--out", str(out), "--quiet")
    assert other.exit_code != 0
    assert json.loads((out / "plan.json").read_text()) == values


def test_the_figure_is_laid_out():
    plan = make_plan(50, 1000, 0.1)
    fig, _ = plan_figure(misselection_table(plan), lead_table(plan, crossing_table(plan)), group_table(plan))
    fig.draw_without_rendering()
    (legend,) = fig.legends
    box = legend.get_window_extent()
    assert box.x1 <= fig.bbox.x1
    assert len(legend.get_texts()) == 15
    for axes in fig.axes:
        assert not box.overlaps(axes.get_window_extent())
        for axis in (axes.xaxis, axes.yaxis):
            boxes = [label.get_window_extent() for label in axis.get_ticklabels() if label.get_text()]
            assert not any(one.overlaps(other) for one, other in pairwise(boxes))


def test_the_installed_command_prints_the_same(tmp_path):
    command = [sys.executable, "-c", "from deniability.simulation.command_line import main; main()"]
    finished = subprocess.run(
        [*command, *ARGUMENTS, "--json"], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert json.loads(finished.stdout) == json.loads(run(*ARGUMENTS, "--json").stdout)


@pytest.mark.parametrize(
    ("delta", "allowed"),
    [
        ("0.9999999999999999", "at most 0.999999"),
        ("9.99e-10", "at least 1e-09"),
        ("1e-17", "at least 1e-09"),  # next to 0 the search for a lead would not end
        ("1e-300", "at least 1e-09"),
        ("0", "strictly between 0 and 1"),
        ("nan", "strictly between 0 and 1"),
    ],
)
@pytest.mark.parametrize("more", [["--json"], []])
def test_a_level_next_to_0_or_1_is_refused_at_once(monkeypatch, capsys, delta, allowed, more):
    words = ["deniability", "plan", "--targets", "25", "--horizon", "104", "--delta", delta, *more]
    monkeypatch.setattr("sys.argv", words)
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert len(told.err.splitlines()) == 1
    assert f"--delta {float(delta)!r}" in told.err or f"--delta {float(delta):g}" in told.err
    assert allowed in told.err


def test_the_least_level_gives_exact_leads():
    # with 2 targets the leader has 90 % where e^(epsilon lead) >= 9
    told = json.loads(run("plan", "--targets", "2", "--horizon", "3", "--delta", "1e-9", "--json").stdout)
    lead = told["gap_for_90"]["exponential"]
    assert math.expm1(told["epsilon"] * lead - math.log(9)) >= -1e-11
    assert math.expm1(told["epsilon"] * (lead - 1) - math.log(9)) < 0
