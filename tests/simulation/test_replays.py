"""A run of a batch made again has the batch's row, and the command that is told for it works when pasted."""

import json
import shlex

import pandas as pd
import pyarrow.parquet as pq
import pytest

from deniability.agents import registry
from deniability.agents.auditor.mechanisms import MECHANISMS
from deniability.analysis.metrics import metric_keys
from deniability.analysis.results import read_results

from .batch_makers import BRITTLE, STUDY, make, study

# neither mechanism nor delta: numbers, a text, a truth value and a list; nothing happens in some cells
OTHER = STUDY[: STUDY.index("[sweep]")] + (
    """
[auditor]
mechanism = "greedy"
[sweep]
replicates = 3
[sweep.grid]
"incidents.rate" = [0.0, 30.0]
"organizations.inference" = ["timing", "bayes"]
[sweep.zip]
"time.periods" = [4, 5]
"labs.lab-b.targets" = [["x"], ["x", "y"]]
"auditor.published" = [true, false]
"""
)


def test_the_row_of_a_replay_is_that_of_the_batch(deniability, tmp_path):
    batch = make(study(tmp_path, OTHER), tmp_path / "out")
    stored = pd.read_parquet(tmp_path / "out" / "runs.parquet")
    undefined = 0
    for cell, replicate in ((0, 1), (len(batch.plan.cells) - 1, 2)):
        run = batch.plan.run(cell, replicate)
        place = tmp_path / run.run_id
        words = ["run", "--run-id", run.run_id, "--from", batch.directory, "--out", place, "--quiet"]
        assert deniability(*words)[0] == 0
        row = pd.read_parquet(place / "runs.parquet")
        expected = stored[stored["run_id"] == run.run_id].reset_index(drop=True)
        pd.testing.assert_frame_equal(row, expected)
        assert (row["replicate"].item(), row["seed"].item()) == (replicate, run.seed)
        undefined += row["reporting_rate"].isna().sum()
        # to the type on disk, which a reader other than pandas sees
        batch_schema = pq.read_schema(tmp_path / "out" / "runs.parquet")
        assert pq.read_schema(place / "runs.parquet").equals(batch_schema)
        # whoever reads the directory finds mechanism and delta all the same
        assert {"auditor.mechanism", "auditor.delta"} <= set(read_results(place).runs)
    assert undefined == 1


def test_undefined_metrics_of_a_single_run_are_missing_numbers(deniability, tmp_path):
    study(tmp_path)
    words = ["run", tmp_path / "study.toml", "--set", "incidents.rate=0.0", "--out", tmp_path / "one"]
    assert deniability(*words, "--quiet")[0] == 0
    row = pd.read_parquet(tmp_path / "one" / "runs.parquet")
    assert row["reporting_rate"].isna().item()
    assert all(pd.api.types.is_numeric_dtype(row[key]) for key in metric_keys())
    assert row["reporting_rate"].dtype == "float64"
    assert list(row)[:4] == ["run_id", "scenario", "auditor.mechanism", "auditor.delta"]


@pytest.fixture
def forgetful(monkeypatch):
    """What is loaded here can be forgotten, as a new process would not have it."""

    def forget():
        monkeypatch.setattr(registry, "_plugins", {})
        MECHANISMS._n_plugins = -1

    forget()
    yield forget
    MECHANISMS._n_plugins = -1


def test_the_command_that_is_told_after_failures_works_when_pasted(
    deniability, tmp_path, monkeypatch, forgetful
):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "my 'own' rules"
    folder.mkdir()
    file = folder / "brittle $HOME.py"
    file.write_text(BRITTLE.replace('"brittle"', '"brittle-3"'), encoding="utf-8")
    text = STUDY.replace('"greedy", "exponential"', '"brittle-3"')
    (tmp_path / "study.toml").write_text(text, encoding="utf-8")
    words = ["batch", "study.toml", "--out", "my out", "--jobs", 1, "--replicates", 6]
    code, _, err = deniability(*words, "--plugin", file.relative_to(tmp_path))
    assert code == 1
    told = err.splitlines()[-1]
    pasted = shlex.split(told.removeprefix("To see where it fails: "))
    assert pasted[:2] == ["deniability", "run"]
    forgetful()
    with pytest.raises(RuntimeError, match="it broke"):  # where it fails, which is what was asked for
        deniability(*pasted[1:], "--json")
    # without it, the message says what is missing
    forgetful()
    code, out, err = deniability(*pasted[1 : pasted.index("--plugin")])
    assert (code, out) == (2, "")
    assert "brittle-3" in err
    assert "my out: the batch used plugin brittle $HOME.py, which is not loaded: give --plugin FILE" in err
    # a run that does not fail is made again
    runs = pd.read_parquet(tmp_path / "my out" / "runs.parquet")
    good = runs[runs["status"] == "done"].iloc[0]
    forgetful()
    code, out, _ = deniability("run", "--run-id", good["run_id"], *pasted[4:], "--json", "--quiet")
    assert code == 0
    assert json.loads(out)["metrics"]["harm"] == good["harm"]
