"""The Toeplitz counter's coefficients and sensitivity, against exact fractions and direct sums."""

from fractions import Fraction

import numpy as np
import pytest

from deniability.agents.auditor.privacy import toeplitz_coefficients, toeplitz_sensitivity


def test_first_coefficients():
    expected = [1.0, 1 / 2, 3 / 8, 5 / 16, 35 / 128]
    assert toeplitz_coefficients(5).tolist() == expected


def test_coefficients_obey_the_recursion_exactly_to_rounding():
    """f_k = (1 - 1/(2k)) f_{k-1} in exact fractions, across the seam between table and series (k = 256)."""
    coefficients = toeplitz_coefficients(600)
    exact = Fraction(1)
    for k, value in enumerate(coefficients):
        if k:
            exact *= Fraction(2 * k - 1, 2 * k)
        assert abs(Fraction(float(value)) / exact - 1) < Fraction(1, 2**51)


def test_coefficients_convolved_with_themselves_give_the_prefix_sum_matrix():
    coefficients = toeplitz_coefficients(300)
    np.testing.assert_allclose(np.convolve(coefficients, coefficients)[:300], 1.0, rtol=1e-13)


@pytest.mark.parametrize(
    ("horizon", "sensitivity"),
    [
        (1, 1.0),
        (10, 1.338410976339514),
        (100, 1.591022348251453),
        (1000, 1.806931952418915),
        (10_000, 1.99950251089174),
    ],
)
def test_sensitivity_reference_values(horizon, sensitivity):
    assert toeplitz_sensitivity(horizon) == pytest.approx(sensitivity, rel=5e-16)


def test_sensitivity_is_the_norm_of_the_coefficients_up_to_a_million():
    squares = toeplitz_coefficients(10**6) ** 2
    for horizon in (1, 2, 255, 256, 257, 258, 1000, 99_999, 10**6):
        assert toeplitz_sensitivity(horizon) == pytest.approx(np.sqrt(np.sum(squares[:horizon])), rel=2e-15)


def test_sensitivity_takes_arrays_and_grows():
    horizons = np.array([[1.0, 10.0], [100.0, 1e12]])
    values = toeplitz_sensitivity(horizons)
    assert values.shape == (2, 2)
    assert values[0, 1] == toeplitz_sensitivity(10)
    assert np.all(np.diff(toeplitz_sensitivity(np.arange(1.0, 2000.0))) > 0.0)


@pytest.mark.parametrize("horizon", [0, -3, 2.5, float("nan"), float("inf")])
def test_horizons_that_are_not_whole_are_refused(horizon):
    with pytest.raises(ValueError, match="whole number of at least 1"):
        toeplitz_sensitivity(horizon)


def test_no_coefficients_is_refused():
    with pytest.raises(ValueError, match="at least 1"):
        toeplitz_coefficients(0)
