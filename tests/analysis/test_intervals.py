"""Intervals cover what they say they cover; one that ignores the runs does not.

Coverage is counted over 1500 data sets, so its standard error is 0.56 % at 95 %: a true 95 % interval leaves the band
93-97 % with probability 0.0004 a case. Seeds are fixed, so a failure is a change, not bad luck.
"""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from deniability.analysis import bootstraps
from deniability.analysis.bootstraps import (
    cluster_bootstrap,
    cluster_bootstraps,
    paired_bootstrap,
    square_and_add,
)
from deniability.analysis.intervals import (
    Estimate,
    cluster_wilson,
    monte_carlo_error,
    paired_t,
    t_interval,
    wilson,
    wilson_bounds,
)

N_SETS = 1500


def coverage(estimates, truth):
    inside = [one.low <= truth <= one.high for one in estimates if one.value is not None]
    assert len(inside) > 0.99 * N_SETS
    return np.mean(inside)


def runs_with(rng, n_runs, rate, correlation, size=12.0):
    """Beta-binomial outcomes, (runs, data sets): within a run any two are correlated by `correlation`."""
    below = rng.poisson(size, (n_runs, N_SETS))
    spread = (1 - correlation) / correlation
    chance = rng.beta(rate * spread, (1 - rate) * spread, below.shape)
    return rng.binomial(below, chance).astype(float), below.astype(float)


# ---- Wilson -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("k", "n"), [(0, 10), (1, 10), (5, 10), (10, 10), (3, 7), (81, 263), (15, 148), (1, 29)]
)
def test_wilson_inverts_the_score_test(k, n):
    """Its ends are the rates p at which |k/n - p| = z √(p(1-p)/n), and agree with scipy's own."""
    one = wilson(k, n)
    z = stats.norm.ppf(0.975)
    for end in (one.low, one.high):
        if 0 < end < 1:
            assert abs(k / n - end) == pytest.approx(z * np.sqrt(end * (1 - end) / n), rel=1e-9)
    reference = stats.binomtest(k, n).proportion_ci(method="wilson")
    assert (one.low, one.high) == pytest.approx((reference.low, reference.high), abs=1e-12)


def test_wilson_of_a_published_example():
    """Newcombe 1998, Statistics in Medicine 17, 857-872, table I: 81 of 263 and 0 of 20, score method."""
    assert [round(float(x), 4) for x in wilson_bounds(81, 263)] == [0.2553, 0.3662]
    assert [round(float(x), 4) for x in wilson_bounds(0, 20)] == [0.0, 0.1611]


def test_wilson_exact_coverage_averages_to_its_level():
    """By enumeration, no simulation: the exact coverage, averaged over rates, is 95.3 ± 0.4 %."""
    rates = np.linspace(0.0005, 0.9995, 1000)
    for n in (10, 30, 100):
        k = np.arange(n + 1)
        low, high = wilson_bounds(k, n)
        inside = (low[:, None] <= rates) & (rates <= high[:, None])
        exact = (stats.binom.pmf(k[:, None], n, rates) * inside).sum(axis=0)
        assert exact.mean() == pytest.approx(0.953, abs=0.004), n


@given(k=st.integers(0, 200), extra=st.integers(0, 200))
def test_wilson_is_symmetric_and_holds_its_estimate(k, extra):
    n = k + extra
    one, mirrored = wilson(k, n), wilson(extra, n)
    if n == 0:
        assert (one.value, one.low, one.high) == (None, None, None)
        return
    assert 0 <= one.low <= one.value <= one.high <= 1
    assert one.low == pytest.approx(1 - mirrored.high, abs=1e-12)
    assert (one.low == 0) == (k == 0)
    assert (one.high == 1) == (extra == 0)


def test_wilson_refuses_more_successes_than_trials():
    with pytest.raises(ValueError, match="between 0 and trials"):
        wilson(3, 2)


