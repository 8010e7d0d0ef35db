"""One decision of the fully adapted particle filter, compiled.

A particle is a guess at every innovation of the counters' current runs. For an observed decision each particle is
weighed by the exact chance of that decision given its past, the particles are resampled on these weights, and only
then is the period's noise drawn, from its exact law given the decision (Pitt & Shephard 1999, "Filtering via
simulation: auxiliary particle filters", the perfectly adapted case). All noise is in units of sigma.

Innovations are kept as z[target, period of the run, particle], so that the noise already drawn is a sum of rows,
and resampling stays within one row of memory at a time.
"""

import math

import numpy as np

from .compiling import compilable, compiled, kept, sources_digest
from .normal import GRID, hazard, log_cdf, quantile_of_log, quick_quantile
from .selection import draw, log_density, tabulate

__all__ = ["advance", "advance_uncached", "decision_key", "make_scratch", "uniform"]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MULTIPLIER_1 = np.uint64(0xBF58476D1CE4E5B9)
_MULTIPLIER_2 = np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31, _S12 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(12)
_ONE = np.uint64(1)
_SAFE = -600.0  # above it exp() keeps all its digits, with a factor of 2^-53 to spare


@compiled
def _mix(x):  # type: ignore[no-untyped-def]
    """SplitMix64's finaliser (Steele, Lea & Flood 2014, Stafford's variant 13)."""
    x = (x ^ (x >> _S30)) * _MULTIPLIER_1
    x = (x ^ (x >> _S27)) * _MULTIPLIER_2
    return x ^ (x >> _S31)


@compiled
def decision_key(key, decision):  # type: ignore[no-untyped-def]
    """Key of one decision's draws."""
    return _mix(np.uint64(key) + (np.uint64(decision) + _ONE) * _MULTIPLIER_2)


@compiled
def uniform(base, index):  # type: ignore[no-untyped-def]
    """Draw number `index` on (0, 1) under a `decision_key`: a hash, so no draw depends on how many were made."""
    word = _mix(np.uint64(base) + (np.uint64(index) + _ONE) * _GOLDEN)
    return (np.float64(np.int64(word >> _S12)) + 0.5) * 2.0**-52


@compilable
def make_scratch(n_targets, n_particles):  # type: ignore[no-untyped-def]
    """Memory that `advance` uses again at each decision.

    Returns
    -------
    means
        Shape (targets, particles + 8): the padding keeps a column's elements out of one cache set.
    log_f, mass
        Tables of `tabulate`, one particle's points after the other's, shape (particles x GRID,).
    frame
        Start and step of the grid, log integral of the interpolant, log chance, shape (particles, 4).
    whole
        Ancestor, number of grid points and place of the first in `grid`, shape (3, particles).
    lost
        Shape (targets,).
    buffers
        Four rows of the larger of targets and particles.
    """
    return (
        np.empty((n_targets, n_particles + 8)),
        np.empty(n_particles * GRID),
        np.empty(n_particles * GRID),
        np.empty((n_particles, 4)),
        np.empty((3, n_particles), dtype=np.int64),
        np.empty(n_targets, dtype=np.bool_),
        np.empty((4, max(n_targets, n_particles))),
    )


@compiled
def _predict(means, z, lengths, counts, inverse_sigma, decoder):  # type: ignore[no-untyped-def]
    """Mean of the next noisy counts: active reports plus the noise already drawn."""
    n_particles = z.shape[2]
    for c in range(z.shape[0]):
        row = means[c]
        n = lengths[c]
        base = counts[c] * inverse_sigma
        for p in range(n_particles):
            row[p] = base
        coefficients = decoder[n]
        j = 0
        while j + 4 <= n:
            b0, b1, b2, b3 = coefficients[j], coefficients[j + 1], coefficients[j + 2], coefficients[j + 3]
            z0, z1, z2, z3 = z[c, j], z[c, j + 1], z[c, j + 2], z[c, j + 3]
            for p in range(n_particles):
                row[p] += b0 * z0[p] + b1 * z1[p] + b2 * z2[p] + b3 * z3[p]
            j += 4
        while j < n:
            b0 = coefficients[j]
            z0 = z[c, j]
            for p in range(n_particles):
                row[p] += b0 * z0[p]
            j += 1


@compiled
def _resample(probabilities, u, ancestors):  # type: ignore[no-untyped-def]
    """Systematic resampling: one uniform, evenly spaced pointers."""
    n = ancestors.size
    cumulated = probabilities[0]
    source = 0
    for p in range(n):
        pointer = (p + u) / n
        while cumulated < pointer and source < n - 1:
            source += 1
            cumulated += probabilities[source]
        ancestors[p] = source


@compiled
def _gather(row, ancestors, buffer):  # type: ignore[no-untyped-def]
    for p in range(ancestors.size):
        buffer[p] = row[ancestors[p]]
    for p in range(ancestors.size):
        row[p] = buffer[p]


@compiled
def _log_sum_exp(values):  # type: ignore[no-untyped-def]
    top = -np.inf
    for v in values:
        top = max(top, v)
    total = 0.0
    for v in values:
        total += math.exp(v - top)
    return top + math.log(total)


