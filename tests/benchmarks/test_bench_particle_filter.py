"""The compiled particle filter against a plain numpy one: the same law, and how many times faster.

The plain filter is also an independent second implementation: other quadrature, other sampling, other random numbers,
nothing shared but the counter's matrices.
"""

import time

import numpy as np
import pytest
from scipy.special import log_ndtr, logsumexp, ndtri_exp

from deniability.agents.auditor.mechanisms import build
from deniability.agents.organization.inference.strong import strong_scorer

COARSE, FINE = 1 / 4, 1 / 16  # steps of the plain filter's grid, in units of sigma


class PlainFilter:
    """A fully adapted particle filter in numpy, one candidate per (target, period) of the open runs.

    Quadrature and inversion on one even grid per particle, wide enough for all of them. The winner is drawn from the
    grid with linear interpolation of the cumulated density, which makes its variance too large by step^2/12: at 50
    targets by 2.5 % with the coarse grid, by 0.2 % with the fine one. (The compiled filter corrects this exactly.)
    """

    def __init__(self, mechanism, n_targets, n_particles, generator, step):
        self.sigma, self.generator, self.step = mechanism.sigma, generator, step
        self.decoder = mechanism.counter.decoder(mechanism.horizon)
        self.encoder = mechanism.counter.encoder(mechanism.horizon)
        self.z = [np.zeros((n_particles, 0)) for _ in range(n_targets)]
        self.log_weights = np.full(n_particles, -np.log(n_particles))
        self.log_likelihood = 0.0

    def observe(self, counts, audited):
        n = self.log_weights.size
        means = np.stack(
            [
                counts[c] / self.sigma + z @ self.decoder[z.shape[1], : z.shape[1]]
                for c, z in enumerate(self.z)
            ],
            axis=1,
        )
        top = means.max(axis=1)
        y = (0.5 * (top + means[:, audited]) - 8.0)[:, None] + self.step * np.arange(
            int((16.0 + 0.5 * np.max(top - means[:, audited])) / self.step)
        )
        log_cdf = log_ndtr(y[:, None, :] - means[:, :, None])
        log_cdf[:, audited] = -0.5 * ((y - means[:, audited, None]) ** 2 + np.log(2 * np.pi))
        log_f = log_cdf.sum(axis=1)
        log_weights = self.log_weights + logsumexp(log_f, axis=1) + np.log(self.step)
        increment = logsumexp(log_weights)
        self.log_likelihood += increment
        log_weights -= increment
        if n * np.exp(2 * log_weights).sum() > 2.0:
            pointers = (np.arange(n) + self.generator.random()) / n
            chosen = np.searchsorted(np.cumsum(np.exp(log_weights)), pointers).clip(max=n - 1)
            self.z = [z[chosen] for z in self.z]
            means, y, log_f = means[chosen], y[chosen], log_f[chosen]
            log_weights = np.full(n, -np.log(n))
        self.log_weights = log_weights
        f = np.exp(log_f - log_f.max(axis=1, keepdims=True))
        mass = np.cumsum(0.5 * (f[:, 1:] + f[:, :-1]), axis=1)
        goal = self.generator.random(n) * mass[:, -1]
        cell = (mass < goal[:, None]).sum(axis=1)
        rows = np.arange(n)
        below = np.where(cell > 0, mass[rows, cell - 1], 0.0)
        winner = y[rows, cell] + self.step * (goal - below) / (mass[rows, cell] - below)
        fresh = ndtri_exp(np.log(self.generator.random(means.shape)) + log_ndtr(winner[:, None] - means))
        fresh[:, audited] = winner - means[:, audited]
        self.z = [np.column_stack([z, fresh[:, c]]) for c, z in enumerate(self.z)]

    def end_run(self, target):
        self.z[target] = self.z[target][:, :0]

    def log_ratio(self, target, first):
        """Log likelihood ratio of a report that is not filed and first counts in period `first` of the run."""
        length = self.z[target].shape[1]
        u = self.encoder[:length, first] / self.sigma
        return logsumexp(self.log_weights + self.z[target] @ u - 0.5 * u @ u)