# ---- rates over runs ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n_runs", "rate", "correlation"), [(20, 0.2, 0.1), (20, 0.5, 0.3), (50, 0.3, 0.02), (10, 0.4, 0.1)]
)
def test_cluster_wilson_covers(n_runs, rate, correlation):
    above, below = runs_with(np.random.default_rng(1), n_runs, rate, correlation)
    estimates = [cluster_wilson(above[:, i], below[:, i]) for i in range(N_SETS)]
    assert 0.93 <= coverage(estimates, rate) <= 0.97


@pytest.mark.parametrize(("n_runs", "rate"), [(3, 0.2), (5, 0.02), (10, 0.02), (20, 0.005)])
def test_cluster_wilson_errs_on_the_long_side_when_data_are_few(n_runs, rate):
    above, below = runs_with(np.random.default_rng(2), n_runs, rate, 0.1)
    estimates = [cluster_wilson(above[:, i], below[:, i]) for i in range(N_SETS)]
    assert coverage(estimates, rate) >= 0.95


@pytest.mark.parametrize(("n_runs", "rate", "correlation"), [(20, 0.5, 0.1), (20, 0.2, 0.1), (50, 0.3, 0.3)])
def test_cluster_bootstrap_covers(n_runs, rate, correlation):
    rng = np.random.default_rng(3)
    above, below = runs_with(rng, n_runs, rate, correlation)
    # resamples are shared within a block, so several blocks
    blocks = [slice(i, i + 100) for i in range(0, N_SETS, 100)]
    estimates = [e for b in blocks for e in cluster_bootstraps(above[:, b], below[:, b], rng, resamples=1000)]
    assert 0.93 <= coverage(estimates, rate) <= 0.97


def test_negative_control_an_interval_that_ignores_the_runs_fails():
    """Outcomes correlated by 0.1 within runs of 12: the plain interval covers about 81 %, far from 93 %."""
    above, below = runs_with(np.random.default_rng(1), 20, 0.2, 0.1)
    plain = [wilson(above[:, i].sum(), below[:, i].sum()) for i in range(N_SETS)]
    assert coverage(plain, 0.2) < 0.86


def test_negative_control_unwidened_percentiles_fail_with_few_runs():
    """The plain percentile bootstrap of 8 runs is too short; widening it is what helps."""
    rng = np.random.default_rng(4)
    above, below = runs_with(rng, 8, 0.5, 0.1)
    plain, widened = [], cluster_bootstraps(above, below, rng, resamples=1000)
    weights = rng.multinomial(8, np.full(8, 1 / 8), size=1000)
    low, high = np.quantile((weights @ above) / (weights @ below), [0.025, 0.975], axis=0)
    plain = np.mean((low <= 0.5) & (high >= 0.5))
    assert plain < 0.92
    assert coverage(widened, 0.5) > plain + 0.02


def test_one_outcome_a_run_is_plain_wilson():
    outcomes = np.array([1, 0, 0, 1, 0, 0, 0, 1.0])
    one, plain = cluster_wilson(outcomes, np.ones(8)), wilson(3, 8)
    assert (one.low, one.high, one.value) == (plain.low, plain.high, plain.value)
    assert one.n_runs == 8


def test_one_run_is_plain_wilson_without_an_error_over_runs():
    one, plain = cluster_wilson([3.0], [40.0]), wilson(3, 40)
    assert (one.low, one.high) == (plain.low, plain.high)
    assert one.n_runs == 1
    assert one.error is None


def test_no_event_in_any_run_is_no_certainty():
    """0 of 400 in 20 runs: bounded as 0 of 20, since nothing is known of the correlation within runs."""
    one = cluster_wilson(np.zeros(20), np.full(20, 20.0))
    assert (one.value, one.low) == (0.0, 0.0)
    assert one.high == pytest.approx(wilson(0, 20).high)
    full = cluster_wilson(np.full(20, 20.0), np.full(20, 20.0))
    assert (full.low, full.high) == (pytest.approx(1 - one.high), 1.0)


