"""The particle filter's likelihood ratios, against exact normal orthants and against each other.

A filter's score is random. Each comparison uses independent filters and their own standard error, and every test
below fails for a right filter with probability under 1e-3 (but the seeds are fixed).
"""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from deniability.agents.auditor.mechanisms import build
from deniability.agents.organization.inference.strong import strong_scorer
from deniability.agents.organization.inference.strong.particle_scorer import ParticleScorer, log_ratios
from deniability.scenarios.errors import InputError

COUNTERS = ("toeplitz", "binary_tree", "blt", "independent")
STREAM = np.array([[1, 0, 2], [0, 1, 0], [1, 0, 1], [0, 1, 0]])


def transcript_probability(mechanism, stream, transcript):
    """Probability of a transcript (a tuple of targets per period), as one normal orthant.

    Given who is audited when, which run each noise belongs to is known, so all noisy counts are jointly normal,
    and the transcript says that some of their differences are positive.
    """
    horizon, n_targets = stream.shape
    decoder = mechanism.counter.decoder(mechanism.horizon)
    size = horizon * n_targets
    loadings = np.zeros((size, size))  # noisy count (t, c) on innovation (s, c)
    means, counts, begun = np.zeros(size), np.zeros(n_targets), np.zeros(n_targets, dtype=int)
    rows = []
    for t in range(horizon):
        counts += stream[t]
        for c in range(n_targets):
            i = t * n_targets + c
            means[i] = counts[c]
            for s in range(begun[c], t + 1):
                loadings[i, s * n_targets + c] = mechanism.sigma * decoder[t - begun[c], s - begun[c]]
        for a in transcript[t]:
            for c in set(range(n_targets)) - set(transcript[t]):
                rows.append(np.zeros(size))
                rows[-1][[t * n_targets + a, t * n_targets + c]] = 1.0, -1.0
        counts[list(transcript[t])] = 0
        begun[list(transcript[t])] = t + 1
    differences = np.array(rows)
    return multivariate_normal.cdf(
        differences @ means,
        mean=np.zeros(len(rows)),
        cov=(differences @ loadings) @ (differences @ loadings).T,
        allow_singular=True,
        maxpts=20_000,
        abseps=1e-7,
        releps=1e-7,
        rng=np.random.default_rng(0),
    )


def filtered(mechanism, stream, transcript, candidates, seed, n_particles):
    """Scores of candidates (period, target, filed), and the log likelihood of the transcript."""
    scorer = strong_scorer(mechanism, stream.shape[1], np.random.default_rng(seed), n_particles)
    assert isinstance(scorer, ParticleScorer)
    counts = np.zeros(stream.shape[1], dtype=np.int64)
    ids = np.zeros(len(candidates), dtype=np.int64)
    for t, (reports, audited) in enumerate(zip(stream, transcript, strict=True)):
        for i, (period, target, filed) in enumerate(candidates):
            if period == t:
                ids[i] = scorer.add_candidates(np.array([target]), np.array([filed]))[0]
        counts = counts + reports
        scorer.observe(counts, np.array(audited))
        counts[list(audited)] = 0
    return scorer.log_likelihood_ratios(ids), scorer.log_likelihood


def exact(mechanism, stream, transcript, candidate):
    """Exact log likelihood ratio of the transcript up to the audit that ends the run."""
    t, c, filed = candidate
    end = next((s + 1 for s in range(t, len(stream)) if c in transcript[s]), len(stream))
    other = stream.copy()
    other[t, c] += -1 if filed else 1
    here = transcript_probability(mechanism, stream[:end], transcript[:end])
    there = transcript_probability(mechanism, other[:end], transcript[:end])
    return np.log(here / there) if filed else np.log(there / here)


CASES = {
    "two targets, the report's run goes on": (2, ((1,), (1,), (0,), (1,))),
    "two targets, restarts of both": (2, ((0,), (1,), (1,), (0,))),
    "three targets": (3, ((2,), (0,))),
    "two of three audited": (3, ((0, 1), (1, 2))),
    "two of three audited, the least likely": (3, ((1, 0), (1, 0))),
}


