"""The verb `leakage`: its JSON, its files, and one clear message for every bad input."""

import json
import sys
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

from deniability.scenarios.errors import InputError
from deniability.simulation.command_line import main
from deniability.simulation.draws import KeyedDraws
from deniability.simulation.leakage_streams import parse_report_at, poisson_stream, read_stream

SMALL = ("--targets", "3", "--horizon", "8", "--delta", "0.2", "--transcripts", "200")


@dataclass
class Done:
    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def run(capsys, monkeypatch):
    """Run the verb in this process, as the shell would."""

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["deniability", "leakage", *arguments])
        with pytest.raises(SystemExit) as exit_:
            main()
        out, err = capsys.readouterr()
        return Done(exit_.value.code or 0, out, err)

    return call


def test_json_is_the_contract_and_nothing_is_written(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = run("--mechanism", "exponential", *SMALL, "--json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert {
        "advantage",
        "low",
        "high",
        "bound",
        "mean_likelihood_ratio",
        "mean_likelihood_ratio_se",
        "method",
    } <= result.keys()
    assert result["low"] <= result["advantage"] <= result["high"]
    assert (result["bound"], result["method"], result["report_at"]) == (0.2, "exact", [4, 0])
    assert list(tmp_path.iterdir()) == []
    again = run("--mechanism", "exponential", *SMALL, "--json")
    assert again.stdout == done.stdout
    other = run("--mechanism", "exponential", *SMALL, "--json", "--seed", "2")
    assert other.stdout != done.stdout


def test_counter_mechanism_from_a_file_with_results(run, tmp_path):
    stream = np.array([[1, 0], [0, 2], [3, 0], [0, 0]])
    pd.DataFrame(stream).to_csv(tmp_path / "stream.csv", header=False, index=False)
    out = tmp_path / "out"
    done = run(
        *(
            "--mechanism",
            "tca",
            "--counter",
            "binary_tree",
            "--targets",
            "2",
            "--horizon",
            "4",
            "--delta",
            "0.3",
        ),
        *("--stream", str(tmp_path / "stream.csv"), "--report-at", "2,1", "--transcripts", "60"),
        *("--particles", "30", "--out", str(out)),
    )
    assert done.returncode == 0, done.stderr
    assert "advantage" in done.stdout
    result = json.loads((out / "leakage.json").read_text())
    assert result["mechanism"] == "tca-binary_tree"
    assert result["method"] == "particle"
    assert result["report_at"] == [2, 1]
    assert len(pd.read_parquet(out / "scores.parquet")) == 120
    assert {f.suffix for f in (out / "figures").iterdir()} == {".pdf", ".svg", ".png", ".csv", ".txt"}
    assert np.array_equal(read_stream(out / "tables" / "stream.csv"), stream)
    drawn = pd.read_csv(out / "figures" / "leakage.csv")
    assert set(drawn["series"]) >= {"measured", "bound", "trade_off", "filed", "not filed"}
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["kind"] == "leakage"
    refused = run("--mechanism", "uniform", *SMALL, "--out", str(out))
    assert refused.returncode == 2
    assert "results of something else" in refused.stderr


@pytest.mark.parametrize("name", ["greedy", "uniform", "rr"])
def test_every_other_mechanism_can_be_played(run, name):
    done = run("--mechanism", name, *SMALL, "--json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["bound"] == {"greedy": 1.0, "uniform": 0.0, "rr": 0.2}[name]


BAD_FILES = {
    "negative": ("1,0\n0,-1\n", "row 2, column 2: -1 is negative"),
    "fraction": ("1,0.5\n0,1\n", "row 1, column 2: 0.5 is not a whole number"),
    "words": ("a,b\n1,2\n", 'row 1, column 1: "a" is not a number'),
    "ragged": ("1,2\n1\n", "row 2 has 1 columns, not 2"),
    "gap in a row": ("1,\n1,1\n", "row 1, column 2: empty"),
    "empty": ("", "the file is empty"),
    "blank": ("\n\n", "the file is empty"),
    "infinite": ("1,inf\n1,1\n", 'row 1, column 2: "inf" is not finite'),
    "nan": ("1,nan\n1,1\n", "is not finite"),
    "huge": ("1,1e300\n1,1\n", "too large"),
    "narrow": ("1\n1\n", "row 1 has 1 columns, not 2 as there are targets"),
    "long": ("1,1\n1,1\n1,1\n", "3 rows, but the horizon is 2 periods"),
    "header": ("a,b\n1,2\n0,0\n", 'row 1, column 1: "a" is not a number; the file must have no header'),
    "header over an index": (",a,b\n0,1,2\n1,0,0\n", "the file must have no header"),
    "semicolons": (
        "1;0\n0;1\n",
        "must be separated by commas; those of row 2 seem to be separated by semicolons",
    ),
    "semicolons and decimal commas": ("1,0;0,0\n0,0;1,0\n", "separated by semicolons"),
    "semicolons and a header": ("a;b\n1;0\n0;1\n", "separated by semicolons"),
    "tabs": ("1\t0\n0\t1\n", "separated by tabs"),
    "spaces": ("1 0\n0 1\n", "separated by spaces"),
    "blank line inside": ("1,1\n\n1,1\n", "row 2 has 1 columns"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_files_are_refused_with_file_row_and_column(name, tmp_path):
    text, message = BAD_FILES[name]
    file = tmp_path / "reports.csv"
    file.write_text(text)
    with pytest.raises(InputError) as caught:
        read_stream(file, 2, 2)
    assert all("reports.csv" in m for m in caught.value.messages)
    assert any(message in m for m in caught.value.messages)


def test_every_problem_of_a_file_is_told_at_once(tmp_path):
    file = tmp_path / "reports.csv"
    file.write_text("1,-1\n0.5,x\n")
    with pytest.raises(InputError) as caught:
        read_stream(file, 3, 2)
    assert len(caught.value.messages) == 4


def test_a_header_is_told_once_and_is_no_period(tmp_path):
    file = tmp_path / "reports.csv"
    file.write_text("lab a,lab b\n1,2\n0,0\n")
    with pytest.raises(InputError) as caught:
        read_stream(file, 2, 2)  # two rows below it, as there are periods
    (message,) = caught.value.messages
    assert message.endswith('row 1, column 1: "lab a" is not a number; the file must have no header')
    file.write_text("one,two\nthree,4\n")  # a slip below the header is told too
    with pytest.raises(InputError) as caught:
        read_stream(file, 1, 2)
    assert [m.partition("row ")[2] for m in caught.value.messages] == [
        '1, column 1: "one" is not a number; the file must have no header',
        '2, column 1: "three" is not a number',
    ]


@pytest.mark.parametrize("text", ["1;2;3;4\n", "1,2,3\n", "x,0,0,0\n", "a,b,c,d\n", "-1,-1,-1,-1\n"])
def test_however_bad_a_file_is_few_lines_tell_it(tmp_path, text):
    file = tmp_path / "reports.csv"
    file.write_text(text * 5000)
    with pytest.raises(InputError) as caught:
        read_stream(file, 5000, 4)
    assert len(caught.value.messages) <= 3 * (3 + 1) + 1
    if "," in text:
        assert caught.value.messages[-1] == f"--stream {file}: and 4997 more bad rows"


def test_of_a_long_row_three_columns_are_told(tmp_path):
    file = tmp_path / "reports.csv"
    file.write_text("0,-1,-2,-3,-4,-5\n")
    with pytest.raises(InputError) as caught:
        read_stream(file, 1, 6)
    assert [m.partition("row 1")[2] for m in caught.value.messages] == [
        *(f", column {j + 1}: -{j} is negative; a number of reports is at least 0" for j in (1, 2, 3)),
        ": and 2 more bad columns",
    ]


@pytest.mark.parametrize("option", ["--rate-lead", "--rate-other"])
def test_rates_beside_a_stream_would_do_nothing_and_are_refused(run, tmp_path, option):
    (tmp_path / "reports.csv").write_text("1,0,0\n" * 8)
    words = ("--mechanism", "greedy", *SMALL, "--stream", str(tmp_path / "reports.csv"))
    done = run(*words, option, "0.2")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"{option} 0.2: is about drawn reports, and --stream gives them\n"
    assert run(*words, "--json").returncode == 0


def test_missing_directory_and_encoding(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        read_stream(tmp_path / "none.csv")
    with pytest.raises(InputError, match="cannot be read"):
        read_stream(tmp_path)
    (tmp_path / "utf16.csv").write_bytes("1,2\n".encode("utf-16"))
    with pytest.raises(InputError, match="byte 1 is not UTF-8"):
        read_stream(tmp_path / "utf16.csv")


def test_good_files_are_read_however_they_are_written(tmp_path):
    file = tmp_path / "reports.csv"
    for text in ("1,0\n2,3\n", "1,0\r\n2,3", "\ufeff1, 0\n2.0,3\n\n", "1,0\r2,3\r"):
        file.write_bytes(text.encode())
        assert read_stream(file, 2, 2).tolist() == [[1, 0], [2, 3]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--delta", "1.5"), "--delta 1.5: must lie strictly between 0 and 1"),
        (("--mechanism", "nobody"), "nobody"),
        (("--mechanism", "tca", "--counter", "abacus"), "abacus"),
        (("--counter", "toeplitz"), 'mechanism "greedy" has no counter'),
        (("--report-at", "9,0"), "a period from 1 to 8"),
        (("--report-at", "1,3"), "a target from 0 to 2"),
        (("--report-at", "one"), "two whole numbers"),
        (("--report-at", "1,2,3"), "two whole numbers"),
        (("--rate-lead", "-1"), "--rate-lead"),
        (("--rate-other", "nan"), "--rate-other"),
        (("--stream", "nowhere.csv"), "no such file"),
        (("--transcripts", "0"), "transcripts"),
        (("--targets", "1"), "targets"),
    ],
)
def test_bad_options_are_refused(run, arguments, message):
    done = run("--mechanism", "greedy", *SMALL, *arguments, "--json")
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_default_place_is_the_middle_and_the_default_stream_is_the_papers():
    assert parse_report_at(None, 50, 5) == (24, 0)
    assert parse_report_at(" 3 , 2 ", 50, 5) == (2, 2)
    stream = poisson_stream(KeyedDraws(1), 4000, 4)
    # Poisson means within 5 standard errors
    assert np.all(
        np.abs(stream.mean(axis=0) - [1.0, 0.2, 0.2, 0.2]) < 5 * np.sqrt([1.0, 0.2, 0.2, 0.2]) / 4000**0.5
    )
    assert np.array_equal(stream, poisson_stream(KeyedDraws(1), 4000, 4))
