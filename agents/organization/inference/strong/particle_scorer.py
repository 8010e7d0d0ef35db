"""The score for counter mechanisms: a particle filter over the noise already drawn."""

import numpy as np

from ....auditor.mechanisms.counter_based import CounterMechanism
from ....ports import FloatArray, IntArray
from .base import BoolArray, CandidateBook, StrongScorer
from .normal import filter_tables
from .particles import advance, make_scratch

__all__ = ["ParticleScorer", "log_ratios"]

RESAMPLE_BELOW = 0.5
"""Resample when the effective number of particles is below this share of them."""
_FIRST_CAPACITY = 32


def log_ratios(
    projections: FloatArray,
    squared_norms: FloatArray,
    filed: BoolArray,
    sigma: float,
    log_weights: FloatArray,
) -> FloatArray:
    r"""Log likelihood ratios (filed : not filed) from weighted particles.

    Shifting the innovations of a run by minus u turns the path with a report into the path without. Hence in the
    world without the candidate :math:`LR = E_0[e^{u z/\sigma^2 - |u|^2/(2\sigma^2)}]`, and in the world with it
    :math:`LR = 1/E_1[e^{-u z/\sigma^2 - |u|^2/(2\sigma^2)}]`, both given the transcript (docs/adversary.md).

    Parameters
    ----------
    projections
        u z / sigma of each particle, shape (candidates, particles).
    squared_norms
        |u|^2, shape (candidates,).
    filed
        Whether the particles' world has the report, shape (candidates,).
    sigma
        Standard deviation of an innovation, in reports.
    log_weights
        Normalised, shape (particles,).
    """
    sign = np.where(filed, -1.0, 1.0)
    exponents = sign[:, None] * projections / sigma - squared_norms[:, None] / (2.0 * sigma**2)
    exponents += log_weights
    top = exponents.max(axis=1)
    logs = top + np.log(np.exp(exponents - top[:, None]).sum(axis=1))
    result: FloatArray = sign * logs
    return result


class ParticleScorer(StrongScorer):
    """Likelihood ratios for a `CounterMechanism` by a fully adapted particle filter.

    The filter runs in the world whose counts it is given; what is scored, and whether it was filed, changes none
    of its draws.

    A score is frozen by the audit that ends the run (docs/adversary.md), and is then the likelihood ratio of the
    transcript up to that audit. Later decisions still say a little: they depend on the other targets' noise,
    about which the report's run has told something. No test on the whole transcript has an advantage above delta
    either.

    Parameters
    ----------
    mechanism
        Its counter, sigma and horizon are read; none of its state is used or changed.
    n_targets
        Number of audit targets.
    key
        Key of the particles' randomness, 0 to 2**64 - 1.
    n_particles
        Number of particles.
    """

    def __init__(self, mechanism: CounterMechanism, n_targets: int, key: int, n_particles: int) -> None:
        self._sigma = mechanism.sigma
        self._horizon = mechanism.horizon
        self._decoder = np.ascontiguousarray(mechanism.counter.decoder(mechanism.horizon))
        self._encoder = mechanism.counter.encoder(mechanism.horizon)
        self._key = np.uint64(key)
        self._book = CandidateBook(n_targets)
        self._start: IntArray = np.empty(16, dtype=np.int64)
        self._z = np.empty((n_targets, min(_FIRST_CAPACITY, self._horizon), n_particles))
        self._lengths: IntArray = np.zeros(n_targets, dtype=np.int64)
        self._log_weights = np.full(n_particles, -np.log(n_particles))
        self._tables = filter_tables()
        self._scratch = make_scratch(n_targets, n_particles)
        self._decisions = 0
        self.log_likelihood = 0.0
        """Log of the estimated probability of the transcript so far, in the world of the given counts."""

    def add_candidates(self, targets: IntArray, filed: BoolArray) -> IntArray:
        """See `StrongScorer.add_candidates`."""
        ids = self._book.add(targets, filed)
        if self._start.size < self._book.target.size:
            self._start = np.resize(self._start, self._book.target.size)
        self._start[ids] = self._lengths[self._book.target[ids]]
        return ids

    def observe(self, active_reports: IntArray, audited: IntArray) -> None:
        """See `StrongScorer.observe`. The order of the audited makes no difference: the m largest restart."""
        counts = self._book.check_counts(active_reports)
        chosen = self._book.check_audited(audited)
        if self._decisions == self._horizon:
            raise ValueError(f"the mechanism is calibrated for {self._horizon} periods, and this is one more")
        self._make_room()
        self.log_likelihood += advance(
            self._z,
            self._lengths,
            self._log_weights,
            counts,
            1.0 / self._sigma,
            self._decoder,
            np.array(sorted(chosen), dtype=np.int64),
            self._key,
            self._decisions,
            RESAMPLE_BELOW,
            self._tables,
            self._scratch,
        )
        self._decisions += 1
        for a in chosen:
            ids = self._book.ids_of(a)
            if ids.size:
                self._book.freeze(a, ids, self._current(a, ids))
            self._lengths[a] = 0

    def _make_room(self) -> None:
        capacity = self._z.shape[1]
        if self._lengths.max() < capacity:
            return
        n_targets, _, n_particles = self._z.shape
        larger = np.empty((n_targets, min(2 * capacity, self._horizon), n_particles))
        for c, length in enumerate(self._lengths.tolist()):
            larger[c, :length] = self._z[c, :length]
        self._z = larger

    def _current(self, target: int, ids: IntArray) -> FloatArray:
        length = int(self._lengths[target])
        kinds, inverse = np.unique(
            np.stack([self._start[ids], self._book.filed[ids]], axis=1), axis=0, return_inverse=True
        )
        starts, filed = kinds[:, 0], kinds[:, 1].astype(np.bool_)
        u = self._encoder[:length, np.minimum(starts, self._horizon - 1)]
        # a candidate whose first decision is still to come has no rows yet: u is empty and the ratio 1
        u = np.where(starts < length, u, 0.0)
        scores = log_ratios(
            u.T @ self._z[target, :length], (u**2).sum(axis=0), filed, self._sigma, self._log_weights
        )
        result: FloatArray = scores[inverse.ravel()]
        return result

    def log_likelihood_ratios(self, ids: IntArray) -> FloatArray:
        """See `StrongScorer.log_likelihood_ratios`."""
        known = self._book.check_ids(ids)
        result = self._book.score[known].copy()
        still_open = ~self._book.frozen[known]
        targets = self._book.target[known]
        for c in np.unique(targets[still_open]).tolist():
            chosen = still_open & (targets == c)
            result[chosen] = self._current(c, known[chosen])
        return result
