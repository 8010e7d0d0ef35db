"""The exact score of the strongest adversary, against enumeration of whole transcripts."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniability.agents.auditor.mechanisms import NO_CANDIDATE, MemorylessMechanism, build
from deniability.agents.organization.inference.strong import strong_scorer

EXACT = ("greedy", "uniform", "rr", "exponential")


def mechanism_of(name, delta=0.3, horizon=4):
    made = build(name, delta, horizon)
    assert isinstance(made, MemorylessMechanism)
    return made


def log_probability(mechanism, stream, transcript):
    """Log probability of a transcript (tuples of targets), written out decision by decision."""
    counts = np.zeros(stream.shape[1], dtype=np.int64)
    total = 0.0
    for reports, decisions in zip(stream, transcript, strict=True):
        counts = counts + reports
        seen = counts.copy()
        for a in decisions:
            total += mechanism.log_probabilities(seen[None, :])[0, a]
            seen[a] = NO_CANDIDATE
        counts[list(decisions)] = 0
    return total


def scored(mechanism, stream, transcript, candidates):
    """Log likelihood ratios after the whole transcript, for candidates (period, target, filed)."""
    scorer = strong_scorer(mechanism, stream.shape[1], np.random.default_rng(0))
    counts = np.zeros(stream.shape[1], dtype=np.int64)
    ids = {}
    for t, (reports, decisions) in enumerate(zip(stream, transcript, strict=True)):
        for candidate in candidates:
            if candidate[0] == t:
                ids[candidate] = int(
                    scorer.add_candidates(np.array([candidate[1]]), np.array([candidate[2]]))[0]
                )
        counts = counts + reports
        scorer.observe(counts, np.array(decisions))
        counts[list(decisions)] = 0
    return scorer.log_likelihood_ratios(np.array([ids[c] for c in candidates]))


def transcripts(n_targets, horizon, audits=1):
    return itertools.product(itertools.permutations(range(n_targets), audits), repeat=horizon)


@pytest.mark.parametrize("audits", [1, 2])
@pytest.mark.parametrize("name", EXACT)
def test_score_is_the_ratio_of_the_two_worlds_for_every_transcript(name, audits):
    mechanism = mechanism_of(name)
    stream = np.array([[1, 0, 2], [0, 1, 0], [2, 0, 1]])[: 4 - audits]
    horizon = len(stream)
    for transcript in transcripts(3, horizon, audits):
        here = log_probability(mechanism, stream, transcript)
        if here == -np.inf:
            continue
        candidates = [(t, c, False) for t in range(horizon) for c in range(3)]
        candidates += [(t, c, True) for t in range(horizon) for c in range(3) if stream[t, c] > 0]
        for candidate, score in zip(
            candidates, scored(mechanism, stream, transcript, candidates), strict=True
        ):
            t, c, filed = candidate
            other = stream.copy()
            other[t, c] += -1 if filed else 1
            there = log_probability(mechanism, other, transcript)
            expected = here - there if filed else there - here
            assert score == expected or abs(score - expected) < 1e-12


@pytest.mark.parametrize("name", EXACT)
def test_mean_likelihood_ratio_without_the_report_is_one(name):
    """It is the probability, with the report, of the transcripts possible without: at most 1 for greedy."""
    mechanism = mechanism_of(name)
    stream = np.array([[1, 0], [0, 1], [1, 1], [0, 0]])
    mean = 0.0
    for transcript in transcripts(2, 4):
        p = np.exp(log_probability(mechanism, stream, transcript))
        if p > 0:
            mean += p * np.exp(scored(mechanism, stream, transcript, [(1, 0, False)])[0])
    if name == "greedy":
        assert 0.0 < mean <= 1.0
    else:
        assert mean == pytest.approx(1.0, abs=1e-12)


def test_certainty_and_its_opposite_are_infinite_and_never_nan():
    mechanism = mechanism_of("greedy")
    scorer = strong_scorer(mechanism, 2, np.random.default_rng(0))
    ids = scorer.add_candidates(np.array([0, 1]), np.array([True, False]))
    # target 0 wins with 1 report against 0: with 0 against 0 it could have won too
    scorer.observe(np.array([1, 0]), np.array([0]))
    assert scorer.log_likelihood_ratios(ids).tolist() == [np.log(2.0), np.log(0.5)]
    more = scorer.add_candidates(np.array([0, 1]), np.array([True, False]))
    scorer.observe(np.array([2, 2]), np.array([0]))
    # without its report target 0 would have lost; with one more, target 1 would have won
    assert scorer.log_likelihood_ratios(more).tolist() == [np.inf, -np.inf]
    later = scorer.add_candidates(np.array([1, 1]), np.array([False, True]))
    scorer.observe(np.array([0, 5]), np.array([1]))
    assert scorer.log_likelihood_ratios(np.concatenate([more, later])).tolist() == [np.inf, -np.inf, 0.0, 0.0]


def test_frozen_by_the_audit_that_ends_the_run_and_not_before():
    mechanism = mechanism_of("exponential", horizon=100)
    scorer = strong_scorer(mechanism, 2, np.random.default_rng(0))
    ids = scorer.add_candidates(np.array([0]), np.array([True]))
    history = []
    for a in (1, 1, 0, 1, 0, 0):
        scorer.observe(np.array([3, 1]), np.array([a]))
        history.append(float(scorer.log_likelihood_ratios(ids)[0]))
    assert history[0] > history[1]  # each "not 0" speaks against the report
    assert history[2] > history[1]  # the audit of 0 speaks for it
    assert history[2:] == [history[2]] * 4


def test_candidates_of_one_target_and_kind_share_their_score_from_when_they_are_open():
    mechanism = mechanism_of("exponential", horizon=100)
    scorer = strong_scorer(mechanism, 3, np.random.default_rng(0))
    early = scorer.add_candidates(np.array([2, 2]), np.array([True, True]))
    scorer.observe(np.array([0, 1, 4]), np.array([0]))
    late = scorer.add_candidates(np.array([2]), np.array([True]))
    before = scorer.log_likelihood_ratios(early)
    scorer.observe(np.array([1, 2, 5]), np.array([1]))
    after = scorer.log_likelihood_ratios(np.concatenate([early, late]))
    assert after[0] == after[1]
    assert after[2] == pytest.approx(after[0] - before[0], abs=1e-15)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_evidence_under_the_exponential_mechanism_is_capped(data):
    """No transcript of any stream supports one report by more than the factor e^epsilon, at any time."""
    delta = data.draw(st.floats(0.01, 0.9))
    n_targets = data.draw(st.integers(2, 5))
    horizon = data.draw(st.integers(1, 12))
    counts_of = st.lists(st.integers(0, 6), min_size=n_targets, max_size=n_targets)
    mechanism = mechanism_of("exponential", delta, horizon)
    scorer = strong_scorer(mechanism, n_targets, np.random.default_rng(0))
    counts = np.zeros(n_targets, dtype=np.int64)
    ids = np.empty(0, dtype=np.int64)
    for _ in range(horizon):
        reports = np.array(data.draw(counts_of))
        counts += reports
        filed = np.flatnonzero(reports)
        both = np.concatenate([filed, np.arange(n_targets)])
        ids = np.append(ids, scorer.add_candidates(both, np.arange(both.size) < filed.size))
        audited = data.draw(st.integers(0, n_targets - 1))
        scorer.observe(counts, np.array([audited]))
        counts[audited] = 0
        assert np.all(scorer.log_likelihood_ratios(ids) <= mechanism.epsilon + 1e-12)


def test_many_candidates_cost_nothing_per_decision():
    """Ids keep their meaning while the book grows far beyond its first size."""
    mechanism = mechanism_of("exponential", horizon=1000)
    scorer = strong_scorer(mechanism, 2, np.random.default_rng(0))
    ids = scorer.add_candidates(np.zeros(1000, dtype=np.int64), np.arange(1000) < 3)
    scorer.observe(np.array([3, 0]), np.array([1]))
    more = scorer.add_candidates(np.ones(500, dtype=np.int64), np.zeros(500, dtype=bool))
    scorer.observe(np.array([3, 0]), np.array([0]))
    assert more.tolist() == list(range(1000, 1500))
    scores = scorer.log_likelihood_ratios(ids)
    assert len(set(scores[:3])) == 1
    assert len(set(scores[3:])) == 1
    assert scores[0] != scores[3]


@pytest.mark.parametrize(
    ("counts", "audited", "message"),
    [
        ([0, 0], [0], "fewer than its 1 filed candidates"),
        ([1, 0, 0], [0], "shape"),
        ([1, 5], [0], "impossible"),
        ([1, 0], [2], "different targets"),
        ([1, 0], [0, 0], "different targets"),
        ([1, 0], [], "different targets"),
    ],
)
def test_misuse_is_refused(counts, audited, message):
    scorer = strong_scorer(mechanism_of("greedy"), 2, np.random.default_rng(0))
    scorer.add_candidates(np.array([0]), np.array([True]))
    with pytest.raises(ValueError, match=message):
        scorer.observe(np.array(counts), np.array(audited, dtype=np.int64))


def test_unknown_ids_and_targets_are_refused():
    scorer = strong_scorer(mechanism_of("uniform"), 2, np.random.default_rng(0))
    with pytest.raises(ValueError, match="ids must lie"):
        scorer.log_likelihood_ratios(np.array([0]))
    with pytest.raises(ValueError, match="targets must lie"):
        scorer.add_candidates(np.array([2]), np.array([False]))
    with pytest.raises(ValueError, match="one length"):
        scorer.add_candidates(np.array([1]), np.array([False, True]))
