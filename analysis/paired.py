"""The effect in twin runs: a difference of paired yes-or-no outcomes, with its interval."""

from math import sqrt

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from .intervals import Estimate

__all__ = ["paired_proportions"]


def paired_proportions(first: npt.ArrayLike, second: npt.ArrayLike, level: float = 0.95) -> Estimate:
    """Estimate `P(first) - P(second)` from pairs of yes-or-no outcomes.

    Parameters
    ----------
    first, second
        Outcomes of the two members of each pair, shape (pairs,).
    level
        Confidence level.

    Returns
    -------
    Estimate
        The plain difference; the interval is Wald's after half a pair has been added to each of the four cells, so
        it has a width also where no pair differs.

    References
    ----------
    Agresti and Min (2005), "Simple improved confidence intervals for comparing matched proportions", Statistics in
    Medicine 24, 729-740.

    Examples
    --------
    >>> paired_proportions([1, 1, 0, 0], [0, 0, 0, 0]).value
    0.5
    """
    one, other = np.asarray(first, dtype=np.bool_), np.asarray(second, dtype=np.bool_)
    if one.shape != other.shape or one.ndim != 1:
        raise ValueError(f"pairs need as many outcomes on both sides, got {one.shape} and {other.shape}")
    n = len(one)
    if n == 0:
        return Estimate(None, None, None, None, 0, "Agresti-Min")
    only_first, only_second = int((one & ~other).sum()), int((~one & other).sum())
    b, c, total = only_first + 0.5, only_second + 0.5, n + 2.0
    centre = (b - c) / total
    half = float(ndtri(0.5 + level / 2)) * sqrt(b + c - (b - c) ** 2 / total) / total
    value = (only_first - only_second) / n
    spread = sqrt(max((only_first + only_second) / n - value**2, 0.0) / n)
    return Estimate(
        value,
        max(centre - half, -1.0),
        min(centre + half, 1.0),
        spread,
        n,
        "Agresti-Min",
        value * n,
        float(n),
    )
