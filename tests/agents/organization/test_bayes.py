"""The careful lab: filter against enumeration, hazards against exact laws, posterior against the truth."""

import itertools
from math import exp, factorial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from deniability.agents.auditor.mechanisms import build
from deniability.agents.organization.inference import Case, Knowledge, KnownIncidents, inference
from deniability.agents.organization.inference.bayes import hazards_met, insertion_ratios, report_delay_cdf
from deniability.agents.organization.inference.hazards import HazardTable, estimate_hazards

N_COUNTS = 16


def table(hazard):
    return HazardTable(np.asarray(hazard), np.zeros(np.shape(hazard)))


def ratios_of(arrivals, audited, *parts):
    """What the filter says where mechanisms (first decision, hazards by run length and count) follow each other."""
    audited = np.asarray(audited, dtype=bool)
    met = hazards_met(audited, [(first, table(hazard)) for first, hazard in parts])
    return insertion_ratios(np.asarray(arrivals, dtype=float), audited, met)


def enumerated_ratio(arrivals, audited, parts, extra):
    """`P(transcript | one more report in period `extra`) / P(transcript)`, by summing over all arrivals."""

    def chance(plus):
        total = 0.0
        for counts in itertools.product(range(8), repeat=len(arrivals)):
            p = float(np.prod([exp(-a) * a**k / factorial(k) for a, k in zip(arrivals, counts, strict=True)]))
            n = length = 0
            for t, k in enumerate(counts):
                if t + 1 in parts:  # a mechanism starts: no run so far, but the reports stay
                    hazard, length = parts[t + 1], 0
                n = min(n + k + (t == plus), N_COUNTS - 1)
                h = hazard[min(length, len(hazard) - 1), n]
                p *= h if audited[t] else 1.0 - h
                n, length = (0, 0) if audited[t] else (n, length + 1)
            total += p
        return total

    return chance(extra) / chance(-1)


@settings(deadline=None, max_examples=25)
@given(
    arrivals=st.lists(st.floats(0.0, 0.3), min_size=1, max_size=4),
    pattern=st.lists(st.booleans(), min_size=4, max_size=4),
    base=st.floats(0.05, 0.5),
    slope=st.floats(0.0, 0.4),
    change=st.integers(2, 5),
)
def test_filter_equals_enumeration(arrivals, pattern, base, slope, change):
    n = np.arange(N_COUNTS)
    rows = np.array([1.0 - (1.0 - base) * np.exp(-slope * n * (1 + row)) for row in range(3)])
    later = np.array([1.0 - (1.0 - base / 2) * np.exp(-0.3 * n / (1 + row)) for row in range(2)])
    audited = pattern[: len(arrivals)]
    parts = {1: rows} | ({change: later} if change <= len(arrivals) else {})
    ratios = ratios_of(arrivals, audited, *parts.items())
    # counts above 7 in a period have probability below 1e-8 at these rates
    expected = [enumerated_ratio(arrivals, audited, parts, s) for s in range(len(arrivals))]
    assert ratios == pytest.approx(expected, rel=1e-6)


def test_filter_needs_the_right_period():
    # negative control: after the audit a report cannot have caused it, before it can
    hazard = np.array([[0.1] + [0.6] * (N_COUNTS - 1)])
    ratios = ratios_of([0.2, 0.2, 0.2], [False, True, False], (1, hazard))
    assert ratios[1] > 1.5
    assert ratios[2] < 1.0


def test_decisions_are_judged_by_the_mechanism_that_made_them():
    steep, flat = np.array([[0.02] + [0.8] * (N_COUNTS - 1)]), np.full((1, N_COUNTS), 0.2)
    arrivals, audited = np.full(13, 0.1), np.arange(1, 14) == 8
    before = ratios_of(arrivals[:11], audited[:11], (1, steep))
    after = ratios_of(arrivals, audited, (1, steep), (12, flat))
    # what a mechanism without regard to reports decides adds nothing to what was known, and takes nothing away
    assert after == pytest.approx([*before, 1.0, 1.0], rel=1e-12)
    # negative control: the mechanism in office now, taken for that of all decisions, has nothing against anyone
    assert ratios_of(arrivals, audited, (1, flat)) == pytest.approx(np.ones(13), rel=1e-12)
    assert before[7] > 2.0
    # the other way round: the audit at 8 said nothing, the silence since 12 speaks against every later report
    after = ratios_of(arrivals, audited, (1, flat), (12, steep))
    assert after[:8] == pytest.approx(np.ones(8), rel=1e-12)
    assert (after[8:] < 0.5).all()


