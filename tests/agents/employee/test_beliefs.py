"""Beta beliefs with lazy decay: what is read does not depend on when it was read before."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniability.agents.employee.beliefs import Beliefs

events = st.lists(
    st.tuples(st.floats(0, 50), st.integers(0, 3), st.floats(0, 2), st.floats(0, 2)), max_size=12
)


def by_the_definition(history, holder, now, mean, strength, decay):
    """Every piece of evidence on its own, decayed from its time to now."""
    good = sum(f * decay ** (now - t) for t, h, f, _ in history if h == holder)
    bad = sum(a * decay ** (now - t) for t, h, _, a in history if h == holder)
    return (mean * strength + good) / (strength + good + bad)


@given(history=events, looks=st.lists(st.floats(0, 50), max_size=5), decay=st.sampled_from([0.9, 0.99, 1.0]))
def test_lazy_decay_equals_the_definition(history, looks, decay):
    history = sorted(history)
    beliefs = Beliefs(4, 0.3, 5.0, decay)
    for t, h, f, a in history:
        for look in looks:
            if look <= t:
                beliefs.level(h, t)  # looking changes nothing
        beliefs.add(np.array([h]), t, evidence_for=f, evidence_against=a)
    expected = [by_the_definition(history, h, 60.0, 0.3, 5.0, decay) for h in range(4)]
    assert [beliefs.level(h, 60.0) for h in range(4)] == pytest.approx(expected, rel=1e-9)
    assert beliefs.levels(np.arange(4), 60.0) == pytest.approx(expected, rel=1e-9)
    assert beliefs.average(60.0) == pytest.approx(np.mean(expected), rel=1e-9)


@given(history=events)
def test_levels_stay_probabilities(history):
    beliefs = Beliefs(4, 0.3, 5.0, 0.99)
    for t, h, f, a in sorted(history):
        beliefs.add(np.array([h]), t, evidence_for=f, evidence_against=a)
    assert np.all((beliefs.levels(np.arange(4), 50.0) > 0) & (beliefs.levels(np.arange(4), 50.0) < 1))


def test_a_newcomer_has_only_the_prior():
    beliefs = Beliefs(2, 0.25, 4.0, 0.99)
    beliefs.add(np.array([0, 1]), 1.0, evidence_for=3.0)
    beliefs.forget(0)
    assert beliefs.level(0, 2.0) == 0.25
    assert beliefs.level(1, 2.0) > 0.25
    assert beliefs.average(2.0) == pytest.approx((0.25 + beliefs.level(1, 2.0)) / 2)
    beliefs.forget(0)  # nothing to forget: no error
    beliefs.add(np.array([0]), 3.0, evidence_for=1.0)
    assert beliefs.level(0, 3.0) == pytest.approx((1.0 + 1.0) / 5.0)


def test_evidence_fades_towards_the_prior():
    beliefs = Beliefs(1, 0.2, 4.0, 0.5)
    beliefs.add(np.array([0]), 0.0, evidence_for=4.0)
    assert beliefs.level(0, 0.0) == pytest.approx(4.8 / 8)
    assert beliefs.level(0, 1.0) == pytest.approx(2.8 / 6)
    assert beliefs.level(0, 100.0) == pytest.approx(0.2)
