"""A careful lab: it knows the mechanism and the public rates, but not what others reported."""

from collections.abc import Sequence

import numpy as np
from numba import njit

from ...ports import BoolArray, FloatArray
from .base import Case, Inference
from .hazards import HazardTable

__all__ = ["Bayes", "hazards_met", "insertion_ratios", "report_delay_cdf"]


class Bayes(Inference):
    """A forward filter over the lab's own active count.

    The story: the security team knows which incidents happened, how many people had access, how long reports
    take, and how the auditor selects; it does not see reports. Reports on a target arrive about as a Poisson
    stream with a rate that follows from its incidents; each decision audits the target with a hazard that
    depends on the active count and on the time since its last audit: the hazard of the mechanism that made the
    decision, also when another has come into office since. Bayes' rule over the unknown count, with and without
    one more report in each period, gives each suspect's posterior.

    Approximations, all of them the lab's: others' reports are Poisson (in truth at most one per person, and the
    people of an incident share its severity); the hazard table is estimated by simulation and sees the other
    targets only through their average; one person with access reports with the public prior probability.
    """

    id = "bayes"

    def posteriors(self, case: Case) -> FloatArray:
        """Probability that each suspect has reported by now, shape (suspects,)."""
        incidents, first, row = np.unique(case.incident, return_index=True, return_inverse=True)
        level = np.empty(len(incidents))
        arrivals = {t: self._arrivals(case, t) for t in np.unique(case.target).tolist()}
        tables = self.knowledge.hazards(case.decision) if len(incidents) else ()
        for i, start in enumerate(first.tolist()):
            target = int(case.target[start])
            own = self._chances(case.decision, float(case.incident_time[start]))
            others = np.maximum(arrivals[target] - own, 0.0)
            audited = np.zeros(case.decision, dtype=np.bool_)
            audited[case.audits_of(target) - 1] = True
            ratio = insertion_ratios(others, audited, hazards_met(audited, tables))
            filed = float(own @ ratio)
            level[i] = filed / (filed + 1.0 - float(own.sum()))
        result: FloatArray = level[row]
        return result

    def _chances(self, decision: int, incident_time: float) -> FloatArray:
        """Chance that one person's report on an incident first counts at each decision so far."""
        edges = np.maximum(np.arange(decision + 1) - incident_time, 0.0) * self.knowledge.period_weeks
        cdf = report_delay_cdf(edges, self.knowledge.notice_delay_weeks, self.knowledge.report_delay_weeks)
        return self.knowledge.prior * np.diff(cdf)

    def _arrivals(self, case: Case, target: int) -> FloatArray:
        """Expected new reports on a target at each decision so far."""
        expected = np.full(case.decision, self.knowledge.outside_reports(target))
        for i in np.flatnonzero(case.known.target == target).tolist():
            chances = self._chances(case.decision, float(case.known.time[i]))
            expected += int(case.known.anonymity_set[i]) * chances
        return expected