def standard_scores(mechanism, stream, transcript, candidates, n_filters, n_particles):
    runs = [
        filtered(mechanism, stream, transcript, candidates, seed, n_particles) for seed in range(n_filters)
    ]
    values = np.array([np.append(scores, total) for scores, total in runs])
    truth = [exact(mechanism, stream, transcript, c) for c in candidates]
    truth.append(np.log(transcript_probability(mechanism, stream, transcript)))
    standard_error = values.std(axis=0, ddof=1) / np.sqrt(n_filters)
    return (values.mean(axis=0) - truth) / standard_error, standard_error


@pytest.mark.parametrize("counter", COUNTERS)
@pytest.mark.parametrize("case", CASES)
def test_scores_agree_with_exact_orthants(case, counter):
    """Student's t with 9 degrees of freedom is beyond 6 with probability 2e-4, in each of 80 comparisons."""
    n_targets, transcript = CASES[case]
    stream = STREAM[: len(transcript), :n_targets]
    mechanism = build("tca", 0.5, len(transcript), counter)
    last = len(transcript) - 1
    candidates = [(0, 0, False), (0, 0, True), (last, 0, False)]
    n_particles = 3000 if len(transcript[0]) == 1 else 800
    scores, standard_error = standard_scores(mechanism, stream, transcript, candidates, 10, n_particles)
    assert np.all(np.abs(scores) < 6.0)
    assert np.all(standard_error < 0.03)  # the comparison is not empty


def test_wrong_shift_is_caught():
    """Negative control: the score for a report one period off is told apart from the right one."""
    mechanism = build("tca", 0.5, 4)
    transcript = CASES["two targets, the report's run goes on"][1]
    values = [
        filtered(mechanism, STREAM[:, :2], transcript, [(1, 0, False)], s, 3000)[0][0] for s in range(10)
    ]
    truth = exact(mechanism, STREAM[:, :2], transcript, (0, 0, False))
    assert abs(np.mean(values) - truth) / (np.std(values, ddof=1) / np.sqrt(10)) > 10.0


@pytest.mark.parametrize("counter", COUNTERS)
def test_filed_and_not_filed_give_one_ratio_for_the_same_two_worlds(counter):
    """From the world with the report (1/E1) and from the world without (E0), over long runs and restarts."""
    n_targets, horizon = 4, 25
    mechanism = build("tca", 0.3, horizon, counter)
    rng = np.random.default_rng(5)
    without = rng.poisson(0.5, size=(horizon, n_targets))
    transcript = [(int(a),) for a in rng.integers(1, n_targets, size=horizon)]
    transcript[20] = (0,)
    with_report = without.copy()
    with_report[6, 0] += 1
    from_without = [
        filtered(mechanism, without, transcript, [(6, 0, False)], s, 1000)[0][0] for s in range(12)
    ]
    from_with = [
        filtered(mechanism, with_report, transcript, [(6, 0, True)], s + 100, 1000)[0][0] for s in range(12)
    ]
    gap = np.mean(from_without) - np.mean(from_with)
    assert abs(gap) / np.sqrt((np.var(from_without) + np.var(from_with)) / 11) < 5.0
    assert abs(np.mean(from_with)) > 0.05


def test_mean_likelihood_ratio_without_the_report_is_one():
    """Over transcripts of the world without: within 3 standard errors (a right filter fails once in 370)."""
    horizon, n_targets, n = 6, 3, 400
    mechanism = build("tca", 0.4, horizon)
    stream = np.random.default_rng(1).poisson(0.6, size=(horizon, n_targets))
    mechanism.reset(n, n_targets, np.random.default_rng(2))
    counts = np.zeros((n, n_targets), dtype=np.int64)
    transcripts = np.zeros((n, horizon), dtype=np.int64)
    for t in range(horizon):
        counts += stream[t]
        transcripts[:, t] = mechanism.select(counts)
        counts[np.arange(n), transcripts[:, t]] = 0
    ratios = np.exp(
        [
            filtered(mechanism, stream, [(a,) for a in row], [(2, 0, False)], i, 200)[0][0]
            for i, row in enumerate(transcripts.tolist())
        ]
    )
    standard_error = ratios.std(ddof=1) / np.sqrt(n)
    assert abs(ratios.mean() - 1.0) < 3.0 * standard_error
    assert 0.0 < standard_error < 0.05


