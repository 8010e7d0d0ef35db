"""Calibration: reference values, round trips over the whole range, an independent accountant, monotonicity."""

import numpy as np
import pytest
from dp_accounting.gaussian_mechanism import get_sigma_gaussian
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, special

from deniability.agents.auditor.privacy import (
    delta_for_epsilon,
    delta_for_mu,
    delta_for_p_rand,
    delta_for_sigma,
    epsilon_for_delta,
    mu_for_delta,
    p_rand_for_delta,
    sigma_for_delta,
    toeplitz_sensitivity,
)

DELTAS = st.floats(1e-6, 0.999999)


@pytest.mark.parametrize(
    ("horizon", "delta", "sigma"),
    # exact: 7.189688785139554..., 12.686207140895174...
    [(1000, 0.1, 7.18968878514), (100, 0.05, 12.686207141)],
)
def test_sigma_reference_values(horizon, delta, sigma):
    assert sigma_for_delta(delta, toeplitz_sensitivity(horizon)) == pytest.approx(sigma, rel=1e-11)


def test_p_rand_reference_value():
    assert p_rand_for_delta(0.1, 1000) == pytest.approx(0.999894645035, abs=5e-13)


@pytest.mark.parametrize(
    ("delta", "epsilon"),
    [
        (0.01, 0.0271836552),
        (0.05, 0.1360188569),
        (0.1, 0.2726700105),
        (0.2, 0.5505127583),
        (0.5, 1.4823991976),
    ],
)
def test_epsilon_reference_values(delta, epsilon):
    assert epsilon_for_delta(delta) == pytest.approx(epsilon, abs=5e-11)


@given(DELTAS)
def test_every_calibration_is_undone_by_its_inverse(delta):
    assert delta_for_mu(mu_for_delta(delta)) == pytest.approx(delta, rel=1e-12)
    assert delta_for_epsilon(epsilon_for_delta(delta)) == pytest.approx(delta, rel=1e-12)


@given(DELTAS, st.floats(1e-3, 1e3))
def test_sigma_is_undone_by_its_inverse(delta, sensitivity):
    assert delta_for_sigma(sigma_for_delta(delta, sensitivity), sensitivity) == pytest.approx(
        delta, rel=1e-12
    )


@given(DELTAS, st.integers(1, 10**6))
def test_p_rand_is_undone_by_its_inverse_up_to_the_spacing_of_doubles_below_1(delta, horizon):
    back = delta_for_p_rand(p_rand_for_delta(delta, horizon), horizon)
    assert back == pytest.approx(delta, rel=1e-12, abs=3e-16 * horizon)


@given(st.floats(1e-8, 30.0))
def test_exponential_delta_is_the_largest_gap_between_x_and_its_power(epsilon):
    """The closed form against direct maximisation of x - x^rho over x = 1 - y."""
    rho = np.exp(epsilon)

    def negative_gap(log_x):
        return np.exp(rho * log_x) - np.exp(log_x)

    best = optimize.minimize_scalar(negative_gap, bounds=(-2.0, 0.0), options={"xatol": 1e-12})
    delta = delta_for_epsilon(epsilon)
    assert -best.fun == pytest.approx(delta, rel=1e-6, abs=1e-12)
    assert delta >= -best.fun - 1e-12  # a maximum: the search never finds more


def test_exponential_delta_at_its_two_ends():
    assert delta_for_epsilon(1e-9) == pytest.approx(1e-9 / np.e, rel=1e-8)  # slope 1/e at 0
    assert delta_for_epsilon(0.0) == 0.0
    large = 25.0
    assert 1.0 - delta_for_epsilon(large) == pytest.approx((1.0 + large) * np.exp(-large), rel=1e-4)
    assert delta_for_epsilon(np.inf) == 1.0
    assert epsilon_for_delta(1e-300) == pytest.approx(np.e * 1e-300, rel=1e-12)
    assert epsilon_for_delta(np.nextafter(1.0, 0.0)) < 41.0


