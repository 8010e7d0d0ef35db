"""The verb `batch` and the replay of one run, from the outside."""

import json

import pandas as pd
import pytest

from deniability.analysis.metrics import metric_keys

from .batch_makers import BRITTLE, STUDY, contents, make, study


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A finished batch with event logs."""
    folder = tmp_path_factory.mktemp("made")
    scenario = study(folder)
    return folder, make(scenario, folder / "out", events=True)


def plain(table):
    """Values alone: Parquet from pandas and Parquet from Arrow mark what is missing in different ways."""
    return table.astype(object).where(table.notna(), None)


def test_the_command_makes_a_batch_and_the_same_command_goes_on(deniability, tmp_path, made):
    folder, expected = made
    words = ["batch", folder / "study.toml", "--out", tmp_path / "out", "--events", "--jobs", 1]
    code, out, err = deniability(*words, "--json", "--quiet")
    assert (code, err) == (0, "")
    told = json.loads(out)
    assert told == {
        "scenario": "study",
        "out": str(tmp_path / "out"),
        "seed": 1,
        "cells": 4,
        "replicates": 3,
        "runs": 12,
        "done": 12,
        "failed": 0,
        "made": 12,
        "errors": [],
        "precision": None,
    }
    assert contents(tmp_path / "out") == contents(expected.directory)
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert {
        "resolved_scenario",
        "content_hash",
        "code_hash",
        "code_path",
        "versions",
        "seed",
        "command",
        "started",
        "ended",
    } <= set(manifest)
    assert (manifest["kind"], manifest["swept"]) == ("batch", ["auditor.mechanism", "auditor.delta"])
    assert manifest["ended"] >= manifest["started"]
    assert manifest["command"][:2] == ["deniability", "batch"]
    code, out, _ = deniability(*words)
    assert code == 0
    assert out == (
        f"12 of 12 runs are done, 12 of them before: 4 cells with 3 replicates each. The tables are in "
        f"{tmp_path / 'out'}.\n"
    )


def test_a_batch_whose_every_tenth_run_raises_ends_with_the_other_nine_tenths(
    deniability, tmp_path, monkeypatch
):
    """One of ten deltas breaks the mechanism: the batch ends, says so, and has every other run as if alone."""
    monkeypatch.setattr(
        "deniability.agents.registry._plugins", {}
    )  # what is loaded here is forgotten afterwards
    brittle = BRITTLE.replace('"brittle"', '"brittle-2"').replace(
        "generator.random() < 0.25", "self.delta == 0.3"
    )
    (tmp_path / "brittle.py").write_text(brittle, encoding="utf-8")
    deltas = [0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5]
    swept = STUDY.replace('"greedy", "exponential"', '"brittle-2"').replace("[0.1, 0.4]", str(deltas))
    (tmp_path / "study.toml").write_text(swept, encoding="utf-8")
    words = ["batch", tmp_path / "study.toml", "--out", tmp_path / "out", "--jobs", 1, "--replicates", 4]
    code, out, err = deniability(*words, "--plugin", tmp_path / "brittle.py")
    runs = pd.read_parquet(tmp_path / "out" / "runs.parquet")
    failed = runs[runs["status"] == "failed"]
    assert code == 1
    assert "36 of 40 runs are done" in out
    assert list(failed["auditor.delta"]) == [0.3] * 4
    assert list(failed["error"].unique()) == ["RuntimeError: it broke: twice"]
    assert failed["harm"].isna().all()
    assert err.splitlines()[-3:] == [
        "4 of 40 runs failed; each is a row with its error, and the same command tries them again:",
        f"  RuntimeError: it broke: twice (4 runs, first {failed['run_id'].iloc[0]})",
        f"To see where it fails: deniability run --run-id {failed['run_id'].iloc[0]} --from {tmp_path / 'out'} "
        f"--plugin {tmp_path / 'brittle.py'}",
    ]
    # the others are what a mechanism that never breaks gives
    never = swept.replace('"brittle-2"', '"uniform"').replace("0.3, ", "")
    make(study(tmp_path, never), tmp_path / "whole", replicates=4)
    expected = pd.read_parquet(tmp_path / "whole" / "runs.parquet")
    same = ["seed", "auditor.delta", "harm", "reports", "audits", "retaliation_rate_numerator"]
    pd.testing.assert_frame_equal(
        runs.loc[runs["status"] != "failed", same].reset_index(drop=True), expected[same], check_dtype=False
    )
    # as told: there it fails for everybody to see
    with pytest.raises(RuntimeError, match="it broke"):
        deniability("run", "--run-id", failed["run_id"].iloc[0], "--from", tmp_path / "out", "--json")


def test_a_dry_run_estimates_and_writes_nothing(deniability, made, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder, _ = made
    words = ["batch", folder / "study.toml", "--dry-run", "--replicates", 30, "--jobs", 2]
    code, out, err = deniability(*words, "--json")
    told = json.loads(out)
    assert (code, err) == (0, "")
    assert (told["cells"], told["replicates"], told["runs"], told["jobs"]) == (4, 30, 120, 2)
    assert told["seconds"] == pytest.approx(told["seconds_per_run"] * 60)
    assert told["pilot_runs"] == 4
    code, out, _ = deniability(*words, "--out", tmp_path / "out", "--set", "sweep.precision.metric=harm")
    assert code == 0
    assert out.startswith("120 runs: 4 cells with 30 replicates each. About ")
    assert "until harm is known to ± 0.01 in every cell" in out
    assert list(tmp_path.iterdir()) == []


def test_the_room_on_the_disk_is_about_right(deniability, tmp_path):
    scenario = study(tmp_path)
    make(scenario, tmp_path / "out", replicates=8, events=True)
    size = sum(path.stat().st_size for path in (tmp_path / "out").rglob("*.parquet"))
    words = [
        "batch",
        tmp_path / "study.toml",
        "--dry-run",
        "--replicates",
        8,
        "--events",
        "--jobs",
        1,
        "--json",
    ]
    assert size / 3 < json.loads(deniability(*words)[1])["bytes"] < size * 3


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["five-labs"], ["--out DIR", "--dry-run"]),
        (["five-lab", "--out", "out"], ["five-labs"]),
        (["study.toml", "--out", "out", "--set", "auditor.delta=0.2"], ["--set auditor.delta", "sweep.grid"]),
        (["study.toml", "--out", "out", "--replicates", "0"], ["replicates"]),
        (
            [
                "study.toml",
                "--out",
                "out",
                "--replicates",
                "9",
                "--set",
                "sweep.precision={metric='harm', max_replicates=8}",
            ],
            ["--replicates 9", "max_replicates = 8"],
        ),
        (["study.toml", "--out", "out", "--set", "sweep.precision.metric=ham"], ["ham", "harm"]),
        (["study.toml", "--out", "out", "--executor", "slurm"], ["--executor slurm", "local, dask"]),
        (["study.toml", "--out", "out", "--executor", "dask"], ["--scheduler ADDRESS"]),
        (["study.toml", "--out", "out", "--scheduler", "tcp://127.0.0.1:1"], ["--executor dask"]),
        (["study.toml", "--out", "out", "--plugin", "nothing.py"], ["nothing.py", "no such file"]),
        (["study.toml", "--out", "study.toml"], ["a file, not a directory"]),
        (["study.toml", "--out", "."], ["not empty"]),
    ],
)
def test_bad_input_has_one_clear_message_and_changes_nothing(
    deniability, tmp_path, monkeypatch, words, expected
):
    monkeypatch.chdir(tmp_path)
    study(tmp_path)
    code, out, err = deniability("batch", *words)
    assert (code, out) == (2, "")
    assert "Traceback" not in err
    for word in expected:
        assert word in err
    assert [path.name for path in tmp_path.rglob("*") if path.name not in ("batch.lock", "out")] == [
        "study.toml"
    ]


def test_a_run_of_a_batch_is_made_again_with_all_its_files(deniability, made, tmp_path):
    _, batch = made
    run = batch.plan.run(2, 1)
    code, out, err = deniability(
        "run",
        "--run-id",
        run.run_id,
        "--from",
        batch.directory,
        "--out",
        tmp_path / "one",
        "--json",
        "--quiet",
    )
    assert (code, err) == (0, "")
    told = json.loads(out)
    row = batch.rows([run])[0]
    assert (told["run_id"], told["seed"]) == (row["run_id"], row["seed"])
    assert (told["mechanism"], told["delta"]) == (row["auditor.mechanism"], row["auditor.delta"])
    assert told["metrics"] == {key: row[key] for key in metric_keys()}
    place = tmp_path / "one"
    for table in ("reports", "audits", "candidates", "people", "retaliations"):
        again = pd.read_parquet(place / "events" / f"{table}.parquet")
        stored = pd.read_parquet(batch.directory / "events" / f"{table}.parquet")
        stored = stored[stored["run_id"] == run.run_id].drop(columns="run_id").reset_index(drop=True)
        pd.testing.assert_frame_equal(plain(again), plain(stored))
    for table in ("groups", "series"):
        again = pd.read_parquet(place / f"{table}.parquet")
        stored = batch.table(table)
        stored = stored[stored["run_id"] == run.run_id].reset_index(drop=True)
        pd.testing.assert_frame_equal(plain(again), plain(stored))
    one = pd.read_parquet(place / "runs.parquet").iloc[0]
    assert (one["run_id"], one["seed"], one["harm"]) == (row["run_id"], row["seed"], row["harm"])
    # the scenario of the manifest is the cell's own
    manifest = json.loads((place / "manifest.json").read_text())
    assert manifest["resolved_scenario"]["auditor"] == {"mechanism": "exponential", "delta": 0.1}


def test_a_replay_that_gives_something_else_says_so(deniability, made, tmp_path, monkeypatch):
    _, batch = made
    run = batch.plan.run(0, 0)
    monkeypatch.setattr("deniability.simulation.runs.run_metrics", lambda *_: {"harm": -1.0})
    code, _, err = deniability(
        "run", "--run-id", run.run_id[:10], "--from", batch.directory, "--json", "--quiet"
    )
    assert code == 1
    assert (
        "This is not what the batch has on record (versions of packages or plugins differ?): harm differ."
        in err
    )


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], "run: needs SCENARIO, or --run-id ID --from DIR"),
        (["--run-id", "abc"], "go together"),
        (["--from", "{out}"], "go together"),
        (["--run-id", "abc", "--from", "{out}"], "--run-id abc: there is no such run"),
        (["--run-id", "", "--from", "{out}"], "there is no such run"),
        (["--run-id", "abc", "--from", "nowhere"], "holds no batch"),
        (
            ["five-labs", "--run-id", "abc", "--from", "{out}"],
            "SCENARIO: scenario and seed come from the batch",
        ),
        (
            ["--seed", "2", "--delta", "0.1", "--run-id", "abc", "--from", "{out}"],
            "--delta, --seed: scenario and seed come from the batch",
        ),
    ],
)
def test_replays_that_make_no_sense(deniability, made, tmp_path, monkeypatch, words, expected):
    monkeypatch.chdir(tmp_path)
    code, out, err = deniability("run", *(word.format(out=made[1].directory) for word in words))
    assert (code, out) == (2, "")
    assert expected in err
    assert list(tmp_path.iterdir()) == []