@compiled
def _smallest_winner(y, u, means, audited, table):  # type: ignore[no-untyped-def]
    """Which of the audited targets holds the smallest noisy count `y` of them."""
    if audited.size == 1:
        return audited[0]
    total = 0.0
    for i in range(audited.size):
        total += hazard(means[audited[i]] - y, table)
    goal = u * total
    cumulated = 0.0
    for i in range(audited.size):
        cumulated += hazard(means[audited[i]] - y, table)
        if cumulated >= goal:
            return audited[i]
    return audited[-1]


@compiled
def advance_uncached(  # type: ignore[no-untyped-def]
    z,
    lengths,
    log_weights,
    counts,
    inverse_sigma,
    decoder,
    audited,
    key,
    decision,
    threshold,
    tables,
    scratch,
):
    """Take in one decision.

    Parameters
    ----------
    z
        Innovations of the current runs, shape (targets, at least the longest run + 1, particles). In and out.
    lengths
        Length of each target's current run, shape (targets,). In and out; 0 for the audited on return.
    log_weights
        Of the particles, normalised, shape (particles,). In and out.
    counts
        Active reports before the reset, shape (targets,).
    inverse_sigma
        1/sigma, in units of reports.
    decoder
        The factor B, with more rows than the longest run.
    audited
        The targets audited, shape (m,).
    key, decision
        Of the keyed uniforms.
    threshold
        Resample when the effective number of particles falls below this share.
    tables
        `filter_tables()`.
    scratch
        `make_scratch(targets, particles)`.

    Returns
    -------
    log_likelihood
        Log of the estimated probability of this decision given those before.
    """
    table, hazards, quantiles, exponentials, flat, layout = tables
    means, log_f, mass, frame, whole, lost, buffers = scratch
    ancestors, sizes, begins = whole[0], whole[1], whole[2]
    n_targets, _, n_particles = z.shape
    local, logs, shares = buffers[0, :n_targets], buffers[1, :n_targets], buffers[2, :n_targets]
    buffer = buffers[3, :n_particles]
    lost[:] = True
    for a in audited:
        lost[a] = False
    _predict(means, z, lengths, counts, inverse_sigma, decoder)

    begin = 0
    for p in range(n_particles):
        for c in range(n_targets):
            local[c] = means[c, p]
        n, start, step, log_sum, log_chance = tabulate(
            local,
            audited,
            lost,
            table,
            hazards,
            exponentials,
            flat,
            layout,
            logs,
            log_f,
            mass,
            begin,
        )
        sizes[p], begins[p] = n, begin
        begin += n
        frame[p, 0], frame[p, 1], frame[p, 2], frame[p, 3] = start, step, log_sum, log_chance
        log_weights[p] += log_chance
    log_likelihood = _log_sum_exp(log_weights)
    squares = 0.0
    for p in range(n_particles):
        log_weights[p] -= log_likelihood
        w = math.exp(log_weights[p])
        buffer[p] = w
        squares += w * w
        ancestors[p] = p
    base = decision_key(key, decision)
    per_particle = n_targets + 2
    if squares * n_particles * threshold > 1.0:
        _resample(buffer, uniform(base, n_particles * per_particle), ancestors)
        log_weights[:] = -math.log(n_particles)
        for c in range(n_targets):
            _gather(means[c], ancestors, buffer)
            for j in range(lengths[c]):
                _gather(z[c, j], ancestors, buffer)

    for p in range(n_particles):
        source = ancestors[p]
        for c in range(n_targets):
            local[c] = means[c, p]
        first = p * per_particle
        y, log_q = draw(
            uniform(base, first),
            sizes[source],
            frame[source, 0],
            frame[source, 1],
            log_f,
            mass,
            begins[source],
        )
        # the interpolant that y was drawn from is not quite f: the ratio makes it exact, with mean 1
        density = log_density(y, local, audited, lost, table, logs)
        log_weights[p] += density - log_q + frame[source, 2] - frame[source, 3]
        smallest = _smallest_winner(y, uniform(base, first + 1), local, audited, table)
        for i in range(audited.size):
            logs[audited[i]] = log_cdf(local[audited[i]] - y, table)
        # loops apart, which keep the processor busier than one
        for c in range(n_targets):
            shares[c] = uniform(base, first + 2 + c) * math.exp(logs[c])
        for c in range(n_targets):
            if logs[c] > _SAFE:
                value = quick_quantile(shares[c], quantiles)
            else:
                value = quantile_of_log(math.log(uniform(base, first + 2 + c)) + logs[c])
            z[c, lengths[c], p] = value if lost[c] else -value
        z[smallest, lengths[smallest], p] = y - local[smallest]
    correction = _log_sum_exp(log_weights)
    for p in range(n_particles):
        log_weights[p] -= correction
    for c in range(n_targets):
        lengths[c] = lengths[c] + 1
    return log_likelihood + correction


def _make_advance(digest: int):  # type: ignore[no-untyped-def]
    def advance(  # type: ignore[no-untyped-def]
        z,
        lengths,
        log_weights,
        counts,
        inverse_sigma,
        decoder,
        audited,
        key,
        decision,
        threshold,
        tables,
        scratch,
    ):
        """Take in one decision: see `advance_uncached`."""
        if digest == 0:
            return 0.0
        return advance_uncached(
            z,
            lengths,
            log_weights,
            counts,
            inverse_sigma,
            decoder,
            audited,
            key,
            decision,
            threshold,
            tables,
            scratch,
        )

    return kept(advance)


advance = _make_advance(sources_digest())
