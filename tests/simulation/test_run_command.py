"""The verb `run` from the outside: same bytes, files in place, and one clear message for bad input."""

import json

import pandas as pd
import pytest

from deniability.analysis.metrics import metric_keys

SMALL = ["--set", "time.periods=12", "--set", "incidents.rate=4.0", "--set", "employees.scale=0.1"]


@pytest.mark.parametrize("mechanism", ["greedy", "uniform", "rr", "tca", "exponential"])
def test_json_is_the_same_bytes_twice_and_differs_by_seed(deniability, mechanism):
    words = ["run", "five-labs", "--json", "--quiet", "--mechanism", mechanism, *SMALL]
    first, again = deniability(*words, "--seed", 1), deniability(*words, "--seed", 1)
    assert first == again
    code, out, err = first
    assert (code, err) == (0, "")
    told = json.loads(out)
    assert list(told) == ["scenario", "mechanism", "delta", "seed", "metrics"]
    assert (told["scenario"], told["mechanism"], told["seed"]) == ("five-labs", mechanism, 1)
    assert set(told["metrics"]) == set(metric_keys())
    assert deniability(*words, "--seed", 2)[1] != out


def test_json_without_out_writes_nothing(deniability, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert deniability("run", "five-labs", "--json", *SMALL)[0] == 0
    assert list(tmp_path.iterdir()) == []


def test_run_writes_the_contract_and_refuses_other_content(deniability, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ["run", "five-labs", "--mechanism", "greedy", *SMALL]
    code, out, _ = deniability(*words)
    place = tmp_path / "results" / "five-labs-greedy-1"
    assert code == 0
    assert "reporters" in out.lower() or "reported" in out
    names = {p.relative_to(place).as_posix() for p in place.rglob("*") if p.is_file()}
    events = [
        "access",
        "audits",
        "candidates",
        "compartments",
        "departures",
        "incidents",
        "inferences",
        "notices",
        "people",
        "reports",
        "retaliations",
    ]
    expected = {"manifest.json", "runs.parquet", "series.parquet", "groups.parquet"}
    expected |= {f"events/{name}.parquet" for name in events}
    expected |= {
        f"figures/{s}.{e}"
        for s in ("timeline", "retaliation_rates")
        for e in ("pdf", "svg", "png", "csv", "txt")
    }
    assert names == expected
    told = " ".join(out.split())  # every file is named, by its directory where there are many
    named = told[told.index("Written to results/five-labs-greedy-1: ") :].split(": ")[1].split(", ")
    assert set(named) == {name if "/" not in name else f"{name.partition('/')[0]}/" for name in names}
    assert sorted(p.name for p in place.parent.iterdir()) == [place.name]  # nothing left aside
    manifest = json.loads((place / "manifest.json").read_text())
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
    row = pd.read_parquet(place / "runs.parquet").iloc[0]
    assert row["auditor.mechanism"] == "greedy"
    assert row["audits"] == 12
    before = (place / "events" / "reports.parquet").read_bytes()
    assert deniability(*words)[0] == 0  # the same run again is no other content
    assert (place / "events" / "reports.parquet").read_bytes() == before
    other = [*words, "--set", "auditor.discovery_probability=0.5"]  # not told by the directory's name
    code, _, err = deniability(*other)
    assert code == 2
    assert "--force" in err
    assert (place / "events" / "reports.parquet").read_bytes() == before
    assert deniability(*other, "--force")[0] == 0
    assert (place / "events" / "reports.parquet").read_bytes() != before


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ([], "five-labs-1"),
        (["--seed", "7", "--mechanism", "greedy"], "five-labs-greedy-7"),
        (["--delta", "0.20"], "five-labs-delta-0.2-1"),
        (["--mechanism", "greedy", "--delta", "0.2"], "five-labs-greedy-delta-0.2-1"),
        (["--set", "auditor.mechanism=greedy"], "five-labs-1"),
    ],
)
def test_the_directory_tells_which_options_were_given(deniability, tmp_path, monkeypatch, words, name):
    # so that what is natural to compare lies side by side
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("deniability.simulation.run_files.write_run", lambda _run, place, **_: place.mkdir())
    (tmp_path / "results").mkdir()
    assert deniability("run", "five-labs", "--quiet", *words, *SMALL)[0] == 0
    assert [place.name for place in (tmp_path / "results").iterdir()] == [name]


def test_a_folder_of_somebody_elses_is_left_alone(deniability, tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    code, _, err = deniability("run", "five-labs", "--out", tmp_path, *SMALL)
    assert code == 2
    assert "thesis" not in err
    assert "not empty" in err
    assert [p.name for p in tmp_path.iterdir()] == ["thesis.tex"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["five-lab"], ["five-lab", "five-labs"]),
        (["five-labs", "--mechanism", "tac"], ["auditor.mechanism", "tac", "tca", "greedy"]),
        (["five-labs", "--delta", "0"], ["auditor.delta", "0"]),
        (["five-labs", "--delta", "1.5"], ["auditor.delta", "1.5"]),
        (["five-labs", "--set", "auditor.mechanims='tca'"], ["auditor.mechanims", "auditor.mechanism"]),
        (["five-labs", "--set", "employees.scale=true"], ["employees.scale", "true"]),
        (["five-labs", "--set", "organizations.inference=baes"], ["organizations.inference", "bayes"]),
        (["five-labs", "--set", "nonsense"], ["nonsense", "KEY=VALUE"]),
        (["five-labs", "--seed", "-1"], ["seed"]),
        (["five-labs", "--seed", "1" + "0" * 40], ["seed"]),
    ],
)
def test_bad_input_has_one_clear_message(deniability, tmp_path, monkeypatch, words, expected):
    monkeypatch.chdir(tmp_path)
    code, out, err = deniability("run", *words)
    assert code == 2
    assert out == ""
    assert "Traceback" not in err
    for word in expected:
        assert word in err
    assert list(tmp_path.iterdir()) == []  # nothing half-written


def test_figures_are_the_same_bytes_when_made_again(deniability, tmp_path):
    for place in ("a", "b"):
        assert deniability("run", "five-labs", "--out", tmp_path / place, "--quiet", *SMALL)[0] == 0
    for file in sorted((tmp_path / "a").rglob("*")):
        if file.is_file() and file.name != "manifest.json":
            assert file.read_bytes() == (tmp_path / "b" / file.relative_to(tmp_path / "a")).read_bytes(), (
                file.name
            )
