"""Results on disk: what is written says the same when it is read, and nothing is written where it cannot be."""

import json

import pytest

from deniability.scenarios import content_hash, resolve_tree

STUDY = """
[scenario]
name = "order"
title = "Labs in an order of their own"
[time]
periods = 6
[incidents]
rate = 6.0
[labs.lab-b]
employees = 30
targets = ["y", "x"]
[labs.lab-a]
employees = 20
targets = ["z"]
"""


@pytest.fixture(autouse=True)
def empty(tmp_path, monkeypatch):
    """Every test works in an empty directory."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("verb", [["run"], ["twin", "--pairs", "1", "--jobs", "1"]])
def test_the_scenario_in_a_manifest_is_the_one_that_was_run(deniability, tmp_path, verb):
    # the order of labs is the order of the targets, which decides who meets which random number
    (tmp_path / "order.toml").write_text(STUDY)
    assert deniability(verb[0], "order.toml", *verb[1:], "--out", "out", "--quiet")[0] == 0
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert list(manifest["resolved_scenario"]["labs"]) == ["lab-b", "lab-a"]
    assert content_hash(resolve_tree(manifest["resolved_scenario"]).config) == manifest["content_hash"]


def test_two_runs_of_a_seed_write_the_same_manifest_but_for_the_clock(deniability, tmp_path):
    (tmp_path / "order.toml").write_text(STUDY)
    texts = []
    for place in ("a", "b"):
        assert deniability("run", "order.toml", "--out", place, "--quiet")[0] == 0
        lines = (tmp_path / place / "manifest.json").read_text().splitlines()
        texts.append([line for line in lines if not line.startswith(('  "started"', '  "ended"'))])
    clock_free = [[line for line in text if line.strip() not in ('"a",', '"b",')] for text in texts]
    assert clock_free[0] == clock_free[1]
