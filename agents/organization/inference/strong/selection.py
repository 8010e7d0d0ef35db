"""Chance of one observed selection, and the winner's noisy count given it, for independent normal counts.

All in units of sigma: the next noisy counts are independent N(m_c, 1) given the noise drawn so far. Audited are the
targets of a set S (one target, mostly), which hold the largest counts. With y the smallest count in S,

    f(y) = sum_{a in S} phi(y - m_a) prod_{b in S, b != a} Phi(m_b - y) prod_{c not in S} Phi(y - m_c)

integrates to the chance of the selection and is, normalised, the density of y given the selection. For one
audited target log f is concave. `tabulate` evaluates log f on an even grid that holds all but about 1e-10 of its
mass, with a step of at most 0.6 of its standard deviation at the peak, where the trapezium rule is exact to
rounding (its error falls like exp(-2 pi^2 / step^2)); the table of log Phi leaves a relative error below 8e-6 per
loser. Between grid points log f is taken to be linear, which gives a density that can be drawn from by
inversion. It differs from f by at most 5 per cent, and the caller corrects for this, and for the table, with the
ratio of the two at the point drawn: to 1e-9 what is drawn is weighed as if it came from f.
"""

import math

import numpy as np
from numba import njit

from .normal import GRID, GRID_CELL, LEFT, RIGHT, STRIDES, hazard, log_cdf, rough_hazard

__all__ = ["draw", "log_density", "tabulate"]

_STRIDES = np.array(STRIDES)
_DEPTH = 26.0  # a grid ends where f has fallen by exp(-26)
_FALL = math.sqrt(2.0 * _DEPTH)
_FINENESS = 0.6  # step of the grid in standard deviations, at most
_COARSE = 0.5
_PER_UNIT = 1.0 / GRID_CELL
_LOG_SQRT_2PI = 0.5 * math.log(2.0 * math.pi)


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
def log_density(y, means, audited, lost, table, logs):  # type: ignore[no-untyped-def]
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
    logs
        Out: log Phi(y - m_c) of those that are not, shape (targets,).
    """
    total = _log_winners(y, means, audited, table)
    for c in range(means.size):
        if lost[c]:
            logs[c] = log_cdf(y - means[c], table)
            total += logs[c]
    return total


@njit(cache=True, nogil=True)
def _peak_of_one(means, audited, lost, hazards):  # type: ignore[no-untyped-def]
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
                    h = rough_hazard(x, hazards)
                    slope += h
                    # the exact form cancels far to the left, where it tends to 1
                    curvature += h * (x + h) if x > -5.0 else 1.0
        y += slope / curvature
        if abs(slope) < 0.2 * math.sqrt(curvature):
            break
    return y, curvature


@njit(cache=True, nogil=True)
def _peak_of_many(means, audited, lost, table, logs):  # type: ignore[no-untyped-def]
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
        value = log_density(low + i * _COARSE, means, audited, lost, table, logs)
        if value > top:
            best, top = low + i * _COARSE, value
    e = 1.0 / 16.0
    left = log_density(best - e, means, audited, lost, table, logs)
    right = log_density(best + e, means, audited, lost, table, logs)
    curvature = max(1.0, (2.0 * top - left - right) / (e * e))
    start = best
    while log_density(start, means, audited, lost, table, logs) > top - _DEPTH:
        start -= _COARSE
    return best, curvature, start


@njit(cache=True, nogil=True)
def tabulate(means, audited, lost, table, hazards, flat, layout, logs, log_f, mass):  # type: ignore[no-untyped-def]
    """Tabulate f for one particle.

    Parameters
    ----------
    means, audited, lost, table
        As in `log_density`.
    hazards
        `hazard_table()`.
    flat, layout
        `grid_tables()`.
    logs
        Scratch memory, shape (targets,).
    log_f, mass
        Out: log f, and the mass left of each point under the log-linear interpolant in units of (largest
        value x step); each (GRID,).

    Returns
    -------
    n, start, step, log_sum, log_chance
        Number of points, first point and step of the grid, log of the interpolant's integral, and log of the
        integral of f by the trapezium rule.
    """
    if audited.size == 1:
        peak, curvature = _peak_of_one(means, audited, lost, hazards)
        start = peak - _FALL / math.sqrt(curvature)  # the curvature falls with y
    else:
        peak, curvature, start = _peak_of_many(means, audited, lost, table, logs)
    level = 0
    while level < _STRIDES.size - 1 and _STRIDES[level] * GRID_CELL * math.sqrt(curvature) > _FINENESS:
        level += 1
    stride = _STRIDES[level]
    shift = _STRIDES.size + 1 - level  # strides are powers of two
    step = stride * GRID_CELL
    offset, length = layout[level]
    # right of the peak log f falls at least like the winner's own density
    n = min(GRID, int((peak + _FALL - start) / step) + 2)

    points = np.uintp(n)  # unsigned, so that the loops become vector instructions
    if audited.size == 1:
        m = means[audited[0]]
        for k in range(n):
            d = start + k * step - m
            log_f[k] = -0.5 * d * d - _LOG_SQRT_2PI
    else:
        for k in range(n):
            log_f[k] = _log_winners(start + k * step, means, audited, table)
    for c in range(means.size):
        if not lost[c]:
            continue
        position = (start - means[c] - LEFT) * _PER_UNIT
        if position < 0.0:
            for k in range(n):
                log_f[k] += log_cdf(start + k * step - means[c], table)
            continue
        i = int(position)
        if (i >> shift) + GRID >= length:
            continue  # Phi is 1 here
        w1 = position - i
        w0 = 1.0 - w1
        o0 = np.uintp(offset + (i & (stride - 1)) * length + (i >> shift))
        i += 1
        o1 = np.uintp(offset + (i & (stride - 1)) * length + (i >> shift))
        for k in range(points):
            log_f[k] += w0 * flat[o0 + k] + w1 * flat[o1 + k]
    top = -np.inf
    for k in range(n):
        top = max(top, log_f[k])

    before = math.exp(log_f[0] - top)
    total = before
    cumulated = 0.0
    mass[0] = 0.0
    for k in range(1, n):
        here = math.exp(log_f[k] - top)
        total += here
        d = log_f[k] - log_f[k - 1]
        cumulated += (here - before) / d if abs(d) > 1e-4 else 0.5 * (here + before)
        mass[k] = cumulated
        before = here
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
