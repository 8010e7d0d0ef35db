"""Beliefs: fear of retaliation (a person) and efficacy of reporting (a lab), both Beta, both decaying lazily.

A belief is a prior Beta(mean x strength, (1 - mean) x strength) plus weighted evidence for and against, of
which a share `decay` is left after a week. Nothing is done per period: evidence is brought up to date when it
is read or added to (docs/odd.md, section 7).
"""

import numpy as np

from ..ports import FloatArray, IntArray

__all__ = ["Beliefs"]

_FEW = 8  # fewer numbers are added up one by one, in less time than arrays take to be made


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
        self._log_decay = float(np.log(decay))
        self._prior_for = mean * strength
        self._table = np.zeros((3, n_holders))
        self._for, self._against, self._updated = self._table
        self._touched: dict[int, None] = {}  # an ordered set: holders that have any evidence
        self._touched_array: IntArray | None = None  # the same, while nobody joins or leaves

    def add(
        self,
        holders: IntArray | int,
        now_weeks: float,
        *,
        evidence_for: float = 0.0,
        evidence_against: float = 0.0,
    ) -> None:
        """Add weighted evidence for each of `holders` (one, or distinct indices) at time `now_weeks`."""
        n_touched = len(self._touched)
        if isinstance(holders, int):  # with plain numbers, which take a third of the time
            left = self._left(holders, now_weeks)
            self._for[holders] = self._for.item(holders) * left + evidence_for
            self._against[holders] = self._against.item(holders) * left + evidence_against
            self._touched[holders] = None
        else:
            lefts = np.exp(self._log_decay * (now_weeks - self._updated[holders]))
            self._for[holders] = self._for[holders] * lefts + evidence_for
            self._against[holders] = self._against[holders] * lefts + evidence_against
            self._touched.update(dict.fromkeys(holders.tolist()))
        self._updated[holders] = now_weeks
        if len(self._touched) > n_touched:
            self._touched_array = None

    def _left(self, holder: int, now_weeks: float) -> float:
        """Share that is left of a holder's evidence."""
        return float(np.exp(self._log_decay * (now_weeks - self._updated.item(holder))))

    def level(self, holder: int, now_weeks: float) -> float:
        """The mean of one holder's belief at time `now_weeks`."""
        if holder not in self._touched:
            return self.mean
        left = self._left(holder, now_weeks)
        good, bad = self._for.item(holder) * left, self._against.item(holder) * left
        return (self._prior_for + good) / (self.strength + good + bad)

    def levels(self, holders: IntArray, now_weeks: float) -> FloatArray:
        """The means of many holders' beliefs at time `now_weeks`, same shape as `holders`."""
        good, bad, updated = self._table.take(holders, axis=1)
        left = np.exp(self._log_decay * (now_weeks - updated))
        good *= left
        bad *= left
        result: FloatArray = (self._prior_for + good) / (self.strength + good + bad)
        return result

    def average(self, now_weeks: float) -> float:
        """Mean level over all holders, NaN if there are none; costs nothing for holders who never saw anything."""
        n_holders = len(self._for)
        if not n_holders:
            return np.nan
        if len(self._touched) < _FEW:
            shift = 0.0
            for holder in self._touched:
                shift += self.level(holder, now_weeks) - self.mean
            return self.mean + shift / n_holders
        if self._touched_array is None:
            self._touched_array = np.fromiter(self._touched, dtype=np.int64, count=len(self._touched))
        shift = float((self.levels(self._touched_array, now_weeks) - self.mean).sum())
        return self.mean + shift / n_holders

    def forget(self, holder: int) -> None:
        """Give a holder's place to a newcomer, who has only the prior."""
        if self._touched.pop(holder, 0) is None:
            self._for[holder] = self._against[holder] = 0.0
            self._touched_array = None
