r"""The Toeplitz counter's coefficients and sensitivity.

:math:`f_k = \binom{2k}{k}/4^k` is the Taylor series of :math:`(1 - x)^{-1/2}`, so the lower-triangular
Toeplitz matrix of it is the square root of the prefix-sum matrix. The sums
:math:`M_T^2 = \sum_{k<T} f_k^2` are Landau's constants.
"""

from functools import lru_cache
from math import comb

import numpy as np

from ...ports import FloatArray
from ._numbers import like, whole

__all__ = ["toeplitz_coefficients", "toeplitz_sensitivity"]

_EXACT = 256  # up to here in whole numbers; from here on the series below are exact to the last digit


@lru_cache(maxsize=1)
def _exact_table() -> tuple[FloatArray, FloatArray]:
    """Return the first coefficients and squared sensitivities, each rounded once."""
    coefficients, sums, numerator = [], [], 0
    for k in range(_EXACT):
        coefficients.append(comb(2 * k, k) / 4**k)
        numerator = 16 * numerator + comb(2 * k, k) ** 2
        sums.append(numerator / 16**k)
    return np.array(coefficients), np.array(sums)


def toeplitz_coefficients(length: int) -> FloatArray:
    r"""Return the Toeplitz counter's coefficients: :math:`f_0 = 1`, :math:`f_k = (1 - 1/(2k)) f_{k-1}`.

    Parameters
    ----------
    length
        How many, at least 1.

    Returns
    -------
    coefficients
        Shape (length,), positive and decreasing, each within two units in the last place.

    Raises
    ------
    ValueError
        If `length` is below 1.

    Notes
    -----
    Fichtenberger, Henzinger & Upadhyay (2023), "Constant matters", use this factorization for continual
    counting. The recursion would pile up rounding errors, so later coefficients come from the series of
    :math:`\Gamma(k + 1/2)/(\sqrt\pi\,\Gamma(k + 1))` in :math:`1/(k + 1/4)^2`.

    Examples
    --------
    >>> toeplitz_coefficients(5)
    array([1.       , 0.5      , 0.375    , 0.3125   , 0.2734375])
    """
    if length < 1:
        raise ValueError(f"length must be at least 1, got {length}")
    head = _exact_table()[0][:length]
    x = np.arange(_EXACT, length) + 0.25
    tail = (1.0 - 1.0 / 64.0 * x**-2.0 + 21.0 / 8192.0 * x**-4.0) / np.sqrt(np.pi * x)
    return np.concatenate((head, tail))


def toeplitz_sensitivity[N: (float, FloatArray)](horizon: N) -> N:
    r"""Largest column norm of the Toeplitz encoder: :math:`M_T = (\sum_{k<T} f_k^2)^{1/2}`.

    Also the standard deviation, in units of sigma, of the noise at run length T, since encoder and decoder
    are the same matrix.

    Parameters
    ----------
    horizon
        Number T of decisions (or the run length), whole and at least 1.

    Raises
    ------
    ValueError
        If `horizon` is below 1 or not whole.

    Notes
    -----
    Summed exactly up to T = 256, and from there on by Watson's (1930) expansion of Landau's constants,
    :math:`\pi M_T^2 = \ln x + \gamma + 4\ln 2 + 11/(192 x^2) - 1541/(122880 x^4)` with :math:`x = T - 1/4`,
    whose next term is below 1e-16 there: the cost does not depend on T.

    Examples
    --------
    >>> f"{toeplitz_sensitivity(1000):.12f}"
    '1.806931952419'
    """
    values = whole(horizon, "horizon", 1)
    small = _exact_table()[1][np.minimum(values, _EXACT).astype(np.int64) - 1]
    x = values - 0.25
    constant = np.euler_gamma + 4.0 * np.log(2.0)
    large = (np.log(x) + constant + 11.0 / 192.0 * x**-2.0 - 1541.0 / 122880.0 * x**-4.0) / np.pi
    return like(horizon, np.sqrt(np.where(values <= _EXACT, small, large)))
