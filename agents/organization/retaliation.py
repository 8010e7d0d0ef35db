"""From posteriors to people: whom a lab acts against."""

from typing import Protocol

import numpy as np

from ..ports import BoolArray, FloatArray, IntArray

__all__ = ["Criterion", "acts_on", "identified"]


class Criterion(Protocol):
    """When a lab acts on a posterior: part of its policy."""

    @property
    def criterion(self) -> str:
        """Either "threshold" or "expected-gain"."""
        ...

    @property
    def threshold(self) -> float:
        """The probability from which on it believes, inclusive."""
        ...

    @property
    def gain(self) -> float:
        """What hitting a reporter is worth."""
        ...

    @property
    def cost(self) -> float:
        """What hitting an innocent costs."""
        ...


def acts_on(posterior: FloatArray, policy: Criterion) -> BoolArray:
    """Whether a lab acts on each posterior, same shape.

    Under `threshold` if the posterior reaches it. Under `expected-gain` if acting is worth more than doing nothing:
    `posterior * gain - (1 - posterior) * cost > 0`, that is above `cost / (gain + cost)`.
    """
    if policy.criterion == "expected-gain":
        result: BoolArray = posterior * policy.gain - (1.0 - posterior) * policy.cost > 0.0
        return result
    reached: BoolArray = posterior >= policy.threshold
    return reached


def identified(
    posterior: FloatArray, person: IntArray, tie_break: FloatArray, *, acts: BoolArray, budget: int | None
) -> IntArray:
    """Rows of the suspects whom the lab acts against, the most suspect first.

    Parameters
    ----------
    posterior
        Probability that the suspect reported, shape (suspects,).
    person
        The suspect's person; of several rows about one person the most suspect counts.
    tie_break
        Uniforms that order equal posteriors, shape (suspects,).
    acts
        Whether the lab would act on the row (`acts_on`, and not done already), shape (suspects,).
    budget
        How many people at most, or None for no limit.
    """
    rows = np.flatnonzero(acts)
    if not len(rows):
        return rows
    order = rows[np.lexsort((tie_break[rows], -posterior[rows]))]
    first: dict[int, int] = {}  # each person's most suspect row
    for someone, row in zip(person[order].tolist(), order.tolist(), strict=True):
        first.setdefault(someone, row)
    chosen = np.array(list(first.values()), dtype=np.int64)
    return chosen if budget is None else chosen[:budget]
