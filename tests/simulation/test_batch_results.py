"""A batch gives the same bytes whoever makes its runs and in whatever order; broken runs are rows."""

import json

import pandas as pd
import pyarrow.parquet as pq
import pytest

from deniability.agents.registry import load_plugin
from deniability.analysis.metrics import metric_keys, run_groups
from deniability.scenarios import cell_config
from deniability.simulation import load_batch
from deniability.simulation.draws import KeyedDraws
from deniability.simulation.runs import simulated

from .batch_makers import BRITTLE, STUDY, TABLES, ScrambledExecutor, contents, make, study


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The study, made in one go, with event logs."""
    folder = tmp_path_factory.mktemp("made")
    scenario = study(folder)
    return scenario, make(scenario, folder / "out", events=True), contents(folder / "out")


def test_the_tables_are_those_of_single_runs_in_the_order_of_the_plan(made):
    scenario, result, _ = made
    runs = pd.read_parquet(result.directory / "runs.parquet")
    head = ["run_id", "auditor.mechanism", "auditor.delta", "replicate", "seed", "status", "error"]
    assert list(runs) == head + metric_keys()
    assert list(runs["run_id"]) == [run.run_id for run in result.plan.runs(3)]
    assert set(runs["status"]) == {"done"}
    assert runs["error"].isna().all()
    groups, series, reports = (
        pd.read_parquet(result.directory / name)
        for name in ("groups.parquet", "series.parquet", "events/reports.parquet")
    )
    for run in [result.plan.run(0, 0), result.plan.run(3, 2)]:
        cell = result.plan.cells[run.cell]
        tables, metrics = simulated(cell_config(scenario, cell.values), run.seed)
        row = result.rows([run])[0]
        assert {key: row[key] for key in metrics} == metrics
        assert (row["auditor.mechanism"], row["auditor.delta"]) == tuple(cell.values.values())
        own = {"groups": run_groups(tables, 1.0), "series": tables["series"], "reports": tables["reports"]}
        for stored, name in ((groups, "groups"), (series, "series"), (reports, "reports")):
            part = stored[stored["run_id"] == run.run_id].drop(columns="run_id").reset_index(drop=True)
            pd.testing.assert_frame_equal(part, own[name], check_dtype=False)
    order = {run.run_id: place for place, run in enumerate(result.plan.runs(3))}
    for table in (groups, series, reports):
        assert table["run_id"].map(order).is_monotonic_increasing


def test_replicates_meet_the_same_incidents_in_every_cell(made):
    runs = made[1].runs
    for metric in ("incidents", "notices", "observers"):
        per_replicate = runs.groupby("replicate")[metric]
        assert (per_replicate.nunique() == 1).all()
    assert runs["incidents"].nunique() > 1


def test_counts_are_whole_and_undefined_metrics_are_missing(tmp_path):
    quiet = study(tmp_path, STUDY, "incidents.rate=0.0", "sweep.replicates=1")
    make(quiet, tmp_path / "out")
    table = pq.read_table(tmp_path / "out" / "runs.parquet")
    row = table.slice(0, 1).to_pylist()[0]
    assert (row["incidents"], row["reporting_rate"], row["reporting_rate_denominator"]) == (0, None, 0)
    assert str(table.schema.field("retaliation_rate_numerator").type) == "int64"
    assert str(table.schema.field("seed").type) == "int64"


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_order_in_which_work_is_finished_changes_nothing(made, tmp_path, seed):
    scenario, _, expected = made
    executor = ScrambledExecutor(seed)
    make(scenario, tmp_path / "out", events=True, executor=executor, jobs=4)
    assert executor.order != sorted(executor.order)
    assert contents(tmp_path / "out") == expected


def test_one_and_two_worker_processes_give_the_same_bytes(made, tmp_path):
    scenario, _, expected = made
    for jobs in (1, 2):
        result = make(scenario, tmp_path / str(jobs), events=True, executor="local", jobs=jobs)
        assert result.n_made == 12
        assert contents(tmp_path / str(jobs)) == expected


def test_the_size_of_chunks_changes_nothing(made, tmp_path, monkeypatch):
    scenario, _, expected = made
    monkeypatch.setattr("deniability.simulation.dispatch.CHUNK_SECONDS", 1e-6)
    result = make(scenario, tmp_path / "out", events=True)
    assert len(list((tmp_path / "out" / "parts").iterdir())) == result.n_made == 12
    assert contents(tmp_path / "out") == expected


def test_a_batch_can_be_extended_and_narrowed(tmp_path):
    scenario = study(tmp_path)
    make(scenario, tmp_path / "whole")
    first = make(scenario, tmp_path / "out", replicates=2)
    assert (first.n_runs, first.n_made) == (8, 8)
    second = make(scenario, tmp_path / "out", replicates=3)
    assert (second.n_runs, second.n_made) == (12, 4)
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")
    third = make(scenario, tmp_path / "out", replicates=2)
    assert (third.n_runs, third.n_made) == (8, 0)
    assert len(pd.read_parquet(tmp_path / "out" / "runs.parquet")) == 8


def test_a_finished_batch_is_left_as_it_is(made):
    scenario, result, expected = made
    stamps = {path: path.stat().st_mtime_ns for path in result.directory.rglob("*") if path.is_file()}
    again = make(scenario, result.directory, events=True)
    assert (again.n_made, again.n_done) == (0, 12)
    assert {path: path.stat().st_mtime_ns for path in result.directory.rglob("*") if path.is_file()} == stamps
    (result.directory / "series.parquet").unlink()
    make(scenario, result.directory, events=True)
    assert contents(result.directory) == expected


def test_half_a_batch_can_be_read(tmp_path):
    scenario = study(tmp_path)
    result = make(scenario, tmp_path / "out")
    whole = {name: result.table(name) for name in TABLES}
    parts = sorted((tmp_path / "out" / "parts").iterdir())
    for name in TABLES:
        (tmp_path / "out" / f"{name}.parquet").unlink()
    parts[1].unlink()
    parts[2].write_bytes(parts[2].read_bytes()[:-1])
    half = load_batch(tmp_path / "out")
    assert 0 < half.n_done < half.n_runs == 12
    for name in TABLES:
        there = whole[name][whole[name]["run_id"].isin(list(half.index))].reset_index(drop=True)
        pd.testing.assert_frame_equal(half.table(name), there)
    assert half.table("events:reports").empty
    assert parts[2].exists()  # reading changes nothing


def test_a_broken_run_is_a_row_and_not_the_end(tmp_path, monkeypatch):
    monkeypatch.setattr(
        "deniability.agents.registry._plugins", {}
    )  # what is loaded here is forgotten afterwards
    plugin = tmp_path / "brittle.py"
    plugin.write_text(BRITTLE, encoding="utf-8")
    load_plugin(plugin)
    text = STUDY.replace('["greedy", "exponential"]', '["brittle", "greedy"]')
    scenario = study(tmp_path, text, 'sweep.grid."auditor.delta"=[0.1]')
    result = make(scenario, tmp_path / "out", replicates=20)
    broken = [
        run
        for run in result.plan.runs(20)
        if run.cell == 0 and KeyedDraws(run.seed).generator("auditor.mechanism").random() < 0.25
    ]
    assert 0 < len(broken) < 20
    assert result.errors == {run.run_id: "RuntimeError: it broke: twice" for run in broken}
    runs = pd.read_parquet(tmp_path / "out" / "runs.parquet")
    assert len(runs) == 40
    failed = runs[runs["status"] == "failed"]
    assert list(failed["run_id"]) == [run.run_id for run in broken]
    assert set(failed["error"]) == {"RuntimeError: it broke: twice"}
    assert failed[metric_keys()].isna().all(axis=None)
    assert (result.n_done, result.n_runs) == (40 - len(broken), 40)
    assert set(pd.read_parquet(tmp_path / "out" / "groups.parquet")["run_id"]) == set(
        runs[runs["status"] == "done"]["run_id"]
    )
    # the same command tries them again, and nothing else
    before = contents(tmp_path / "out")
    again = make(scenario, tmp_path / "out", replicates=20)
    assert (again.n_made, again.errors) == (len(broken), result.errors)
    assert contents(tmp_path / "out") == before
    # once they work, their rows are those of good runs, whatever was on record
    plugin_class = __import__("sys").modules[load_plugin(plugin).__name__].Brittle
    plugin_class.reset = plugin_class.__mro__[1].reset
    mended = make(scenario, tmp_path / "out", replicates=20)
    assert (mended.n_made, mended.n_done, mended.errors) == (len(broken), 40, {})
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert (manifest["planned_runs"], manifest["done_runs"]) == (40, 40)


def test_a_target_of_precision_ends_the_same_way_however_it_is_run(tmp_path):
    text = STUDY + "[sweep.precision]\nmetric = 'incidents'\nhalf_width = 2.0\nmax_replicates = 60\n"
    scenario = study(tmp_path, text, 'sweep.grid."auditor.delta"=[0.1]')
    result = make(scenario, tmp_path / "one", replicates=4)
    assert result.precision is not None
    assert result.precision.reached
    assert 4 < result.replicates < 60
    by_hand = result.runs.groupby("auditor.mechanism")["incidents"]
    from scipy.stats import t

    n = result.replicates
    half = t.ppf(0.975, n - 1) * by_hand.std().max() / n**0.5
    assert result.precision.widest == pytest.approx(half)
    assert half <= 2.0
    make(scenario, tmp_path / "two", replicates=4, executor=ScrambledExecutor(1), jobs=4)
    assert contents(tmp_path / "two") == contents(tmp_path / "one")
    assert make(scenario, tmp_path / "one", replicates=4).n_made == 0
    # what was made for another reason is used, and does not change where it ends
    make(study(tmp_path, STUDY, 'sweep.grid."auditor.delta"=[0.1]'), tmp_path / "three", replicates=n + 3)
    third = make(scenario, tmp_path / "three", replicates=4)
    assert (third.n_made, third.replicates) == (0, n)
    assert contents(tmp_path / "three") == contents(tmp_path / "one")


def test_a_target_that_is_too_fine_is_given_up(tmp_path):
    text = STUDY + "[sweep.precision]\nmetric = 'reporting_rate'\nhalf_width = 1e-6\nmax_replicates = 5\n"
    result = make(study(tmp_path, text, 'sweep.grid."auditor.delta"=[0.1]'), tmp_path / "out", replicates=2)
    assert result.replicates == 5
    assert result.precision is not None
    assert (result.precision.reached, result.precision.n_missed) == (False, 2)
