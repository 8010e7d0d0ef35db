"""The interface that every selection mechanism implements."""

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from ...ports import FloatArray, IntArray

__all__ = ["Mechanism", "MemorylessMechanism"]


class Mechanism(ABC):
    """Selects an audit target at each decision from the active report counts.

    One implementation serves the agent model (one replicate) and the vectorised experiments (hundreds). Random
    numbers are drawn at every decision for every replicate and target whatever the counts are, so that two
    runs that differ in one report share all the rest of their randomness.

    Parameters
    ----------
    delta
        Per-report deniability level, 0 < delta < 1.
    horizon
        Number of audit decisions that the guarantee covers.
    """

    id: ClassVar[str]
    """Name in scenario files, columns and figures."""

    def __init__(self, delta: float, horizon: int) -> None:
        if not 0.0 < delta < 1.0:
            raise ValueError(f"delta must lie strictly between 0 and 1, got {delta}")
        if horizon < 1:
            raise ValueError(f"horizon must be at least 1, got {horizon}")
        self.delta = delta
        self.horizon = horizon

    @abstractmethod
    def reset(self, n_replicates: int, n_targets: int, generator: np.random.Generator) -> None:
        """Begin a run: forget all state, and draw from `generator` from here on."""

    @abstractmethod
    def select(self, active_reports: IntArray) -> IntArray:
        """Make one decision.

        Parameters
        ----------
        active_reports
            Reports since each target's last audit, those of this period included; shape (replicates, targets).

        Returns
        -------
        audited
            Index of the audited target, shape (replicates,). The caller sets its active count to 0.
        """

    def select_many(self, active_reports: IntArray, n_audits: int) -> IntArray:
        """Make the decisions of a period with several audits; shape (replicates, n_audits), all different.

        By default decisions in a row, each audited target reset before the next (SPEC, "Several audits in
        one period").
        """
        raise NotImplementedError

    @abstractmethod
    def guarantee(self) -> float:
        """The delta of (0, delta)-DP for one report over the horizon; 1 where there is none."""


class MemorylessMechanism(Mechanism):
    """A mechanism whose decision depends on the active counts alone, so that its law is exact."""

    @abstractmethod
    def log_probabilities(self, active_reports: IntArray) -> FloatArray:
        """Log probability of auditing each target at one decision; same shape as `active_reports`."""

    def log_likelihood(self, active_reports: IntArray, audited: IntArray) -> FloatArray:
        """Log probability of the decisions `audited` (…,) given `active_reports` (…, targets)."""
        table = self.log_probabilities(active_reports)
        result: FloatArray = np.take_along_axis(table, np.asarray(audited)[..., None], axis=-1)[..., 0]
        return result
