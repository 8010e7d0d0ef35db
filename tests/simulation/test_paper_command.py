"""The verb `paper` through the command line: files, JSON, refusals; and the figures it draws."""

import json
import signal
import subprocess
import sys
import time
from concurrent.futures import Executor, Future

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from deniability.agents.auditor.counters import COUNTERS
from deniability.agents.auditor.mechanisms import MECHANISMS
from deniability.analysis.paper_figures import dynamic_figure, static_figure
from deniability.scenarios.errors import InputError
from deniability.simulation import paper as study
from deniability.simulation.batch_errors import WorkerDiedError
from deniability.simulation.command_line import application, main
from deniability.simulation.paper import WRITTEN, contenders, run_paper, write_paper
from deniability.simulation.paper_helper import helper
from deniability.simulation.paper_setting import DynamicSetting, PaperSetting, StaticSetting
from deniability.simulation.paper_static import exact_crossing, exact_curves

TINY = ["--quick", "--seeds", "3", "--trials", "20", "--targets", "5", "--horizon", "12", "--rate-lead", "2"]
SETTING = PaperSetting(
    dynamic=DynamicSetting(5, 12, 2.0, 0.2, 3),
    static=StaticSetting((4, 6), (1, 10), (0.1, 0.3), (0, 5, 20), 20),
)


def invoke(*arguments):
    return CliRunner().invoke(application(), ["paper", *arguments])


@pytest.fixture(scope="module")
def result():
    return run_paper(SETTING, quiet=True)


