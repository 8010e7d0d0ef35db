"""The distinguishing game: exact scores, the interval, bounds that hold, and faults that are found."""

import itertools

import numpy as np
import pytest
from scipy import stats

from deniability.agents.auditor.mechanisms import build
from deniability.agents.auditor.mechanisms.tca import ToeplitzContinualAuditing
from deniability.agents.organization.inference.strong import strong_scorer
from deniability.agents.organization.inference.strong.batch import score_transcripts
from deniability.simulation.draws import KeyedDraws
from deniability.simulation.leakage import (
    difference_interval,
    exact_scores,
    measure_leakage,
    simulate_transcripts,
)
from deniability.simulation.leakage_streams import poisson_stream

STREAM = np.array([[1, 0, 2], [0, 1, 0], [1, 0, 1], [0, 2, 0], [1, 0, 0]])


def play(mechanism, stream, n, seed=1, period=None, target=0, particles=100):
    at = (len(stream) - 1) // 2 if period is None else period
    return measure_leakage(
        mechanism,
        stream,
        period=at,
        target=target,
        n_transcripts=n,
        draws=KeyedDraws(seed),
        n_particles=particles,
    )


@pytest.mark.parametrize("name", ["greedy", "uniform", "rr", "exponential"])
def test_vectorised_scores_are_the_scorers(name):
    """The same numbers as the agent model's scorer gives, for every transcript that can be."""
    mechanism = build(name, 0.3, 3)
    stream = STREAM[:3]
    transcripts = np.array(list(itertools.product(range(3), repeat=3)))
    with np.errstate(invalid="ignore"):
        scores = exact_scores(mechanism, stream, transcripts, 1, 0)
    for transcript, score in zip(transcripts, scores, strict=True):
        scorer = strong_scorer(mechanism, 3, np.random.default_rng(0))
        counts, possible = np.zeros(3, dtype=np.int64), True
        for t, a in enumerate(transcript):
            if t == 1:
                ids = scorer.add_candidates(np.array([0]), np.array([False]))
            counts = counts + stream[t]
            if mechanism.log_likelihood(counts[None, :], np.array([a]))[0] == -np.inf:
                possible = False
                break
            scorer.observe(counts, np.array([a]))
            counts[a] = 0
        if possible:
            assert score == pytest.approx(scorer.log_likelihood_ratios(ids)[0], abs=1e-12)


def test_batched_filter_is_the_scorer():
    """One candidate over many transcripts, and one transcript with its candidates: the same law of scores."""
    mechanism = build("tca", 0.4, 5)
    transcript = np.array([[1, 2, 1, 1, 0]])
    batched = [score_transcripts(mechanism, STREAM, transcript, 0, 2, k, 0, 1000)[0] for k in range(12)]
    single = []
    for seed in range(12):
        scorer = strong_scorer(mechanism, 3, np.random.default_rng(seed), 1000)
        counts = np.zeros(3, dtype=np.int64)
        for t, a in enumerate(transcript[0]):
            if t == 2:
                ids = scorer.add_candidates(np.array([0]), np.array([False]))
            counts = counts + STREAM[t]
            scorer.observe(counts, np.array([a]))
            counts[a] = 0
        single.append(scorer.log_likelihood_ratios(ids)[0])
    assert stats.ttest_ind(batched, single).pvalue > 1e-4
    assert abs(np.mean(single)) > 0.05


def test_transcripts_stop_when_all_runs_have_ended():
    transcripts = simulate_transcripts(build("greedy", 0.1, 5), STREAM, 50, np.random.default_rng(0), 0, 2)
    assert transcripts.shape == (50, 1)
    later = simulate_transcripts(build("greedy", 0.1, 5), STREAM, 50, np.random.default_rng(0), 1, 0)
    assert later.shape[1] < 5
    assert np.all((later[:, 1:] == 0).any(axis=1))


