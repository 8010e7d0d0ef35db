"""`--plugin FILE` on every verb that takes a mechanism: the name is known there, in worker processes too."""

import pytest

from deniability.agents import registry
from deniability.agents.auditor.mechanisms import MECHANISMS
from deniability.simulation.command_line import main

PLUGIN = '''
"""Audits at random, under another name."""

from deniability.agents.auditor.mechanisms.uniform import Uniform


class Blindfold(Uniform):
    id = "blindfold"
'''

STUDY = """
[time]
periods = 4
[labs.lab-a]
employees = 20
targets = ["x", "y"]
[incidents]
rate = 20.0
[auditor]
mechanism = "blindfold"
[sweep]
replicates = 1
[sweep.sample.linear]
"incidents.rate" = [5.0, 20.0]
"""

SIZES = ["--targets", "3", "--horizon", "4", "--delta", "0.1"]
VERBS = {
    "validate": ["study.toml"],
    "show": ["study.toml"],
    "run": ["study.toml", "--json"],
    "twin": ["study.toml", "--pairs", "2", "--jobs", "2"],
    "validation": ["study.toml", "--replicates", "2", "--jobs", "2"],
    "sensitivity": ["study.toml", "--metric", "harm", "--samples", "2", "--jobs", "1", "--out", "out"],
    "leakage": ["--mechanism", "blindfold", "--transcripts", "2", *SIZES],
}


@pytest.fixture
def deniability(tmp_path, monkeypatch, capsys):
    """Run the command line in an empty directory; what it loads is forgotten afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(registry, "_plugins", {})

    def call(*words):
        MECHANISMS._n_plugins = -1
        monkeypatch.setattr("sys.argv", ["deniability", *words])
        with pytest.raises(SystemExit) as stop:
            main()
        told = capsys.readouterr()
        return int(stop.value.code or 0), told.out, told.err

    yield call
    MECHANISMS._n_plugins = -1


@pytest.mark.parametrize("verb", VERBS)
def test_a_mechanism_of_ones_own_can_be_named(deniability, tmp_path, verb):
    (tmp_path / "mine.py").write_text(PLUGIN, encoding="utf-8")
    (tmp_path / "study.toml").write_text(STUDY, encoding="utf-8")
    code, out, err = deniability(verb, *VERBS[verb])
    assert (code, out) == (2, "")
    assert "blindfold" in err
    code, _, err = deniability(verb, *VERBS[verb], "--plugin", "mine.py")
    assert code == 0, err


@pytest.mark.parametrize("verb", VERBS)
def test_a_file_that_is_not_there_is_one_clear_message(deniability, tmp_path, verb):
    (tmp_path / "study.toml").write_text(STUDY, encoding="utf-8")
    assert deniability(verb, *VERBS[verb], "--plugin", "no.py") == (
        2,
        "",
        "plugin no.py: there is no such file\n",
    )
