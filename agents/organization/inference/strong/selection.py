"""Chance of one observed selection, and the winner's noisy count given it, for independent normal counts.

All in units of sigma: the next noisy counts are independent N(m_c, 1) given the noise drawn so far. Audited are the
targets of a set S (one target, mostly), which hold the largest counts. With y the smallest count in S,

    f(y) = sum_{a in S} phi(y - m_a) prod_{b in S, b != a} Phi(m_b - y) prod_{c not in S} Phi(y - m_c)

integrates to the chance of the selection and is, normalised, the density of y given the selection. For one
audited target log f is concave. `tabulate` evaluates log f on an even grid that holds all but about 1e-7 of its
mass, with a step of at most 0.8 of its standard deviation at the peak, where the trapezium rule is exact to
rounding (its error falls like exp(-2 pi^2 / step^2)); the table of log Phi leaves a relative error below 8e-6 per
loser. Between grid points log f is taken to be linear, which gives a density that can be drawn from by
inversion. It differs from f by at most 8 per cent, and the caller corrects for this, and for the table, with the
ratio of the two at the point drawn: to 1e-9 what is drawn is weighed as if it came from f.
"""

import math

import numpy as np

from .compiling import compiled
from .normal import GRID, GRID_CELL, LEFT, RIGHT, STRIDES, hazard, log_cdf, quick_exp, rough_hazard

__all__ = ["draw", "log_density", "tabulate"]

_STRIDES = np.array(STRIDES)
_DEPTH = 18.0  # a grid ends where f has fallen by exp(-18)
_FALL = math.sqrt(2.0 * _DEPTH)
_FINENESS = 0.8  # step of the grid in standard deviations, at most
_COARSE = 0.5
_PER_UNIT = 1.0 / GRID_CELL
_LOG_SQRT_2PI = 0.5 * math.log(2.0 * math.pi)


@compiled
def _log_winners(y, means, audited, table):  # type: ignore[no-untyped-def]
    """Log of the part of f that belongs to the audited set."""
    if audited.size == 1:
        d = y - means[audited[0]]
        return -0.5 * d * d - _LOG_SQRT_2PI
    survival = 0.0
    hazards = 0.0
    for i in range(audited.size):
        survival += log_cdf(means[audited[i]] - y, table)
        hazards += hazard(means[audited[i]] - y, table)
    return survival + math.log(hazards)


@compiled
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


@compiled
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


@compiled
def _peak_of_many(means, audited, lost, table, logs):  # type: ignore[no-untyped-def]
    """Peak, curvature there, and where the left tail ends, for several audited: by scanning."""
    low, high = means[audited[0]], means[audited[0]]
    for i in range(audited.size):
        low = min(low, means[audited[i]])
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


@compiled
def tabulate(means, audited, lost, table, hazards, exponentials, flat, layout, logs, log_f, mass, begin):  # type: ignore[no-untyped-def]
    """Tabulate f for one particle.

    Parameters
    ----------
    means, audited, lost, table
        As in `log_density`.
    hazards
        `hazard_table()`.
    exponentials
        `exponential_table()`.
    flat, layout
        `grid_tables()`.
    logs
        Scratch memory, shape (targets,).
    log_f, mass
        Out, from place `begin` on: log f, and the mass left of each point under the log-linear interpolant
        in units of (largest value x step). Room for GRID points is needed.
    begin
        Where this particle's points go. (Views would cost more than the sums.)

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

    first, points = np.uintp(begin), np.uintp(n)  # unsigned, so that the loop becomes vector instructions
    if audited.size == 1:
        m = means[audited[0]]
        for k in range(n):
            d = start + k * step - m
            log_f[begin + k] = -0.5 * d * d - _LOG_SQRT_2PI
    else:
        for k in range(n):
            log_f[begin + k] = _log_winners(start + k * step, means, audited, table)
    for c in range(means.size):
        if not lost[c]:
            continue
        position = (start - means[c] - LEFT) * _PER_UNIT
        if position < 0.0:
            for k in range(n):
                log_f[begin + k] += log_cdf(start + k * step - means[c], table)
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
            log_f[first + k] += w0 * flat[o0 + k] + w1 * flat[o1 + k]
    top = -np.inf
    for k in range(n):
        top = max(top, log_f[begin + k])

    before = quick_exp(log_f[begin] - top, exponentials)
    total = before
    cumulated = 0.0
    mass[begin] = 0.0
    for k in range(1, n):
        here = quick_exp(log_f[begin + k] - top, exponentials)
        total += here
        d = log_f[begin + k] - log_f[begin + k - 1]
        cumulated += (here - before) / d if abs(d) > 1e-4 else 0.5 * (here + before)
        mass[begin + k] = cumulated
        before = here
    return n, start, step, top + math.log(cumulated * step), top + math.log(total * step)


@compiled
def draw(u, n, start, step, log_f, mass, begin):  # type: ignore[no-untyped-def]
    """Draw y from the log-linear interpolant of f by inversion of the uniform `u`.

    Returns
    -------
    y, log_q
        The draw, and the log of the interpolant there, in the units of `log_f`.
    """
    goal = u * mass[begin + n - 1]
    low, high = 0, n - 1
    while high - low > 1:
        middle = (low + high) // 2
        if mass[begin + middle] <= goal:
            low = middle
        else:
            high = middle
    d = log_f[begin + high] - log_f[begin + low]
    v = (
        (goal - mass[begin + low]) / (mass[begin + high] - mass[begin + low])
        if goal < mass[begin + high]
        else 1.0
    )
    t = v + 0.5 * d * v * (1.0 - v) if abs(d) < 1e-4 else math.log1p(v * math.expm1(d)) / d
    t = min(max(t, 0.0), 1.0)
    return start + (low + t) * step, log_f[begin + low] + d * t
