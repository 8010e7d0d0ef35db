"""The reduction: any private continual counter makes a private auditor."""

import numpy as np

from ...ports import FloatArray, IntArray
from ..counters import Counter, counter
from ..privacy import sigma_for_delta
from .base import Mechanism

__all__ = ["CounterMechanism"]


class CounterMechanism(Mechanism):
    """Audit the targets whose noisy active counts are largest; one continual counter per target.

    Each period feeds each counter the new reports of its target; after the audit the target's counter
    restarts with fresh noise. A report is seen by one counter, in one of its runs, and which runs there are
    is known from the transcript, so the transcript inherits the counter's (0, delta) guarantee by
    post-processing, however many targets and restarts there are.

    Source: the reduction of "Plausible Deniability Guarantees for Whistleblowers" (2026).

    Parameters
    ----------
    delta, horizon
        As in every mechanism. The horizon counts periods here: the noisy counts are released once a period,
        and however many audits are made from them is post-processing.
    counter
        Id of a counter, or a counter.
    """

    def __init__(self, delta: float, horizon: int, counter: str | Counter = "toeplitz") -> None:
        super().__init__(delta, horizon)
        self.counter = _counter(counter)
        self.sigma = float(sigma_for_delta(delta, self.counter.sensitivity(horizon)))

    @property
    def label(self) -> str:
        """The id, followed by the counter's unless it is the Toeplitz counter."""
        return self.id if self.counter.id == "toeplitz" else f"{self.id}-{self.counter.id}"

    def reset(self, n_replicates: int, n_targets: int, generator: np.random.Generator) -> None:
        """Begin a run: every counter starts with fresh noise."""
        super().reset(n_replicates, n_targets, generator)
        self.paths = self.counter.paths(n_replicates, n_targets, self.horizon)

    def select(self, active_reports: IntArray) -> IntArray:
        """Make one decision: the largest noisy count. Its counter restarts."""
        audited: IntArray = self._noisy_counts(active_reports).argmax(axis=1)
        self.paths.restart(audited)
        return audited

    def select_many(self, active_reports: IntArray, n_audits: int) -> IntArray:
        """Audit the `n_audits` largest of the same noisy counts, in this order. Their counters restart."""
        self._check_audits(n_audits)
        order = np.argsort(-self._noisy_counts(active_reports), axis=1, kind="stable")
        audited: IntArray = order[:, :n_audits]
        self.paths.restart(audited)
        return audited

    def guarantee(self) -> float:
        """Delta, which the noise is calibrated to."""
        return self.delta

    @classmethod
    def horizon_of(cls, n_periods: int, audits_per_period: int = 1) -> int:  # noqa: ARG003
        """Smallest horizon that covers a run: its periods, as a period's counts are released once."""
        return n_periods

    def _noisy_counts(self, active_reports: IntArray) -> FloatArray:
        self._spend_decision()
        # one row of innovations to every counter every period, whatever restarts
        noisy = self.paths.step(self.generator.standard_normal((self.n_replicates, self.n_targets)))
        noisy *= self.sigma
        noisy += active_reports
        if active_reports.min() < 0:
            noisy[active_reports < 0] = -np.inf
        return noisy


def _counter(chosen: str | Counter) -> Counter:
    return counter(chosen)() if isinstance(chosen, str) else chosen
