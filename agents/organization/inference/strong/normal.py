"""The normal distribution, compiled: fast where the particle filter needs it, right in the far tails.

`log Phi` comes from a table with cells of 1/64 and cubic interpolation (absolute error below 1e-9), and left of
the table from its asymptotic series. The quadrature reads a second table, with cells of 1/128 and linear
interpolation (error below 8e-6), along a grid whose step is a whole number of cells. All points of the grid then
share one fraction of a cell, and the table is stored so that the grid's points lie side by side in memory.
"""

import math

import numpy as np
from scipy.special import log_ndtr, ndtri

from ....ports import FloatArray, IntArray
from .compiling import compiled

__all__ = [
    "CELL",
    "GRID",
    "GRID_CELL",
    "LEFT",
    "RIGHT",
    "STRIDES",
    "cubic_weights",
    "exponential_table",
    "filter_tables",
    "grid_tables",
    "hazard",
    "hazard_table",
    "log_cdf",
    "log_cdf_table",
    "quantile",
    "quantile_of_log",
    "quantile_table",
    "quick_exp",
    "quick_quantile",
    "rough_hazard",
]

CELL = 1.0 / 64.0
"""Width of a cell of the table, in standard deviations."""
LEFT = -40.0
"""Left end of the table."""
RIGHT = 8.5
"""Where log Phi is taken to be 0 (it is -1e-17)."""
GRID_CELL = 1.0 / 128.0
"""Width of a cell of the quadrature's table."""
STRIDES = (64, 32, 16, 8, 4)
"""Cells per step of the quadrature's grid: steps of 1/2, 1/4, 1/8, 1/16 and 1/32."""
GRID = 320
"""Most points of a grid."""

_PADDING = 4
_PER_UNIT = 1.0 / CELL
_QUANTILE_CELLS = 2048
_QUANTILE_END = 1.0 / 32.0
_EXPONENTIAL_CELLS = 32
_EXPONENTIAL_END = 64
_N_CELLS = round((RIGHT - LEFT) / CELL)
_LOG_SQRT_2PI = 0.5 * math.log(2.0 * math.pi)
_SIXTH = 1.0 / 6.0
_I1, _I2, _I3 = np.uintp(1), np.uintp(2), np.uintp(3)


def log_cdf_table() -> FloatArray:
    """Make the table: log Phi at `LEFT + (i - 1) CELL`, 0 from `RIGHT` on."""
    x = LEFT + CELL * (np.arange(_N_CELLS + _PADDING) - 1)
    values: FloatArray = log_ndtr(x)
    values[x >= RIGHT] = 0.0
    return values


def hazard_table() -> FloatArray:
    """Make the table of phi/Phi at the same places."""
    x = LEFT + CELL * (np.arange(_N_CELLS + _PADDING) - 1)
    values: FloatArray = np.exp(-0.5 * x**2 - _LOG_SQRT_2PI - log_ndtr(x))
    return values


def quantile_table() -> FloatArray:
    """Make the table of Phi^-1 at (i - 1)/2048, and from entry 2052 on at (i - 2053)/65536; ends are not used."""
    cells = np.arange(_QUANTILE_CELLS + _PADDING) - 1.0
    p = np.concatenate([cells / _QUANTILE_CELLS, cells / _QUANTILE_CELLS * _QUANTILE_END])
    values: FloatArray = ndtri(np.clip(p, 1e-9, 1.0 - 1e-9))
    return values


def exponential_table() -> FloatArray:
    """Make the table of exp(-i/32)."""
    values: FloatArray = np.exp(-np.arange(_EXPONENTIAL_END * _EXPONENTIAL_CELLS + 2) / _EXPONENTIAL_CELLS)
    return values


