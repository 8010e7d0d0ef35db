"""Checks of arguments, and the scalar-in, scalar-out convention of this folder."""

from typing import cast

import numpy as np

from ...ports import FloatArray

__all__ = ["at_least_one", "at_least_zero", "in_unit_interval", "like", "open_unit", "positive", "whole"]


def _floats(values: object) -> FloatArray:
    return np.asarray(values, dtype=np.float64)


def like[N](example: N, values: object) -> N:
    """Return `values` typed as `example`: a 0-d array becomes a float, other arrays stay."""
    del example
    array = _floats(values)
    return cast(N, array if array.ndim else float(array))


def open_unit(values: object, name: str) -> FloatArray:
    """Check 0 < values < 1."""
    array = _floats(values)
    if not np.all((array > 0.0) & (array < 1.0)):
        raise ValueError(f"{name} must lie strictly between 0 and 1, got {values}")
    return array


def in_unit_interval(values: object, name: str) -> FloatArray:
    """Check 0 <= values <= 1."""
    array = _floats(values)
    if not np.all((array >= 0.0) & (array <= 1.0)):
        raise ValueError(f"{name} must lie between 0 and 1, got {values}")
    return array


def positive(values: object, name: str) -> FloatArray:
    """Check 0 < values < infinity."""
    array = _floats(values)
    if not np.all((array > 0.0) & np.isfinite(array)):
        raise ValueError(f"{name} must be positive and finite, got {values}")
    return array


def at_least_zero(values: object, name: str) -> FloatArray:
    """Check 0 <= values <= infinity."""
    array = _floats(values)
    if not np.all(array >= 0.0):
        raise ValueError(f"{name} must be at least 0, got {values}")
    return array


def at_least_one(values: object, name: str) -> FloatArray:
    """Check 1 <= values < infinity."""
    array = _floats(values)
    if not np.all((array >= 1.0) & np.isfinite(array)):
        raise ValueError(f"{name} must be at least 1, got {values}")
    return array


def whole(values: object, name: str, smallest: int) -> FloatArray:
    """Check that values are whole numbers, `smallest` or more."""
    array = _floats(values)
    if not np.all((array >= smallest) & (array == np.floor(array)) & np.isfinite(array)):
        raise ValueError(f"{name} must be a whole number of at least {smallest}, got {values}")
    return array
