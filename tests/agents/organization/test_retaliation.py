"""From posteriors to people: threshold, budget, ties, one person once."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from deniability.agents.organization.retaliation import acts_on, identified
from deniability.scenarios.schema import Organizations


def choose(posterior, person=None, tie=None, threshold=0.5, budget=None):
    posterior = np.asarray(posterior, dtype=float)
    person = np.arange(len(posterior)) if person is None else np.asarray(person)
    tie = np.linspace(0, 1, len(posterior)) if tie is None else np.asarray(tie)
    acts = acts_on(posterior, Organizations(threshold=threshold))
    return identified(posterior, person, tie, acts=acts, budget=budget).tolist()


def test_threshold_is_inclusive_and_most_suspect_comes_first():
    assert choose([0.5, 0.49, 0.9]) == [2, 0]


def test_budget_takes_the_most_suspect():
    assert choose([0.6, 0.8, 0.7], budget=2) == [1, 2]
    assert choose([0.6, 0.8], budget=0) == []


def test_a_person_under_two_suspicions_counts_once_for_the_stronger():
    assert choose([0.6, 0.9, 0.7], person=[4, 4, 5], budget=2) == [1, 2]


def test_ties_go_by_the_tie_break():
    assert choose([0.7, 0.7, 0.7], tie=[0.9, 0.1, 0.5], budget=2) == [1, 2]


def test_nobody_to_suspect():
    assert choose([]) == []


@given(
    rows=st.lists(st.tuples(st.floats(0, 1), st.integers(0, 5), st.floats(0, 1)), max_size=20),
    threshold=st.floats(0.01, 1),
    budget=st.one_of(st.none(), st.integers(0, 6)),
)
def test_invariants(rows, threshold, budget):
    posterior, person, tie = (np.array(c) for c in zip(*rows, strict=True)) if rows else (np.zeros(0),) * 3
    chosen = choose(posterior, person, tie, threshold, budget)
    assert len({person[i] for i in chosen}) == len(chosen)
    assert all(posterior[i] >= threshold for i in chosen)
    assert budget is None or len(chosen) <= budget
    wanted = {p for p, q in zip(person, posterior, strict=True) if q >= threshold}
    assert len(chosen) == (len(wanted) if budget is None else min(budget, len(wanted)))
    left = wanted - {person[i] for i in chosen}
    if left:
        best_left = max(posterior[j] for j in range(len(rows)) if person[j] in left)
        assert all(posterior[i] >= best_left for i in chosen)


@given(
    posterior=st.floats(0, 1),
    gain=st.floats(0, 1e3),
    cost=st.floats(0, 1e3),
)
def test_expected_gain_acts_where_acting_is_worth_more_than_nothing(posterior, gain, cost):
    policy = Organizations(criterion="expected-gain", gain=gain, cost=cost, threshold=1.0)
    (acts,) = acts_on(np.array([posterior]), policy)
    worth = posterior * gain - (1 - posterior) * cost
    assert acts == (worth > 0)
    if gain + cost > 1e-6 and abs(posterior - cost / (gain + cost)) > 1e-9:
        assert acts == (posterior > cost / (gain + cost))  # the threshold that it comes to


def test_a_lab_that_gains_nothing_does_nothing_and_one_that_risks_nothing_hits_anyone_possible():
    posterior = np.array([0.0, 0.3, 1.0])
    never = Organizations(criterion="expected-gain", gain=0.0, cost=1.0)
    always = Organizations(criterion="expected-gain", gain=1.0, cost=0.0)
    assert acts_on(posterior, never).tolist() == [False, False, False]
    assert acts_on(posterior, always).tolist() == [False, True, True]


def test_budget_holds_under_expected_gain_too():
    policy = Organizations(criterion="expected-gain", gain=3.0, cost=1.0)
    posterior = np.array([0.2, 0.5, 0.9, 0.26])
    acts = acts_on(posterior, policy)
    tie = np.zeros(4)
    assert identified(posterior, np.arange(4), tie, acts=acts, budget=2).tolist() == [2, 1]
    assert identified(posterior, np.arange(4), tie, acts=acts, budget=None).tolist() == [2, 1, 3]
