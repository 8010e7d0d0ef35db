"""Caps on evidence and an adversary's success gain, against a search over all tests on a curve."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniability.agents.auditor.privacy import (
    delta_for_epsilon,
    delta_for_mu,
    delta_for_posterior_cap,
    epsilon_for_delta,
    exponential_success_gain,
    exponential_trade_off,
    gaussian_success_gain,
    gaussian_trade_off,
    mu_for_delta,
    odds_cap,
    posterior_cap,
    success_gain,
)

PRIORS = st.floats(0.01, 0.99)


@pytest.mark.parametrize(("delta", "cap"), [(0.1, 1.31), (0.2, 1.73)])
def test_odds_cap_reference_values(delta, cap):
    assert odds_cap(epsilon_for_delta(delta), 1) == pytest.approx(cap, abs=5e-3)


def test_posterior_cap_crosses_a_threshold_of_one_half_at_delta_0_3():
    """Prior .3, threshold .5, cap .498 at delta = .3."""
    assert posterior_cap(0.3, odds_cap(epsilon_for_delta(0.3), 1)) == pytest.approx(0.498, abs=5e-4)
    assert delta_for_posterior_cap(0.3, 0.5) == pytest.approx(0.3027, abs=5e-5)


@given(PRIORS, PRIORS)
def test_level_for_a_threshold_puts_the_cap_on_it(prior, threshold):
    delta = delta_for_posterior_cap(prior, threshold)
    if threshold <= prior:
        assert delta == 0.0
    elif delta > 1e-12:
        cap = posterior_cap(prior, odds_cap(epsilon_for_delta(delta), 1))
        assert cap == pytest.approx(threshold, abs=1e-9)


@given(PRIORS, st.floats(0.01, 3.0), st.integers(0, 5))
def test_posterior_cap_is_bayes_rule(prior, epsilon, k):
    rho = np.exp(epsilon) ** k
    assert posterior_cap(prior, odds_cap(epsilon, k)) == pytest.approx(
        prior * rho / (prior * rho + 1.0 - prior), rel=1e-12
    )


def test_certainty_stays_certainty():
    assert posterior_cap(0.0, 5.0) == 0.0
    assert posterior_cap(1.0, 5.0) == 1.0


def _best_gain(fpr, tpr, prior):
    success = prior * tpr + (1.0 - prior) * (1.0 - fpr)
    return success.max() - max(prior, 1.0 - prior)


@given(st.floats(0.02, 0.9), PRIORS)
def test_gains_are_the_best_over_all_tests_on_the_curve(delta, prior):
    fpr = np.concatenate(([0.0], np.logspace(-12, 0, 40_001)))
    fpr = np.unique(np.concatenate((fpr, 1.0 - fpr)))
    mu, epsilon = mu_for_delta(delta), epsilon_for_delta(delta)
    for gain, curve in (
        (gaussian_success_gain(mu, prior), gaussian_trade_off(fpr, np.asarray(mu))),
        (exponential_success_gain(epsilon, prior), exponential_trade_off(fpr, np.asarray(epsilon))),
    ):
        assert gain == pytest.approx(_best_gain(fpr, curve, prior), abs=1e-6)
        assert -1e-15 <= gain <= success_gain(delta, prior) + 1e-12


@given(st.floats(1e-3, 0.9))
def test_at_even_odds_the_gain_is_half_of_delta(delta):
    assert gaussian_success_gain(mu_for_delta(delta), 0.5) == pytest.approx(delta / 2.0, rel=1e-9)
    assert exponential_success_gain(epsilon_for_delta(delta), 0.5) == pytest.approx(delta / 2.0, rel=1e-9)
    assert success_gain(delta, 0.5) == delta / 2.0


def test_capped_evidence_leaves_an_unsure_adversary_with_nothing():
    """The exponential mechanism at delta .1 caps a prior of .3 at .36: guessing "no report" stays best."""
    assert exponential_success_gain(epsilon_for_delta(0.1), 0.3) == 0.0
    assert gaussian_success_gain(mu_for_delta(0.1), 0.3) > 0.0  # a counter has no such cap


def test_gains_without_evidence_or_with_a_sure_prior_are_0():
    priors = np.array([0.0, 0.2, 0.5, 0.8, 1.0])
    for gain in (gaussian_success_gain, exponential_success_gain):
        np.testing.assert_array_equal(gain(np.asarray(0.0), priors), 0.0)
        assert gain(0.5, 0.0) == 0.0
        assert gain(0.5, 1.0) == 0.0


def test_full_evidence_gains_all_there_is():
    assert gaussian_success_gain(80.0, 0.3) == pytest.approx(0.3, abs=1e-12)
    assert delta_for_mu(80.0) == pytest.approx(1.0)
    assert exponential_success_gain(40.0, 0.3) == pytest.approx(0.3, abs=1e-12)
    assert delta_for_epsilon(40.0) == pytest.approx(1.0)
