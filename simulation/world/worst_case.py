"""The worst-case meter: scores every report, filed or merely possible, as the paper's adversary would.

It measures in every run, whatever rule the labs use: it is where the column `likelihood_ratio` comes from.
"""

from collections import defaultdict

import numpy as np

from ...agents.organization.inference.strong import StrongScorer
from ...agents.ports import FloatArray, IntArray
from .incidents import Incident

__all__ = ["WorstCaseMeter"]


class WorstCaseMeter:
    """Feeds the transcript and the true reports to a `StrongScorer`, and keeps its candidates.

    Parameters
    ----------
    scorer
        The adversary's arithmetic for the mechanism in use.
    """

    def __init__(self, scorer: StrongScorer) -> None:
        self._scorer = scorer
        self._due: defaultdict[int, list[tuple[Incident, IntArray]]] = defaultdict(list)

    def expect(self, incident: Incident) -> None:
        """Take note of an incident that has just happened, with the periods in which reports would come."""
        order = np.argsort(incident.due_period, kind="stable")
        periods, starts = np.unique(incident.due_period[order], return_index=True)
        for period, rows in zip(periods.tolist(), np.split(order, starts[1:]), strict=True):
            self._due[period].append((incident, rows))

    def before_decision(self, decision: int) -> None:
        """Admit the candidates whose report first counts, or would, at `decision`."""
        for incident, rows in self._due.pop(decision, ()):
            targets = np.full(len(rows), incident.target, dtype=np.int64)
            incident.candidate[rows] = self._scorer.add_candidates(targets, incident.filed[rows])

    def observe(self, active_reports: IntArray, audited: IntArray) -> None:
        """Read one decision: the counts that it used and the targets that were audited."""
        self._scorer.observe(active_reports, audited)

    def log_likelihood_ratios(self, candidates: IntArray) -> FloatArray:
        """Log likelihood ratio of each candidate's report; 0 before its period (candidate -1)."""
        result = np.zeros(len(candidates))
        known = candidates >= 0
        if known.any():
            result[known] = self._scorer.log_likelihood_ratios(candidates[known])
        return result