def test_frozen_by_the_audit_that_ends_the_run():
    mechanism = build("tca", 0.5, 40)
    scorer = strong_scorer(mechanism, 3, np.random.default_rng(0), 50)
    ids = scorer.add_candidates(np.array([1, 1]), np.array([True, False]))
    seen = []
    for a in (0, 2, 1, 0, 1, 2):
        scorer.observe(np.array([2, 3, 1]), np.array([a]))
        seen.append(scorer.log_likelihood_ratios(ids).tolist())
    assert seen[0] != seen[1]
    assert seen[1] != seen[2]
    assert seen[2:] == [seen[2]] * 4


def test_what_is_scored_changes_nothing_else():
    """The same draws whatever the candidates, and the same scores in whatever company."""
    mechanism = build("tca", 0.5, 30)
    rng = np.random.default_rng(3)
    transcript = rng.integers(0, 3, size=30)
    alone = strong_scorer(mechanism, 3, np.random.default_rng(7), 60)
    crowd = strong_scorer(mechanism, 3, np.random.default_rng(7), 60)
    bare = strong_scorer(mechanism, 3, np.random.default_rng(7), 60)
    for t, a in enumerate(transcript):
        if t == 4:
            one = alone.add_candidates(np.array([1]), np.array([False]))
            many = crowd.add_candidates(np.array([0, 1, 1, 2]), np.array([True, False, True, False]))
        elif t > 4:
            crowd.add_candidates(np.array([1]), np.array([False]))
        for scorer in (alone, crowd, bare):
            scorer.observe(np.array([3, 2, 1]), np.array([a]))
    # matrix products of other shapes may round differently
    assert crowd.log_likelihood_ratios(many[1:2]) == pytest.approx(
        alone.log_likelihood_ratios(one), abs=1e-12
    )
    assert bare.log_likelihood == alone.log_likelihood == crowd.log_likelihood


def test_a_candidate_without_a_decision_yet_is_at_even_odds():
    scorer = strong_scorer(build("tca", 0.5, 5), 2, np.random.default_rng(0), 50)
    assert scorer.log_likelihood_ratios(scorer.add_candidates(np.array([0]), np.array([False]))) == [0.0]
    scorer.observe(np.array([1, 1]), np.array([1]))
    ids = scorer.add_candidates(np.array([0, 1]), np.array([False, True]))
    assert scorer.log_likelihood_ratios(ids) == pytest.approx([0.0, 0.0], abs=1e-12)


def test_absurd_transcripts_and_counts_stay_finite():
    """Selections of probability 1e-300 and less, and huge gaps, leave finite scores."""
    mechanism = build("tca", 0.9, 6)
    scorer = strong_scorer(mechanism, 3, np.random.default_rng(0), 50)
    ids = scorer.add_candidates(np.array([0, 1, 2]), np.array([False, True, True]))
    for counts, audited in (([0, 60, 1], [2]), ([0, 100, 9], [0]), ([500, 900, 0], [2]), ([0, 3000, 0], [1])):
        scorer.observe(np.array(counts), np.array(audited))
        assert np.all(np.isfinite(scorer.log_likelihood_ratios(ids)))
    assert np.isfinite(scorer.log_likelihood)
    assert scorer.log_likelihood < -700.0


def test_ratios_of_known_particles():
    """One particle: the ratio is the density ratio of two shifted normals."""
    scores = log_ratios(
        np.array([[0.7], [0.7]]), np.array([1.5, 1.5]), np.array([False, True]), 2.0, np.array([0.0])
    )
    assert scores == pytest.approx([0.7 / 2 - 1.5 / 8, 0.7 / 2 + 1.5 / 8])


def test_periods_beyond_the_horizon_are_refused():
    scorer = strong_scorer(build("tca", 0.5, 1), 2, np.random.default_rng(0), 20)
    scorer.observe(np.array([1, 0]), np.array([0]))
    with pytest.raises(ValueError, match="calibrated for 1 periods"):
        scorer.observe(np.array([1, 0]), np.array([0]))


def test_a_mechanism_with_neither_law_nor_counter_is_refused():
    class Mystery(type(build("greedy", 0.5, 1)).__mro__[2]):
        id = "mystery"

        def select(self, active_reports):
            return active_reports[:, 0]

        def guarantee(self):
            return 1.0

    with pytest.raises(InputError, match="mystery"):
        strong_scorer(Mystery(0.5, 1), 2, np.random.default_rng(0))


def test_a_horizon_whose_matrices_would_not_fit_is_refused():
    with pytest.raises(InputError, match="at most 10000"):
        strong_scorer(build("tca", 0.5, 10_001), 2, np.random.default_rng(0))
