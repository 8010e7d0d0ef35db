"""Exact mis-selection of a static decision, error floors, and smallest gaps."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, special

from deniability.agents.auditor.privacy import (
    counter_misselection,
    epsilon_for_delta,
    error_floor,
    exponential_misselection,
    greedy_misselection,
    p_rand_for_delta,
    rr_error_floor,
    rr_misselection,
    sigma_for_delta,
    smallest_gap,
    toeplitz_sensitivity,
    uniform_misselection,
    utility_bound,
)

GAPS = np.array([0.0, 2.0, 5.0, 10.0, 15.0, 20.0, 30.0, 40.0, 50.0, 60.0, 80.0, 100.0])


def toeplitz_noise(delta, horizon, run_length):
    """Noise s.d. in reports at a run length of a counter calibrated for a horizon."""
    return sigma_for_delta(delta, toeplitz_sensitivity(horizon)) * toeplitz_sensitivity(run_length)


@pytest.mark.parametrize(
    ("n_targets", "length", "gap", "probability"),
    # delta 0.1, run length = horizon
    [
        (10, 100, 10, 0.6613),
        (10, 100, 20, 0.3308),
        (10, 100, 50, 0.0018),
        (50, 1000, 20, 0.7366),
        (50, 1000, 50, 0.0735),
    ],
)
def test_counter_reference_values(n_targets, length, gap, probability):
    noise = toeplitz_noise(0.1, length, length)
    assert counter_misselection(gap, noise, n_targets) == pytest.approx(probability, abs=5e-5)


@pytest.mark.parametrize(
    ("length", "gap", "counter", "exponential"), [(1, 10, 0.400, 0.762), (5, 15, 0.436, 0.451)]
)
def test_at_short_runs_the_counter_beats_the_exponential_mechanism(length, gap, counter, exponential):
    """C = 50, delta = 0.1, horizon = run length."""
    assert counter_misselection(gap, toeplitz_noise(0.1, length, length), 50) == pytest.approx(
        counter, abs=5e-4
    )
    assert exponential_misselection(gap, epsilon_for_delta(0.1), 50) == pytest.approx(exponential, abs=5e-4)


def test_two_targets_have_a_closed_form():
    """The difference of two equal normals is normal: the quadrature keeps its relative accuracy to 1e-100."""
    gaps = np.array([0.0, 1.0, 5.0, 10.0, 20.0, 30.0])
    np.testing.assert_allclose(
        counter_misselection(gaps, np.asarray(1.0), np.asarray(2.0)),
        special.ndtr(-gaps / np.sqrt(2.0)),
        rtol=1e-12,
    )


@given(st.floats(0.0, 12.0), st.integers(2, 5000))
def test_quadrature_agrees_with_adaptive_integration(lead, n_targets):
    def missed(x):
        return -np.expm1((n_targets - 1) * special.log_ndtr(x + lead)) * np.exp(-0.5 * x * x)

    breaks = [-30.0, -lead / 2.0 - 4.0, -lead / 2.0, 4.0 - lead, 30.0]
    edges = sorted(min(max(b, -30.0), 30.0) for b in breaks)
    pieces = [
        integrate.quad(missed, a, b, epsabs=1e-15, epsrel=1e-12, limit=200)[0]
        for a, b in pairwise(edges)
        if b > a
    ]
    expected = sum(pieces) / np.sqrt(2.0 * np.pi)
    assert counter_misselection(lead, 1.0, n_targets) == pytest.approx(expected, abs=1e-11)


def test_at_gap_0_every_rule_is_chance_even_for_a_million_targets():
    for n_targets in (1, 2, 50, 10**6):
        chance = 1.0 - 1.0 / n_targets
        assert counter_misselection(0.0, 3.0, n_targets) == pytest.approx(chance, abs=1e-14)
        assert exponential_misselection(0.0, 0.3, n_targets) == pytest.approx(chance, abs=1e-14)
        assert rr_misselection(0.0, 0.9, n_targets) == chance
        assert greedy_misselection(0.0, n_targets) == chance
        assert uniform_misselection(7.0, n_targets) == chance


def test_the_formulas_agree_with_simulated_decisions():
    """Every rule played 200,000 times. The five z-scores stay below 4.5: false alarm under 4e-5.

    Negative control: the same check rejects the counter's value for a noise a tenth smaller.
    """
    generator = np.random.default_rng(20260301)
    trials, n_targets, gap, noise, epsilon, p_rand = 200_000, 8, 6, 5.0, 0.3, 0.7
    counts = np.zeros(n_targets)
    counts[0] = gap
    counter_wrong = np.argmax(counts + noise * generator.standard_normal((trials, n_targets)), axis=1) != 0
    gumbel_wrong = np.argmax(epsilon * counts + generator.gumbel(size=(trials, n_targets)), axis=1) != 0
    random = generator.random(trials) < p_rand
    rr_wrong = random & (generator.integers(n_targets, size=trials) != 0)
    uniform_wrong = generator.integers(n_targets, size=trials) != 0

    def z(wrong, probability):
        return (wrong.mean() - probability) / np.sqrt(probability * (1.0 - probability) / trials)

    assert abs(z(counter_wrong, counter_misselection(gap, noise, n_targets))) < 4.5
    assert abs(z(gumbel_wrong, exponential_misselection(gap, epsilon, n_targets))) < 4.5
    assert abs(z(rr_wrong, rr_misselection(gap, p_rand, n_targets))) < 4.5
    assert abs(z(uniform_wrong, uniform_misselection(gap, n_targets))) < 4.5
    assert greedy_misselection(gap, n_targets) == 0.0
    assert abs(z(counter_wrong, counter_misselection(gap, 0.9 * noise, n_targets))) > 10.0


@given(st.floats(0.01, 0.9), st.integers(2, 300), st.integers(1, 500))
def test_no_private_rule_beats_the_floor(delta, n_targets, horizon):
    floor = error_floor(GAPS, np.asarray(delta), np.asarray(float(n_targets)))
    noise = np.asarray(toeplitz_noise(delta, horizon, horizon))
    targets = np.asarray(float(n_targets))
    rules = [
        counter_misselection(GAPS, noise, targets),
        exponential_misselection(GAPS, np.asarray(epsilon_for_delta(delta)), targets),
        rr_misselection(GAPS, np.asarray(p_rand_for_delta(delta, horizon)), targets),
        uniform_misselection(GAPS, targets),
    ]
    for error in rules:
        assert np.all(error >= floor - 1e-12)
        assert np.all(np.diff(error) <= 1e-12)  # a larger lead never hurts
    # negative control: the rule without privacy is below the floor of a small delta
    if delta < 0.2:
        assert greedy_misselection(GAPS, targets)[1] < floor[1]


@given(st.floats(0.01, 0.9), st.integers(2, 300), st.integers(1, 10**6))
def test_randomized_response_obeys_its_own_floor_and_attains_it_for_one_decision(delta, n_targets, horizon):
    error = rr_misselection(5.0, p_rand_for_delta(delta, horizon), n_targets)
    assert error >= rr_error_floor(delta, n_targets)
    assert rr_misselection(5.0, p_rand_for_delta(delta, 1), n_targets) == pytest.approx(
        (1.0 - 1.0 / n_targets) * (1.0 - delta), rel=1e-12
    )


def test_utility_bound_holds_for_a_first_decision_and_is_sharp_for_two_targets():
    sigma = sigma_for_delta(0.1, 1.0)  # horizon 1: all the noise is one innovation
    for n_targets in (2, 10, 50):
        targets = np.asarray(float(n_targets))
        exact = counter_misselection(GAPS, np.asarray(sigma), targets)
        bound = utility_bound(GAPS, np.asarray(sigma), targets)
        assert np.all(exact <= bound + 1e-14)
        if n_targets == 2:
            np.testing.assert_allclose(exact, bound, rtol=1e-12)
    assert utility_bound(-100.0, sigma, 50) == 1.0


@pytest.mark.parametrize(
    ("n_targets", "horizon", "delta", "half", "ninety"),
    # run length 12; where it is close: success .5010 at 10 (second row of C = 5), .4990 at 6 and .5058 at 22 (C = 50)
    [
        (5, 52, 0.1, 9, 22),
        (5, 52, 0.3, 3, 7),
        (5, 1000, 0.1, 10, 26),
        (20, 52, 0.1, 16, 28),
        (20, 52, 0.3, 5, 9),
        (20, 1000, 0.1, 18, 33),
        (50, 52, 0.1, 19, 31),
        (50, 52, 0.3, 7, 10),
        (50, 1000, 0.1, 22, 36),
    ],
)
def test_smallest_gaps_of_the_counter(n_targets, horizon, delta, half, ninety):
    noise = toeplitz_noise(delta, horizon, 12)

    def error(gap):
        return counter_misselection(gap, noise, n_targets)

    assert smallest_gap(error, 0.5) == half
    assert smallest_gap(error, 0.9) == ninety
    assert error(ninety) <= 0.1 < error(ninety - 1)


@given(st.integers(2, 1000), st.floats(0.01, 0.9))
def test_smallest_gap_of_the_exponential_mechanism_has_a_closed_form(n_targets, delta):
    epsilon = epsilon_for_delta(delta)
    exact = np.log(9.0 * (n_targets - 1)) / epsilon
    found = smallest_gap(lambda gap: exponential_misselection(gap, epsilon, n_targets), 0.9)
    assert found == int(np.ceil(exact - 1e-9))


def test_smallest_gap_at_its_ends():
    assert smallest_gap(lambda gap: uniform_misselection(gap, 5), 0.9) is None
    assert smallest_gap(lambda gap: rr_misselection(gap, 0.99, 5), 0.9) is None
    assert smallest_gap(lambda gap: greedy_misselection(gap, 5), 0.9) == 1
    assert smallest_gap(lambda gap: uniform_misselection(gap, 1), 0.9) == 0  # one target is always right
    assert smallest_gap(lambda gap: uniform_misselection(gap, 2), 0.5) == 0


def test_values_out_of_range_are_refused():
    for call in (
        lambda: counter_misselection(-1.0, 1.0, 5),
        lambda: counter_misselection(1.0, 0.0, 5),
        lambda: exponential_misselection(1.0, 0.1, 0),
        lambda: rr_misselection(1.0, 1.5, 5),
        lambda: error_floor(1.0, 0.1, 2.5),
        lambda: utility_bound(1.0, -1.0, 5),
    ):
        with pytest.raises(ValueError, match="must"):
            call()
