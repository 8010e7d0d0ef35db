"""The mechanisms' own code against their guarantees: all transcripts of small instances, and the noise really added.

Worst cases are looked for, and every check has a planted fault that it must see.
"""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from deniability.agents.auditor.mechanisms import NO_CANDIDATE, build
from deniability.agents.auditor.privacy import (
    counter_misselection,
    exponential_trade_off,
    mu_for_delta,
    utility_bound,
)

ERROR_RATE = 1e-6
COUNTERS = ["toeplitz", "binary_tree", "blt", "independent"]


def transcript_law(mechanism, stream, *, react=0, audits=1):
    """Probability of every transcript, from the mechanism's own law; `stream` is (periods, targets).

    All transcripts at once, a row each. `react`: reports that the target after the one audited last gets, so that
    the stream is adaptive. With several audits in a period each audited target is no candidate until the next.
    """
    horizon, n_targets = stream.shape
    transcripts = np.array(list(product(range(n_targets), repeat=horizon * audits)))
    rows = np.arange(len(transcripts))
    counts = np.zeros((len(rows), n_targets), dtype=np.int64)
    log_probability = np.zeros(len(rows))
    for t, new in enumerate(stream):
        counts += new
        if react and t:
            counts[rows, (transcripts[:, t * audits - 1] + 1) % n_targets] += react
        candidates = counts.copy()
        for audited in transcripts[:, t * audits : (t + 1) * audits].T:
            log_probability += mechanism.log_likelihood(candidates, audited)
            candidates[rows, audited] = NO_CANDIDATE
            counts[rows, audited] = 0
    return np.exp(log_probability)


def curve(without, with_report):
    """False and true positive rates of all likelihood-ratio tests."""
    possible = (without > 0.0) | (with_report > 0.0)
    without, with_report = without[possible], with_report[possible]
    with np.errstate(divide="ignore"):
        order = np.argsort(-(with_report / without))
    return np.minimum(np.cumsum(without[order]), 1.0), np.cumsum(with_report[order])


def total_variation(p, q):
    return 0.5 * np.abs(p - q).sum()


def instances(shape, n=12):
    """Streams and the place of one more report."""
    generator = np.random.default_rng(shape)
    for _ in range(n):
        stream = generator.poisson(generator.choice([0.3, 2.0]), shape)
        extra = stream.copy()
        extra[generator.integers(shape[0]), generator.integers(shape[1])] += 1
        yield stream, extra


@pytest.mark.parametrize(("react", "audits"), [(0, 1), (3, 1), (0, 2)])
@pytest.mark.parametrize("shape", [(1, 3), (3, 3), (5, 2)])
@pytest.mark.parametrize("delta", [0.1, 0.6])
class TestAllTranscripts:
    def laws(self, mechanism, shape, react, audits):
        for stream, extra in instances(shape):
            pair = [transcript_law(mechanism, s, react=react, audits=audits) for s in (stream, extra)]
            assert all(p.sum() == pytest.approx(1.0, abs=1e-10) for p in pair)
            yield pair

    def test_exponential_obeys_its_curve(self, shape, delta, react, audits):
        made = build("exponential", delta, 1)
        for without, with_report in self.laws(made, shape, react, audits):
            fpr, tpr = curve(without, with_report)
            assert np.all(tpr <= exponential_trade_off(fpr, np.asarray(made.epsilon)) + 1e-12)
            assert total_variation(without, with_report) <= delta

    def test_rr_stays_below_delta(self, shape, delta, react, audits):
        made = build("rr", delta, shape[0] * audits)
        for without, with_report in self.laws(made, shape, react, audits):
            assert total_variation(without, with_report) <= delta + 1e-12

    def test_uniform_says_nothing(self, shape, delta, react, audits):
        for without, with_report in self.laws(build("uniform", delta, 1), shape, react, audits):
            assert total_variation(without, with_report) < 1e-12


