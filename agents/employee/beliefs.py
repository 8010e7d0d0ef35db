"""Beliefs: fear of retaliation (a person) and efficacy of reporting (a lab), both Beta, both decaying lazily.

A belief is a prior Beta(mean x strength, (1 - mean) x strength) plus weighted evidence for and against, of
which a share `decay` is left after a week (docs/odd.md, section 7). Nothing is done per period: a piece of evidence
is kept as what it would have weighed at the epoch, so what is left of all of it at any time is one factor.
"""

from math import exp, log

import numpy as np

from ..ports import FloatArray, IntArray

__all__ = ["Beliefs"]

_SMALLEST_FACTOR = 1e-100  # then a new epoch begins, long before anything would overflow


class Beliefs:
    """Beta beliefs of many holders about one probability.

    Parameters
    ----------
    n_holders
        Number of people (or labs) that hold the belief.
    mean, strength
        The prior's mean (0 to 1) and pseudo-count (above 0).
    decay
        Share of the evidence that is left after a week, above 0 and at most 1.
    """

    def __init__(self, n_holders: int, mean: float, strength: float, decay: float) -> None:
        self.mean = mean
        self.strength = strength
        self.n_holders = n_holders
        self._log_decay = log(decay)
        self._epoch = 0.0
        self._prior_for = mean * strength
        # rows only of those who have any evidence: what speaks for it, and all of it
        self._row_of: dict[int, int] = {}
        self._free: list[int] = []
        self._n_rows = 0
        self._evidence: FloatArray = np.zeros((2, 16))

    def _left(self, now_weeks: float) -> float:
        """Share that is left at `now_weeks` of evidence that was there at the epoch."""
        left = exp(self._log_decay * (now_weeks - self._epoch))
        if left < _SMALLEST_FACTOR:
            self._evidence *= left
            self._epoch, left = now_weeks, 1.0
        return left

    def _row(self, holder: int) -> int:
        row = self._row_of.get(holder)
        if row is None:
            if self._free:
                row = self._free.pop()
            else:
                row = self._n_rows
                self._n_rows += 1
                if row == self._evidence.shape[1]:
                    self._evidence = np.concatenate((self._evidence, np.zeros_like(self._evidence)), axis=1)
            self._row_of[holder] = row
        return row

    def add(
        self,
        holders: IntArray | int,
        now_weeks: float,
        *,
        evidence_for: float = 0.0,
        evidence_against: float = 0.0,
    ) -> None:
        """Add weighted evidence for each of `holders` (one, or distinct indices) at time `now_weeks`."""
        left = self._left(now_weeks)
        rows = self._row(holders) if isinstance(holders, int) else [self._row(h) for h in holders.tolist()]
        good, everything = self._evidence
        if evidence_for:
            good[rows] += evidence_for / left
        everything[rows] += (evidence_for + evidence_against) / left

    def level(self, holder: int, now_weeks: float) -> float:
        """The mean of one holder's belief at time `now_weeks`."""
        row = self._row_of.get(holder)
        if row is None:
            return self.mean
        left, evidence = self._left(now_weeks), self._evidence
        return (self._prior_for + evidence.item(0, row) * left) / (
            self.strength + evidence.item(1, row) * left
        )

    def average(self, now_weeks: float) -> float:
        """Mean level over all holders, NaN if there are none; costs nothing for holders who never saw anything."""
        if not self.n_holders:
            return np.nan
        levels, strengths = self._evidence[:, : self._n_rows] * self._left(now_weeks)
        levels += self._prior_for
        strengths += self.strength
        levels /= strengths
        # a row that nobody has now is without evidence, so it is at the prior like all who have none
        return self.mean + (float(np.add.reduce(levels)) - self._n_rows * self.mean) / self.n_holders

    def forget(self, holder: int) -> None:
        """Give a holder's place to a newcomer, who has only the prior."""
        row = self._row_of.pop(holder, None)
        if row is not None:
            self._evidence[:, row] = 0.0
            self._free.append(row)
