"""Options that several verbs share: what they refuse, they refuse alike, before any work, in one clear line."""

import pytest

from deniability.scenarios import InputError
from deniability.simulation import load_scenario, run

LARGEST = 2**63 - 1
RUN = ["run", "five-labs", "--quiet"]
TWIN = ["twin", "five-labs", "--pairs", "1", "--quiet"]
SIZES = ["--targets", "3", "--horizon", "4", "--delta", "0.1", "--quiet"]
LEAKAGE = ["leakage", "--mechanism", "tca", "--transcripts", "2", *SIZES]
PLAN = ["plan", *SIZES]
PAPER = ["paper", "--quick", "--quiet"]
BATCH = ["batch", "five-labs", "--quiet"]
SENSITIVITY = ["sensitivity", "five-labs", "--quiet"]
VALIDATION = ["validation", "five-labs", "--quiet"]
REPORT = ["report", "results"]
WRITERS = [RUN, TWIN, LEAKAGE, PLAN, PAPER, BATCH, SENSITIVITY, VALIDATION, REPORT]
DRAWERS = [RUN, TWIN, LEAKAGE, PAPER, BATCH, [*SENSITIVITY, "--out", "o"], VALIDATION]


def name(words):
    return words[0]


@pytest.fixture
def refused(tmp_path, monkeypatch, deniability):
    """Run the command line in an empty directory, where it has to refuse; gives its one line."""
    monkeypatch.chdir(tmp_path)

    def call(*words):
        code, out, err = deniability(*words)
        assert (code, out) == (2, "")
        (line,) = err.splitlines()
        return line

    return call


@pytest.mark.parametrize("words", WRITERS, ids=name)
def test_an_empty_out_is_not_the_current_directory(refused, tmp_path, words):
    assert refused(*words, "--out", "").startswith("--out '': must name a directory")
    assert refused(*words, "--out", "caf\udce9").startswith("--out 'caf\\udce9': must be a name in UTF-8")
    assert refused(*words, "--out", " ").startswith("--out ' ': must name a directory")
    assert list(tmp_path.iterdir()) == []


def test_an_empty_name_of_results_is_not_the_current_directory(refused):
    assert refused("report", "").startswith("DIR '': must name a directory")
    assert refused("run", "--run-id", "a", "--from", "").startswith("--from '': must name a directory")


@pytest.mark.parametrize("words", [w for w in WRITERS if w not in (SENSITIVITY, REPORT)], ids=name)
def test_out_below_a_file_is_refused_before_any_work(refused, tmp_path, words):
    (tmp_path / "f").write_text("a file")
    assert refused(*words, "--out", "f") == "--out f: this is a file, not a directory"
    assert refused(*words, "--out", "f/sub/more") == "--out f/sub/more: f is a file, not a directory"
    assert [file.name for file in tmp_path.iterdir()] == ["f"]


def test_out_below_a_file_is_refused_by_studies_of_other_input(refused, tmp_path):
    (tmp_path / "f").write_text("a file")
    ranges = ["--set", 'sweep.sample.linear."incidents.rate"=[0.5, 2.0]']
    assert refused(*SENSITIVITY, *ranges, "--out", "f/sub") == "--out f/sub: f is a file, not a directory"
    assert refused(*REPORT, "--out", "f/sub") == "--out f/sub: f is a file, not a directory"


@pytest.mark.parametrize("seed", ["-1", "1.5", "a", "", str(LARGEST + 1), "1" + "0" * 5000])
@pytest.mark.parametrize("words", DRAWERS, ids=name)
def test_every_verb_takes_the_same_seeds(refused, tmp_path, words, seed):
    line = refused(*words, "--seed", seed)
    assert line == f"--seed {seed[:60]}: must be a whole number from 0 to {LARGEST}"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("words", [RUN, TWIN], ids=name)
@pytest.mark.parametrize(
    ("option", "given", "allowed"),
    [
        ("--mechanism", "tac", 'auditor.mechanism = "tac": there is no such name; did you mean "tca"?'),
        ("--mechanism", 'a"b', 'auditor.mechanism = "a\\"b": there is no such name'),
        ("--delta", "2", "auditor.delta = 2.0: must be a number greater than 0 and less than 1"),
        ("--delta", "nan", "auditor.delta = nan: must be a number greater than 0 and less than 1"),
        ("--set", "auditor.delta=2", "auditor.delta = 2: must be a number greater than 0 and less than 1"),
    ],
)
def test_messages_name_the_option_that_was_used(refused, words, option, given, allowed):
    assert refused(*words, option, given).startswith(f"{option}: {allowed}")


def test_leakage_names_the_option_that_was_used(refused):
    words = [word for word in LEAKAGE if word not in ("--mechanism", "tca")]
    line = refused(*words, "--mechanism", "tac")
    assert line.startswith("--mechanism tac: unknown mechanism 'tac': did you mean 'tca'?")
    assert refused(*LEAKAGE, "--delta", "2") == "--delta 2: must lie strictly between 0 and 1"
    line = refused(*LEAKAGE, "--counter", "toplitz")
    assert line.startswith("--counter toplitz: unknown counter 'toplitz': did you mean 'toeplitz'?")


@pytest.mark.parametrize("verb", [["run"], ["twin", "--pairs", "1"]], ids=name)
@pytest.mark.parametrize(
    ("words", "line"),
    [
        (
            ["--mechanism", "greedy", "--set", "auditor.mechanism=tca"],
            'auditor.mechanism: given twice, "tca" by --set and "greedy" by --mechanism; give it once',
        ),
        (
            ["--set", "auditor={mechanism='tca'}", "--mechanism", "greedy"],
            'auditor.mechanism: given twice, "tca" by --set and "greedy" by --mechanism; give it once',
        ),
        (
            ["--delta", "0.2", "--set", "auditor.delta=0.1"],
            "auditor.delta: given twice, 0.1 by --set and 0.2 by --delta; give it once",
        ),
        (
            ["--set", "time.periods=9", "--set", "auditor.delta=0.1", "--set", "time={periods=8}"],
            "time.periods: given twice, 9 by --set and 8 by --set; give it once",
        ),
    ],
)
def test_an_option_and_a_setting_that_contradict_each_other(refused, tmp_path, verb, words, line):
    assert refused(*verb, "five-labs", *words) == line
    assert list(tmp_path.iterdir()) == []


def test_options_and_settings_that_agree_or_speak_of_other_keys():
    found = load_scenario(
        "five-labs",
        mechanism="greedy",
        delta=0.2,
        overrides=["auditor.mechanism=greedy", "auditor.delta=0.20"],
    )
    assert (found.config.auditor.mechanism, found.config.auditor.delta) == ("greedy", 0.2)
    with pytest.raises(InputError, match=r"0\.3 by --set and 0\.2 by --delta"):
        run("five-labs", delta=0.2, overrides=["auditor.delta=0.3"])
