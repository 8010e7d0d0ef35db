"""Chance of one observed selection, and the winner's noisy count given it, for independent normal counts.

All in units of sigma: the next noisy counts are independent N(m_c, 1) given the noise drawn so far. Audited are the
targets of a set S (one target, mostly), which hold the largest counts. With y the smallest count in S,

    f(y) = sum_{a in S} phi(y - m_a) prod_{b in S, b != a} Phi(m_b - y) prod_{c not in S} Phi(y - m_c)

integrates to the chance of the selection and is, normalised, the density of y given the selection. For one audited
target log f is concave. `tabulate` evaluates log f on an even grid that holds all but about 1e-10 of its mass, with
a step of at most 0.6 of its standard deviation at the peak. The trapezium sum is then exact to about 1e-9: its error
falls like exp(-2 pi^2 / step^2). Between grid points log f is taken to be linear, which gives a density that
can be drawn from by inversion; it differs from f by at most a few per cent, and the caller corrects for that
exactly with the ratio that `draw` makes possible.
"""

import math

import numpy as np
from numba import njit

from .normal import CELL, CHUNK, LEFT, RIGHT, STRIDES, cubic_weights, hazard, log_cdf

__all__ = ["GRID", "draw", "log_density", "tabulate", "workspace"]

GRID = 512
"""Most points of a grid."""

_STRIDES = np.array(STRIDES)
_DEPTH = 32.0  # a grid ends where f has fallen by exp(-32)
_REACH = 8.0  # standard deviations to the left of the peak: log f falls by at least 32
_FINENESS = 0.6  # step of the grid in standard deviations, at most
_COARSE = 0.5
_LOG_SQRT_2PI = 0.5 * math.log(2.0 * math.pi)


def workspace(n_targets: int) -> tuple[np.ndarray, np.ndarray]:
    """Scratch memory of `tabulate`: weights (targets, 4) and places in the table (targets, 5)."""
    return np.empty((n_targets, 4)), np.empty((n_targets, 5), dtype=np.int64)


@njit(cache=True, nogil=True)
def _log_winners(y, means, audited, table):  # type: ignore[no-untyped-def]
    """Log of the part of f that belongs to the audited set."""
    if audited.size == 1:
        d = y - means[audited[0]]
        return -0.5 * d * d - _LOG_SQRT_2PI
    survival = 0.0
    hazards = 0.0
    for a in audited:
        survival += log_cdf(means[a] - y, table)
        hazards += hazard(means[a] - y, table)
    return survival + math.log(hazards)


@njit(cache=True, nogil=True)
def log_density(y, means, audited, lost, table):  # type: ignore[no-untyped-def]
    """Log f(y), not normalised.

    Parameters
    ----------
    y
        The smallest noisy count of the audited set.
    means
        m_c, shape (targets,).
    audited
        The set S, shape (m,).
    lost
        Whether a target is not in S, shape (targets,).
    table
        `log_cdf_table()`.
    """
    total = _log_winners(y, means, audited, table)
    for c in range(means.size):
        if lost[c]:
            total += log_cdf(y - means[c], table)
    return total


@njit(cache=True, nogil=True)
def _peak_of_one(means, audited, lost, table):  # type: ignore[no-untyped-def]
    """Peak and curvature of log f for one audited target: Newton's method.

    The slope is convex and falling, so from the left the steps approach the root without passing it, and a step
    from the right lands on the left.
    """
    m = means[audited[0]]
    y = m
    for c in range(means.size):
        if lost[c] and means[c] > y:
            y = means[c]
    curvature = 1.0
    for _ in range(100):
        slope = m - y
        curvature = 1.0
        for c in range(means.size):
            if lost[c]:
                x = y - means[c]
                if x < RIGHT:
                    h = hazard(x, table)
                    slope += h
                    curvature += h * (x + h)
        y += slope / curvature
        if abs(slope) < 0.1 * math.sqrt(curvature):
            break
    return y, curvature


@njit(cache=True, nogil=True)
def _peak_of_many(means, audited, lost, table):  # type: ignore[no-untyped-def]
    """Peak, curvature there, and where the left tail ends, for several audited: by scanning."""
    low, high = means[audited[0]], means[audited[0]]
    for a in audited:
        low = min(low, means[a])
    for c in range(means.size):
        low = min(low, means[c]) if not lost[c] else low
        high = max(high, means[c])
    low -= 9.0
    n = int((high + 9.0 - low) / _COARSE) + 1
    best, top = low, -np.inf
    for i in range(n):
        value = log_density(low + i * _COARSE, means, audited, lost, table)
        if value > top:
            best, top = low + i * _COARSE, value
    e = 4.0 * CELL
    left = log_density(best - e, means, audited, lost, table)
    right = log_density(best + e, means, audited, lost, table)
    curvature = max(1.0, (2.0 * top - left - right) / (e * e))
    start = best
    while log_density(start, means, audited, lost, table) > top - _DEPTH:
        start -= _COARSE
    return best, curvature, start


