"""Audit where most reports are."""

import numpy as np

from ...ports import FloatArray, IntArray
from .base import MemorylessMechanism, pick

__all__ = ["Greedy"]


class Greedy(MemorylessMechanism):
    """Audit a target with most active reports; ties are broken uniformly.

    The story: the auditor follows the reports. No target with more of them is ever passed over, and anybody
    who watches can tell who has been reported: a single report can decide the audit.

    Source: the non-private upper baseline of "Plausible Deniability Guarantees for Whistleblowers" (2026).

    Names: greedy, follow the evidence, argmax, longest queue first.
    """

    id = "greedy"
    needs_horizon = False

    def select(self, active_reports: IntArray) -> IntArray:
        """Make one decision: one uniform per replicate breaks the tie, also where there is none."""
        return pick(_leaders(active_reports), self.generator.random(self.n_replicates))

    def log_probabilities(self, active_reports: IntArray) -> FloatArray:
        """Minus the log of the number of leaders for each of them, minus infinity for the others."""
        leaders = _leaders(active_reports)
        result: FloatArray = np.where(
            leaders, -np.log(np.count_nonzero(leaders, axis=-1, keepdims=True)), -np.inf
        )
        return result

    def guarantee(self) -> float:
        """One, which promises nothing."""
        return 1.0


def _leaders(active_reports: IntArray) -> np.ndarray:
    leaders: np.ndarray = active_reports == np.max(active_reports, axis=-1, keepdims=True)
    return leaders
