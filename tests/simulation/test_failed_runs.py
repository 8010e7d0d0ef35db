"""A run that goes wrong is a row with its error, whatever was raised and whatever it left behind."""

import io

import pandas as pd
import pyarrow.parquet as pq
import pytest

from deniability.simulation import chunks
from deniability.simulation.batch_errors import BatchError
from deniability.simulation.batch_plan import BatchPlan, PlannedRun
from deniability.simulation.chunks import Chunk, Environment, failed_chunk, run_chunk
from deniability.simulation.executors import SerialExecutor
from deniability.simulation.run_records import RunRecord, encoded
from deniability.simulation.texts import storable, told

from .batch_makers import contents, make, study

RUN = PlannedRun("0" * 16, 0, 0, 1)


class SilentError(Exception):
    def __str__(self):
        raise ValueError("no words")


class OddError(Exception):
    def __str__(self):
        return 7


ERRORS = [
    (RuntimeError("cannot read caf\udce9.csv"), r"RuntimeError: cannot read caf\udce9.csv"),
    (SilentError(), "SilentError (it cannot be told: ValueError)"),
    (OddError(), "OddError (it cannot be told: TypeError)"),
    (KeyError("x\ny"), r"KeyError: 'x\ny'"),
    (RuntimeError("it broke:\n  twice"), "RuntimeError: it broke: twice"),
    (RuntimeError(), "RuntimeError:"),
]


@pytest.mark.parametrize(("error", "text"), ERRORS)
def test_every_error_can_be_told_and_stored(error, text):
    assert told(error) == text
    content = encoded([RunRecord.of_failure(RUN, error)], {0: {}}, {})
    assert pq.read_table(io.BytesIO(content))["error"].to_pylist() == [text]


def test_a_long_error_is_cut_and_a_given_reason_is_kept():
    record = RunRecord.of_failure(RUN, "a\udce9 " * 1000)
    assert (record.status, len(record.error)) == ("failed", 500)
    assert storable(record.error) == record.error


@pytest.fixture
def odd(monkeypatch):
    """Let every third run of a batch be something else; gives the ids of those runs, in the order of work."""

    def install(spoil):
        made, spoilt = [], []
        simulated, run_one = chunks.simulated, chunks.run_one

        def watched(config, run, *, events):
            made.append(run.run_id)
            return run_one(config, run, events=events)

        def other(config, seed):
            if len(made) % 3:
                return simulated(config, seed)
            spoilt.append(made[-1])
            return spoil(*simulated(config, seed))

        monkeypatch.setattr(chunks, "run_one", watched)
        monkeypatch.setattr(chunks, "simulated", other)
        return spoilt

    return install


def raising(error):
    def spoil(_tables, _metrics):
        raise error

    return spoil


def with_foreign_text(tables, metrics):
    series = tables["series"]
    return tables | {
        "series": series.assign(note=pd.Series(["caf\udce9"] * len(series), dtype=object))
    }, metrics


def with_words_for_a_metric(tables, metrics):
    return tables, metrics | {"harm": "much"}


@pytest.mark.parametrize(
    ("spoil", "error"),
    [
        (raising(ERRORS[0][0]), ERRORS[0][1]),
        (raising(ERRORS[1][0]), ERRORS[1][1]),
        (with_foreign_text, "UnicodeEncodeError: "),
        (with_words_for_a_metric, "ArrowInvalid: "),
    ],
)
def test_one_bad_run_in_three_leaves_the_others_as_they_are(odd, tmp_path, monkeypatch, spoil, error):
    scenario = study(tmp_path)
    whole = make(scenario, tmp_path / "whole", replicates=6).runs
    spoilt = odd(spoil)
    result = make(scenario, tmp_path / "out", replicates=6)
    assert len(spoilt) == 8
    assert set(result.errors) == set(spoilt)
    assert all(one.startswith(error) for one in result.errors.values())
    runs = result.runs
    good = ~runs["run_id"].isin(spoilt)
    assert list(runs["status"]) == ["done" if one else "failed" for one in good]
    pd.testing.assert_frame_equal(runs[good], whole[good], check_dtype=False)
    monkeypatch.undo()
    assert make(scenario, tmp_path / "out", replicates=6).n_made == 8  # tried again, and good this time
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


def test_results_that_are_lost_on_their_way_are_told_with_what_is_done(tmp_path):
    class LossyExecutor(SerialExecutor):
        n_calls = 0

        def submit(self, fn, /, *args, **kwargs):
            self.n_calls += 1
            if self.n_calls < 4:
                return super().submit(fn, *args, **kwargs)
            return super().submit(int, "caf\udce9")

    told_so = (
        r"A worker's results are lost to ValueError: .*caf\\udce9.*\. [1-9] of 12 runs are done and kept in"
    )
    with pytest.raises(BatchError, match=told_so):
        make(study(tmp_path), tmp_path / "out", executor=LossyExecutor())
    assert 0 < make(study(tmp_path), tmp_path / "out").n_made < 12


@pytest.fixture
def chunk(tmp_path):
    """Six runs of one cell."""
    plan = BatchPlan.of(study(tmp_path), 1)
    runs = tuple(plan.run(0, replicate) for replicate in range(6))
    return Chunk(Environment.here(), {0: plan.cells[0]}, runs, False)


def test_a_run_whose_tables_do_not_go_with_the_others_fails_alone(odd, chunk):
    def with_words_for_counts(tables, metrics):
        return tables | {"series": tables["series"].astype({"reports": str})}, metrics

    spoilt = odd(with_words_for_counts)
    result = run_chunk(chunk)
    assert list(result.errors) == spoilt == [chunk.runs[2].run_id, chunk.runs[5].run_id]
    assert all(error.startswith("ArrowTypeError: ") for error in result.errors.values())
    table = pq.read_table(io.BytesIO(result.content))
    assert table["run_id"].to_pylist() == [run.run_id for run in chunk.runs]
    assert table["status"].to_pylist() == ["done", "done", "failed"] * 2


def test_a_chunk_that_cannot_be_made_is_stored_whatever_the_reason(chunk):
    assert set(failed_chunk(chunk, "it\udce9 died").errors.values()) == {r"it\udce9 died"}
