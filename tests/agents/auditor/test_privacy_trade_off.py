"""Trade-off curves: where they touch the line FPR + delta, their shape, and that real tests attain them."""

import numpy as np
import pytest
from scipy import special

from deniability.agents.auditor.privacy import (
    delta_for_epsilon,
    delta_trade_off,
    epsilon_for_delta,
    exponential_trade_off,
    gaussian_trade_off,
    mu_for_delta,
    rr_trade_off,
)

RATES = np.linspace(0.0, 1.0, 20_001)
DELTAS = [0.01, 0.1, 0.5, 0.9]


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize(
    ("curve", "parameter"),
    [(gaussian_trade_off, mu_for_delta), (exponential_trade_off, epsilon_for_delta)],
)
def test_largest_advantage_on_a_curve_is_delta_and_only_at_one_point(curve, parameter, delta):
    advantage = curve(RATES, np.asarray(parameter(delta))) - RATES
    assert advantage.max() == pytest.approx(delta, rel=1e-6)
    assert np.all(advantage <= delta + 1e-14)
    # strictly below the line a little off the maximum
    far = np.abs(RATES - RATES[advantage.argmax()]) > 0.02
    assert np.all(advantage[far] < delta * (1.0 - 1e-5))


def test_the_gaussian_curve_touches_the_line_where_the_two_densities_cross():
    mu = mu_for_delta(0.1)
    fpr = float(special.ndtr(-mu / 2.0))
    assert gaussian_trade_off(fpr, mu) == pytest.approx(delta_trade_off(fpr, 0.1), rel=1e-13)


@pytest.mark.parametrize("curve", [gaussian_trade_off, exponential_trade_off, rr_trade_off])
def test_curves_are_increasing_concave_and_end_at_1(curve):
    values = curve(RATES, np.asarray(0.3))
    assert values[0] == (0.3 if curve is rr_trade_off else 0.0)
    assert values[-1] == 1.0
    assert np.all(np.diff(values) >= 0.0)
    assert np.all(np.diff(values, 2) <= 1e-12)


def test_without_evidence_all_curves_are_the_diagonal():
    for curve in (gaussian_trade_off, exponential_trade_off, delta_trade_off):
        np.testing.assert_allclose(curve(RATES, np.asarray(0.0)), RATES, atol=1e-15)


def test_two_exponential_lifetimes_attain_the_exponential_curve():
    """The limit of small hazards: an audit time with rate 1 without the report and rate rho with it.

    Accusing when the audit comes by t has FPR 1 - e^-t and TPR 1 - e^(-rho t).
    """
    epsilon = 0.7
    t = np.linspace(0.0, 5.0, 101)
    fpr, tpr = -np.expm1(-t), -np.expm1(-np.exp(epsilon) * t)
    np.testing.assert_allclose(exponential_trade_off(fpr, np.asarray(epsilon)), tpr, rtol=1e-12)
    assert (tpr - fpr).max() == pytest.approx(delta_for_epsilon(epsilon), rel=1e-3)


def test_slope_of_the_exponential_curve_at_0_is_the_odds_cap():
    epsilon = epsilon_for_delta(0.1)
    assert exponential_trade_off(1e-9, epsilon) / 1e-9 == pytest.approx(np.exp(epsilon), rel=1e-7)


@pytest.mark.parametrize("curve", [gaussian_trade_off, exponential_trade_off, delta_trade_off])
def test_rates_and_parameters_out_of_range_are_refused(curve):
    with pytest.raises(ValueError, match="fpr must lie between 0 and 1"):
        curve(1.2, 0.1)
    with pytest.raises(ValueError, match="must"):
        curve(0.2, -0.1)
