"""The interface of the strongest adversary's score, and its book of candidate reports."""

from abc import ABC, abstractmethod

import numpy as np
import numpy.typing as npt

from ....ports import FloatArray, IntArray

__all__ = ["BoolArray", "CandidateBook", "StrongScorer"]

type BoolArray = npt.NDArray[np.bool_]


class StrongScorer(ABC):
    """Scores candidate reports against a public transcript, as it grows.

    The adversary knows every report but one, the candidate: whether that one was filed. Each candidate is
    scored by itself, all the others being known, so the scores of two candidates are no joint statement.

    Call `add_candidates` before the decision of the period in which the would-be report first counts, then
    `observe` once a period.
    """

    @abstractmethod
    def add_candidates(self, targets: IntArray, filed: BoolArray) -> IntArray:
        """Begin to score reports that first count at the coming decision.

        Parameters
        ----------
        targets
            The target that each report is about, shape (k,).
        filed
            Whether the report is in the stream whose counts `observe` gets, shape (k,).

        Returns
        -------
        ids
            One id per candidate, shape (k,), from 0 in the order of adding.
        """

    @abstractmethod
    def observe(self, active_reports: IntArray, audited: IntArray) -> None:
        """Take in the decisions of one period.

        Parameters
        ----------
        active_reports
            Counts before any reset of this period, all filed reports included, shape (targets,).
        audited
            The targets audited, in order, shape (m,).

        Raises
        ------
        ValueError
            If the decision is impossible given the counts, or a count is smaller than the number of
            filed candidates it must hold.
        """

    @abstractmethod
    def log_likelihood_ratios(self, ids: IntArray) -> FloatArray:
        """Log likelihood ratio (filed : not filed) of the transcript so far, shape (k,).

        Frozen by the audit that ends the run of the candidate's target: its next audit, the coming decision
        included. Infinite where one of the two is impossible; never NaN.
        """


class CandidateBook:
    """Growing table of candidates: target, filed or not, open or frozen, and the frozen score.

    Parameters
    ----------
    n_targets
        Number of audit targets.
    """

    def __init__(self, n_targets: int) -> None:
        self.n_targets = n_targets
        self.size = 0
        self.target: IntArray = np.empty(16, dtype=np.int64)
        self.filed: BoolArray = np.empty(16, dtype=np.bool_)
        self.frozen: BoolArray = np.empty(16, dtype=np.bool_)
        self.score: FloatArray = np.empty(16)
        self.open: list[list[int]] = [[] for _ in range(n_targets)]
        self.n_open: IntArray = np.zeros((2, n_targets), dtype=np.int64)
        """Open candidates of each target, not filed (row 0) and filed (row 1)."""

    def add(self, targets: IntArray, filed: BoolArray) -> IntArray:
        """Enter new candidates; returns their ids."""
        target = np.atleast_1d(np.asarray(targets, dtype=np.int64))
        is_filed = np.atleast_1d(np.asarray(filed, dtype=np.bool_))
        if target.shape != is_filed.shape or target.ndim != 1:
            raise ValueError(f"targets and filed must be of one length, got {target.shape}, {is_filed.shape}")
        places = target.tolist()  # a list, since mostly it is short
        if places and (min(places) < 0 or max(places) >= self.n_targets):
            raise ValueError(f"targets must lie in 0..{self.n_targets - 1}, got {targets}")
        first, self.size = self.size, self.size + len(places)
        self._grow(self.size)
        self.target[first : self.size] = target
        self.filed[first : self.size] = is_filed
        self.frozen[first : self.size] = False
        for candidate, c in enumerate(places, first):
            self.open[c].append(candidate)
        of_kind = np.bincount(target + self.n_targets * is_filed, minlength=2 * self.n_targets)
        self.n_open += of_kind.reshape(2, -1)
        ids: IntArray = np.arange(first, self.size)
        return ids

    def _grow(self, needed: int) -> None:
        if needed <= self.target.size:
            return
        extra = max(self.target.size, needed - self.target.size)
        for name in ("target", "filed", "frozen", "score"):
            old = getattr(self, name)
            setattr(self, name, np.concatenate([old, np.empty(extra, dtype=old.dtype)]))

    def ids_of(self, target: int) -> IntArray:
        """Ids of the open candidates of `target`."""
        return np.asarray(self.open[target], dtype=np.int64)

    def freeze(self, target: int, ids: IntArray, scores: FloatArray) -> None:
        """Freeze all open candidates of `target` (`ids`) at `scores`."""
        self.score[ids] = scores
        self.frozen[ids] = True
        self.open[target] = []
        self.n_open[:, target] = 0

    def check_ids(self, ids: IntArray) -> IntArray:
        """Return the ids as an array, or raise ValueError if one was never given out."""
        known = np.atleast_1d(np.asarray(ids, dtype=np.int64))
        if known.size and (known.min() < 0 or known.max() >= self.size):
            raise ValueError(f"ids must lie in 0..{self.size - 1}, got {ids}")
        return known

    def check_counts(self, active_reports: IntArray) -> IntArray:
        """Return the counts, or raise ValueError if they cannot hold the open filed candidates."""
        counts = np.asarray(active_reports, dtype=np.int64)
        if counts.shape != (self.n_targets,):
            raise ValueError(f"active_reports must have shape ({self.n_targets},), got {counts.shape}")
        n_filed = self.n_open[1]
        if np.count_nonzero(counts < n_filed):
            c = int(np.argmax(n_filed - counts))
            raise ValueError(
                f"target {c} has {counts[c]} active reports, fewer than its {n_filed[c]} filed candidates"
            )
        return counts

    def check_audited(self, audited: IntArray) -> list[int]:
        """Return the audited targets, or raise ValueError if they repeat or are out of range."""
        targets: list[int] = np.asarray(audited).reshape(-1).tolist()
        different = len(set(targets)) == len(targets) > 0
        if not different or min(targets) < 0 or max(targets) >= self.n_targets:
            raise ValueError(f"audited must be different targets in 0..{self.n_targets - 1}, got {audited}")
        return targets
