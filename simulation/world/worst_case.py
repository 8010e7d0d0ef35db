"""The worst-case meter: scores every report, filed or merely possible, as the paper's adversary would.

It measures in every run, whatever rule the labs use: it is where the column `likelihood_ratio` comes from. Outside
reports, and further reports by the same person about the same incident, are among the others' reports that the
adversary knows; what is scored is a person's first report about an incident.
"""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from ...agents.organization.inference.strong import StrongScorer
from ...agents.ports import FloatArray, IntArray
from .incidents import Incident

__all__ = ["WorstCaseMeter"]


class WorstCaseMeter:
    """Feeds the transcript and the true reports to a `StrongScorer`, and keeps its candidates.

    When another mechanism takes over, another scorer goes on: with the candidates that are still active, from what
    they have reached. The new mechanism's randomness is fresh, so likelihood ratios multiply.

    Parameters
    ----------
    scorer
        The adversary's arithmetic for the mechanism in use.
    n_targets
        Number of audit targets.
    """

    def __init__(self, scorer: StrongScorer, n_targets: int) -> None:
        self._scorers = [scorer]
        self._due: defaultdict[int, list[tuple[Incident, list[int]]]] = defaultdict(list)
        self._entries: list[tuple[int, Incident, list[int]]] = []
        self._last_audit = [0] * n_targets
        self._decision = 0
        self._size = 0
        # which scorer each candidate is with, its number there, and the log ratio from those before;
        # empty while there is but one, whose numbers are the candidates'
        self._scorer: list[int] = []
        self._number: list[int] = []
        self._before: list[float] = []

    def expect(self, incident: Incident) -> None:
        """Take note of an incident that has just happened, with the periods in which reports would come."""
        rows_of: dict[int, list[int]] = {}
        for row, period in enumerate(incident.due_period.tolist()):
            rows_of.setdefault(period, []).append(row)
        for period, rows in rows_of.items():
            self._due[period].append((incident, rows))

    def before_decision(self, decision: int) -> None:
        """Admit the candidates whose report first counts, or would, at `decision`."""
        self._decision = decision
        due = self._due.pop(decision, [])
        if not due:
            return
        self._entries += ((decision, incident, rows) for incident, rows in due)
        numbers = self._hand_over(due)
        candidate = self._size
        for incident, rows in due:
            for row in rows:  # mostly one or two: numpy would take longer
                incident.candidate[row] = candidate
                candidate += 1
        if len(self._scorers) > 1:
            self._scorer += [len(self._scorers) - 1] * (candidate - self._size)
            self._number += numbers
            self._before += [0.0] * (candidate - self._size)
        self._size = candidate

    def _hand_over(self, groups: Sequence[tuple[Incident, list[int]]]) -> list[int]:
        """Let the scorer in office score candidates, in the order given; returns their numbers with it."""
        targets = np.array([incident.target for incident, rows in groups for _ in rows], dtype=np.int64)
        filed = np.array(
            [incident.filed.item(row) for incident, rows in groups for row in rows], dtype=np.bool_
        )
        numbers: list[int] = self._scorers[-1].add_candidates(targets, filed).tolist()
        return numbers

    def observe(self, active_reports: IntArray, audited: IntArray) -> None:
        """Read one decision: the counts that it used and the targets that were audited."""
        self._scorers[-1].observe(active_reports, audited)
        for target in audited.tolist():
            self._last_audit[target] = self._decision

    def succeed(self, scorer: StrongScorer) -> None:
        """Let another scorer go on from the coming decision, because another mechanism does."""
        if len(self._scorers) == 1:
            self._scorer = [0] * self._size
            self._number = list(range(self._size))
            self._before = [0.0] * self._size
        active = [
            (incident, rows)
            for decision, incident, rows in self._entries
            if decision > self._last_audit[incident.target]
        ]
        candidates = [
            candidate for incident, rows in active for candidate in incident.candidate[rows].tolist()
        ]
        reached = self.log_likelihood_ratios(np.array(candidates, dtype=np.int64)).tolist()
        self._scorers.append(scorer)
        for candidate, number, before in zip(candidates, self._hand_over(active), reached, strict=True):
            self._scorer[candidate] = len(self._scorers) - 1
            self._number[candidate] = number
            self._before[candidate] = before

    def log_likelihood_ratios(self, candidates: IntArray) -> FloatArray:
        """Log likelihood ratio of each candidate's report; 0 before its period (candidate -1)."""
        result = np.zeros(len(candidates))
        known = np.flatnonzero(candidates >= 0)
        if not len(known):
            return result
        if len(self._scorers) == 1:
            result[known] = self._scorers[0].log_likelihood_ratios(candidates[known])
            return result
        at = candidates[known]
        with_whom = np.array(self._scorer, dtype=np.int64)[at]
        number, before = np.array(self._number, dtype=np.int64)[at], np.array(self._before)[at]
        for one in np.unique(with_whom).tolist():
            rows = np.flatnonzero(with_whom == one)
            result[known[rows]] = before[rows] + self._scorers[one].log_likelihood_ratios(number[rows])
        return result
