"""Where the verb `report` writes: into its results, an empty directory, an earlier report; nowhere else unasked."""

import json
import shutil

import pytest

from deniability.analysis.report import writer
from deniability.simulation.command_line import main

from .made_up_batch import make_runs

GAME = {"mechanism": "tca", "advantage": 0.05, "low": 0.01, "high": 0.09, "bound": 0.1, "transcripts": 500}


@pytest.fixture
def study(tmp_path):
    """A leakage study, whose report is quick."""
    folder = tmp_path / "study"
    (folder / "figures").mkdir(parents=True)
    (folder / "leakage.json").write_text(json.dumps(GAME))
    (folder / "manifest.json").write_text(json.dumps({"kind": "leakage"}))
    (folder / "figures" / "leakage.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg" width="9pt"/>')
    return folder


@pytest.fixture
def report(monkeypatch, capsys):
    """Run the verb; gives exit code and stderr."""

    def call(*words):
        monkeypatch.setattr("sys.argv", ["deniability", "report", *map(str, words), "--quiet"])
        with pytest.raises(SystemExit) as stop:
            main()
        return int(stop.value.code or 0), capsys.readouterr().err

    return call


def contents(folder):
    return {f.relative_to(folder).as_posix(): f.read_bytes() for f in folder.rglob("*") if f.is_file()}


@pytest.mark.parametrize("name", ["report.html", "figures/x.png", "thesis.tex"])
def test_files_of_somebody_else_stay_unless_forced(study, report, tmp_path, name):
    other = tmp_path / "other"
    (other / name).parent.mkdir(parents=True)
    (other / name).write_text("years of work")
    code, err = report(study, "--out", other)
    assert code == 2
    assert err == (
        f"--out {other}: the directory is not empty and holds no report of ours; give another --out, or --force to "
        "write into it all the same (files of the same names are replaced)\n"
    )
    assert contents(other) == {name: b"years of work"}
    assert report(study, "--out", other, "--force")[0] == 0
    assert {"report.html", name} == set(contents(other))


def test_results_of_something_else_keep_their_own_report(study, report, tmp_path):
    other = tmp_path / "other"
    shutil.copytree(study, other)
    assert report(other)[0] == 0
    before = contents(other)
    code, err = report(study, "--out", other)
    assert code == 2
    assert "the directory holds results of something else" in err
    assert contents(other) == before


def test_a_report_may_be_written_again(study, report, tmp_path):
    new, empty = tmp_path / "new" / "deep", tmp_path / "empty"
    empty.mkdir()
    for place in (new, empty):
        assert report(study, "--out", place)[0] == 0
        first = contents(place)
        assert report(study, "--out", place) == (0, "")
        assert contents(place) == first


@pytest.mark.parametrize("manifest", [True, False])
def test_results_take_their_own_report_by_whatever_name(study, report, tmp_path, manifest):
    own, link = tmp_path / "own", tmp_path / "link"
    shutil.copytree(study, own)
    if not manifest:
        (own / "manifest.json").unlink()
    link.symlink_to(own)
    for words in ([own], [own, "--out", own], [own, "--out", link]):
        assert report(*words) == (0, "")


@pytest.mark.parametrize("words", [[], ["--json"]])
@pytest.mark.parametrize("kind", ["validation", "paper", "plan"])
def test_kinds_that_no_report_is_made_of_are_refused(report, tmp_path, kind, words):
    folder = tmp_path / kind
    folder.mkdir()
    (folder / "manifest.json").write_text(json.dumps({"kind": kind}))
    if kind == "validation":  # its rows are no runs of a batch
        make_runs(1, ["tca"], [0.1]).drop(columns="run_id").to_parquet(folder / "runs.parquet")
    before = contents(folder)
    for more in ([], ["--out", tmp_path / "out"]):
        assert report(folder, *more, *words) == (
            2,
            f"{folder}: results of kind {kind}; a report can be made of batch, run, twin, leakage, sensitivity\n",
        )
    assert contents(folder) == before
    assert not (tmp_path / "out").exists()


def test_a_manifest_of_another_program_makes_no_results(report, tmp_path):
    (tmp_path / "manifest.json").write_text('{"name": "an extension of a browser"}')
    code, err = report(tmp_path)
    assert code == 2
    assert "no results here" in err
    assert list(contents(tmp_path)) == ["manifest.json"]


def test_an_interrupted_report_is_taken_up_by_the_same_command(study, report, tmp_path, monkeypatch):
    def interrupted(*_args):
        raise KeyboardInterrupt

    new = tmp_path / "new"
    with monkeypatch.context() as patch:
        patch.setattr(writer, "render_page", interrupted)
        assert report(study, "--out", new) == (1, "Interrupted.\n")
    assert b"was interrupted" in (new / "report.html").read_bytes()
    assert report(study, "--out", new)[0] == 0
    assert b"was interrupted" not in (new / "report.html").read_bytes()
