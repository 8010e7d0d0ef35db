"""Progress on stderr: how far, and how long still as soon as that is known, by a clock that the test turns."""

import io

import pytest

from deniability.simulation import progress as module
from deniability.simulation.progress import progress


@pytest.fixture
def clock(monkeypatch):
    """Seconds by which everything is measured; `clock[0]` is now."""
    now = [100.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    return now


def told(clock, capsys, steps, total, **options):
    """Lines on stderr for steps of (seconds since the one before, number done)."""
    with progress("work", total, **options) as advance:
        for seconds, done in steps:
            clock[0] += seconds
            advance(done)
    return capsys.readouterr().err.splitlines()


def test_the_start_is_no_step(clock, capsys):
    # a minute of preparation, then 2 s a step: ten steps are done in 78 s, and ninety more take 180 s
    lines = told(clock, capsys, [(60.0, 1), *((2.0, done) for done in range(2, 11))], 100)
    assert lines == ["work: 1 of 100", "work: 6 of 100"]
    lines = told(clock, capsys, [(60.0, 1), *((2.0, done) for done in range(2, 12))], 100)
    assert lines[-1] == "work: 11 of 100, about 3 min left"


def test_nothing_is_said_of_few_steps(clock, capsys):
    lines = told(clock, capsys, [(10.0, 1), (10.0, 2), (10.0, 3)], 4)
    assert lines == ["work: 1 of 4", "work: 2 of 4", "work: 3 of 4"]


def test_what_was_done_before_says_nothing_about_the_pace(clock, capsys):
    # 900 of 1000 runs are there; the others take 4 s each, and the first one 20 s more
    steps = [(0.0, 900), (24.0, 901), *((4.0, done) for done in range(902, 912))]
    lines = told(clock, capsys, steps, 1000, resumes=True)
    assert lines[0] == "work: 901 of 1000"
    assert lines[-1] == "work: 910 of 1000, about 6 min left"


def test_a_pair_of_workers_is_judged_by_what_both_do(clock, capsys):
    # chunks of 5 arrive two at a time, every 10 s: a step a second
    steps = [(30.0, 5), (0.0, 10)]
    for pair in range(1, 8):
        steps += [(10.0, 10 * pair + 5), (0.0, 10 * pair + 10)]
    line = told(clock, capsys, steps, 1000)[-1]
    done, _, left = line.removeprefix("work: ").partition(" of 1000, about ")
    minutes = float(left.removesuffix(" min left"))
    assert minutes == pytest.approx((1000 - int(done)) / 60, rel=0.1)


def test_a_bar_says_nothing_before_it_is_known(clock, monkeypatch):
    # rich asks its own clock; what is said about the rest is ours
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    screen = Terminal()
    monkeypatch.setattr(module.sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    with progress("work", 100) as advance:
        clock[0] += 60.0
        for done in range(1, 9):
            advance(done)
            clock[0] += 2.0
        early = screen.getvalue()
        advance(9)
    assert "left" not in early
    assert "0:0" not in early
    assert "about 3 min left" in screen.getvalue()


def test_without_a_terminal_it_is_a_line_now_and_then(clock, capsys):
    # one a ten seconds at most; 40 runs were there before, and the goal may move while it is under way
    with progress("study", 100, resumes=True) as advance:
        for moment, done, total in [(1, 40, 100), (5, 45, 100), (21, 60, 100), (22, 61, 100)]:
            clock[0] = 100.0 + moment
            advance(done, total)
        for done in range(62, 69):
            advance(done, 100)
        clock[0] = 100.0 + 205
        advance(70, 7000)
    # 25 runs in the 200 s after the first step: the other 6930 take 15.4 hours
    assert capsys.readouterr().err.splitlines() == [
        "study: 60 of 100",
        "study: 70 of 7000, about 15.4 h left",
    ]


def test_quiet_is_silent(clock, capsys):
    assert told(clock, capsys, [(20.0, i) for i in range(1, 20)], 20, quiet=True) == []
