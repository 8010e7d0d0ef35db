"""The paper's adversary as a lab's rule: it knows everything but whether this one report was filed."""

import numpy as np
from scipy.special import expit

from ...ports import FloatArray
from .base import Case, Inference

__all__ = ["Strong"]


class Strong(Inference):
    """Bayes' rule on the exact worst-case likelihood ratio, for each person separately.

    A worst case, not a lab that could exist: each person's score uses the truth about all the others, so the scores
    together are no joint posterior, and a budget cannot rank them. Each suspect is judged by threshold alone.
    Source: the paper's adversary (docs/adversary.md).
    """

    id = "strong"
    omniscient = True

    def posteriors(self, case: Case) -> FloatArray:
        """Probability that each suspect reported, shape (suspects,)."""
        prior_log_odds = np.log(self.knowledge.prior) - np.log1p(-self.knowledge.prior)
        result: FloatArray = expit(prior_log_odds + case.log_likelihood_ratio())
        return result
