"""Audit anybody."""

import numpy as np

from ...ports import FloatArray, IntArray
from .base import MemorylessMechanism, pick_any

__all__ = ["Uniform"]


class Uniform(MemorylessMechanism):
    """Audit a target drawn uniformly at random, whatever was reported.

    The story: the auditor throws a die in public. Nobody can learn anything about the reports from it, and
    the reports change nothing.

    Source: the privacy-only lower baseline of "Plausible Deniability Guarantees for Whistleblowers" (2026).

    Names: uniform, random audits, lottery.
    """

    id = "uniform"
    needs_horizon = False

    def select(self, active_reports: IntArray) -> IntArray:
        """Make one decision, with one uniform per replicate."""
        return pick_any(active_reports, self.generator.random(self.n_replicates))

    def log_probabilities(self, active_reports: IntArray) -> FloatArray:
        """Minus the log of the number of candidates for each of them."""
        candidates = active_reports >= 0
        result: FloatArray = np.where(
            candidates, -np.log(np.count_nonzero(candidates, axis=-1, keepdims=True)), -np.inf
        )
        return result

    def guarantee(self) -> float:
        """Zero: the transcript is independent of the reports."""
        return 0.0
