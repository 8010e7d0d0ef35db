"""Reports older than the horizon, and horizons in a row."""

import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution
from hypothesis import given
from hypothesis import strategies as st

from deniability.agents.auditor.privacy import (
    counter_delta_at_age,
    delta_for_p_rand,
    different_targets_group_delta,
    p_rand_for_delta,
    renewed_counter_delta,
    renewed_delta,
    rr_delta_at_age,
    same_counter_group_delta,
    sigma_for_delta,
    toeplitz_sensitivity,
)

DELTAS = st.floats(1e-4, 0.99)


@given(DELTAS, st.integers(1, 6))
def test_the_general_bound_is_attained_by_flags_that_show_the_report_with_probability_delta(delta, m):
    """In each horizon a flag goes up with probability delta if the report is there, else never.

    Total variation of m independent flags, over all 2^m outcomes.
    """
    ups = np.array([bin(i).count("1") for i in range(2**m)])
    with_report = delta**ups * (1.0 - delta) ** (m - ups)
    without = (ups == 0).astype(float)
    total_variation = 0.5 * np.abs(with_report - without).sum()
    assert renewed_delta(delta, m) == pytest.approx(total_variation, rel=1e-10)


@given(DELTAS, st.integers(1, 30), st.integers(1, 10))
def test_renewed_counters_are_never_worse_than_the_general_bound(delta, m, k):
    assert renewed_counter_delta(delta, m, 1) <= renewed_delta(delta, m) * (1.0 + 1e-10)
    assert renewed_counter_delta(delta, 1, k) == pytest.approx(same_counter_group_delta(delta, k), rel=1e-12)
    # m fresh counters are like m different targets
    assert renewed_counter_delta(delta, m, 1) == pytest.approx(
        different_targets_group_delta(delta, m), rel=1e-12
    )
    assert renewed_counter_delta(delta, 0, k) == 0.0
    assert renewed_delta(delta, 0) == 0.0


def test_renewed_counters_agree_with_an_independent_accountant():
    one = privacy_loss_distribution.from_gaussian_mechanism(
        sigma_for_delta(0.1, 1.0), sensitivity=2, value_discretization_interval=1e-3
    )
    expected = one.self_compose(4).get_delta_for_epsilon(0.0)
    assert renewed_counter_delta(0.1, 4, 2) == pytest.approx(expected, abs=1e-6)


@given(DELTAS, st.integers(1, 1000), st.integers(0, 5000))
def test_randomized_response_pays_per_decision(delta, horizon, age):
    p_rand = p_rand_for_delta(delta, horizon)
    if age:
        expected = delta_for_p_rand(p_rand, age)
        assert rr_delta_at_age(delta, horizon, age) == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert rr_delta_at_age(delta, horizon, horizon * 3) == pytest.approx(renewed_delta(delta, 3), rel=1e-12)


def test_going_on_is_far_cheaper_than_renewing():
    """A Toeplitz counter at delta .1 for 1000 decisions, and a report that stays active for 10,000."""
    going_on = counter_delta_at_age(0.1, toeplitz_sensitivity(1000), toeplitz_sensitivity(10_000))
    assert going_on == pytest.approx(0.1106, abs=5e-5)
    assert renewed_counter_delta(0.1, 10, 1) == pytest.approx(0.3089, abs=5e-5)
    assert renewed_delta(0.1, 10) == pytest.approx(0.6513, abs=5e-5)


@given(DELTAS, st.integers(1, 10**5), st.integers(1, 10**5))
def test_a_counter_costs_delta_at_its_horizon_less_before_and_more_after(delta, horizon, age):
    value = counter_delta_at_age(delta, toeplitz_sensitivity(horizon), toeplitz_sensitivity(age))
    if age == horizon:
        assert value == pytest.approx(delta, rel=1e-12)
    else:
        assert (value < delta) == (age < horizon)
