"""`--plugin FILE` on every verb that takes a mechanism: the name is known there, in worker processes too."""

import json
import re
from pathlib import Path

import numpy as np
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


def test_the_example_of_the_page_on_plugins_works(deniability, tmp_path):
    page = (Path(__file__).parents[2] / "docs" / "plugins.md").read_text(encoding="utf-8")
    example = page.split("```python\n")[1].split("```")[0]
    (tmp_path / "threshold.py").write_text(example, encoding="utf-8")
    (tmp_path / "study.toml").write_text(STUDY.replace("blindfold", "threshold"), encoding="utf-8")
    code, out, err = deniability("run", "study.toml", "--json", "--plugin", "threshold.py")
    assert code == 0, err
    assert json.loads(out)["mechanism"] == "threshold"
    # its law is what it does
    made = MECHANISMS["threshold"](0.1, 10)
    counts = np.array([[2, 1, 5, 0], [1, 0, 1, 1]])
    law = np.exp(made.log_probabilities(counts))
    assert law.tolist() == [[0.5, 0.0, 0.5, 0.0], [0.25, 0.25, 0.25, 0.25]]
    made.reset(2, 4, np.random.default_rng(1))
    assert all(law[[0, 1], made.select(counts)].min() > 0.0 for _ in range(100))


@pytest.mark.parametrize(
    ("where", "told"),
    [
        ("import sys\nsys.exit(0)\n", "plugin mine.py cannot be loaded: SystemExit: 0\n"),
        (
            PLUGIN + "\n    def select(self, active_reports):\n        raise SystemExit(0)\n",
            "code of the run wanted to leave Python: sys.exit(0)",
        ),
    ],
    ids=["when loaded", "in a run"],
)
def test_a_plugin_cannot_end_the_process_as_if_all_were_well(deniability, tmp_path, where, told):
    (tmp_path / "mine.py").write_text(where, encoding="utf-8")
    (tmp_path / "study.toml").write_text(STUDY, encoding="utf-8")
    words = ("run", "study.toml", "--json", "--plugin", "mine.py")
    if where.startswith("import"):
        assert deniability(*words) == (2, "", told)
    else:
        with pytest.raises(RuntimeError, match=re.escape(told)):
            deniability(*words)
