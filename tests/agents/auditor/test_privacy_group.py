"""Group privacy: the reference table, an independent accountant, exhaustive worst cases."""

from itertools import combinations_with_replacement, pairwise

import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution
from hypothesis import given
from hypothesis import strategies as st

from deniability.agents.auditor.privacy import (
    different_targets_group_delta,
    exponential_group_delta,
    linear_group_delta,
    mixed_group_delta,
    mu_for_delta,
    rr_group_delta,
    same_counter_group_delta,
    separated_group_delta,
    separated_sensitivity,
    sigma_for_delta,
    toeplitz_coefficients,
)

K = np.array([2.0, 5.0, 10.0])


def test_reference_table():
    delta = np.asarray(0.1)
    np.testing.assert_allclose(linear_group_delta(delta, K), [0.2, 0.5, 1.0], rtol=1e-15)
    np.testing.assert_allclose(same_counter_group_delta(delta, K), [0.1984, 0.4702, 0.7911], atol=5e-5)
    np.testing.assert_allclose(different_targets_group_delta(delta, K), [0.1411, 0.2213, 0.3089], atol=5e-5)
    np.testing.assert_allclose(exponential_group_delta(delta, K), [0.1982, 0.4658, 0.7721], atol=5e-5)
    np.testing.assert_array_equal(rr_group_delta(delta, K), 0.1)


@given(st.floats(1e-6, 0.999), st.integers(1, 50))
def test_one_report_has_delta_and_more_have_no_less_and_linear_is_worst(delta, k):
    bounds = (
        linear_group_delta,
        same_counter_group_delta,
        different_targets_group_delta,
        exponential_group_delta,
        rr_group_delta,
    )
    for bound in bounds:
        assert bound(delta, 0) == 0.0
        assert bound(delta, 1) == pytest.approx(delta, rel=1e-11)
        assert bound(delta, k + 1) >= bound(delta, k) * (1.0 - 1e-12)
        assert bound(delta, k) <= linear_group_delta(delta, k) * (1.0 + 1e-11)
    assert different_targets_group_delta(delta, k) <= same_counter_group_delta(delta, k)


@pytest.mark.parametrize("k", [1, 2, 5])
def test_counter_rows_agree_with_an_independent_accountant(k):
    """k reports in one counter shift by k; on k targets they are k independent releases, which compose."""
    sigma = sigma_for_delta(0.1, 1.0)
    together = privacy_loss_distribution.from_gaussian_mechanism(
        sigma, sensitivity=k, value_discretization_interval=1e-3
    )
    apart = privacy_loss_distribution.from_gaussian_mechanism(
        sigma, sensitivity=1, value_discretization_interval=1e-3
    ).self_compose(k)
    assert same_counter_group_delta(0.1, k) == pytest.approx(together.get_delta_for_epsilon(0.0), abs=1e-6)
    assert different_targets_group_delta(0.1, k) == pytest.approx(apart.get_delta_for_epsilon(0.0), abs=1e-6)


def test_mixed_counts_contain_both_other_rows():
    counts = np.array([[3.0, 0.0, 0.0], [1.0, 1.0, 1.0], [2.0, 1.0, 0.0]])
    values = mixed_group_delta(0.1, counts)
    assert values[0] == pytest.approx(same_counter_group_delta(0.1, 3), rel=1e-14)
    assert values[1] == pytest.approx(different_targets_group_delta(0.1, 3), rel=1e-14)
    assert values[1] < values[2] < values[0]
    sigma = sigma_for_delta(0.1, 1.0)  # norm sqrt(5)
    pld = privacy_loss_distribution.from_gaussian_mechanism(
        sigma, sensitivity=5**0.5, value_discretization_interval=1e-3
    )
    assert values[2] == pytest.approx(pld.get_delta_for_epsilon(0.0), abs=1e-6)


