"""One candidate report scored against many transcripts of the same reports: compiled, without holding the GIL."""

import math

import numpy as np

from ....auditor.mechanisms.counter_based import CounterMechanism
from ....ports import FloatArray, IntArray
from .compiling import allocating, kept, sources_digest
from .normal import filter_tables
from .particle_scorer import RESAMPLE_BELOW
from .particles import advance_uncached, decision_key, make_scratch

__all__ = ["score_transcripts"]


def score_transcripts(
    mechanism: CounterMechanism,
    stream: IntArray,
    transcripts: IntArray,
    target: int,
    first: int,
    key: int,
    offset: int,
    n_particles: int,
) -> FloatArray:
    """Log likelihood ratios (filed : not filed) of a report that is not in the stream.

    Each transcript is scored by one filter in the world without the report, whichever world it came from, so the
    score is a function of the transcript. One audit a period.

    Parameters
    ----------
    mechanism
        Its counter, sigma and horizon are read.
    stream
        New reports without the candidate, shape (periods, targets).
    transcripts
        Audited targets, shape (transcripts, periods). Read up to the audit that ends the candidate's run.
    target, first
        The candidate's target, and the period in which it first counts (from 0).
    key, offset
        Transcript i draws from a stream keyed by `key` and `offset` + i.
    n_particles
        Number of particles of each filter.

    Returns
    -------
    log_ratios
        Shape (transcripts,).
    """
    horizon = mechanism.horizon
    if stream.shape[0] > horizon or transcripts.shape[1] != stream.shape[0]:
        raise ValueError(
            f"stream {stream.shape} and transcripts {transcripts.shape} do not fit {horizon} periods"
        )
    result = np.empty(len(transcripts))
    _score(
        np.ascontiguousarray(stream, dtype=np.int64),
        np.ascontiguousarray(transcripts, dtype=np.int64),
        target,
        first,
        1.0 / mechanism.sigma,
        np.ascontiguousarray(mechanism.counter.decoder(horizon)),
        np.ascontiguousarray(mechanism.counter.encoder(horizon)),
        np.uint64(key),
        offset,
        n_particles,
        RESAMPLE_BELOW,
        filter_tables(),
        result,
    )
    return result


@allocating
def _score_uncached(  # type: ignore[no-untyped-def]
    stream,
    transcripts,
    target,
    first,
    inverse_sigma,
    decoder,
    encoder,
    key,
    offset,
    n_particles,
    threshold,
    tables,
    result,
):
    n_periods, n_targets = stream.shape
    scratch = make_scratch(n_targets, n_particles)
    z = np.empty((n_targets, 1, n_particles))
    lengths = np.empty(n_targets, dtype=np.int64)
    counts = np.empty(n_targets, dtype=np.int64)
    audited = np.empty(1, dtype=np.int64)
    log_weights = np.empty(n_particles)
    projection = np.empty(n_particles)
    for i in range(transcripts.shape[0]):
        lengths[:] = 0
        counts[:] = 0
        log_weights[:] = -math.log(n_particles)
        own_key = decision_key(key, offset + i)
        begin = 0
        for t in range(n_periods):
            if lengths.max() == z.shape[1]:
                larger = np.empty((n_targets, 2 * z.shape[1], n_particles))
                larger[:, : z.shape[1]] = z
                z = larger
            if t == first:
                begin = lengths[target]
            for c in range(n_targets):
                counts[c] += stream[t, c]
            a = transcripts[i, t]
            audited[0] = a
            advance_uncached(
                z,
                lengths,
                log_weights,
                counts,
                inverse_sigma,
                decoder,
                audited,
                own_key,
                t,
                threshold,
                tables,
                scratch,
            )
            if a == target and t >= first:
                break
            lengths[a] = 0
            counts[a] = 0
        projection[:] = 0.0
        norm = 0.0
        for j in range(begin, lengths[target]):
            u = encoder[j, begin] * inverse_sigma
            norm += u * u
            for p in range(n_particles):
                projection[p] += u * z[target, j, p]
        top = -np.inf
        for p in range(n_particles):
            projection[p] += log_weights[p] - 0.5 * norm
            top = max(top, projection[p])
        total = 0.0
        for p in range(n_particles):
            total += math.exp(projection[p] - top)
        result[i] = top + math.log(total)


def _make_score(digest: int):  # type: ignore[no-untyped-def]
    def score(  # type: ignore[no-untyped-def]
        stream,
        transcripts,
        target,
        first,
        inverse_sigma,
        decoder,
        encoder,
        key,
        offset,
        n_particles,
        threshold,
        tables,
        result,
    ):
        if digest != 0:
            _score_uncached(
                stream,
                transcripts,
                target,
                first,
                inverse_sigma,
                decoder,
                encoder,
                key,
                offset,
                n_particles,
                threshold,
                tables,
                result,
            )

    return kept(score)


_score = _make_score(sources_digest())
