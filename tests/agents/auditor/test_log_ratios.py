"""How one report more or less changes the law of a decision, against the law itself in both worlds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniability.agents.auditor.mechanisms import NO_CANDIDATE, MemorylessMechanism, build

MEMORYLESS = ("exponential", "greedy", "rr", "uniform")
WORLDS = [(c, change) for c in range(3) for change in (1, -1)]


def has_world(counts, target, change):
    return counts[target] >= (1 if change < 0 else 0)


def log_ratios(mechanism, counts, audited):
    targets, changes = np.array(WORLDS).T
    return mechanism.log_ratios(np.array(counts), np.array(audited), targets, changes)


@pytest.mark.parametrize("name", MEMORYLESS)
@settings(max_examples=60, deadline=None)
@given(st.data())
def test_it_is_the_difference_of_two_log_probabilities(name, data):
    delta = data.draw(st.sampled_from([0.01, 0.3, 0.9]))
    row = st.lists(st.sampled_from([NO_CANDIDATE, 0, 1, 2, 7, 5000]), min_size=3, max_size=3).filter(
        lambda counts: max(counts) >= 0
    )
    counts = np.array(data.draw(st.lists(row, min_size=1, max_size=4)))
    mechanism = build(name, delta, 10)
    here = mechanism.log_probabilities(counts)
    audited = [data.draw(st.sampled_from(np.flatnonzero(chances > -np.inf).tolist())) for chances in here]
    found = log_ratios(mechanism, counts, audited)
    assert found.shape == (len(counts), len(WORLDS))
    assert not np.any(np.isnan(found) | (found == np.inf))
    for d, a in enumerate(audited):
        for w, (c, change) in enumerate(WORLDS):
            if has_world(counts[d], c, change):
                there = counts[d].copy()
                there[c] += change
                expected = mechanism.log_probabilities(there[None, :])[0, a] - here[d, a]
                assert found[d, w] == expected or found[d, w] == pytest.approx(expected, abs=1e-11)


def test_what_is_impossible_here_or_there_is_told_by_its_sign():
    greedy = build("greedy", 0.1, 10)
    # target 1 has most: with one report less they are three in a tie, and the audit of 0 is possible there alone
    found = log_ratios(greedy, [[1, 2, 1]], [1])[0]
    assert found[WORLDS.index((1, 1))] == 0.0
    assert found[WORLDS.index((1, -1))] == pytest.approx(-np.log(3))
    assert found[WORLDS.index((0, 1))] == pytest.approx(-np.log(2))
    assert log_ratios(greedy, [[2, 2, 1]], [1])[0][WORLDS.index((0, 1))] == -np.inf
    assert log_ratios(greedy, [[1, 2, 1]], [0])[0][WORLDS.index((1, -1))] == np.inf


@pytest.mark.parametrize("highest", [3, 10**6])
def test_closed_form_of_the_exponential_mechanism_equals_the_general_way(highest):
    rng = np.random.default_rng(1)
    mechanism = build("exponential", 0.2, 10)
    assert type(mechanism).log_ratios is not MemorylessMechanism.log_ratios
    counts = rng.integers(1, highest + 1, (50, 3))
    audited = rng.integers(0, 3, 50)
    targets, changes = np.array(WORLDS).T
    general = MemorylessMechanism.log_ratios(mechanism, counts, audited, targets, changes)
    assert mechanism.log_ratios(counts, audited, targets, changes) == pytest.approx(
        general, rel=1e-9, abs=1e-9
    )