@given(st.floats(1e-6, 0.99), st.floats(1e-6, 0.009))
def test_more_delta_means_less_noise_everywhere(delta, more):
    higher = delta + more
    assert sigma_for_delta(higher, 2.0) < sigma_for_delta(delta, 2.0)
    assert p_rand_for_delta(higher, 50) < p_rand_for_delta(delta, 50)
    assert epsilon_for_delta(higher) > epsilon_for_delta(delta)
    assert mu_for_delta(higher) > mu_for_delta(delta)


@pytest.mark.parametrize("delta", [1e-6, 0.01, 0.1, 0.5, 0.9, 0.999])
def test_sigma_agrees_with_an_independent_accountant(delta):
    """The accountant calibrates the analytic Gaussian mechanism (Balle & Wang 2018) by bisection."""
    assert sigma_for_delta(delta, 1.0) == pytest.approx(get_sigma_gaussian(0.0, delta), rel=1e-9)


def _total_variation_of_normals(shift):
    """Total variation of N(0, 1) and N(shift, 1) from their densities alone, by a fine trapezoid."""
    x = np.linspace(-12.0, 12.0 + shift, 400_001)
    difference = np.abs(np.exp(-0.5 * x**2) - np.exp(-0.5 * (x - shift) ** 2))
    return 0.5 * np.trapezoid(difference, x) / np.sqrt(2.0 * np.pi)


@pytest.mark.parametrize("delta", [0.01, 0.1, 0.5])
def test_total_variation_check_detects_noise_that_is_a_quarter_too_small(delta):
    sensitivity = toeplitz_sensitivity(1000)
    sigma = sigma_for_delta(delta, sensitivity)
    assert _total_variation_of_normals(sensitivity / sigma) == pytest.approx(delta, rel=1e-8)
    # negative control: the same check on sigma / 1.25 finds that the guarantee is broken
    assert _total_variation_of_normals(sensitivity / (sigma / 1.25)) > 1.1 * delta
    assert delta_for_sigma(sigma / 1.25, sensitivity) > 1.1 * delta


def test_scalars_give_floats_and_arrays_broadcast():
    assert type(epsilon_for_delta(0.1)) is float
    assert type(sigma_for_delta(0.1, 1.0)) is float
    deltas = np.array([0.05, 0.1, 0.2])
    table = p_rand_for_delta(deltas[:, None], np.array([1.0, 10.0]))
    assert table.shape == (3, 2)
    assert table[1, 1] == p_rand_for_delta(0.1, 10)
    np.testing.assert_allclose(epsilon_for_delta(deltas), [epsilon_for_delta(d) for d in deltas], rtol=1e-14)


def test_mu_is_the_normal_quantile_of_the_paper():
    deltas = np.array([0.01, 0.1, 0.5, 0.9])
    np.testing.assert_allclose(mu_for_delta(deltas), 2.0 * special.ndtri((1.0 + deltas) / 2.0), rtol=1e-12)


@pytest.mark.parametrize("delta", [0.0, 1.0, 1.5, -0.1, float("nan")])
@pytest.mark.parametrize(
    "calibrate",
    [mu_for_delta, epsilon_for_delta, lambda d: sigma_for_delta(d, 1.0), lambda d: p_rand_for_delta(d, 10)],
)
def test_delta_outside_0_to_1_is_refused(calibrate, delta):
    with pytest.raises(ValueError, match="delta must lie strictly between 0 and 1"):
        calibrate(delta)


@pytest.mark.parametrize(
    "call",
    [
        lambda: sigma_for_delta(0.1, 0.0),
        lambda: delta_for_sigma(-1.0, 1.0),
        lambda: p_rand_for_delta(0.1, 0),
        lambda: delta_for_p_rand(1.1, 5),
        lambda: delta_for_epsilon(-0.1),
        lambda: delta_for_mu(float("nan")),
    ],
)
def test_other_values_out_of_range_are_refused(call):
    with pytest.raises(ValueError, match="must"):
        call()
