"""Every report multiplies the odds by the same factor, and an audit wipes the slate."""

import numpy as np

from ...ports import FloatArray, IntArray
from ..privacy import epsilon_for_delta
from .base import MemorylessMechanism

__all__ = ["Exponential"]

_LONGEST_TABLE = 4096
_LARGEST_EXPONENT = 600.0  # e^-600 is a normal double


class Exponential(MemorylessMechanism):
    r"""Audit target c with probability proportional to :math:`e^{\varepsilon n_c}`, then reset its count.

    The story: each active report multiplies the odds of its target by :math:`\rho = e^\varepsilon`, so a
    watcher can never be surer than by that factor that a given report exists. The audit that a report helps
    to bring about resets the count and thereby ends its influence: what a report can betray over the whole
    future is bounded, however long that is. Every test between two streams that differ in one report obeys
    :math:`1 - \mathrm{TPR} \ge (1 - \mathrm{FPR})^\rho` at every horizon, hence :math:`\delta =
    \rho^{-1/(\rho-1)}(1 - 1/\rho)`. The horizon is not used.

    Source: the selection law is the exponential mechanism of McSherry & Talwar (2007). That the reset makes
    one report cost the same at every horizon is this project's own result, proved in docs/mechanisms.md;
    individual accounting for the sparse vector technique (Kaplan, Mansour & Stemmer 2021) is akin to it. We
    know of no earlier statement.

    Names: exponential mechanism, softmax, Gumbel-max, logit selection; here with reset.
    """

    id = "exponential"
    needs_horizon = False

    def __init__(self, delta: float, horizon: int) -> None:
        super().__init__(delta, horizon)
        self.epsilon = float(epsilon_for_delta(delta))
        self._most_tabulated = min(_LONGEST_TABLE, _LARGEST_EXPONENT / self.epsilon)
        self._slowness: FloatArray = np.ones(1)  # rho^-n by count, up to the largest so far

    def select(self, active_reports: IntArray) -> IntArray:
        """Make one decision: a clock per target, exponential with rate rho^n; the first to ring is audited.

        One unit exponential E per replicate and target, divided by rho^n. The same decision as the largest of the
        counts, each plus fresh Gumbel noise of scale 1/epsilon, which is -log(E)/epsilon.
        """
        clocks = self.generator.standard_exponential((self.n_replicates, self.n_targets))
        most = active_reports.max()
        if most <= self._most_tabulated and active_reports.min() >= 0:
            if len(self._slowness) <= most:
                self._slowness = np.exp(-self.epsilon * np.arange(most + 1))
            clocks *= self._slowness.take(active_reports)
        else:  # by logarithms, which neither overflow nor mind a target that is no candidate
            np.log(clocks, out=clocks)
            clocks -= self._scores(active_reports)
        audited: IntArray = clocks.argmin(axis=1)
        return audited

    def log_probabilities(self, active_reports: IntArray) -> FloatArray:
        """Epsilon times the counts, normalised."""
        scores = self._scores(active_reports)
        # the largest is finite, as something is a candidate; scipy's logsumexp takes twenty times as long on a row
        scores -= scores.max(axis=-1, keepdims=True)
        scores -= np.log(np.exp(scores).sum(axis=-1, keepdims=True))
        return scores

    def guarantee(self) -> float:
        """Delta, at every horizon."""
        return self.delta

    def _scores(self, active_reports: IntArray) -> FloatArray:
        counts = np.asarray(active_reports)
        scores: FloatArray = np.multiply(counts, self.epsilon, dtype=np.float64)
        return scores if counts.min() >= 0 else np.where(counts >= 0, scores, -np.inf)