class AtOnce(Executor):
    """Does the work in this process, when asked."""

    def submit(self, work, *args, **kwargs):
        future = Future()
        future.set_result(work(*args, **kwargs))
        return future


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Everything in a directory."""
    directory = tmp_path_factory.mktemp("paper") / "out"
    write_paper(SETTING, directory, AtOnce(), command=["deniability", "paper"], quiet=True)
    return directory


def test_json_is_one_object_and_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    outcome = invoke(*TINY, "--json")
    assert outcome.exit_code == 0, outcome.output
    summary = json.loads(outcome.stdout)
    assert set(summary["exp2"]) == (set(MECHANISMS) | {f"tca-{c}" for c in COUNTERS}) - {"tca-toeplitz"}
    assert set(summary["exp1"]) <= set(summary["exp2"])  # where enough hits and misses are expected
    assert summary["exp2"]["greedy"]["deficit"] == 0.0
    assert summary["exp2"]["greedy"]["deficit_low"] <= 0.0 <= summary["exp2"]["greedy"]["deficit_high"]
    assert (summary["seeds"], summary["trials"], summary["targets"], summary["horizon"]) == (3, 20, 5, 12)
    assert summary["out"] is None
    assert list(tmp_path.iterdir()) == []


def test_one_seed_gives_null_bounds():
    summary = json.loads(invoke(*TINY, "--seeds", "1", "--json").stdout)
    assert summary["exp2"]["uniform"]["deficit_low"] is None


def test_bad_options_are_all_named_at_once():
    outcome = invoke(
        "--seeds",
        "0",
        "--trials",
        "0",
        "--targets",
        "1",
        "--horizon",
        "0",
        "--delta",
        "1",
        "--rate-lead",
        "-1",
    )
    assert isinstance(outcome.exception, InputError)  # `main` turns it into exit code 2
    for option in ("--seeds", "--trials", "--targets", "--horizon", "--delta", "--rate-lead"):
        assert any(m.startswith(f"{option}: must") for m in outcome.exception.messages)


@pytest.mark.parametrize("value", ["nan", "inf", "1e99"])
def test_absurd_rates_are_refused(value):
    outcome = invoke("--rate-other", value)
    assert isinstance(outcome.exception, InputError)


def test_a_directory_of_other_content_is_refused(tmp_path):
    (tmp_path / "mine.txt").write_text("precious", encoding="utf-8")
    outcome = invoke(*TINY, "--out", str(tmp_path))
    assert isinstance(outcome.exception, InputError)
    assert [f.name for f in tmp_path.iterdir()] == ["mine.txt"]


@pytest.mark.slow
def test_files(written):
    names = {f.relative_to(written).as_posix() for f in written.rglob("*") if f.is_file()}
    stems = {"exp1", "exp1-appendix", "exp2"}
    figures = {f"figures/{s}.{e}" for s in stems for e in ("pdf", "svg", "png", "csv", "txt")}
    assert names == {"exp1.csv", "exp2.csv", "manifest.json"} | figures
    manifest = json.loads((written / "manifest.json").read_text(encoding="utf-8"))
    assert set(manifest["files"]) == names - {"manifest.json"}
    assert manifest["kind"] == "paper"
    # what the command says it has written: every file, by its directory where there are many
    assert set(WRITTEN) == {name if "/" not in name else f"{name.partition('/')[0]}/" for name in names}


@pytest.mark.slow
def test_tables_on_disk_are_the_results(written, result):
    exp1, exp2 = pd.read_csv(written / "exp1.csv"), pd.read_csv(written / "exp2.csv")
    pd.testing.assert_frame_equal(exp1, result.exp1, check_dtype=False)
    pd.testing.assert_frame_equal(exp2, result.exp2, check_dtype=False)
    assert exp2["step"].min() == 1
    assert exp2.groupby("mechanism")["step"].max().eq(12).all()


@pytest.mark.slow
def test_the_same_settings_give_the_same_bytes_also_from_two_processes(written, tmp_path):
    with helper() as executor:
        write_paper(SETTING, tmp_path / "again", executor, quiet=True)
    for file in written.rglob("*"):
        if file.is_file() and file.name != "manifest.json":
            assert file.read_bytes() == (tmp_path / "again" / file.relative_to(written)).read_bytes(), (
                file.name
            )


@pytest.mark.slow
def test_a_copied_helper_and_a_fresh_one_write_the_same_bytes(tmp_path):
    # it is a copy where that can be, which it cannot once numpy is loaded
    line = "from deniability.simulation.command_line import main; main()"
    for out, before in (("copied", ""), ("fresh", "import numpy; ")):
        command = [sys.executable, "-c", before + line, "paper", *TINY, "--quiet", "--out", out]
        subprocess.run(command, cwd=tmp_path, check=True)
    files = [f for f in (tmp_path / "copied").rglob("*") if f.is_file() and f.name != "manifest.json"]
    assert len(files) == 12
    for file in files:
        fresh = tmp_path / "fresh" / file.relative_to(tmp_path / "copied")
        assert file.read_bytes() == fresh.read_bytes(), file.name


@pytest.mark.slow
def test_a_font_goes_into_a_pdf_once(written):
    # plain and bold; Greek letters or ligatures kept apart would cost a copy of each, and much of the time
    for file in (written / "figures").glob("*.pdf"):
        assert file.read_bytes().count(b"/FontFile2") == 2, file.name


def test_a_failure_leaves_nothing_behind(tmp_path, monkeypatch):
    def broken(*args, **kwargs):
        raise RuntimeError("no")

    monkeypatch.setattr(study, "run_dynamic", broken)
    with pytest.raises(RuntimeError, match="no"):
        write_paper(SETTING, tmp_path / "out", AtOnce(), quiet=True)
    assert list(tmp_path.iterdir()) == []


def inside(text, fig):
    """Whether a piece of text lies on the page."""
    box = text.get_window_extent()
    return box.x0 >= -1 and box.y0 >= -1 and box.x1 <= fig.bbox.x1 + 1 and box.y1 <= fig.bbox.y1 + 1


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=["SIGTERM", "SIGINT"])
def test_an_end_before_the_end_is_one_word_and_leaves_nothing(number, tmp_path):
    # SIGTERM, as a queueing system sends it, or Ctrl-C, while both processes are at work
    line = "from deniability.simulation.command_line import main; main()"
    process = subprocess.Popen(
        [sys.executable, "-c", line, "paper", "--out", "out", "--quiet"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 60
    while not list(tmp_path.glob(".out-*")):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.send_signal(number)
    out, err = process.communicate(timeout=30)  # not before the helper, too, has closed its streams
    assert (process.returncode, out, err) == (1, "", "Interrupted.\n")
    assert list(tmp_path.iterdir()) == []


def test_a_helper_that_dies_is_one_message(tmp_path, monkeypatch, capsys):
    def dies(*_args, **_options):
        raise WorkerDiedError("a worker process ended by signal 9")

    monkeypatch.setattr(study, "write_paper", dies)
    monkeypatch.setattr("sys.argv", ["deniability", "paper", "--out", str(tmp_path / "out")])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 1
    assert capsys.readouterr().err == "a worker process ended by signal 9; nothing was written\n"


def check_layout(drawing):
    fig = drawing.figure
    assert fig.get_layout_engine() is None  # which would have all drawn once more for each file
    fig.draw_without_rendering()
    (legend,) = fig.legends
    for axes in fig.axes:
        assert not legend.get_window_extent().overlaps(axes.get_window_extent())  # no legend over data
        assert all(
            inside(t, fig) for t in (axes.xaxis.label, axes.yaxis.label, axes._left_title) if t.get_text()
        )
    boxes = [axes._left_title.get_window_extent() for axes in fig.axes]
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[i + 1 :])


def test_every_static_panel_has_the_bound_and_every_mechanism(result):
    points = result.exp1[result.exp1["n_targets"] == 4]
    curves = exact_curves(StaticSetting((4,), (1, 10), (0.1, 0.3), (0, 5, 20), 20), contenders())
    drawing = static_figure(points, curves, rows="delta", stem="exp1")
    assert len(drawing.figure.axes) == 4
    for axes, (delta, _) in zip(drawing.figure.axes, [(0.1, 1), (0.1, 10), (0.3, 1), (0.3, 10)], strict=True):
        bound = axes.lines[0]
        gaps = np.asarray(bound.get_xdata())
        assert np.asarray(bound.get_ydata()) == pytest.approx(np.maximum(0.0, 0.75 - gaps * delta))
        assert len(axes.lines) == 1 + 2 * len(contenders())
        (area,) = axes.patches  # what no private rule reaches
        assert area.get_xy()[:, 1].max() == pytest.approx(0.75)
        for line in axes.lines[2::2]:  # a broken line: an interval around each point
            low, value, high, gap = np.asarray(line.get_ydata()).reshape(-1, 4).T
            assert len(low) == 3
            assert ((low <= value) & (value <= high) & (high - low > 0.1)).all()
            assert np.isnan(gap).all()
    assert set(drawing.data["mechanism"]) == {*points["mechanism"], "lower_bound"}
    assert "20 trials" in drawing.caption
    check_layout(drawing)


def test_a_curve_that_lies_on_another_leaves_it_every_other_marker(result):
    points = result.exp1[result.exp1["n_targets"] == 4]
    curves = exact_curves(StaticSetting((4,), (1, 10), (0.1, 0.3), (0, 5, 20), 20), contenders())
    axes = static_figure(points, curves, rows="delta", stem="exp1").figure.axes[0]
    sizes = [
        len(line.get_xdata()[slice(line.get_markevery()[0], None, line.get_markevery()[1])])
        for line in axes.lines[2::2]
    ]
    # at run length 1 all counters are one, and RR is nearly uniform, but not quite
    counters = [name == "tca" for name, _ in contenders()]
    assert [size for size, one in zip(sizes, counters, strict=True) if one] == [3, 1, 1, 1]
    assert [size for size, one in zip(sizes, counters, strict=True) if not one] == [3, 3, 3, 3]


def test_running_averages_are_drawn_with_bands(result):
    drawing = dynamic_figure(result.exp2, seeds=3, setting="5 targets")
    assert len(drawing.figure.axes) == 3
    assert all(len(axes.lines) == len(axes.collections) == len(contenders()) for axes in drawing.figure.axes)
    assert "3 seeds" in drawing.caption
    check_layout(drawing)


def test_a_long_run_is_thinned_for_drawing_from_first_to_last_step(result):
    long = pd.concat([result.exp2.assign(step=result.exp2["step"] + 12 * i) for i in range(100)])
    drawn = dynamic_figure(long, seeds=3, setting="5 targets").data
    assert drawn["step"].min() == 1
    assert drawn["step"].max() == 1200
    assert drawn["step"].nunique() == 200


def test_the_appendix_shows_where_the_rules_cross(result):
    points = result.exp1[(result.exp1["n_targets"] == 6) & (result.exp1["delta"] == 0.1)]
    curves = exact_curves(StaticSetting((6,), (1, 10), (0.1,), (0, 5, 20), 20), contenders())
    crossing = exact_crossing(50, 0.1, (10, 20), (1, 5, 100))
    drawing = static_figure(points, curves, rows="n_targets", stem="exp1-appendix", crossing=crossing)
    assert len(drawing.figure.axes) == 4
    for axes in drawing.figure.axes[2:]:
        assert axes.get_xscale() == "log"
        assert len(axes.lines) == 3  # the counter, the exponential mechanism, the bound
        assert len(axes.patches) == 1  # what lies below the bound
    assert "Last row" in drawing.caption
    check_layout(drawing)