def test_no_advantage_against_a_lottery_and_none_beyond_the_truth_against_greedy():
    lottery = play(build("uniform", 0.1, 5), STREAM, 400)
    assert lottery.advantage[0] == 0.0
    assert lottery.bound == 0.0
    assert lottery.mean_likelihood_ratio == (1.0, 0.0)
    greedy = play(build("greedy", 0.1, 5), np.zeros((5, 4), dtype=np.int64), 2000)
    # all counts 0: the report decides, where without it the audit is a lottery among four
    assert greedy.true_positive_rate == 1.0
    assert greedy.advantage[1] < 0.75 < greedy.advantage[2]
    assert greedy.bound == 1.0


def test_the_exponential_mechanisms_worst_case_comes_close_to_its_bound():
    """A small constant hazard over many decisions: 0.98 of delta in theory."""
    mechanism = build("exponential", 0.3, 32)
    result = play(mechanism, np.zeros((32, 32), dtype=np.int64), 20_000, period=0)
    assert result.advantage[0] == pytest.approx(0.295, abs=4 * 0.5 / 100)
    assert result.interval(0.999)[1] <= 0.3
    assert result.mean_likelihood_ratio[0] == pytest.approx(1.0, abs=4 * result.mean_likelihood_ratio[1])


def test_a_stronger_weight_than_promised_is_found_on_the_worst_case():
    """Planted fault: epsilon too large by a quarter."""
    mechanism = build("exponential", 0.3, 32)
    mechanism.epsilon *= 1.25
    result = play(mechanism, np.zeros((32, 32), dtype=np.int64), 20_000, period=0)
    assert result.interval(0.999)[1] > result.bound == 0.3


def one_decision(delta, lead, noise=1.0):
    """A designed stream for counters: one decision, and so many rivals that their largest is almost known.

    Target 0 leads by so much that its one more report just decides: whether it wins then shows the sign of its
    noise about a threshold, which is close to the best test on the counter itself.
    """
    mechanism = build("tca", delta, 1)
    mechanism.sigma *= noise
    rivals = round(np.log(0.5) / stats.norm.logcdf((lead + 0.5) / mechanism.sigma))
    stream = np.zeros((1, rivals + 1), dtype=np.int64)
    stream[0, 0] = lead
    return mechanism, stream


def wins(mechanism, stream, extra, seed, n):
    world = stream.copy()
    world[0, 0] += extra
    return int(np.sum(simulate_transcripts(mechanism, world, n, np.random.default_rng(seed), 0, 0) == 0))


def test_a_designed_stream_betrays_nearly_delta_under_tca():
    mechanism, stream = one_decision(0.1, 10)
    x = np.linspace(-8, 8, 20_001)
    rivals = stream.shape[1] - 1
    with_report, without = (
        np.trapezoid(stats.norm.pdf(x) * stats.norm.cdf(x + k / mechanism.sigma) ** rivals, x)
        for k in (11, 10)
    )
    assert 0.09 < with_report - without < 0.1
    n = 20_000
    value, low, _ = difference_interval(
        wins(mechanism, stream, 1, 1, n), n, wins(mechanism, stream, 0, 2, n), n, 0.999
    )
    assert value == pytest.approx(with_report - without, abs=4 * 0.5 / 100)
    assert low <= 0.1
    game = play(mechanism, stream, 300, particles=200)
    won = np.exp(game.without[game.without > 0].mean())
    assert won == pytest.approx(with_report / without, rel=0.02)


@pytest.mark.parametrize(("noise", "lead", "broken"), [(1.0, 3, False), (1 / 1.25, 2, True)])
def test_too_little_noise_is_found_on_a_designed_stream(noise, lead, broken):
    """Planted fault: sigma too small by a quarter."""
    mechanism, stream = one_decision(0.3, lead, noise)
    n = 20_000
    hits, alarms = wins(mechanism, stream, 1, 1, n), wins(mechanism, stream, 0, 2, n)
    assert (difference_interval(hits, n, alarms, n, 0.999)[1] > 0.3) is broken