def transcript_of(n_targets, n_periods, delta, seed):
    mechanism = build("tca", delta, n_periods)
    generator = np.random.default_rng(seed)
    mechanism.reset(1, n_targets, generator)
    rates = np.full(n_targets, 0.2)
    rates[0] = 1.0
    counts, history = np.zeros(n_targets, dtype=np.int64), []
    for _ in range(n_periods):
        counts = counts + generator.poisson(rates)
        audited = int(mechanism.select(counts[None, :])[0])
        history.append((counts, audited))
        counts = counts.copy()
        counts[audited] = 0
    return mechanism, history


def plain(mechanism, history, n_targets, n_particles, seed, step):
    """Scores of the reports that would first count at the beginning of each run, in the order of the runs' ends."""
    filter_ = PlainFilter(mechanism, n_targets, n_particles, np.random.default_rng(seed), step)
    scores = []
    for counts, audited in history:
        filter_.observe(counts, audited)
        scores.append(filter_.log_ratio(audited, 0))
        filter_.end_run(audited)
    return np.array(scores), filter_.log_likelihood


def fast(mechanism, history, n_targets, n_particles, seed):
    scorer = strong_scorer(mechanism, n_targets, np.random.default_rng(seed), n_particles)
    open_ids = scorer.add_candidates(np.arange(n_targets), np.zeros(n_targets, dtype=bool)).tolist()
    ended = []
    for counts, audited in history:
        scorer.observe(counts, np.array([audited]))
        ended.append(open_ids[audited])
        open_ids[audited] = int(scorer.add_candidates(np.array([audited]), np.array([False]))[0])
    return scorer.log_likelihood_ratios(np.array(ended)), scorer.log_likelihood


def test_both_filters_score_alike():
    """Student's t with 22 degrees of freedom, 20 scores: beyond 5.5 with probability 3e-4 in all.

    The plain filter uses its fine grid.
    """
    mechanism, history = transcript_of(4, 20, 0.1, 1)
    one = np.array([plain(mechanism, history, 4, 400, seed, FINE)[0] for seed in range(12)])
    other = np.array([fast(mechanism, history, 4, 400, seed)[0] for seed in range(12)])
    error = np.sqrt((one.var(axis=0, ddof=1) + other.var(axis=0, ddof=1)) / 12)
    assert np.all(np.abs(one.mean(axis=0) - other.mean(axis=0)) < 5.5 * error)
    assert np.std(one.mean(axis=0)) > 5 * error.mean()


@pytest.mark.slow
@pytest.mark.parametrize(("n_targets", "n_periods"), [(5, 60), (50, 12)])
def test_speed_of_the_filter(benchmark, n_targets, n_periods):
    """Ratio to the plain filter, both warm, in one process and one thread, at 1,000 particles."""
    mechanism, history = transcript_of(n_targets, n_periods, 0.1, 1)
    fast(mechanism, history[:1], n_targets, 1000, 1)  # compile
    plain_seconds = []
    for step in (COARSE, FINE):
        begun = time.thread_time()
        plain(mechanism, history, n_targets, 1000, 1, step)
        plain_seconds.append(time.thread_time() - begun)

    def run():
        begun = time.thread_time()
        fast(mechanism, history, n_targets, 1000, 1)
        return time.thread_time() - begun

    seconds = min(benchmark.pedantic(run, rounds=1), run(), run())
    coarse, fine = (value / seconds for value in plain_seconds)
    benchmark.extra_info["ratio"] = fine
    print(
        f"\n{n_targets} targets, {n_periods} periods: compiled {seconds:.3f} s; the plain filter takes "
        f"{coarse:.0f} times as long with a coarse grid, {fine:.0f} times with a fine one"
    )
    assert fine > 20.0
