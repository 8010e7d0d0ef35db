"""The "who knew?" reflex: an audit is taken as proof that somebody who knew has talked."""

import numpy as np

from ...ports import BoolArray, FloatArray
from .base import Case, Inference

__all__ = ["Timing"]


class Timing(Inference):
    """Mass on the people with access to incidents shortly before the audit.

    The story: an auditor turns up, and management asks who could have known. It takes the newest audit of a target
    as proof that at least one person with access reported one of the target's incidents of the weeks before that
    audit (the window), each incident being as good an explanation as another. An audit before the incident, or one
    of another target, explains nothing; where there was no audit, nobody is suspected beyond the prior. What an
    audit proved it proves until the target is audited again. Given that incident j is the explanation and its k
    people report independently with the prior probability, each of them did with `prior / (1 - (1 - prior)^k)`; the
    others keep the prior.

    It reads neither the mechanism nor the number of reports, so no guarantee on the transcript tames it: a
    random audit convicts as readily as a well-founded one. It is no Bayesian.
    """

    id = "timing"

    def posteriors(self, case: Case) -> FloatArray:
        """Probability that each suspect reported, shape (suspects,)."""
        incidents, first, row = np.unique(case.incident, return_index=True, return_inverse=True)
        if not len(incidents):
            return np.zeros(0)
        weight = np.zeros(len(incidents))
        for target in np.unique(case.target).tolist():
            here = (case.target[first] == target) & self._recent(case, target, case.incident_time[first])
            weight[here] = 1.0 / max(int(here.sum()), 1)
        at_least_one = -np.expm1(case.anonymity_set[first] * np.log1p(-self.knowledge.prior))
        given_explanation = self.knowledge.prior / at_least_one
        result: FloatArray = (weight * given_explanation + (1.0 - weight) * self.knowledge.prior)[row]
        return result

    def _recent(self, case: Case, target: int, times: FloatArray) -> BoolArray:
        """Which incident times lie within the window before the target's newest audit."""
        audits = case.audits_of(target)
        if not len(audits):
            return np.zeros(len(times), dtype=np.bool_)
        age_weeks = (int(audits.max()) - times) * self.knowledge.period_weeks
        recent: BoolArray = (age_weeks >= 0.0) & (age_weeks <= self.knowledge.window_weeks)
        return recent