def test_greedy_can_tell_everything():
    """The negative control: one report decides the transcript, as a guarantee of 1 says."""
    stream = np.array([[1, 2], [0, 0]])
    extra = stream + np.array([[2, 0], [0, 0]])
    laws = [transcript_law(build("greedy", 0.1, 2), s) for s in (stream, extra)]
    assert total_variation(*laws) == pytest.approx(1.0)


def worst_case(made, n_decisions):
    """Largest total variation over constant hazards: the other target keeps just ahead, however it is reset.

    With two targets the transcript up to the audit of target 0 is how long it takes; the other target gets k
    reports each period, so that the hazard is the same at every decision.
    """
    best = 0.0
    for k in range(60):
        stream = np.zeros((n_decisions, 2), dtype=np.int64)
        stream[:, 1] = k
        survival = []
        for first in (0, 1):
            counts = np.array([first, k])
            hazard = np.exp(made.log_probabilities(counts))[0]
            survival.append((1.0 - hazard) ** np.arange(1, n_decisions + 1))
        best = max(best, float(np.max(survival[0] - survival[1])))
    return best


@pytest.mark.parametrize(("n_decisions", "fraction"), [(1, 0.681), (4, 0.891), (16, 0.970), (64, 0.992)])
def test_exponential_comes_close_to_delta_and_not_above(n_decisions, fraction):
    """The fraction of delta that constant hazards reach. Whole k come near the best hazard."""
    reached = worst_case(build("exponential", 0.1, 1), n_decisions) / 0.1
    assert fraction - 0.02 <= reached <= fraction + 0.0005


def test_the_worst_case_is_the_enumerated_total_variation():
    made, stream = build("exponential", 0.1, 1), np.array([[0, 3]] * 4)
    extra = stream.copy()
    extra[0, 0] = 1
    laws = [transcript_law(made, s) for s in (stream, extra)]
    hazards = [np.exp(made.log_probabilities(np.array([n, 3])))[0] for n in (0, 1)]
    survival = [(1.0 - h) ** np.arange(1, 5) for h in hazards]
    assert total_variation(*laws) == pytest.approx(np.max(survival[0] - survival[1]), rel=1e-12)


@pytest.mark.parametrize("n_leaders", [1, 2, 4])
def test_rr_misses_with_its_exact_probability(n_leaders):
    """(C - m)/C p_rand with m tied leaders; in particular (C - 1)/C p_rand."""
    made = build("rr", 0.3, 4)
    counts = np.array([5] * n_leaders + [1] * (5 - n_leaders))
    hit = np.exp(made.log_probabilities(counts))[:n_leaders].sum()
    assert 1.0 - hit == pytest.approx((5 - n_leaders) / 5 * made.p_rand, rel=1e-12)


# Counter mechanisms: the whole noisy path, as the mechanism really adds it


def advantage_of_path(made):
    """Exact total variation of the counter's noisy path under one more report, at its worst period.

    The decoder is read off the stream (unit impulses), sigma off the mechanism: with A = B C the two worlds' paths
    differ in mean by C's column and in nothing else, so their distance is that of two normals.
    """
    horizon = made.horizon
    paths = made.counter.paths(horizon, 1, horizon)
    decoder = np.array([paths.step(row[:, None])[:, 0] for row in np.eye(horizon)])
    encoder = np.linalg.solve(decoder, np.tri(horizon))
    shift = np.linalg.norm(encoder, axis=0).max() / made.sigma
    return 2.0 * stats.norm.cdf(shift / 2.0) - 1.0


@pytest.mark.parametrize("delta", [0.05, 0.1, 0.5])
@pytest.mark.parametrize("horizon", [1, 7, 64, 100])
@pytest.mark.parametrize("name", COUNTERS)
def test_noisy_path_spends_delta_exactly(name, horizon, delta):
    assert advantage_of_path(build("tca", delta, horizon, name)) == pytest.approx(delta, rel=1e-9)


@pytest.mark.parametrize("name", COUNTERS)
def test_noise_too_small_is_seen(name):
    made = build("tca", 0.1, 64, name)
    made.sigma /= 1.25
    assert advantage_of_path(made) > 0.12