def test_runs_without_a_denominator_carry_nothing():
    above, below = np.array([1, 2, 0, 4.0]), np.array([5, 5, 0, 8.0])
    assert cluster_wilson(above, below) == cluster_wilson(above[[0, 1, 3]], below[[0, 1, 3]])
    nothing = cluster_wilson([0.0, 0.0], [0.0, 0.0])
    assert (nothing.value, nothing.low, nothing.high, nothing.n_runs) == (None, None, None, 0)
    assert cluster_bootstrap(np.zeros(9), np.zeros(9), np.random.default_rng(0)).value is None
    assert cluster_wilson([], []).value is None
    assert cluster_bootstrap([], [], np.random.default_rng(0)).value is None


def test_effective_sample_size_by_hand():
    """Four runs of 10 with 1, 2, 3, 6 events: r = 0.3, v = 4/3 Σ(x - 3)²/40² = 0.0116667, n = 0.21/v = 18."""
    one = cluster_wilson([1, 2, 3, 6], [10, 10, 10, 10])
    assert one.error**2 == pytest.approx(14 * 4 / 3 / 1600)
    z, n = stats.t.ppf(0.975, 3), 0.21 / (14 * 4 / 3 / 1600)
    for end in (one.low, one.high):
        assert abs(0.3 - end) == pytest.approx(z * np.sqrt(end * (1 - end) / n), rel=1e-9)


# ---- the bootstrap ------------------------------------------------------------------------------------------


def test_bootstrap_is_reproducible_and_joint_equals_single():
    rng = np.random.default_rng(5)
    above, below = rng.poisson(3, (15, 4)).astype(float), rng.poisson(9, (15, 4)) + 1.0
    joint = cluster_bootstraps(above, below, np.random.default_rng(8))
    single = [cluster_bootstrap(above[:, i], below[:, i], np.random.default_rng(8)) for i in range(4)]
    for one, other in zip(joint, single, strict=True):
        assert one.low == pytest.approx(other.low, rel=1e-12)
        assert one.high == pytest.approx(other.high, rel=1e-12)
        assert one.value == pytest.approx(one.numerator / one.denominator)


def test_bootstrap_of_equal_denominators_is_an_interval_for_the_mean():
    """With many runs it tends to Student's; and its Monte Carlo error is that of the mean, exactly."""
    values = np.random.default_rng(6).gamma(2.0, 3.0, 300)
    one, student = cluster_bootstrap(values, np.ones(300), np.random.default_rng(1)), t_interval(values)
    assert one.error == pytest.approx(student.error, rel=1e-12)
    assert one.low == pytest.approx(student.low, abs=0.1 * student.error * 2)
    assert one.high == pytest.approx(student.high, abs=0.2 * student.error * 2)


def test_resamples_without_a_denominator_are_left_out():
    """One run in six has outcomes: a third of the resamples miss it, and the rest all give its ratio."""
    one = cluster_bootstrap([2, 0, 0, 0, 0, 0], [4, 0, 0, 0, 0, 0], np.random.default_rng(2))
    assert (one.value, one.low, one.high) == (0.5, 0.5, 0.5)


def test_too_few_runs_to_resample_use_student():
    one = cluster_bootstrap([1, 2, 3], [1, 1, 1], np.random.default_rng(0))
    assert (one.low, one.high) == pytest.approx(stats.t.interval(0.95, 2, 2.0, 1 / np.sqrt(3)))
    single = cluster_bootstrap([1], [2], np.random.default_rng(0))
    assert (single.value, single.low, single.high, single.error) == (0.5, None, None, None)


@pytest.mark.parametrize(
    ("above", "below"), [([1, 2], [1]), ([np.nan], [1]), ([1], [-1]), ([np.inf], [1])], ids=str
)
def test_bad_ratios_are_refused(above, below):
    with pytest.raises(ValueError, match=r"shape|finite"):
        cluster_bootstrap(above, below, np.random.default_rng(0))
    with pytest.raises(ValueError, match=r"shape|finite"):
        cluster_wilson(above, below)


