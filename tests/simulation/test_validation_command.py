"""The verb `validation`."""

import json
import sys
from pathlib import Path

import pandas as pd
import pytest

from deniability.simulation.command_line import main

TINY = """
[labs.lab-a]
employees = 60
targets = ["one", "two", "three"]
access = { median_access = 6.0 }
[incidents]
rate = 6.0
[time]
periods = 6
period_weeks = 13.0
"""


def call(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["deniability", "validation", *arguments])
    with pytest.raises(SystemExit) as left:
        main()
    return int(left.value.code or 0)


def test_json_tells_every_pattern_and_files_hold_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out, tiny = tmp_path / "v", tmp_path / "tiny.toml"
    tiny.write_text(TINY, encoding="utf-8")
    quick = (str(tiny), "--replicates", "2", "--jobs", "1", "--quiet", "--json")
    assert call(monkeypatch, *quick, "--out", str(out)) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["scenario"], told["seed"], told["replicates"]) == ("tiny", 1, 2)
    assert [row["number"] for row in told["patterns"]] == list(range(1, 9))
    verdicts = ("holds", "undecided", "fails", "undefined")
    assert sorted(number for verdict in verdicts for number in told[verdict]) == list(range(1, 9))
    table = pd.read_csv(out / "tables" / "patterns.csv")
    assert table["verdict"].tolist() == [row["verdict"] for row in told["patterns"]]
    assert {path.suffix for path in (out / "figures").glob("patterns.*")} == {
        ".pdf",
        ".svg",
        ".png",
        ".csv",
        ".txt",
    }
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["kind"] == "validation"
    assert len(pd.read_parquet(out / "runs.parquet")) == 10
    # another question does not overwrite it
    assert call(monkeypatch, *quick, "--seed", "2", "--out", str(out)) == 2


def test_bad_input_is_told_without_a_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(monkeypatch, "paper-baseline", "--quiet") == 2
    assert capsys.readouterr().err.strip() == (
        "paper-baseline: nobody works there, and the patterns are about employees"
    )