def test_the_run_length_starts_afresh_with_the_mechanism_and_after_an_audit():
    rows = np.repeat(np.arange(10)[:, None] / 10.0, 2, axis=1)
    audited = np.array([0, 0, 0, 0, 0, 1, 0, 0], dtype=bool)
    met = hazards_met(audited, [(1, table(rows)), (4, table(rows[:2] + 0.05))])
    # the last row stands for all longer runs
    assert met[:, 0] == pytest.approx([0.0, 0.1, 0.2, 0.05, 0.15, 0.15, 0.05, 0.15])


def test_a_flat_hazard_says_nothing():
    ratios = ratios_of(np.full(5, 0.7), [0, 1, 0, 0, 1], (1, np.full((2, N_COUNTS), 0.2)))
    assert ratios == pytest.approx(np.ones(5), rel=1e-12)


@pytest.mark.parametrize(
    "means", [(2.0, 1.0), (1.0, 1.0), (0.0, 1.0), (2.0, 0.0), (1.0, 1.0 + 1e-7), (0.0, 0.0)]
)
def test_delay_distribution_is_that_of_a_sum_of_exponentials(means):
    rng = np.random.default_rng(5)
    sample = rng.exponential(1.0, 40_000) * means[0] + rng.exponential(1.0, 40_000) * means[1]
    weeks = np.array([0.3, 1.0, 2.5, 6.0])
    empirical = (sample[:, None] <= weeks).mean(axis=0)
    # 5 standard errors of a share of 40,000
    assert report_delay_cdf(weeks, *means) == pytest.approx(empirical, abs=5 * 0.5 / 200)
    assert report_delay_cdf(np.array([0.0]), *means) == pytest.approx([0.0])


def idle(replicates=400, periods=30, targets=6):
    return np.zeros((replicates, periods, targets), dtype=np.int64)


def test_hazards_of_uniform_and_exponential_are_exact():
    # all other targets at 0, so the law is e^{eps n} / (e^{eps n} + C - 1)
    table = estimate_hazards(build("uniform", 0.1, 30), idle(), np.random.default_rng(1))
    assert table.hazard == pytest.approx(np.full_like(table.hazard, 1 / 6), abs=1e-6)
    table = estimate_hazards(build("exponential", 0.3, 30), idle(), np.random.default_rng(1))
    from deniability.agents.auditor.privacy import epsilon_for_delta

    law = 1 / (1 + 5 * np.exp(-float(epsilon_for_delta(0.3)) * np.arange(97)))
    visited = np.isfinite(table.standard_error[0])
    assert visited.sum() > 40
    assert table.hazard[0][visited] == pytest.approx(law[visited], abs=1e-6)


def test_hazards_of_tca_agree_with_the_exact_static_law():
    # at the first decision every target's noise is one innovation: 1 - E[1 - Phi...] in closed form
    from deniability.agents.auditor.privacy import sigma_for_delta

    horizon = 30
    table = estimate_hazards(build("tca", 0.4, horizon), idle(20_000, 1), np.random.default_rng(2))
    sigma = float(sigma_for_delta(0.4, build("tca", 0.4, horizon).counter.sensitivity(horizon)))
    x = np.linspace(-8, 8, 4001)
    for n in (0, 1, 3):
        exact = np.trapezoid(stats.norm.pdf(x) * stats.norm.cdf(x + n / sigma) ** 5, x)
        error = table.standard_error[0][n]
        # pooling over run lengths and monotony move a cell by less than its own error; 5 of them
        assert abs(table.hazard[0][n] - exact) < 5 * error + 0.01


def test_hazard_does_not_fall_when_the_count_rises():
    rng = np.random.default_rng(3)
    arrivals = rng.poisson(0.1, size=(300, 40, 8))
    for mechanism in ("greedy", "rr", "tca", "exponential"):
        table = estimate_hazards(build(mechanism, 0.2, 40), arrivals, np.random.default_rng(4))
        assert (np.diff(table.hazard, axis=1) >= -1e-12).all()
        assert ((table.hazard >= 0) & (table.hazard <= 1)).all()