def _worst_choice(column, k, b):
    """Largest norm over every choice of at most k columns, any two at least b apart; by enumeration."""
    horizon = column.size
    columns = np.array([np.concatenate((np.zeros(j), column[: horizon - j])) for j in range(horizon)])
    worst = 0.0
    for size in range(k + 1):
        for chosen in combinations_with_replacement(range(horizon), size):
            if all(later - earlier >= b for earlier, later in pairwise(chosen)):
                worst = max(worst, float(np.linalg.norm(columns[list(chosen)].sum(axis=0))))
    return worst


@pytest.mark.parametrize("horizon", [1, 4, 7])
@pytest.mark.parametrize("separation", [0, 1, 2, 3, 9])
@pytest.mark.parametrize("k", [0, 1, 2, 3, 4])
def test_columns_0_b_2b_are_the_worst_of_all_admissible_choices(horizon, separation, k):
    generator = np.random.default_rng(horizon)
    decreasing = np.sort(generator.random(horizon))[::-1].copy()
    for column in (toeplitz_coefficients(horizon), np.ones(horizon), decreasing):
        assert separated_sensitivity(column, k, separation) == pytest.approx(
            _worst_choice(column, k, separation), rel=1e-12, abs=1e-15
        )


def test_without_monotone_coefficients_the_rule_would_be_wrong_and_is_refused():
    """Negative control of the enumeration: here columns 0 and 1 are not the worst."""
    column = np.array([1.0, 0.0, 2.0])
    naive = float(np.linalg.norm(column + np.concatenate(([0.0], column[:-1]))))
    assert _worst_choice(column, 2, 1) > naive + 0.1
    with pytest.raises(ValueError, match="not negative and not increasing"):
        separated_sensitivity(column, 2, 1)
    with pytest.raises(ValueError, match="at least 0"):
        separated_sensitivity(np.ones(3), -1, 1)


def test_time_between_reports_helps_and_its_ends_are_known():
    column = toeplitz_coefficients(1000)
    values = [separated_group_delta(0.1, column, 5, b) for b in (0, 1, 5, 20, 100, 200)]
    assert values[0] == pytest.approx(same_counter_group_delta(0.1, 5), rel=1e-12)
    assert np.all(np.diff(values) < 0.0)
    # never better than independent noise for each report, nor than one report
    assert values[-1] > 0.1
    # further apart than the horizon is long: only one fits
    assert separated_group_delta(0.1, column, 5, 1000) == pytest.approx(0.1, rel=1e-12)


def test_separated_sensitivity_of_long_horizons_is_the_direct_sum():
    column = toeplitz_coefficients(5000)
    direct = np.zeros(5000)
    for j in range(0, 7 * 300, 300):
        direct[j:] += column[: 5000 - j]
    assert separated_sensitivity(column, 7, 300) == pytest.approx(np.linalg.norm(direct), rel=1e-13)


def test_restarts_never_help_the_adversary():
    """Reports on both sides of a restart meet independent noise, and the columns before it are cut short.

    All restart times and all choices of two report times at horizon 6, by enumeration.
    """
    horizon = 6
    column = toeplitz_coefficients(horizon)
    whole = {b: separated_sensitivity(column, 2, b) for b in range(horizon)}
    for restart in range(1, horizon):
        for first in range(horizon):
            for second in range(first, horizon):
                shift = np.zeros(horizon)
                for j in (first, second):
                    end = restart if j < restart else horizon
                    shift[j:end] += column[: end - j]
                assert np.linalg.norm(shift) <= whole[second - first] + 1e-12


@pytest.mark.parametrize("k", [-1, 1.5])
def test_counts_of_reports_must_be_whole(k):
    for bound in (linear_group_delta, same_counter_group_delta, rr_group_delta, exponential_group_delta):
        with pytest.raises(ValueError, match="whole number"):
            bound(0.1, k)


def test_mu_scales_with_the_norm():
    assert mu_for_delta(same_counter_group_delta(0.1, 3)) == pytest.approx(3.0 * mu_for_delta(0.1), rel=1e-12)
