"""The final tables of a finished batch: damage is seen and mended, and nothing of an earlier batch stays there."""

import json

import pyarrow.parquet as pq
import pytest

from deniability.simulation import batches, run
from deniability.simulation.batch_errors import BatchInterruptedError
from deniability.simulation.final_tables import EVENT_TABLES

from .batch_makers import STUDY, contents, make, study


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Four runs with event logs, finished, and the bytes of their tables."""
    folder = tmp_path_factory.mktemp("made")
    scenario = study(folder, STUDY, "sweep.replicates=1")
    make(scenario, folder / "out", events=True)
    return scenario, folder / "out", contents(folder / "out")


def shortened(path):
    """A sound Parquet file that lacks the last row of what was there."""
    table = pq.read_table(path)
    pq.write_table(table.slice(0, len(table) - 1), path)


DAMAGE = {
    "missing": lambda path: path.unlink(),
    "cut short": lambda path: path.write_bytes(path.read_bytes()[:1000]),
    "empty": lambda path: path.write_bytes(b""),
    "too few rows": shortened,
}


@pytest.mark.parametrize("how", DAMAGE)
@pytest.mark.parametrize("name", ["runs", "groups", "series", "events/reports", "events/access"])
def test_a_table_that_is_not_whole_is_made_again_from_the_parts(made, name, how):
    # a batch that says "done" over a broken table would be believed
    scenario, out, expected = made
    DAMAGE[how](out / f"{name}.parquet")
    told = []
    again = make(scenario, out, events=True, tell=told.append)
    assert (again.n_made, again.n_done) == (0, 4)
    assert contents(out) == expected
    assert told == [
        f"{name}.parquet in {out}: missing or damaged, so the tables are made again from the parts."
    ]
    assert make(scenario, out, events=True, tell=told.append).n_done == 4
    assert len(told) == 1


def test_the_manifest_counts_the_rows_of_every_table(made):
    # what the next call compares with the footers, so that it need not read the tables
    _, out, expected = made
    rows = json.loads((out / "manifest.json").read_text())["tables"]
    assert rows == {name: pq.read_metadata(out / name).num_rows for name in expected}
    assert set(rows) == {"runs.parquet", "groups.parquet", "series.parquet"} | {
        f"events/{name}.parquet" for name in EVENT_TABLES
    }


def test_a_run_has_the_event_tables_that_are_known_here(made):
    scenario, _, _ = made
    assert {*run(scenario).tables} - {"series"} == {*EVENT_TABLES}


def test_a_batch_killed_while_its_tables_are_replaced_is_not_declared_done(made, monkeypatch):
    # some tables are new then and some old; only the manifest can tell
    scenario, out, expected = made

    def killed(*_args, **_options):
        raise KeyboardInterrupt

    (out / "series.parquet").unlink()
    with monkeypatch.context() as patched:
        patched.setattr(batches, "assemble", killed)
        with pytest.raises(BatchInterruptedError):
            make(scenario, out, events=True)
    assert json.loads((out / "manifest.json").read_text())["ended"] is None
    make(scenario, out, events=True)
    assert contents(out) == expected


def test_what_a_kill_left_is_cleared_away_though_nothing_is_left_to_run(made):
    scenario, out, expected = made
    left = [out / ".tables-x" / "runs.parquet", out / "parts" / ".writing-000009-0123456789abcdef.parquet"]
    left.append(out / ".manifest.json")
    for path in left:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"half")
    assert make(scenario, out, events=True).n_made == 0
    assert not any(path.exists() for path in left)
    assert not (out / ".tables-x").exists()
    assert contents(out) == expected


def test_event_tables_go_with_the_batch_that_kept_them(tmp_path):
    # else logs of other runs would lie beside the new runs.parquet
    scenario = study(tmp_path, STUDY, "sweep.replicates=1")
    make(scenario, tmp_path / "out", events=True)
    other = study(tmp_path, STUDY, "sweep.replicates=1", "incidents.rate=4.5")
    make(other, tmp_path / "out", force=True)
    make(other, tmp_path / "fresh")
    assert contents(tmp_path / "out") == contents(tmp_path / "fresh")
    assert not (tmp_path / "out" / "events").exists()
    # also where an earlier version has left some
    (tmp_path / "out" / "events").mkdir()
    (tmp_path / "out" / "events" / "reports.parquet").write_bytes(b"of another batch")
    (tmp_path / "out" / "events" / "mine.parquet").write_bytes(b"somebody's own")
    make(other, tmp_path / "out")
    assert [path.name for path in (tmp_path / "out" / "events").iterdir()] == ["mine.parquet"]