def report_delay_cdf(weeks: FloatArray, notice_mean: float, report_mean: float) -> FloatArray:
    """Distribution function of the sum of two exponential delays with the given means, at `weeks` >= 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        first = np.where(weeks > 0, np.exp(-weeks / notice_mean) if notice_mean > 0 else 0.0, 1.0)
        second = np.where(weeks > 0, np.exp(-weeks / report_mean) if report_mean > 0 else 0.0, 1.0)
    difference = notice_mean - report_mean
    if abs(difference) > 1e-6 * max(notice_mean, report_mean, 1e-300):
        survival = (notice_mean * first - report_mean * second) / difference
    elif notice_mean > 0:
        survival = first * (1.0 + weeks / notice_mean)
    else:
        survival = first
    result: FloatArray = np.clip(1.0 - survival, 0.0, 1.0)
    return result


def hazards_met(audited: BoolArray, tables: Sequence[tuple[int, HazardTable]]) -> FloatArray:
    """Chance of an audit at each decision, by the target's active count: shape (decisions, counts).

    Each decision is read off the table of the mechanism that made it. The run length counts from the last audit or
    from the start of the mechanism, whichever is later: a fresh mechanism has fresh noise.

    Parameters
    ----------
    audited
        Whether the target was audited at each decision, the first one being decision 1.
    tables
        First decision and table of each mechanism, in order of time, the first from decision 1 on; all tables
        have the same number of counts.
    """
    decisions = np.arange(len(audited))
    firsts = [first - 1 for first, _ in tables]
    fresh = np.isin(decisions, firsts)
    fresh[1:] |= audited[:-1]
    length = decisions - np.maximum.accumulate(np.where(fresh, decisions, 0))
    met = np.empty((len(audited), tables[0][1].hazard.shape[1]))
    for start, stop, (_, table) in zip(firsts, [*firsts[1:], len(audited)], tables, strict=True):
        met[start:stop] = table.hazard[np.minimum(length[start:stop], len(table.hazard) - 1)]
    return met


@njit(cache=True)
def _poisson(rate: float, n_counts: int) -> FloatArray:
    """Poisson probabilities of 0, 1, …, the last one taking the rest."""
    law = np.zeros(n_counts)
    law[0] = np.exp(-rate)
    for k in range(1, n_counts):
        law[k] = law[k - 1] * rate / k
    law[n_counts - 1] += max(1.0 - law.sum(), 0.0)
    return law


@njit(cache=True)
def insertion_ratios(arrivals: FloatArray, audited: BoolArray, hazard: FloatArray) -> FloatArray:
    """Likelihood ratio of the transcript for one more report in each period.

    Forward and backward messages over the unknown count, run by run (an audit sets the count to 0).

    Parameters
    ----------
    arrivals
        Expected number of the other reports in each period (Poisson), shape (periods,).
    audited
        Whether the target was audited at each decision.
    hazard
        Chance of an audit at each decision, by count, shape (periods, counts) (`hazards_met`).

    Returns
    -------
    ratio
        `P(transcript | one more report in period s) / P(transcript)` for each s, shape (periods,). It is 1 where
        the rates cannot explain the transcript at all.
    """
    n_periods, n_counts = len(arrivals), hazard.shape[1]
    last_count = n_counts - 1
    ratio = np.ones(n_periods)
    ahead = np.zeros((n_periods, n_counts))  # law of the count at each decision, given the run so far
    seen = np.zeros((n_periods, n_counts))  # chance of what each decision showed, given the count
    start = 0
    while start < n_periods:
        state = np.zeros(n_counts)
        state[0] = 1.0
        stop = start
        running = True
        while running and stop < n_periods:
            law = _poisson(arrivals[stop], n_counts)
            for k in range(n_counts):
                if law[k] > 1e-16:
                    for n in range(n_counts):
                        ahead[stop, min(n + k, last_count)] += state[n] * law[k]
            seen[stop] = hazard[stop] if audited[stop] else 1.0 - hazard[stop]
            state = ahead[stop] * seen[stop]
            total = state.sum()
            if total > 0.0:
                state /= total
            running = not audited[stop]
            stop += 1
        after = np.ones(n_counts)  # chance of the rest of the run, given the count at the decision
        for s in range(stop - 1, start - 1, -1):
            after = after * seen[s]
            top = after.max()
            if top > 0.0:
                after /= top
            without = (ahead[s] * after).sum()
            within = (ahead[s, :last_count] * after[1:]).sum() + ahead[s, last_count] * after[last_count]
            if without > 0.0:
                ratio[s] = within / without
            law = _poisson(arrivals[s], n_counts)
            before = np.zeros(n_counts)
            for k in range(n_counts):
                if law[k] > 1e-16:
                    for n in range(n_counts):
                        before[n] += after[min(n + k, last_count)] * law[k]
            after = before
        start = stop
    return ratio
