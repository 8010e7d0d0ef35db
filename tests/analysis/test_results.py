"""Reading results: whole, half-finished, damaged, from another machine."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deniability.analysis.results import read_results, swept_keys, value_at
from deniability.scenarios.errors import InputError

from .made_up_batch import make_groups, make_runs, write_batch


def write_part(folder, number, runs, groups):
    """A part file as a batch leaves it: a row a run, its groups nested in it."""
    folder.mkdir(parents=True, exist_ok=True)
    table = pa.Table.from_pandas(runs, preserve_index=False)
    columns = [c for c in groups.columns if c != "run_id"]
    nested = [
        groups.loc[groups["run_id"] == run, columns].to_dict("records") or None for run in runs["run_id"]
    ]
    kind = pa.list_(pa.struct([(c, pa.float64() if c.endswith("ator") else pa.string()) for c in columns]))
    pq.write_table(
        table.append_column("groups", pa.array(nested, type=kind)), folder / f"{number:06d}-00.parquet"
    )


def test_a_batch_is_read_whole(tmp_path):
    found = read_results(write_batch(tmp_path / "b"))
    assert (found.kind, found.name, found.notices) == ("batch", "b", ())
    assert set(found.tables) == {"runs", "groups", "series"}
    assert found.title == "A made-up study <of> nothing"
    assert found.unit == ("weeks", 2.0)


def test_a_batch_at_work_is_read_from_its_parts(tmp_path):
    runs = make_runs(4)
    groups = make_groups(runs)
    folder = write_batch(tmp_path / "b", runs, manifest={"planned_runs": 80, "ended": None})
    for file in folder.glob("*.parquet"):
        file.unlink()
    write_part(folder / "parts", 1, runs.iloc[:30], groups)
    write_part(folder / "parts", 2, runs.iloc[30:50], groups)
    found = read_results(folder)
    pd.testing.assert_frame_equal(found.runs, runs.iloc[:50], check_dtype=False)
    expected = groups[groups["run_id"].isin(runs["run_id"][:50])].reset_index(drop=True)
    pd.testing.assert_frame_equal(found.tables["groups"].reset_index(drop=True), expected, check_dtype=False)
    assert "not finished" in found.notices[0]
    assert found.notices[1].startswith("50 of 80 planned runs are there")


def test_of_two_records_of_a_run_the_finished_one_counts(tmp_path):
    runs = make_runs(2, ["tca"], [0.1])
    folder = write_batch(tmp_path / "b", runs, manifest={"ended": None})
    groups = make_groups(runs)
    (folder / "runs.parquet").unlink()
    write_part(folder / "parts", 1, runs.assign(status=["failed", "done"], error=["broke", None]), groups)
    write_part(folder / "parts", 2, runs.iloc[:1], groups)
    (folder / "parts" / "000003-00.parquet").write_bytes(b"cut short")
    found = read_results(folder)
    assert sorted(found.runs["run_id"]) == runs["run_id"].tolist()
    assert len(found.tables["groups"]) == len(groups)
    assert any("1 part files cannot be read" in notice for notice in found.notices)
    assert not any("failed" in notice for notice in found.notices)


def test_failed_runs_are_told_with_the_first_error(tmp_path):
    runs = make_runs(2)
    runs.loc[3:6, ["status", "error"]] = ["failed", "ValueError: no"]
    found = read_results(write_batch(tmp_path / "b", runs))
    assert found.notices == (
        "4 of 40 runs failed and are left out of every estimate. The first says: ValueError: no",
    )
    assert len(found.runs) == 36


def test_without_a_sweep_the_scenarios_own_values_stand(tmp_path):
    runs = make_runs(2, ["tca"], [0.1]).drop(columns=["auditor.mechanism", "auditor.delta"])
    found = read_results(write_batch(tmp_path / "b", runs, groups=False))
    assert found.runs["auditor.mechanism"].unique().tolist() == ["tca"]
    assert found.runs["auditor.delta"].unique().tolist() == [0.1]


def test_lists_as_swept_values_can_be_grouped(tmp_path):
    runs = make_runs(2, ["tca"], [0.1])
    runs["labs.lab-a.targets"] = [["x"], ["x", "y"]]
    folder = write_batch(tmp_path / "b", runs)
    assert read_results(folder).runs["labs.lab-a.targets"].tolist() == ['["x"]', '["x", "y"]']


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda f: (f / "runs.parquet").write_bytes(b"no"), r"runs\.parquet: cannot be read as Parquet"),
        (
            lambda f: (f / "manifest.json").write_text("{", encoding="utf-8"),
            r"manifest\.json: cannot be read",
        ),
        (lambda f: (f / "manifest.json").write_text("[]", encoding="utf-8"), "expected a JSON object"),
        (lambda f: make_runs(1).drop(columns="run_id").to_parquet(f / "runs.parquet"), "no column 'run_id'"),
    ],
)
def test_what_cannot_be_used_is_named(tmp_path, spoil, message):
    folder = write_batch(tmp_path / "b")
    spoil(folder)
    with pytest.raises(InputError, match=message):
        read_results(folder)


def test_a_directory_of_other_things_is_refused(tmp_path):
    with pytest.raises(InputError, match="no results here"):
        read_results(tmp_path)
    with pytest.raises(InputError, match="there is no such directory"):
        read_results(tmp_path / "absent")
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="a file, not a directory"):
        read_results(tmp_path / "file")


def test_nothing_finished_is_a_notice_and_no_error(tmp_path):
    folder = write_batch(tmp_path / "b", make_runs(2).iloc[:0])
    assert "No run came to its end" in read_results(folder).notices[0]
    (folder / "runs.parquet").unlink()
    found = read_results(folder)
    assert "No run of this batch is finished" in found.notices[0]
    assert len(found.runs) == 0


def test_a_manifest_is_no_precondition(tmp_path):
    folder = write_batch(tmp_path / "b")
    (folder / "manifest.json").unlink()
    found = read_results(folder)
    assert "has no manifest" in found.notices[0]
    assert (found.kind, found.title, found.unit) == ("batch", "b", ("audit periods", 1.0))


def test_the_game_of_a_leakage_study_is_read(tmp_path):
    (tmp_path / "leakage.json").write_text(json.dumps({"advantage": 0.1}), encoding="utf-8")
    found = read_results(tmp_path)
    assert found.kind == "leakage"
    assert found.manifest["leakage_result"] == {"advantage": 0.1}


def test_keys_come_with_mechanism_and_delta_first():
    assert swept_keys(pd.DataFrame(columns=["a.b", "auditor.delta", "harm", "auditor.mechanism"])) == [
        "auditor.mechanism",
        "auditor.delta",
        "a.b",
    ]


def test_what_a_scenario_does_not_say_has_the_schemas_value():
    assert value_at({}, "auditor.mechanism") == "tca"
    assert value_at({"auditor": {"mechanism": "rr"}}, "auditor.mechanism") == "rr"
    assert value_at({}, "no.such.key") is None
    assert np.isclose(float(value_at({}, "time.period_weeks")), 1.0)