def test_a_ratio_above_one_is_no_rate():
    with pytest.raises(ValueError, match="0 <= numerator <= denominator"):
        cluster_wilson([3, 1], [2, 2])


# ---- differences --------------------------------------------------------------------------------------------


def paired_runs(rng, n_pairs, difference):
    """Two mechanisms that share each run's circumstances: a common chance, moved by `difference`."""
    common = rng.beta(2, 4, (n_pairs, N_SETS)) * 0.8
    below = rng.poisson(15, common.shape) + 1
    one, other = rng.binomial(below, common + difference), rng.binomial(below, common)
    return one.astype(float), other.astype(float), below.astype(float)


def test_paired_bootstrap_covers_and_pairing_is_what_shortens_it():
    rng = np.random.default_rng(9)
    one, other, below = paired_runs(rng, 20, 0.1)
    paired, shuffled = [], []
    for i in range(N_SETS):
        sides = (one[:, i], below[:, i]), (other[:, i], below[:, i])
        paired.append(paired_bootstrap(*sides, rng, resamples=400))
        if i < 200:
            order = rng.permutation(20)
            broken = other[order, i], below[order, i]
            shuffled.append(paired_bootstrap(sides[0], broken, rng, resamples=400))
    assert 0.93 <= coverage(paired, 0.1) <= 0.97
    length = [np.mean([e.high - e.low for e in part]) for part in (paired[:200], shuffled)]
    assert length[0] < 0.9 * length[1]


def test_paired_t_is_student_on_the_differences():
    rng = np.random.default_rng(10)
    one, other = rng.normal(3, 1, 12), rng.normal(2, 1, 12)
    result, reference = paired_t(one, other), stats.ttest_rel(one, other).confidence_interval()
    assert (result.low, result.high) == pytest.approx((reference.low, reference.high))
    one[4] = np.nan
    assert paired_t(one, other).n_runs == 11


def test_no_event_on_either_side_is_no_certain_equality():
    nothing = np.zeros(20), np.full(20, 10.0)
    one = paired_bootstrap(nothing, nothing, np.random.default_rng(0), rate=True)
    bound = wilson(0, 20).high
    assert (one.value, one.low, one.high) == (0.0, pytest.approx(-bound), pytest.approx(bound))


@pytest.mark.parametrize(("p", "q", "correlation"), [(0.02, 0.005, 0.1), (0.05, 0.01, 0.1)])
def test_paired_rates_of_rare_events_are_covered(p, q, correlation, monkeypatch):
    """600 data sets of 20 pairs: a coverage of 95 % leaves 92 % with p < 0.001, an error of 2.5 % below 5 % too.

    The bootstrap alone is the control: it lies below the truth in 9 %.
    """
    rng = np.random.default_rng(13)
    spread, n_sets = (1 - correlation) / correlation, 600
    below, luck = rng.poisson(12, (n_sets, 20)), rng.random((n_sets, 20))
    one, other = (
        rng.binomial(below, stats.beta.ppf(luck, rate * spread, (1 - rate) * spread)).astype(float)
        for rate in (p, q)
    )

    def errors(resamples):
        found = [
            paired_bootstrap(a, b, rng, resamples=resamples, rate=True)
            for a, b in zip(zip(one, below, strict=True), zip(other, below, strict=True), strict=True)
        ]
        return np.mean([e.high < p - q for e in found]), np.mean([e.low > p - q for e in found])

    below_truth, above_truth = errors(20)
    assert below_truth < 0.05
    assert 0.01 <= below_truth + above_truth <= 0.08
    monkeypatch.setattr(bootstraps, "_RARE", 0.0)
    assert errors(400)[0] > 0.05


