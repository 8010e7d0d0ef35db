"""Beliefs: fear of retaliation (a person) and efficacy of reporting (a lab), both Beta, both decaying lazily.

A belief is a prior Beta(mean x strength, (1 - mean) x strength) plus weighted evidence for and against, of
which a share `decay` is left after a week. Nothing is done per period: evidence is brought up to date when it
is read or added to (docs/odd.md, section 7).
"""

import numpy as np

from ..ports import FloatArray, IntArray

__all__ = ["Beliefs"]


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
        self._for = np.zeros(n_holders)
        self._against = np.zeros(n_holders)
        self._updated = np.zeros(n_holders)
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
        left = np.exp(self._log_decay * (now_weeks - self._updated[holders]))
        self._for[holders] = self._for[holders] * left + evidence_for
        self._against[holders] = self._against[holders] * left + evidence_against
        self._updated[holders] = now_weeks
        n_touched = len(self._touched)
        if isinstance(holders, int):
            self._touched[holders] = None
        else:
            self._touched.update(dict.fromkeys(holders.tolist()))
        if len(self._touched) > n_touched:
            self._touched_array = None

    def level(self, holder: int, now_weeks: float) -> float:
        """The mean of one holder's belief at time `now_weeks`."""
        if holder not in self._touched:
            return self.mean
        left = float(np.exp(self._log_decay * (now_weeks - self._updated[holder])))
        good, bad = float(self._for[holder]) * left, float(self._against[holder]) * left
        return (self.mean * self.strength + good) / (self.strength + good + bad)

    def levels(self, holders: IntArray, now_weeks: float) -> FloatArray:
        """The means of many holders' beliefs at time `now_weeks`, same shape as `holders`."""
        left = np.exp(self._log_decay * (now_weeks - self._updated.take(holders)))
        good, bad = self._for.take(holders) * left, self._against.take(holders) * left
        result: FloatArray = (self.mean * self.strength + good) / (self.strength + good + bad)
        return result

    def average(self, now_weeks: float) -> float:
        """Mean level over all holders, NaN if there are none; costs nothing for holders who never saw anything."""
        n_holders = len(self._for)
        if not n_holders:
            return np.nan
        if not self._touched:
            return self.mean
        if self._touched_array is None:
            self._touched_array = np.fromiter(self._touched, dtype=np.int64, count=len(self._touched))
        shift = float((self.levels(self._touched_array, now_weeks) - self.mean).sum())
        return self.mean + shift / n_holders

    def forget(self, holder: int) -> None:
        """Give a holder's place to a newcomer, who has only the prior."""
        if self._touched.pop(holder, 0) is None:
            self._for[holder] = self._against[holder] = 0.0
            self._touched_array = None