def grid_tables() -> tuple[FloatArray, IntArray]:
    """Lay the quadrature's table out once for each stride, so that every stride-th entry lies side by side.

    Returns
    -------
    flat
        For each stride a matrix (stride, length): row r holds log Phi at `LEFT + (r + k stride) GRID_CELL`
        for k = 0, 1, …, with zeros at its end, so that a grid may run over it.
    layout
        For each stride its offset in `flat` and the length of its rows, shape (strides, 2).
    """
    values = log_ndtr(np.arange(LEFT, RIGHT, GRID_CELL))
    parts, layout, offset = [], [], 0
    for stride in STRIDES:
        length = -(-values.size // stride) + GRID + 1
        rows = np.zeros((length, stride))
        rows.ravel()[: values.size] = values
        parts.append(rows.T.ravel())
        layout.append((offset, length))
        offset += length * stride
    return np.concatenate(parts), np.array(layout, dtype=np.int64)


def filter_tables() -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray, IntArray]:
    """Make all the tables that the particle filter reads."""
    return (log_cdf_table(), hazard_table(), quantile_table(), exponential_table(), *grid_tables())


@compiled
def cubic_weights(t):  # type: ignore[no-untyped-def]
    """Weights of the entries -1, 0, 1, 2 around a fraction `t` of a cell (Lagrange)."""
    a, b, c = t + 1.0, t - 1.0, t - 2.0
    # products, since a compiler may not turn divisions by 6 into them
    return -t * b * c * _SIXTH, a * b * c * 0.5, -a * t * c * 0.5, a * t * b * _SIXTH


@compiled
def _left_tail(x):  # type: ignore[no-untyped-def]
    """Log Phi by its asymptotic series, for x <= LEFT, where it is exact to rounding."""
    r = 1.0 / (x * x)
    return -0.5 * x * x - math.log(-x) - _LOG_SQRT_2PI + math.log1p(-r * (1.0 - r * (3.0 - 15.0 * r)))


@compiled
def log_cdf(x, table):  # type: ignore[no-untyped-def]
    """Log Phi(x) from `log_cdf_table()`, for any finite x."""
    if x >= RIGHT:
        return 0.0
    if x <= LEFT:
        return _left_tail(x)
    position = (x - LEFT) * _PER_UNIT
    cell = int(position)
    i = np.uintp(cell)  # unsigned: no check for a negative index
    w0, w1, w2, w3 = cubic_weights(position - cell)
    return w0 * table[i] + w1 * table[i + _I1] + w2 * table[i + _I2] + w3 * table[i + _I3]


@compiled
def quick_exp(x, exponentials):  # type: ignore[no-untyped-def]
    """exp(x) for x <= 0, from `exponential_table()`: relative error below 3e-10, 0 below -64."""
    if x < -_EXPONENTIAL_END:
        return 0.0
    cell = int(-x * _EXPONENTIAL_CELLS)
    t = x + cell * (1.0 / _EXPONENTIAL_CELLS)
    return exponentials[np.uintp(cell)] * (1.0 + t * (1.0 + t * (0.5 + t * (_SIXTH + t * (1.0 / 24.0)))))


@compiled
def rough_hazard(x, hazards):  # type: ignore[no-untyped-def]
    """phi(x)/Phi(x) to within 1/100, from `hazard_table()`: good enough to find a peak."""
    if x >= RIGHT:
        return 0.0
    if x <= LEFT:
        return -x
    return hazards[np.uintp(int((x - LEFT) * _PER_UNIT + 1.5))]


@compiled
def hazard(x, table):  # type: ignore[no-untyped-def]
    """phi(x)/Phi(x), the derivative of log Phi, for any finite x."""
    return math.exp(-0.5 * x * x - _LOG_SQRT_2PI - log_cdf(x, table))


@compiled
def _horner(x, a7, a6, a5, a4, a3, a2, a1, a0):  # type: ignore[no-untyped-def]
    return ((((((a7 * x + a6) * x + a5) * x + a4) * x + a3) * x + a2) * x + a1) * x + a0


