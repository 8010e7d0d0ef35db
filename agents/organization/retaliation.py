"""From posteriors to people: whom a lab believes to be the reporter."""

import numpy as np

from ..ports import FloatArray, IntArray

__all__ = ["identified"]


def identified(
    posterior: FloatArray, person: IntArray, tie_break: FloatArray, *, threshold: float, budget: int | None
) -> IntArray:
    """Rows of the suspects whom the lab believes identified, the most suspect first.

    Parameters
    ----------
    posterior
        Probability that the suspect reported, shape (suspects,).
    person
        The suspect's person; of several rows about one person the most suspect counts.
    tie_break
        Uniforms that order equal posteriors, shape (suspects,).
    threshold
        The posterior at which the lab believes it, inclusive.
    budget
        How many people at most, or None for no limit.
    """
    order = np.lexsort((tie_break, -posterior))
    order = order[posterior[order] >= threshold]
    _, first = np.unique(person[order], return_index=True)
    chosen = order[np.sort(first)]
    return chosen if budget is None else chosen[:budget]