def first_audits(made, gap, run_length, n_replicates=40_000, n_targets=4):
    """Who is audited at `run_length` when nobody was before: the leader has `gap` reports.

    Until then a last target, which every decision takes, keeps the others' counters running.
    """
    made.reset(n_replicates, n_targets + 1, np.random.default_rng(run_length))
    counts = np.zeros((n_replicates, n_targets + 1), dtype=np.int64)
    counts[:, -1] = 10**9
    for _ in range(run_length - 1):
        assert np.all(made.select(counts) == n_targets)
    counts[:, 0], counts[:, -1] = gap, NO_CANDIDATE
    return made.select(counts)


@pytest.mark.parametrize("run_length", [1, 2, 6, 12])
@pytest.mark.parametrize("name", COUNTERS)
def test_audits_follow_the_exact_law(name, run_length):
    made, gap = build("tca", 0.3, 12, name), 4
    missed = np.count_nonzero(first_audits(made, gap, run_length))
    std = made.sigma * made.counter.noise_std(run_length, 12)
    assert stats.binomtest(missed, 40_000, counter_misselection(float(gap), std, 4.0)).pvalue > ERROR_RATE


def test_a_wrong_scale_is_seen_in_the_audits():
    """The planted fault for the test above."""
    made, gap = build("tca", 0.3, 12), 4
    std = made.sigma * made.counter.noise_std(6, 12)
    made.sigma /= 1.25
    missed = np.count_nonzero(first_audits(made, gap, 6))
    assert stats.binomtest(missed, 40_000, counter_misselection(float(gap), std, 4.0)).pvalue < ERROR_RATE


@pytest.mark.parametrize("name", COUNTERS)
def test_distinguisher_that_sees_the_noisy_counts_gains_delta_and_no_more(name):
    """The likelihood-ratio test on the whole noisy path of one counter, played: advantage near delta."""
    horizon, delta, n = 16, 0.3, 40_000
    made = build("tca", delta, horizon, name)
    paths = made.counter.paths(n, 1, horizon)
    generator = np.random.default_rng(5)
    noise = (
        np.array([paths.step(generator.standard_normal((n, 1)))[:, 0] for _ in range(horizon)]).T * made.sigma
    )
    to_white = np.linalg.inv(made.counter.decoder(horizon)) / made.sigma
    column = np.linalg.norm(made.counter.encoder(horizon), axis=0).argmax()
    shift = to_white @ (np.arange(horizon) >= column)
    score = noise @ to_white.T @ shift / np.linalg.norm(shift)
    threshold = mu_for_delta(delta) / 2.0
    false, true = np.mean(score > threshold), np.mean(score + np.linalg.norm(shift) > threshold)
    # one sample serves both rates; each has a standard error of at most 0.0025
    assert true - false == pytest.approx(delta, abs=5 * 2 * 0.0025)


@pytest.mark.parametrize("name", COUNTERS)
def test_utility_theorem_step_by_step(name):
    """At each decision, given the noise already drawn: over many continuations the leader is missed at most as
    often as the bound says."""
    n_targets, horizon, n = 4, 10, 4_000
    made = build("tca", 0.5, horizon, name)
    made.reset(1, n_targets, np.random.default_rng(11))
    reports = np.random.default_rng(12).poisson([12.0, 0.5, 0.5, 0.5], (horizon, 1, n_targets))
    counts = np.zeros((1, n_targets), dtype=np.int64)
    tight = 0
    for new in reports:
        counts += new
        carried = made.sigma * made.paths.carried()[0] + counts[0]
        leader = int(counts[0].argmax())
        effective_gap = carried[leader] - np.delete(carried, leader).max()
        bound = utility_bound(float(effective_gap), made.sigma, n_targets)
        fresh = carried + made.sigma * np.random.default_rng(int(counts.sum())).standard_normal(
            (n, n_targets)
        )
        missed = int(np.count_nonzero(fresh.argmax(axis=1) != leader))
        if bound < 1.0:
            tight += 1
            assert stats.binomtest(missed, n, bound, alternative="greater").pvalue > ERROR_RATE
        audited = made.select(counts)
        counts[0, audited] = 0
    assert tight >= 3