@compiled
def quick_quantile(p, quantiles):  # type: ignore[no-untyped-def]
    """Phi^-1(p) for 0 < p < 1, from `quantile_table()` where it can be: absolute error below 5e-9."""
    side = 1.0
    offset = 0
    if p > 1.0 - _QUANTILE_END:
        side = -1.0
        p = 1.0 - p
    if p < _QUANTILE_END:
        p *= 1.0 / _QUANTILE_END
        offset = _QUANTILE_CELLS + _PADDING
        if p < _QUANTILE_END:
            return side * quantile(p * _QUANTILE_END)
    position = p * _QUANTILE_CELLS
    cell = int(position)
    i = np.uintp(cell + offset)
    w0, w1, w2, w3 = cubic_weights(position - cell)
    return side * (
        w0 * quantiles[i] + w1 * quantiles[i + _I1] + w2 * quantiles[i + _I2] + w3 * quantiles[i + _I3]
    )


@compiled
def quantile(p):  # type: ignore[no-untyped-def]
    """Phi^-1(p) for 0 < p < 1: relative error about 1e-15.

    Wichura (1988), "Algorithm AS 241: the percentage points of the normal distribution", PPND16.
    """
    q = p - 0.5
    if abs(q) <= 0.425:
        r = 0.180625 - q * q
        top = _horner(
            r,
            2.5090809287301226727e3,
            3.3430575583588128105e4,
            6.7265770927008700853e4,
            4.5921953931549871457e4,
            1.3731693765509461125e4,
            1.9715909503065514427e3,
            1.3314166789178437745e2,
            3.3871328727963666080e0,
        )
        bottom = _horner(
            r,
            5.2264952788528545610e3,
            2.8729085735721942674e4,
            3.9307895800092710610e4,
            2.1213794301586595867e4,
            5.3941960214247511077e3,
            6.8718700749205790830e2,
            4.2313330701600911252e1,
            1.0,
        )
        return q * top / bottom
    if q < 0.0:
        return -_tail_quantile(-math.log(p))
    return _tail_quantile(-math.log(1.0 - p))


@compiled
def quantile_of_log(log_p):  # type: ignore[no-untyped-def]
    """The x with log Phi(x) = `log_p`, for any log_p < 0, also where p is too small for a double.

    The tail formulas of `quantile` need log p only; further out Newton's method on the asymptotic series.
    """
    if log_p < -2.0:
        return -_tail_quantile(-log_p)
    if log_p > -0.08:
        return _tail_quantile(-math.log(-math.expm1(log_p)))
    return quantile(math.exp(log_p))


@compiled
def _tail_quantile(minus_log_p):  # type: ignore[no-untyped-def]
    """Upper quantile of the small tail probability exp(-minus_log_p)."""
    if minus_log_p > 700.0:
        x = -math.sqrt(2.0 * (minus_log_p - _LOG_SQRT_2PI) - math.log(2.0 * minus_log_p))
        for _ in range(4):
            x -= (_left_tail(x) + minus_log_p) / (-x - 1.0 / x)
        return -x
    r = math.sqrt(minus_log_p)
    if r <= 5.0:
        r -= 1.6
        top = _horner(
            r,
            7.74545014278341407640e-4,
            2.27238449892691845833e-2,
            2.41780725177450611770e-1,
            1.27045825245236838258e0,
            3.64784832476320460504e0,
            5.76949722146069140550e0,
            4.63033784615654529590e0,
            1.42343711074968357734e0,
        )
        bottom = _horner(
            r,
            1.05075007164441684324e-9,
            5.47593808499534494600e-4,
            1.51986665636164571966e-2,
            1.48103976427480074590e-1,
            6.89767334985100004550e-1,
            1.67638483018380384940e0,
            2.05319162663775882187e0,
            1.0,
        )
        return top / bottom
    r -= 5.0
    top = _horner(
        r,
        2.01033439929228813265e-7,
        2.71155556874348757815e-5,
        1.24266094738807843860e-3,
        2.65321895265761230930e-2,
        2.96560571828504891230e-1,
        1.78482653991729133580e0,
        5.46378491116411436990e0,
        6.65790464350110377720e0,
    )
    bottom = _horner(
        r,
        2.04426310338993978564e-15,
        1.42151175831644588870e-7,
        1.84631831751005468180e-5,
        7.86869131145613259100e-4,
        1.48753612908506148525e-2,
        1.36929880922735805310e-1,
        5.99832206555887937690e-1,
        1.0,
    )
    return top / bottom