def test_rare_paired_rates_by_hand():
    """Runs of one outcome each, so the intervals are Wilson's own: 4 and 1 of 20, one of them in the same pair."""
    one, other, below = np.arange(20) < 4, (np.arange(20) == 0), np.ones(20)
    found = paired_bootstrap((one * 1.0, below), (other * 1.0, below), np.random.default_rng(0), rate=True)
    first, second = wilson(4, 20), wilson(1, 20)
    phi = (1 * 16 - 3 * 0) / np.sqrt(4 * 16 * 1 * 19)
    d, u = first.value - first.low, second.high - second.value
    assert found.low == pytest.approx(0.15 - np.sqrt(d**2 - 2 * phi * d * u + u**2))
    d, u = first.high - first.value, second.value - second.low
    assert found.high == pytest.approx(0.15 + np.sqrt(d**2 - 2 * phi * d * u + u**2))
    assert found.method == "paired Wilson intervals"


def test_a_side_without_an_event_takes_the_other_sides_design_effect():
    """Nobody of 20 x 12 against 30 independent ones: 240 outcomes, and not 20 runs, say that the rate is low."""
    below, hit = np.full(20, 12.0), np.tile([1.0, 2.0], 10)
    found = paired_bootstrap((hit, below), (np.zeros(20), below), np.random.default_rng(0), rate=True)
    t = stats.t.ppf(0.975, 19)
    first, high = cluster_wilson(hit, below), t**2 / (240 + t**2)
    assert found.low == pytest.approx(30 / 240 - np.hypot(30 / 240 - first.low, high))
    assert found.low > 0


def test_difference_of_published_proportions():
    """Newcombe 1998, Statistics in Medicine 17, 873-890, table II, method 10: 9/10 - 3/10 and 10/10 - 0/10."""
    for (k, n, j, m), expected in {(9, 10, 3, 10): (0.1705, 0.8090), (10, 10, 0, 10): (0.6075, 1.0)}.items():
        low, high = square_and_add(wilson(k, n), wilson(j, m))
        assert (low[0], high[0]) == pytest.approx(expected, abs=5e-5)


def test_pairs_must_match():
    with pytest.raises(ValueError, match="as many runs on both sides"):
        paired_bootstrap(([1, 2], [2, 2]), ([1], [2]), np.random.default_rng(0))
    with pytest.raises(ValueError, match="as many runs on both sides"):
        paired_t([1.0, 2.0], [1.0])


# ---- means --------------------------------------------------------------------------------------------------


def test_t_interval_is_students():
    values = np.random.default_rng(11).exponential(2.0, 25)
    one = t_interval(values)
    reference = stats.t.interval(0.95, 24, values.mean(), stats.sem(values))
    assert (one.low, one.high) == pytest.approx(reference)
    assert one.error == monte_carlo_error(values) == pytest.approx(stats.sem(values))


def test_t_interval_covers():
    samples = np.random.default_rng(12).normal(5, 2, (N_SETS, 6))
    assert 0.93 <= coverage([t_interval(sample) for sample in samples], 5.0) <= 0.97


def test_undefined_runs_are_left_out_of_a_mean():
    assert t_interval([1.0, None, 3.0, float("nan")]) == t_interval([1.0, 3.0])
    assert t_interval([]).value is None
    lonely = t_interval([2.0])
    assert (lonely.value, lonely.low, lonely.high, lonely.error) == (2.0, None, None, None)
    assert monte_carlo_error([2.0]) is None
    with pytest.raises(ValueError, match="one value a run"):
        t_interval(np.ones((2, 2)))


@pytest.mark.parametrize(
    "estimate",
    [wilson(0, 0), t_interval([1.0]), cluster_wilson([1.0, 2.0], [3.0, 4.0]), paired_t([1.0], [2.0])],
    ids=lambda one: one.method,
)
def test_estimates_go_to_json_without_nan(estimate):
    assert isinstance(estimate, Estimate)
    assert json.loads(json.dumps(estimate.as_dict(), allow_nan=False)) == estimate.as_dict()
