"""The exact score for mechanisms without memory.

Until the next audit of its target c a candidate changes one number, the count of c; after it nothing. The
likelihood ratio is therefore the product of one factor per decision up to that audit, and the factor depends
on the decision, on c and on whether the candidate is among the counts: not on which candidate of c it is. One
cumulative sum over the decisions, per target and kind, serves all candidates: the score of each is the difference
of two of its values.

Decisions are only taken down when they are made. They are worked out, many at a time, for the places whose
candidates somebody asks about.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ....auditor.mechanisms.base import NO_CANDIDATE, MemorylessMechanism
from ....ports import FloatArray, IntArray
from .base import BoolArray, CandidateBook, StrongScorer

__all__ = ["ExactScorer"]

type ComplexArray = npt.NDArray[np.complex128]

_OPEN = np.iinfo(np.int64).max
_MOST_DECISIONS = 256
_LARGEST_TABLE = 1 << 20  # counts of all worlds of the decisions that are worked out at a time


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
        self._longest = min(_MOST_DECISIONS, max(1, _LARGEST_TABLE // (2 * n_targets * n_targets)))
        # decisions since the last settlement
        self._counts: IntArray = np.empty((self._longest, n_targets), dtype=np.int64)
        self._audited: IntArray = np.empty(self._longest, dtype=np.int64)
        self._n = 0
        # one place, a row, per target and kind: first candidates that were not filed, then those that were. Sums over
        # the decisions before each: the real part of the finite factors, the imaginary part is the number of infinite
        # ones (the difference of two infinite sums would be NaN)
        self._sums: ComplexArray = np.zeros((2 * n_targets, self._longest + 1), dtype=np.complex128)
        self._worked_out = [0] * (2 * n_targets)  # of each place, up to where
        # of candidates: where in the sums their place begins, and the decisions between which they count
        self._span: IntArray = np.empty((3, 16), dtype=np.int64)
        self._settled: ComplexArray = np.zeros(
            16, dtype=np.complex128
        )  # their sums up to the last settlement
        self._unsettled: list[int] = []

    def add_candidates(self, targets: IntArray, filed: BoolArray) -> IntArray:
        """See `StrongScorer.add_candidates`."""
        first = self._book.add(targets, filed)
        after = self._book.size
        if after > self._span.shape[1]:
            self._make_room(after)
        place = np.add(targets, np.multiply(filed, self._n_targets))
        self._span[0, first:after] = place * (self._longest + 1)
        self._span[1, first:after] = self._n
        self._span[2, first:after] = _OPEN
        ids: IntArray = np.arange(first, after)
        self._unsettled += range(first, after)
        return ids

    def _make_room(self, needed: int) -> None:
        more = max(self._span.shape[1], needed - self._span.shape[1])
        self._span = np.concatenate((self._span, np.empty((3, more), dtype=np.int64)), axis=1)
        self._settled = np.concatenate((self._settled, np.zeros(more, dtype=np.complex128)))

    def observe(self, active_reports: IntArray, audited: IntArray) -> None:
        """See `StrongScorer.observe`. That a decision was impossible shows when a score is asked for."""
        counts, gone = self._book.check_counts(active_reports), self._book.check_audited(audited)
        for i, a in enumerate(gone):
            if self._n == self._longest:
                self._settle()
            self._counts[self._n] = counts
            if i:
                self._counts[self._n, gone[:i]] = NO_CANDIDATE
            self._audited[self._n] = a
            self._n += 1
            ids = self._book.close(a)
            if ids:
                self._span[2, ids] = self._n

    def _settle(self) -> None:
        """Keep what the candidates have reached, and forget the decisions."""
        ids = np.array(self._unsettled, dtype=np.int64)
        self._settled[ids] = self._reached(ids)
        still_open = self._span[2, ids] == _OPEN
        self._span[1, ids] = 0
        self._span[2, ids[~still_open]] = 0
        self._unsettled = ids[still_open].tolist()
        self._n = 0
        self._worked_out = [0] * len(self._worked_out)

    def _reached(self, ids: IntArray) -> ComplexArray:
        """Sum of the finite factors, and number of infinite ones, of each candidate, shape (candidates,)."""
        place, begin, end = self._span.take(ids, axis=1)
        np.minimum(end, self._n, out=end)
        wanted = int(end.max(initial=0))
        of_any = {at // (self._longest + 1) for at in place.tolist()}
        missing = sorted(p for p in of_any if self._worked_out[p] < wanted)
        if missing:
            self._work_out(missing)
        begin += place
        end += place
        result: ComplexArray = self._settled.take(ids)
        result += self._sums.take(end) - self._sums.take(begin)
        return result

    def _work_out(self, places: Sequence[int]) -> None:
        """Continue the sums of some places up to now."""
        first, last = min(self._worked_out[place] for place in places), self._n
        counts, audited = self._counts[first:last], self._audited[first:last]
        targets = np.array([place % self._n_targets for place in places])
        # in the real world those that were not filed are missing, in the other one those that were
        changes = np.array([1 if place < self._n_targets else -1 for place in places])
        log_ratios = self._mechanism.log_ratios(counts, audited, targets, changes)
        factors = changes * log_ratios  # filed : not filed
        if not np.isfinite(log_ratios).all():
            self._check_possible(log_ratios, first)
            factors = np.where(log_ratios == -np.inf, 1j, factors)
        for place, column in zip(places, factors.T, strict=True):
            sums = self._sums[place, first : last + 1]
            sums[1:] = column
            np.add.accumulate(sums, out=sums)
            self._worked_out[place] = last

    def _check_possible(self, log_ratios: FloatArray, first: int) -> None:
        (decisions,) = (~(log_ratios < np.inf)).any(axis=1).nonzero()
        if decisions.size:
            at = first + int(decisions[0])
            raise ValueError(
                f"auditing target {self._audited[at]} is impossible at active reports {self._counts[at].tolist()}"
            )

    def log_likelihood_ratios(self, ids: IntArray) -> FloatArray:
        """See `StrongScorer.log_likelihood_ratios`.

        Raises
        ------
        ValueError
            If an audit since the last time was impossible given the counts.
        """
        known = self._book.check_ids(ids)
        reached = self._reached(known)
        result: FloatArray = reached.real
        infinite = reached.imag > 0.0
        if infinite.any():
            # impossible without a report that was filed: certainty; impossible with one that was not: ruled out
            certain = np.where(self._book.filed.take(known), np.inf, -np.inf)
            result = np.where(infinite, certain, result)
        return result
