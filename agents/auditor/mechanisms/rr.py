"""Mostly a lottery, now and then the truth."""

import numpy as np

from ...ports import FloatArray, IntArray
from ..privacy import p_rand_for_delta
from .base import MemorylessMechanism, pick, pick_any

__all__ = ["RandomizedResponse"]


class RandomizedResponse(MemorylessMechanism):
    """With probability `p_rand` audit uniformly at random, else greedily.

    The story: before each decision a coin is tossed in secret, and only if it falls on the rare side do the
    reports count. The guarantee is the probability that over the whole horizon it ever does, so for a
    horizon of any length the coin hardly ever lets the truth through, and audits are as good as random.

    With `p_rand = (1 - delta)^(1/T)` the transcript is (0, delta)-DP: with probability `p_rand^T = 1 -
    delta` no decision reads the reports. That covers any number of reports at once. Where the leader is
    unique, one decision misses it with probability `(C - 1)/C * p_rand`.

    Source: Warner (1965), "Randomized response: a survey technique for eliminating evasive answer bias"; as
    an auditor, "Plausible Deniability Guarantees for Whistleblowers" (2026).

    Names: randomized response, RR.
    """

    id = "rr"

    def __init__(self, delta: float, horizon: int) -> None:
        super().__init__(delta, horizon)
        self.p_rand = float(p_rand_for_delta(delta, float(horizon)))

    def select(self, active_reports: IntArray) -> IntArray:
        """Make one decision, with two uniforms per replicate: the coin, and which of the eligible."""
        self._spend_decision()
        coin, which = self.generator.random((2, self.n_replicates))
        audited = pick_any(active_reports, which)
        truthful = np.flatnonzero(coin >= self.p_rand)
        if truthful.size:  # rare
            counts = active_reports[truthful]
            audited[truthful] = pick(counts == counts.max(axis=1, keepdims=True), which[truthful])
        return audited

    def log_probabilities(self, active_reports: IntArray) -> FloatArray:
        """Log of `p_rand/C`, plus `(1 - p_rand)/m` for each of the m leaders."""
        candidates = active_reports >= 0
        leaders = active_reports == np.max(active_reports, axis=-1, keepdims=True)
        uniform = candidates / np.count_nonzero(candidates, axis=-1, keepdims=True)
        greedy = leaders / np.count_nonzero(leaders, axis=-1, keepdims=True)
        with np.errstate(divide="ignore"):
            result: FloatArray = np.log(self.p_rand * uniform + (1.0 - self.p_rand) * greedy)
        return result

    def guarantee(self) -> float:
        """Delta: the calibration `1 - p_rand^T`, for any number of reports."""
        return self.delta
