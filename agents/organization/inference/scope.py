"""What the findings of an audit say about reports, when the audit's scope follows the reports.

A scope that reports steer is itself a leak that no selection rule covers. What a lab learns this way is kept apart
as the channel `audit_scope` (docs/adversary.md).
"""

from dataclasses import dataclass

import numpy as np

from ...ports import FloatArray, IntArray

__all__ = ["ScopeEvidence"]


@dataclass(frozen=True)
class ScopeEvidence:
    """Bayes' rule on findings.

    Parameters
    ----------
    discovery_probability
        Chance that an audit of the target brings an incident with at least one report to light.
    unreported_discovery_factor
        Multiplies it for an incident without reports.
    prior
        Probability that any one person with access reported.
    """

    discovery_probability: float
    unreported_discovery_factor: float
    prior: float

    def log_likelihood_ratios(self, found: IntArray, anonymity_set: IntArray) -> FloatArray:
        """Log likelihood ratio of a suspect's report, given whether the audit found the incident.

        With a report by the suspect the incident has at least one for sure; without, the other k - 1 people
        supply one with probability `1 - (1 - prior)^(k - 1)`.

        Parameters
        ----------
        found, anonymity_set
            One element per suspect: 1 if found; the number of people with access.
        """
        others = 1.0 - (1.0 - self.prior) ** (anonymity_set - 1.0)
        with_report = self.discovery_probability
        without = with_report * (others + (1.0 - others) * self.unreported_discovery_factor)
        with np.errstate(divide="ignore", invalid="ignore"):
            if_found = np.log(with_report) - np.log(without)
            if_missed = np.log1p(-with_report) - np.log1p(-without)
        # both chances 1: a miss cannot happen, and says nothing
        return np.where(found == 1, if_found, np.where(without == 1.0, 0.0, if_missed))