def judged(k, decision, audits, hazard):
    knowledge = Knowledge(0.3, 8.0, 1.0, 2.0, 1.0, lambda _decision: [(1, table(hazard))])
    people = np.arange(k)
    case = Case(
        decision=decision,
        person=people,
        incident=np.zeros(k, dtype=np.int64),
        target=np.zeros(k, dtype=np.int64),
        incident_time=np.full(k, 0.5),
        anonymity_set=np.full(k, k),
        known=KnownIncidents(np.array([0]), np.array([0]), np.array([0.5]), np.array([k])),
        audits_of=lambda _target: np.asarray(audits, dtype=np.int64),
        log_likelihood_ratio=lambda: pytest.fail("a careful lab does not know the others' reports"),
    )
    return inference("bayes")(knowledge).posteriors(case)


def test_without_evidence_the_posterior_is_the_share_of_the_prior_that_is_due():
    flat = np.full((1, N_COUNTS), 0.2)
    posterior = judged(5, 4, [4], flat)
    due = 0.3 * report_delay_cdf(np.array([3.5]), 2.0, 1.0)[0]
    assert posterior == pytest.approx(np.full(5, due), rel=1e-9)


def test_more_people_with_access_make_each_less_suspect():
    steep = np.array([[0.01] + [0.9] * (N_COUNTS - 1)])
    levels = [judged(k, 4, [4], steep)[0] for k in (1, 2, 5, 20)]
    assert levels == sorted(levels, reverse=True)
    assert levels[0] > 0.85


def own_world(n_worlds, k, levels, rng, periods=12):
    """Worlds drawn from the lab's own assumptions, each judged at its last audit.

    Returns the posterior of each world (the same for its k people) and the share of the k who have reported by then.
    """
    due = np.ceil(0.5 + rng.exponential(2.0, (n_worlds, k)) + rng.exponential(1.0, (n_worlds, k)))
    due[rng.random((n_worlds, k)) >= 0.3] = np.inf  # these keep silent
    count = np.zeros(n_worlds, dtype=np.int64)
    audited = np.zeros((n_worlds, periods), dtype=bool)
    for t in range(1, periods + 1):
        count += (due == t).sum(axis=1)
        audited[:, t - 1] = rng.random(n_worlds) < levels[0, np.minimum(count, N_COUNTS - 1)]
        count[audited[:, t - 1]] = 0
    due, audited = due[audited.any(axis=1)], audited[audited.any(axis=1)]
    last = periods - np.argmax(audited[:, ::-1], axis=1)
    patterns, row = np.unique(audited, axis=0, return_inverse=True)
    decisions = [(np.flatnonzero(pattern) + 1).tolist() for pattern in patterns]
    said = np.array([judged(k, audits[-1], audits, levels)[0] for audits in decisions])[row]
    return said, (due <= last[:, None]).mean(axis=1)


def largest_gap(said, true):
    """Largest gap between said and true over eight equal classes of posteriors, and four standard errors."""
    gaps, errors = [], []
    for rows in np.array_split(np.argsort(said, kind="stable"), 8):
        gaps.append(abs(said[rows].mean() - true[rows].mean()))
        errors.append(4 * true[rows].std() / np.sqrt(len(rows)))
    return max(gaps), max(errors)


@pytest.mark.slow
@pytest.mark.parametrize(("k", "bound"), [(6, 0.04), (12, 0.025)])
def test_calibration_in_its_own_world(k, bound):
    # in a world drawn from the lab's own assumptions, of the people with posterior q a share q has reported; the
    # bound is for the arrivals, binomial in truth and Poisson in the lab's mind: the less, the more people there are
    levels = np.array([0.02, 0.35, 0.55, 0.7, 0.8] + [0.9] * (N_COUNTS - 5))[None, :]
    said, true = own_world(60_000, k, levels, np.random.default_rng(8))
    assert said.std() > 0.05  # it does distinguish
    gap, chance = largest_gap(said, true)
    assert chance < 0.01
    assert gap < bound
    assert abs(said.mean() - true.mean()) < 0.01
    # negative controls: a lab that exaggerates by a fifth is found out, and one that plays down by as much
    assert largest_gap(1.2 * said, true)[0] > bound + chance
    assert largest_gap(said / 1.2, true)[0] > bound + chance
