"""Every report multiplies the odds by the same factor, and an audit wipes the slate."""

import numpy as np
from scipy.special import logsumexp

from ...ports import FloatArray, IntArray
from ..privacy import epsilon_for_delta
from .base import MemorylessMechanism

__all__ = ["Exponential"]


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

    def __init__(self, delta: float, horizon: int) -> None:
        super().__init__(delta, horizon)
        self.epsilon = float(epsilon_for_delta(delta))

    def select(self, active_reports: IntArray) -> IntArray:
        """Make one decision: the largest of the counts, each plus fresh Gumbel noise of scale 1/epsilon.

        The noise is minus the log of a unit exponential, one per replicate and target; in units of 1/epsilon.
        """
        noise = self.generator.standard_exponential((self.n_replicates, self.n_targets))
        np.log(noise, out=noise)
        scores = self._scores(active_reports)
        scores -= noise
        audited: IntArray = scores.argmax(axis=1)
        return audited

    def log_probabilities(self, active_reports: IntArray) -> FloatArray:
        """Epsilon times the counts, normalised."""
        scores = self._scores(active_reports)
        scores -= logsumexp(scores, axis=-1, keepdims=True)
        return scores

    def guarantee(self) -> float:
        """Delta, at every horizon."""
        return self.delta

    def _scores(self, active_reports: IntArray) -> FloatArray:
        scores = np.asarray(active_reports).astype(np.float64)
        scores *= self.epsilon
        if active_reports.min() < 0:
            scores[active_reports < 0] = -np.inf
        return scores
