"""The exact score for mechanisms without memory.

Until the next audit of its target c a candidate changes one number, the count of c; after it nothing. The
likelihood ratio is therefore the product of one factor per decision up to that audit, and the factor depends
on the decision, on c and on whether the candidate is among the counts: not on which candidate of c it is. One
running sum per target and kind serves all candidates; a candidate is the difference of two of its values.
"""

import numpy as np

from ....auditor.mechanisms.base import NO_CANDIDATE, MemorylessMechanism
from ....ports import FloatArray, IntArray
from .base import BoolArray, CandidateBook, StrongScorer

__all__ = ["ExactScorer"]


class ExactScorer(StrongScorer):
    """Exact likelihood ratios for a `MemorylessMechanism` (greedy, uniform, rr, exponential).

    Several audits in a period are decisions in a row, each audited target reset before the next and no longer
    a candidate, as the mechanisms make them.

    Parameters
    ----------
    mechanism
        Gives the law of a decision; none of its state is used or changed.
    n_targets
        Number of audit targets.
    """

    def __init__(self, mechanism: MemorylessMechanism, n_targets: int) -> None:
        self._mechanism = mechanism
        self._n_targets = n_targets
        self._book = CandidateBook(n_targets)
        # one place per kind and target, as in the book's `n_open`: first those not filed, then those filed.
        # row 0 is the sum of the finite factors, row 1 the number of infinite ones, whose difference would be NaN
        self._running: FloatArray = np.zeros((2, 2 * n_targets))
        self._start: FloatArray = np.zeros((2, 16))
        self._target_of: IntArray = np.tile(np.arange(n_targets), 2)
        # of the count, from the real world to the other one
        self._change_of: IntArray = np.repeat([1, -1], n_targets)
        # where each world but the real one, a row each, begins in the table of all
        self._world_at: IntArray = np.arange(1, 2 * n_targets + 1) * n_targets

    def add_candidates(self, targets: IntArray, filed: BoolArray) -> IntArray:
        """See `StrongScorer.add_candidates`."""
        ids = self._book.add(targets, filed)
        if self._start.shape[1] < self._book.target.size:
            more = np.zeros((2, self._book.target.size - self._start.shape[1]))
            self._start = np.concatenate((self._start, more), axis=1)
        if ids.size:
            self._start[:, ids[0] : ids[-1] + 1] = self._running.take(self._places(ids), axis=1)
        return ids

    def observe(self, active_reports: IntArray, audited: IntArray) -> None:
        """See `StrongScorer.observe`."""
        counts = self._book.check_counts(active_reports).copy()
        for a in self._book.check_audited(audited):
            self._decision(counts, a)
            counts[a] = NO_CANDIDATE

    def _decision(self, counts: IntArray, audited: int) -> None:
        n_targets, (places,) = self._n_targets, self._book.n_open.reshape(-1).nonzero()
        change = self._change_of.take(places)
        # the real world and, one a row, those with one report more or one less: the mechanism is asked but once
        worlds = np.empty((1 + places.size, n_targets), dtype=np.int64)
        worlds[:] = counts
        worlds.reshape(-1)[self._world_at[: places.size] + self._target_of.take(places)] += change
        log_chance = self._mechanism.log_probabilities(worlds)[:, audited]
        real, other = log_chance[0], log_chance[1:]
        if real == -np.inf:
            raise ValueError(f"auditing target {audited} is impossible at active reports {counts.tolist()}")
        possible = other > -np.inf
        if np.count_nonzero(possible) < places.size:
            self._running[1, places[~possible]] += 1.0
            places, change, other = places[possible], change[possible], other[possible]
        self._running[0, places] += change * (other - real)
        ids = self._book.ids_of(audited)
        if ids.size:
            self._book.freeze(audited, ids, self._current(ids))
        # no open candidate is left, so the sums may start afresh: no digits are lost over a long history
        self._running[:, audited::n_targets] = 0.0

    def _places(self, ids: IntArray) -> IntArray:
        """Where the running sums of candidates are."""
        return self._book.filed.take(ids) * self._n_targets + self._book.target.take(ids)

    def _current(self, ids: IntArray) -> FloatArray:
        places = self._places(ids)
        result: FloatArray
        result, n_infinite = self._running.take(places, axis=1) - self._start.take(ids, axis=1)
        if np.count_nonzero(n_infinite):
            # impossible without a report that was filed: certainty; impossible with one that was not: ruled out
            certain = np.where(places >= self._n_targets, np.inf, -np.inf)
            result = np.where(n_infinite > 0.0, certain, result)
        return result

    def log_likelihood_ratios(self, ids: IntArray) -> FloatArray:
        """See `StrongScorer.log_likelihood_ratios`."""
        known = self._book.check_ids(ids)
        result: FloatArray = self._book.score[known]
        still_open = ~self._book.frozen[known]
        if still_open.any():
            result[still_open] = self._current(known[still_open])
        return result