class SameNoise(ToeplitzContinualAuditing):
    """Planted fault: after an audit the counter's first innovation comes again."""

    id = ""

    def select(self, active_reports):
        fresh = self.generator.standard_normal((self.n_replicates, self.n_targets))
        self.first = getattr(self, "first", fresh)
        return (active_reports + self.sigma * self.first).argmax(axis=1)


@pytest.mark.parametrize(("kind", "broken"), [(SameNoise, True), (ToeplitzContinualAuditing, False)])
def test_noise_that_is_not_fresh_after_an_audit_is_found_in_the_transcript(kind, broken):
    """One report a period about target 0: with old noise, audits of it come in a fixed rhythm.

    The attack says "filed" where the run with the report is one period shorter than the run before. It is fixed
    beforehand, so its advantage has to stay below delta.
    """
    n, at = 4000, 30
    stream = np.repeat([[1, 0]], 60, axis=0)
    said = []
    for seed, extra in ((1, 0), (2, 1)):
        world = stream.copy()
        world[at, 0] += extra
        made = simulate_transcripts(kind(0.2, 60), world, n, np.random.default_rng(seed), at, 0)
        yes = 0
        for row in made:
            audits = np.flatnonzero(row == 0)
            before, after = audits[audits < at], audits[audits >= at]
            if len(before) > 1 and len(after) > 0:
                yes += after[0] - before[-1] == before[-1] - before[-2] - 1
        said.append(int(yes))
    low = difference_interval(said[1], n, said[0], n, 0.999)[1]
    assert (low > 0.2) is broken


def test_newcombes_interval_covers_as_it_says():
    """Exact coverage for two binomials of 30: close to 95 %."""
    n, p, q = 30, 0.35, 0.2
    k = np.arange(n + 1)
    chances = np.outer(stats.binom.pmf(k, n, p), stats.binom.pmf(k, n, q))
    covered = np.array(
        [[low <= p - q <= high for j in k for _, low, high in [difference_interval(i, n, j, n)]] for i in k]
    )
    assert (chances * covered).sum() == pytest.approx(0.95, abs=0.015)


def test_results_do_not_depend_on_threads_and_repeat(monkeypatch):
    mechanism = build("tca", 0.3, 5)
    first = play(mechanism, STREAM, 70, particles=30)
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    again = play(mechanism, STREAM, 70, particles=30)
    assert first.summary() == again.summary()
    assert np.array_equal(first.without, again.without)
    assert not np.array_equal(first.without, first.with_report)


FAMILY = [
    (name, counter)
    for name, counters in (
        ("rr", [""]),
        ("uniform", [""]),
        ("exponential", [""]),
        ("tca", ["toeplitz", "binary_tree", "blt", "independent"]),
    )
    for counter in counters
]


@pytest.mark.slow
def test_no_mechanism_betrays_more_than_its_bound():
    """Familywise error rate 1 %: 7 mechanisms x 3 streams, each interval at 1 - 0.02/21 (one end matters).

    Likewise no mean likelihood ratio is off by more than its Bonferroni share allows.
    """
    streams = (
        poisson_stream(KeyedDraws(1), 10, 3),
        np.zeros((8, 6), dtype=np.int64),
        np.repeat([[3, 1, 0, 2]], 7, axis=0),
    )
    n_tests = len(FAMILY) * len(streams)
    level = 1.0 - 0.02 / n_tests
    z = stats.norm.isf(0.01 / n_tests / 2)
    for name, counter in FAMILY:
        for i, stream in enumerate(streams):
            mechanism = build(name, 0.2, len(stream), counter or "toeplitz")
            result = play(mechanism, stream, 1000, seed=i + 10, particles=40)
            assert result.interval(level)[1] <= result.bound
            mean, error = result.mean_likelihood_ratio
            assert abs(mean - 1.0) <= z * error + 1e-9
