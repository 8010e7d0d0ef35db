"""Ratios of sums over runs, and what each run adds to their error: what intervals and bootstraps share."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit

__all__ = [
    "defined",
    "divide",
    "influence",
    "influence_error",
    "known",
    "ratio_error",
    "ratio_input",
    "student",
]

type _Floats = npt.NDArray[np.float64]


def defined(values: Sequence[float | None] | npt.ArrayLike) -> _Floats:
    """Defined values of one number a run, shape (runs,); ValueError if there is more than one a run."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise ValueError(f"one value a run is needed, got an array of shape {array.shape}")
    result: _Floats = array[~np.isnan(array)]
    return result


def ratio_input(numerators: npt.ArrayLike, denominators: npt.ArrayLike) -> tuple[_Floats, _Floats]:
    """Both as arrays of the same shape; ValueError unless finite, with denominators not negative."""
    above, below = np.asarray(numerators, dtype=np.float64), np.asarray(denominators, dtype=np.float64)
    if above.shape != below.shape:
        raise ValueError(f"numerators {above.shape} and denominators {below.shape} differ in shape")
    if not (np.isfinite(above).all() and np.isfinite(below).all()) or (below < 0).any():
        raise ValueError("numerators must be finite, and denominators finite and not negative")
    return above, below


def divide(above: _Floats, below: _Floats) -> _Floats:
    """Quotients; NaN where there is nothing to divide by."""
    result: _Floats = np.divide(above, below, out=np.full(np.shape(above), np.nan), where=below > 0)
    return result


def influence(above: _Floats, below: _Floats) -> _Floats:
    """What each run adds to the error of the ratio of sums: (x_i - r n_i) / Σn, shape (runs, ratios)."""
    total = below.sum(axis=0)
    return divide(above - divide(above.sum(axis=0), total) * below, np.broadcast_to(total, above.shape))


def influence_error(influence: _Floats) -> _Floats:
    """Standard error of sums over runs of `influence`, shape (ratios,); NaN with fewer than two runs."""
    n = len(influence)
    if n < 2:
        return np.full(influence.shape[1:], np.nan)
    result: _Floats = np.sqrt(n / (n - 1) * (influence**2).sum(axis=0))
    return result


def ratio_error(above: _Floats, below: _Floats) -> _Floats:
    """Linearised standard error of each ratio of sums, shape (ratios,)."""
    return influence_error(influence(above, below))


def student(value: _Floats, error: _Floats, n: int, level: float) -> tuple[_Floats, _Floats]:
    """Ends of Student's interval over `n` runs; NaN with fewer than two."""
    quantile = float(stdtrit(n - 1, 0.5 + level / 2)) if n > 1 else np.nan
    return value - quantile * error, value + quantile * error


def known(number: float) -> float | None:
    """The number, or None for NaN."""
    return None if np.isnan(number) else float(number)
