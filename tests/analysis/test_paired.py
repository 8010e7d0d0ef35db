"""The interval of paired yes-or-no outcomes: published values, likelihood, symmetry, coverage, both errors."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.stats import binom, multinomial

from deniability.analysis.paired import paired_proportions

Z = 1.959963984540054


def estimate_of(gained, lost, n):
    places = np.arange(n)
    return paired_proportions(places < gained, (places >= gained) & (places < gained + lost))


def agresti_min(gained, lost, n):
    b, c, total = gained + 0.5, lost + 0.5, n + 2
    centre, half = (b - c) / total, Z * np.sqrt(b + c - (b - c) ** 2 / total) / total
    return centre - half, centre + half


def test_published_values():
    # airway hyper-responsiveness before and after transplantation, 21 children: Fagerland, Lydersen and Laake
    # (2014), "Recommended tests and confidence intervals for paired binomial proportions", Statistics in Medicine 33
    estimate = estimate_of(1, 7, 21)
    assert estimate.value == pytest.approx(-6 / 21)
    assert (estimate.low, estimate.high) == pytest.approx((-0.517, -0.026), abs=5e-4)


def test_without_a_difference_the_ends_are_those_of_wilson():
    estimate = estimate_of(0, 0, 30)
    assert (estimate.low, estimate.high) == pytest.approx((-(Z**2) / (30 + Z**2), Z**2 / (30 + Z**2)))


@pytest.mark.parametrize(("gained", "lost", "n"), [(6, 1, 20), (3, 3, 50), (10, 0, 100), (1, 8, 12)])
def test_at_the_ends_the_score_is_the_quantile(gained, lost, n):
    """The score of the profile likelihood, maximised numerically over the share lost."""
    estimate = estimate_of(gained, lost, n)
    for end, sign in ((estimate.low, 1), (estimate.high, -1)):

        def loss(share, end=end):
            cells = np.array([share + end, share, 1 - 2 * share - end])
            counts = np.array([gained, lost, n - gained - lost])
            return -(counts[counts > 0] * np.log(np.maximum(cells[counts > 0], 1e-300))).sum()

        bounds = (max(0.0, -end), (1 - end) / 2)
        share = minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 1e-12}).x
        score = (gained - lost - n * end) / np.sqrt(n * (2 * share + end - end**2))
        assert score == pytest.approx(sign * Z, abs=1e-4)


@given(pairs=st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=40))
def test_swapping_the_twins_changes_the_sign(pairs):
    first, second = np.array(pairs).T
    one, other = paired_proportions(first, second), paired_proportions(second, first)
    assert one.value == pytest.approx(-other.value)
    assert (one.low, one.high) == pytest.approx((-other.high, -other.low))
    assert -1 <= one.low <= one.value + 1e-9
    assert one.value - 1e-9 <= one.high <= 1
    assert one.low < one.high


def test_no_pairs_no_estimate():
    assert paired_proportions([], []).value is None
    with pytest.raises(ValueError, match="as many outcomes"):
        paired_proportions([1], [1, 0])


@pytest.mark.parametrize(("p10", "p01"), [(0.1, 0.02), (0.03, 0.03), (0.3, 0.05)])
def test_coverage(p10, p01):
    # 4,000 studies of 100 pairs: the standard error of a coverage of 95 % is 0.35 points; 93 to 97.5 % passes
    rng = np.random.default_rng(2)
    cells, times = np.unique(
        rng.multinomial(100, [p10, p01, 1 - p10 - p01], 4000), axis=0, return_counts=True
    )
    inside = 0
    for (a, b, _), n in zip(cells, times, strict=True):
        estimate = estimate_of(a, b, 100)
        inside += n * (estimate.low <= p10 - p01 <= estimate.high)
    assert 0.93 <= inside / 4000 <= 0.975


@pytest.mark.parametrize("n", [20, 100, 400])
def test_an_interval_is_not_too_often_below_the_truth_where_no_pair_differs_the_other_way(n):
    """Exact, by enumeration; the interval that shrinks towards 0 is the control, and is below far too often."""
    below, above, control = 0.0, 0.0, 0.0
    for gained in range(n + 1):
        weight = binom.pmf(gained, n, 0.1)
        if weight > 1e-12:
            estimate = estimate_of(gained, 0, n)
            below += weight * (estimate.high < 0.1)
            above += weight * (estimate.low > 0.1)
            control += weight * (agresti_min(gained, 0, n)[1] < 0.1)
    assert below <= 0.025
    assert above <= 0.041
    assert control == pytest.approx({20: 0.122, 100: 0.058, 400: 0.036}[n], abs=6e-4)


@pytest.mark.parametrize(("p10", "p01"), [(0.1, 0.02), (0.1, 0.05), (0.3, 0.05), (0.2, 0.2)])
def test_both_errors_with_differences_both_ways(p10, p01):
    """Exact, over every table of 30 pairs: neither error is above 3.5 %."""
    cells = [(a, b, 30 - a - b) for a in range(31) for b in range(31 - a)]
    weights = multinomial.pmf(cells, 30, [p10, p01, 1 - p10 - p01])
    ends = [(e.low, e.high) for e in (estimate_of(a, b, 30) for a, b, _ in cells)]
    below = sum(w for w, (_, high) in zip(weights, ends, strict=True) if high < p10 - p01)
    above = sum(w for w, (low, _) in zip(weights, ends, strict=True) if low > p10 - p01)
    assert 0 < below <= 0.035
    assert 0 < above <= 0.035
