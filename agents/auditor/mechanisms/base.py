"""The interface that every selection mechanism implements."""

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from ....scenarios.errors import InputError
from ...ports import FloatArray, IntArray

__all__ = ["NO_CANDIDATE", "Mechanism", "MemorylessMechanism", "pick", "pick_any"]

NO_CANDIDATE = -1
"""Active count that stands for "audited already in this period": such a target is not selected."""


class Mechanism(ABC):
    """Selects an audit target at each decision from the active report counts.

    One implementation serves the agent model (one replicate) and the vectorised experiments (hundreds).
    Random numbers are drawn at every decision for every replicate and target whatever the counts are, so
    that two runs that differ in one report share all the rest of their randomness.

    Parameters
    ----------
    delta
        Per-report deniability level, 0 < delta < 1.
    horizon
        Number of audit decisions that the guarantee covers.

    Raises
    ------
    ValueError
        If `delta` or `horizon` is out of range.
    """

    id: ClassVar[str]
    """Name in scenario files, columns and figures."""

    needs_horizon: ClassVar[bool] = True
    """False where the guarantee holds for a run of any length, whatever the horizon."""

    def __init__(self, delta: float, horizon: int) -> None:
        if not 0.0 < delta < 1.0:
            raise ValueError(f"delta must lie strictly between 0 and 1, got {delta}")
        if horizon < 1:
            raise ValueError(f"horizon must be at least 1, got {horizon}")
        self.delta = delta
        self.horizon = horizon
        self._decisions = 0

    @property
    def label(self) -> str:
        """Name in columns and figures: the id, and what else tells it from others of the same id."""
        return self.id

    def reset(self, n_replicates: int, n_targets: int, generator: np.random.Generator) -> None:
        """Begin a run: forget all state, and draw from `generator` from here on."""
        if n_replicates < 1 or n_targets < 1:
            raise ValueError(f"need at least 1 replicate and 1 target, got {n_replicates} and {n_targets}")
        self.n_replicates = n_replicates
        self.n_targets = n_targets
        self.generator = generator
        self._decisions = 0

    @abstractmethod
    def select(self, active_reports: IntArray) -> IntArray:
        """Make one decision.

        Parameters
        ----------
        active_reports
            Reports since each target's last audit, those of this period included; shape (replicates,
            targets). A negative count (`NO_CANDIDATE`) says that the target cannot be selected now.

        Returns
        -------
        audited
            Index of the audited target, shape (replicates,). The caller sets its active count to 0.
        """

    def select_many(self, active_reports: IntArray, n_audits: int) -> IntArray:
        """Make the decisions of a period with several audits; shape (replicates, n_audits), all different.

        By default decisions in a row, each audited target reset before the next (docs/mechanisms.md, section 9)
        and no longer a candidate in this period. Who is a candidate depends on the transcript
        alone, so the guarantees hold unchanged.

        Raises
        ------
        ValueError
            If `n_audits` is below 1 or above the number of targets.
        """
        self._check_audits(n_audits)
        counts = np.array(active_reports)
        audited = np.empty((self.n_replicates, n_audits), dtype=np.int64)
        for i in range(n_audits):
            audited[:, i] = self.select(counts)
            np.put_along_axis(counts, audited[:, i : i + 1], NO_CANDIDATE, axis=1)
        return audited

    @abstractmethod
    def guarantee(self) -> float:
        """The delta of (0, delta)-DP for one report over the horizon; 1 where there is none."""

    @classmethod
    def horizon_of(cls, n_periods: int, audits_per_period: int = 1) -> int:
        """Smallest horizon that covers a run: every decision counts, unless a mechanism says otherwise."""
        return n_periods * audits_per_period

    def _check_audits(self, n_audits: int) -> None:
        if not 1 <= n_audits <= self.n_targets:
            raise ValueError(f"n_audits must be from 1 to {self.n_targets}, got {n_audits}")

    def _spend_decision(self) -> None:
        """Count a decision of a mechanism whose guarantee ends with its horizon."""
        self._decisions += 1
        if self._decisions > self.horizon:
            raise InputError(
                f"auditor.horizon: {self.label} is calibrated for {self.horizon} decisions and was asked for "
                "one more, which its guarantee would not cover; give a horizon that covers all decisions"
            )


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


def pick(eligible: np.ndarray, uniforms: FloatArray) -> IntArray:
    """Pick one of the eligible targets uniformly in each replicate, with one uniform each.

    Parameters
    ----------
    eligible
        Booleans of shape (replicates, targets), at least one True in each row.
    uniforms
        On [0, 1), shape (replicates,).

    Examples
    --------
    >>> pick(np.array([[True, False, True], [False, True, True]]), np.array([0.9, 0.2]))
    array([2, 1])
    """
    n_replicates, n_targets = eligible.shape
    positions = np.flatnonzero(eligible)
    sizes = np.bincount(positions // n_targets, minlength=n_replicates)
    # below the size even for the largest uniform: size * (1 - 2^-53) rounds down
    rank = (uniforms * sizes).astype(np.int64)
    picked: IntArray = positions[np.cumsum(sizes) - sizes + rank] % n_targets
    return picked


def pick_any(active_reports: IntArray, uniforms: FloatArray) -> IntArray:
    """Pick one of all candidates uniformly in each replicate; as `pick`, but quick where all are candidates."""
    if active_reports.min() >= 0:
        picked: IntArray = (uniforms * active_reports.shape[1]).astype(np.int64)
        return picked
    return pick(active_reports >= 0, uniforms)
