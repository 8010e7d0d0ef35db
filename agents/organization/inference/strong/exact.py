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

_UNFILED, _FILED = 0, 1


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
        self._book = CandidateBook(n_targets)
        # infinite factors are counted apart: their difference would be NaN
        self._sums: FloatArray = np.zeros((2, n_targets))
        self._infinite: IntArray = np.zeros((2, n_targets), dtype=np.int64)
        self._start_sum: FloatArray = np.zeros(16)
        self._start_infinite: IntArray = np.zeros(16, dtype=np.int64)

    def add_candidates(self, targets: IntArray, filed: BoolArray) -> IntArray:
        """See `StrongScorer.add_candidates`."""
        ids = self._book.add(targets, filed)
        if self._start_sum.size < self._book.target.size:
            self._start_sum = np.resize(self._start_sum, self._book.target.size)
            self._start_infinite = np.resize(self._start_infinite, self._book.target.size)
        kind = self._book.filed[ids].astype(np.int64)
        self._start_sum[ids] = self._sums[kind, self._book.target[ids]]
        self._start_infinite[ids] = self._infinite[kind, self._book.target[ids]]
        return ids

    def observe(self, active_reports: IntArray, audited: IntArray) -> None:
        """See `StrongScorer.observe`."""
        counts = self._book.check_counts(active_reports).copy()
        for a in self._book.check_audited(audited):
            self._decision(counts, a)
            counts[a] = NO_CANDIDATE

    def _decision(self, counts: IntArray, audited: int) -> None:
        real = self._log_probability(counts[None, :], audited)[0]
        if real == -np.inf:
            raise ValueError(f"auditing target {audited} is impossible at active reports {counts.tolist()}")
        for kind, n_open, change in (
            (_UNFILED, self._book.open_unfiled, 1),
            (_FILED, self._book.open_filed, -1),
        ):
            targets = np.flatnonzero(n_open)
            if targets.size == 0:
                continue
            worlds = np.repeat(counts[None, :], targets.size, axis=0)
            worlds[np.arange(targets.size), targets] += change
            other = self._log_probability(worlds, audited)
            possible = other > -np.inf
            factors = change * (other[possible] - real)
            self._sums[kind, targets[possible]] += factors
            self._infinite[kind, targets[~possible]] += 1
        ids = self._book.ids_of(audited)
        if ids.size:
            self._book.freeze(audited, ids, self._current(ids))
        # no open candidate is left, so the sums may start afresh: no digits are lost over a long history
        self._sums[:, audited] = 0.0
        self._infinite[:, audited] = 0

    def _log_probability(self, worlds: IntArray, audited: int) -> FloatArray:
        table: FloatArray = self._mechanism.log_probabilities(worlds)[:, audited]
        return table

    def _current(self, ids: IntArray) -> FloatArray:
        kind = self._book.filed[ids].astype(np.int64)
        target = self._book.target[ids]
        finite = self._sums[kind, target] - self._start_sum[ids]
        infinite = self._infinite[kind, target] > self._start_infinite[ids]
        # impossible without a report that was filed: certainty; impossible with one that was not: ruled out
        result: FloatArray = np.where(infinite, np.where(kind == _FILED, np.inf, -np.inf), finite)
        return result

    def log_likelihood_ratios(self, ids: IntArray) -> FloatArray:
        """See `StrongScorer.log_likelihood_ratios`."""
        known = self._book.check_ids(ids)
        result = self._book.score[known].copy()
        still_open = ~self._book.frozen[known]
        result[still_open] = self._current(known[still_open])
        return result