@njit(cache=True, nogil=True)
def tabulate(means, audited, lost, table, flat, layout, weights, places, log_f, f, mass):  # type: ignore[no-untyped-def]
    """Tabulate f for one particle.

    Parameters
    ----------
    means, audited, lost, table
        As in `log_density`.
    flat, layout
        `grid_tables()`.
    weights, places
        Scratch memory, `workspace(targets)`.
    log_f, f, mass
        Out: log f, f divided by its largest value, and the mass left of each point under the log-linear
        interpolant in units of (largest value x step); each (GRID,).

    Returns
    -------
    n, start, step, log_sum, log_chance
        Number of points, first point and step of the grid, log of the interpolant's integral, and log of the
        integral of f by the trapezium rule.
    """
    if audited.size == 1:
        peak, curvature = _peak_of_one(means, audited, lost, table)
        start = peak - _REACH / math.sqrt(curvature)
    else:
        peak, curvature, start = _peak_of_many(means, audited, lost, table)
    level = 0
    while level < _STRIDES.size - 1 and _STRIDES[level] * CELL * math.sqrt(curvature) > _FINENESS:
        level += 1
    stride = _STRIDES[level]
    step = stride * CELL
    offset, length = layout[level]

    # places: rows of the table for the entries -1, 0, 1, 2, and the first column; -1 marks "left of the table"
    for c in range(means.size):
        if not lost[c]:
            continue
        position = (start - means[c] - LEFT) / CELL
        if position < 0.0:
            places[c, 4] = -1
            continue
        i = int(position)
        w = cubic_weights(position - i)
        column = i // stride
        places[c, 4] = column
        for k in range(4):
            weights[c, k] = w[k]
            places[c, k] = offset + ((i + k) % stride) * length + (i + k) // stride - column

    top = -np.inf
    n = 0
    while n + CHUNK <= GRID:
        block = log_f[n : n + CHUNK]
        for k in range(CHUNK):
            block[k] = _log_winners(start + (n + k) * step, means, audited, table)
        for c in range(means.size):
            if not lost[c]:
                continue
            column = places[c, 4]
            if column < 0:
                for k in range(CHUNK):
                    block[k] += log_cdf(start + (n + k) * step - means[c], table)
                continue
            column += n
            if column >= length - CHUNK:
                continue  # Phi is 1 here
            w0, w1, w2, w3 = weights[c, 0], weights[c, 1], weights[c, 2], weights[c, 3]
            t0 = flat[places[c, 0] + column : places[c, 0] + column + CHUNK]
            t1 = flat[places[c, 1] + column : places[c, 1] + column + CHUNK]
            t2 = flat[places[c, 2] + column : places[c, 2] + column + CHUNK]
            t3 = flat[places[c, 3] + column : places[c, 3] + column + CHUNK]
            for k in range(CHUNK):
                block[k] += w0 * t0[k] + w1 * t1[k] + w2 * t2[k] + w3 * t3[k]
        for k in range(CHUNK):
            top = max(top, block[k])
        n += CHUNK
        if block[CHUNK - 1] < top - _DEPTH and start + n * step > peak:
            break

    total = 0.0
    cumulated = 0.0
    f[0] = math.exp(log_f[0] - top)
    mass[0] = 0.0
    total += f[0]
    for k in range(1, n):
        f[k] = math.exp(log_f[k] - top)
        total += f[k]
        d = log_f[k] - log_f[k - 1]
        if abs(d) > 1e-4:
            cumulated += (f[k] - f[k - 1]) / d
        else:
            cumulated += 0.5 * (f[k] + f[k - 1])
        mass[k] = cumulated
    return n, start, step, top + math.log(cumulated * step), top + math.log(total * step)


@njit(cache=True, nogil=True)
def draw(u, n, start, step, log_f, mass):  # type: ignore[no-untyped-def]
    """Draw y from the log-linear interpolant of f by inversion of the uniform `u`.

    Returns
    -------
    y, log_q
        The draw, and the log of the interpolant there, in the units of `log_f`.
    """
    goal = u * mass[n - 1]
    low, high = 0, n - 1
    while high - low > 1:
        middle = (low + high) // 2
        if mass[middle] <= goal:
            low = middle
        else:
            high = middle
    d = log_f[high] - log_f[low]
    v = (goal - mass[low]) / (mass[high] - mass[low]) if goal < mass[high] else 1.0
    t = v + 0.5 * d * v * (1.0 - v) if abs(d) < 1e-4 else math.log1p(v * math.expm1(d)) / d
    t = min(max(t, 0.0), 1.0)
    return start + (low + t) * step, log_f[low] + d * t
