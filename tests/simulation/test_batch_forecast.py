"""`batch --dry-run`: it refuses what the batch would refuse, leaves nothing, and is about right."""

import json

import pytest

from deniability.simulation import batch_forecast, batch_pilots, load_scenario
from deniability.simulation.batch_forecast import forecast
from deniability.simulation.batches import batch

from .batch_makers import STUDY, make, study
from .test_batch_parts import unwritable


def room(folder):
    return sum(path.stat().st_size for path in folder.rglob("*.parquet"))


@pytest.mark.parametrize(
    ("replicates", "deltas", "events"), [(4, [0.1, 0.2], True), (1, [0.1], True), (4, [0.1], False)]
)
def test_the_room_is_that_of_parts_and_tables(tmp_path, replicates, deltas, events):
    # replicate i has the same people in every cell, which compress into one: pilot runs of one replicate alone would
    # tell half of what a batch takes
    small = ["time.periods=13", "employees.scale=0.3", f'sweep.grid."auditor.delta"={deltas}']
    scenario = load_scenario("five-labs", overrides=small)
    found = forecast(scenario, replicates=replicates, jobs=1, events=events)
    batch(scenario, tmp_path / "out", replicates=replicates, jobs=1, events=events)
    assert 0.7 < found.bytes / room(tmp_path / "out") < 1.5


def test_pilot_runs_are_of_different_replicates(tmp_path, monkeypatch):
    made = []

    def watched(config, run, *, events):
        made.append((run.cell, run.replicate))
        return run_one(config, run, events=events)

    run_one = batch_pilots.run_one
    monkeypatch.setattr(batch_pilots, "run_one", watched)
    found = forecast(study(tmp_path), replicates=8, jobs=1)
    assert found.pilot_runs == 4
    assert len({replicate for _, replicate in made}) == 5
    assert {cell for cell, _ in made} == {0, 1, 2, 3}
    made.clear()
    one = study(
        tmp_path, STUDY, "sweep.grid.\"auditor.mechanism\"=['tca']", 'sweep.grid."auditor.delta"=[0.1]'
    )
    assert forecast(one, replicates=8, jobs=1).pilot_runs == 1
    assert made == [(0, 1), (0, 0)]


def test_the_start_of_workers_is_told_apart_and_counted(tmp_path, monkeypatch):
    scenario = study(tmp_path)
    found = forecast(scenario, replicates=2, jobs=2)
    assert found.start_seconds > found.seconds_per_run
    assert found.all_seconds == found.start_seconds + found.seconds + found.table_seconds
    # more workers than cores start one after the other
    monkeypatch.setattr(batch_forecast, "seconds_to_start", lambda *_, **__: 10.0)
    monkeypatch.setattr(batch_forecast, "available_cores", lambda: 2)
    starts = [forecast(scenario, replicates=2, jobs=jobs).start_seconds for jobs in (1, 2, 5)]
    assert starts == pytest.approx([10.0, 10.0, 30.0], rel=0.05)


def test_finished_runs_are_left_out(deniability, tmp_path):
    make(study(tmp_path), tmp_path / "out", replicates=2)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    words = ["batch", tmp_path / "study.toml", "--out", tmp_path / "out", "--dry-run", "--jobs", 1]
    code, out, _ = deniability(*words, "--replicates", 5)
    assert code == 0
    start = (
        f"20 runs: 4 cells with 5 replicates each; 8 of them are done in {tmp_path / 'out'}, 12 left. About "
    )
    assert out.startswith(start)
    told = json.loads(deniability(*words, "--replicates", 5, "--json")[1])
    assert (told["runs"], told["done"], told["left"]) == (20, 8, 12)
    assert told["seconds"] == pytest.approx(12 * told["seconds_per_run"])
    assert 0 < told["bytes"] < forecast(study(tmp_path), replicates=5, jobs=1).bytes
    code, out, _ = deniability(*words, "--replicates", 2)
    expected = (
        f"8 runs: 4 cells with 2 replicates each; 8 of them are done in {tmp_path / 'out'}, none left.\n"
    )
    assert (code, out) == (0, expected)
    told = json.loads(deniability(*words, "--replicates", 2, "--json")[1])
    assert (told["left"], told["seconds"], told["seconds_per_run"], told["bytes"]) == (0, 0, None, 0)
    # event logs are in none of these parts; with --force all is made again, and only then
    assert deniability(*words, "--replicates", 2, "--events")[0] == 2
    assert json.loads(deniability(*words, "--replicates", 2, "--events", "--force", "--json")[1])["left"] == 8
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--executor", "nonsense"], "--executor nonsense: must be one of local, dask"),
        (["--executor", "dask"], "--executor dask: needs --scheduler ADDRESS"),
        (["--scheduler", "tcp://127.0.0.1:1"], "--scheduler: belongs to --executor dask"),
        (["--out", "{unwritable}"], "cannot write there|no permission to write"),
        (["--out", "study.toml"], "this is a file, not a directory"),
        (["--out", "study.toml/out"], "study.toml is a file, not a directory"),
        (["--out", "."], "the directory is not empty and holds no results of ours"),
        (["--out", "x" * 300], "cannot write there .File name too long."),
    ],
)
def test_what_the_batch_would_refuse_is_refused_with_the_same_words(
    deniability, tmp_path, monkeypatch, words, expected
):
    monkeypatch.chdir(tmp_path)
    study(tmp_path)
    place = str(unwritable(tmp_path)) if "{unwritable}" in words else ""
    words = ["batch", "study.toml", *(word.format(unwritable=place) for word in words)]
    code, out, err = deniability(*words, "--dry-run")
    assert (code, out) == (2, "")
    assert pytest.raises(AssertionError, match=expected).matches(AssertionError(err))
    assert [path.name for path in tmp_path.iterdir()] == ["study.toml"]
    if "--out" in words:
        assert deniability(*words) == (code, out, err)


def test_a_place_that_can_be_had_is_not_made(deniability, tmp_path):
    study(tmp_path)
    words = ["batch", tmp_path / "study.toml", "--dry-run", "--replicates", 1, "--jobs", 1]
    assert deniability(*words, "--out", tmp_path / "new" / "out")[0] == 0
    assert [path.name for path in tmp_path.iterdir()] == ["study.toml"]


BROKEN = """
from deniability.agents.auditor.mechanisms.uniform import Uniform


class Broken(Uniform):
    id = "always-broken"

    def reset(self, n_replicates, n_targets, generator):
        raise RuntimeError("as always")
"""


def test_a_pilot_run_that_fails_is_told(deniability, tmp_path, monkeypatch):
    monkeypatch.setattr(
        "deniability.agents.registry._plugins", {}
    )  # what is loaded here is forgotten afterwards
    (tmp_path / "always.py").write_text(BROKEN, encoding="utf-8")
    study(tmp_path, STUDY.replace('"greedy", "exponential"', '"greedy"'))
    words = ["batch", tmp_path / "study.toml", "--dry-run", "--jobs", 1, "--plugin", tmp_path / "always.py"]
    code, out, err = deniability(*words, "--set", 'sweep.grid."auditor.mechanism"=["always-broken"]')
    assert (code, out) == (1, "")
    assert err == "A pilot run fails: RuntimeError: as always\n"
