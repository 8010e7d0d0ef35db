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
    assert beliefs.average(60.0) == pytest.approx(np.mean(expected), rel=1e-9)


@given(history=events)
def test_levels_stay_probabilities(history):
    beliefs = Beliefs(4, 0.3, 5.0, 0.99)
    for t, h, f, a in sorted(history):
        beliefs.add(np.array([h]), t, evidence_for=f, evidence_against=a)
    assert all(0.0 < beliefs.level(holder, 50.0) < 1.0 for holder in range(4))


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


def test_a_long_time_under_a_strong_decay_loses_nothing():
    # 0.5 ** 2000 is no double: what is kept has to be brought to a new epoch in between
    beliefs = Beliefs(2, 0.2, 4.0, 0.5)
    history = [(100.0 * n, n % 2, 1.0, 2.0) for n in range(21)]
    for t, h, f, a in history:
        beliefs.add(h, t, evidence_for=f, evidence_against=a)
    expected = [by_the_definition(history, h, 2001.0, 0.2, 4.0, 0.5) for h in range(2)]
    assert expected[0] == pytest.approx((0.8 + 0.5) / (4.0 + 1.5))
    assert [beliefs.level(h, 2001.0) for h in range(2)] == pytest.approx(expected, rel=1e-12)


def test_more_holders_than_first_thought_of_and_newcomers_in_their_places():
    beliefs = Beliefs(1000, 0.2, 4.0, 0.99)
    beliefs.add(np.arange(0, 100), 0.0, evidence_for=1.0)
    for holder in range(0, 100, 2):
        beliefs.forget(holder)
    beliefs.add(np.arange(500, 540), 0.0, evidence_against=1.0)
    kept, new = (0.8 + 1.0) / 5.0, 0.8 / 5.0
    assert [beliefs.level(h, 0.0) for h in (0, 1, 99, 500, 539, 540)] == pytest.approx(
        [0.2, kept, kept, new, new, 0.2]
    )
    assert beliefs.average(0.0) == pytest.approx((50 * kept + 40 * new + 910 * 0.2) / 1000)
