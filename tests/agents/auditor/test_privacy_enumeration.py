"""The guarantees of `exponential` and `rr`, by enumerating all transcripts of small instances.

The worlds here are written down from the rules of docs/mechanisms.md, not through the mechanisms' code.
"""

from itertools import product

import numpy as np
import pytest

from deniability.agents.auditor.privacy import (
    delta_for_p_rand,
    epsilon_for_delta,
    exponential_group_delta,
    exponential_trade_off,
    odds_cap,
)


def exponential_law(epsilon):
    def law(counts):
        weights = np.exp(epsilon * (counts - counts.max()))
        return weights / weights.sum()

    return law


def rr_law(p_rand):
    def law(counts):
        leaders = counts == counts.max()
        return p_rand / counts.size + (1.0 - p_rand) * leaders / leaders.sum()

    return law


def transcript_laws(stream, law, *, adaptive=False, reset=True):
    """Probability of every transcript. `stream` has shape (periods, targets)."""
    horizon, n_targets = stream.shape
    laws = []
    for transcript in product(range(n_targets), repeat=horizon):
        counts, probability = np.zeros(n_targets), 1.0
        for t, audited in enumerate(transcript):
            counts = counts + stream[t]
            if adaptive and t:
                # colleagues react to what was audited: the same function of the transcript in both worlds
                counts[(transcript[t - 1] + 1) % n_targets] += 2
            probability *= law(counts)[audited]
            if reset:
                counts[audited] = 0.0
        laws.append(probability)
    return np.array(laws)


def curve(without, with_report):
    """False and true positive rates of all likelihood-ratio tests."""
    order = np.argsort(-(with_report / without))
    return np.cumsum(without[order]), np.cumsum(with_report[order])


def total_variation(p, q):
    return 0.5 * np.abs(p - q).sum()


SHAPES = [(1, 2), (3, 2), (6, 2), (4, 3), (3, 4)]


@pytest.mark.parametrize("adaptive", [False, True])
@pytest.mark.parametrize("delta", [0.05, 0.3, 0.8])
@pytest.mark.parametrize("shape", SHAPES)
def test_exponential_obeys_its_curve_its_delta_and_its_odds_cap(shape, delta, adaptive):
    epsilon = epsilon_for_delta(delta)
    generator = np.random.default_rng([*shape, int(100 * delta)])
    for _ in range(20):
        stream = generator.poisson(generator.choice([0.2, 2.0]), shape).astype(float)
        extra = stream.copy()
        extra[generator.integers(shape[0]), generator.integers(shape[1])] += 1.0
        without = transcript_laws(stream, exponential_law(epsilon), adaptive=adaptive)
        with_report = transcript_laws(extra, exponential_law(epsilon), adaptive=adaptive)
        assert without.sum() == pytest.approx(1.0)
        fpr, tpr = curve(without, with_report)
        fpr = np.clip(fpr, 0.0, 1.0)
        assert np.all(tpr <= exponential_trade_off(fpr, np.asarray(epsilon)) + 1e-12)
        assert total_variation(without, with_report) <= delta + 1e-12
        assert np.max(with_report / without) <= odds_cap(epsilon, 1) * (1.0 + 1e-12)


@pytest.mark.parametrize("k", [2, 3])
def test_exponential_group_bound_for_reports_anywhere(k):
    delta, shape = 0.2, (4, 3)
    epsilon = epsilon_for_delta(delta)
    generator = np.random.default_rng(k)
    for _ in range(30):
        stream = generator.poisson(0.7, shape).astype(float)
        extra = stream.copy()
        for _ in range(k):
            extra[generator.integers(shape[0]), generator.integers(shape[1])] += 1.0
        without = transcript_laws(stream, exponential_law(epsilon))
        with_reports = transcript_laws(extra, exponential_law(epsilon))
        assert total_variation(without, with_reports) <= exponential_group_delta(delta, k) + 1e-12
        assert np.max(with_reports / without) <= odds_cap(epsilon, k) * (1.0 + 1e-12)


def test_without_the_reset_the_exponential_guarantee_fails():
    """Negative control: the enumeration sees that it is the reset that bounds what one report costs."""
    delta = 0.1
    law = exponential_law(epsilon_for_delta(delta))
    stream = np.zeros((10, 2))
    extra = stream.copy()
    extra[0, 0] = 1.0
    kept = total_variation(
        transcript_laws(stream, law, reset=False), transcript_laws(extra, law, reset=False)
    )
    wiped = total_variation(transcript_laws(stream, law), transcript_laws(extra, law))
    assert kept > 1.5 * delta
    assert wiped < delta


@pytest.mark.parametrize(("n_decisions", "fraction"), [(1, 0.681), (4, 0.891), (16, 0.970), (64, 0.992)])
def test_small_hazards_approach_delta_from_below(n_decisions, fraction):
    """The best constant hazard over N decisions reaches this fraction of delta = 0.1.

    Whether the audit has come by decision t is the best test, so the total variation is a maximum over t.
    """
    rho = np.exp(epsilon_for_delta(0.1))
    hazard = np.linspace(1e-4, 1.0 - 1e-4, 20_000)
    raised = rho * hazard / (1.0 + (rho - 1.0) * hazard)
    t = np.arange(1, n_decisions + 1)
    gap = (1.0 - hazard[:, None]) ** t - (1.0 - raised[:, None]) ** t
    assert gap.max() / 0.1 == pytest.approx(fraction, abs=1e-3)
    assert gap.max() < 0.1


@pytest.mark.parametrize("k", [1, 2, 5])
@pytest.mark.parametrize("shape", SHAPES)
def test_rr_bound_covers_any_number_of_reports(shape, k):
    p_rand = 0.8
    bound = delta_for_p_rand(p_rand, shape[0])
    generator = np.random.default_rng([*shape, k])
    for _ in range(20):
        stream = generator.poisson(0.5, shape).astype(float)
        extra = stream.copy()
        for _ in range(k):
            extra[generator.integers(shape[0]), generator.integers(shape[1])] += 1.0
        without, with_reports = (transcript_laws(s, rr_law(p_rand)) for s in (stream, extra))
        assert total_variation(without, with_reports) <= bound + 1e-12


def test_rr_reaches_most_of_its_bound_with_one_report_among_many_tied_targets():
    """One report lifts a target out of an m-fold tie: total variation (1 - 1/m) delta at one decision."""
    p_rand, n_targets = 0.8, 40
    extra = np.zeros((1, n_targets))
    extra[0, 0] = 1.0
    laws = [transcript_laws(s, rr_law(p_rand)) for s in (np.zeros((1, n_targets)), extra)]
    assert total_variation(*laws) == pytest.approx((1.0 - 1.0 / n_targets) * (1.0 - p_rand), rel=1e-12)
