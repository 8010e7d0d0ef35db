"""The distinguishing game: what a transcript betrays about one report.

Transcripts are simulated in two worlds that differ in one report, and the strongest adversary (docs/adversary.md),
who knows all the rest, guesses the world from the transcript alone. It says "filed" where the likelihood ratio
exceeds 1, the test with the largest advantage TPR - FPR up to the audit that ends the report's run, chosen before
any transcript is seen.

The transcript is watched up to the audit that ends the report's run, its target's next audit. Without a counter all
later decisions are the same in both worlds; with one they still say a little through the other targets' noise.
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..agents.auditor.mechanisms import CounterMechanism, Mechanism, MemorylessMechanism
from ..agents.ports import FloatArray, IntArray
from ..analysis.intervals import wilson_bounds
from ..scenarios.errors import InputError
from .draws import KeyedDraws

__all__ = ["Leakage", "difference_interval", "exact_scores", "measure_leakage", "simulate_transcripts"]

_EVEN = 1e-12
"""Log likelihood ratios below it are rounding errors of "no evidence"."""
_CHUNK = 32


@dataclass(frozen=True)
class Leakage:
    """Outcome of a distinguishing game.

    Attributes
    ----------
    mechanism
        The mechanism that was played against.
    period, target
        Where the report is, both from 0.
    without, with_report
        Log likelihood ratios of the transcripts of each world, shape (transcripts,).
    method
        "exact" or "particle".
    """

    mechanism: Mechanism
    period: int
    target: int
    without: FloatArray
    with_report: FloatArray
    method: str

    @property
    def bound(self) -> float:
        """What the guarantee allows the advantage to be at most."""
        return self.mechanism.guarantee()

    @property
    def false_positive_rate(self) -> float:
        """Share of the world without the report in which the adversary says "filed"."""
        return float(np.mean(self.without > _EVEN))

    @property
    def true_positive_rate(self) -> float:
        """Share of the world with it in which the adversary says so."""
        return float(np.mean(self.with_report > _EVEN))

    @cached_property
    def advantage(self) -> tuple[float, float, float]:
        """TPR - FPR and its 95 % interval."""
        return self.interval()

    def interval(self, level: float = 0.95) -> tuple[float, float, float]:
        """TPR - FPR and its interval at a confidence level."""
        hits, alarms = int(np.sum(self.with_report > _EVEN)), int(np.sum(self.without > _EVEN))
        return difference_interval(hits, self.with_report.size, alarms, self.without.size, level)

    @property
    def mean_likelihood_ratio(self) -> tuple[float, float]:
        """Mean of the likelihood ratio in the world without the report, and its standard error.

        1 for a right score; below 1 where some transcripts are possible only with the report.
        """
        ratios = np.exp(self.without)
        error = ratios.std(ddof=1) / np.sqrt(ratios.size) if ratios.size > 1 else np.nan
        return float(ratios.mean()), float(error)

    def summary(self) -> dict[str, Any]:
        """Give what the command prints as JSON."""
        advantage, low, high = self.advantage
        mean, error = self.mean_likelihood_ratio
        return {
            "mechanism": self.mechanism.label,
            "delta": self.mechanism.delta,
            "report_at": [self.period + 1, self.target],
            "transcripts": int(self.without.size),
            "advantage": advantage,
            "low": low,
            "high": high,
            "bound": self.bound,
            "true_positive_rate": self.true_positive_rate,
            "false_positive_rate": self.false_positive_rate,
            "mean_likelihood_ratio": mean,
            "mean_likelihood_ratio_se": error if np.isfinite(error) else None,
            "method": self.method,
        }


def difference_interval(
    hits: int, n_hits: int, alarms: int, n_alarms: int, level: float = 0.95
) -> tuple[float, float, float]:
    """Difference of two independent proportions with Newcombe's interval.

    References
    ----------
    Newcombe (1998), Statistics in Medicine 17, 873-890, method 10: Wilson's intervals, squared and added.

    Examples
    --------
    >>> [round(x, 4) for x in difference_interval(56, 70, 48, 80)]
    [0.2, 0.0524, 0.3339]
    """
    p, q = hits / n_hits, alarms / n_alarms
    low_p, high_p = (float(x) for x in wilson_bounds(hits, n_hits, level))
    low_q, high_q = (float(x) for x in wilson_bounds(alarms, n_alarms, level))
    return (
        p - q,
        p - q - float(np.hypot(p - low_p, high_q - q)),
        p - q + float(np.hypot(high_p - p, q - low_q)),
    )


def simulate_transcripts(
    mechanism: Mechanism,
    stream: IntArray,
    n_transcripts: int,
    generator: np.random.Generator,
    period: int,
    target: int,
) -> IntArray:
    """Simulate transcripts of one world, as far as they matter.

    Parameters
    ----------
    mechanism
        Makes the decisions; it is reset.
    stream
        New reports of this world, shape (periods, targets).
    n_transcripts
        How many.
    generator
        Of the mechanism's randomness.
    period, target
        The report's; decisions are made until `target` has been audited at or after `period` in each.

    Returns
    -------
    transcripts
        Audited targets, shape (transcripts, decisions made).
    """
    mechanism.reset(n_transcripts, stream.shape[1], generator)
    counts = np.zeros((n_transcripts, stream.shape[1]), dtype=np.int64)
    rows = np.arange(n_transcripts)
    ended = np.zeros(n_transcripts, dtype=np.bool_)
    columns = []
    for t, reports in enumerate(stream):
        counts += reports
        audited = mechanism.select(counts)
        columns.append(audited)
        counts[rows, audited] = 0
        if t >= period:
            ended |= audited == target
            if ended.all():
                break
    return np.stack(columns, axis=1)


def exact_scores(
    mechanism: MemorylessMechanism, stream: IntArray, transcripts: IntArray, period: int, target: int
) -> FloatArray:
    """Exact log likelihood ratios (filed : not filed) of transcripts.

    Parameters
    ----------
    mechanism
        Gives the law of a decision.
    stream
        New reports without the candidate, shape (at least as many periods as transcripts have, targets).
    transcripts
        Shape (transcripts, periods).
    period, target
        The candidate's, from 0.

    Returns
    -------
    log_ratios
        Shape (transcripts,); infinite where one world is impossible.
    """
    n, n_periods = transcripts.shape
    rows = np.arange(n)
    counts = np.zeros((n, stream.shape[1]), dtype=np.int64)
    scores = np.zeros(n)
    is_open = np.ones(n, dtype=np.bool_)
    for t in range(n_periods):
        counts += stream[t]
        audited = transcripts[:, t]
        if t >= period:
            here = rows[is_open]
            more = counts[here]
            without = mechanism.log_likelihood(more, audited[here])
            more[:, target] += 1
            scores[here] += mechanism.log_likelihood(more, audited[here]) - without
            # what is impossible in one world stays so, and is impossible in one world only
            is_open &= (audited != target) & np.isfinite(scores)
        counts[rows, audited] = 0
    return scores


def _particle_scores(
    mechanism: CounterMechanism,
    stream: IntArray,
    transcripts: IntArray,
    period: int,
    target: int,
    key: int,
    n_particles: int,
    progress: Callable[[int], None],
) -> FloatArray:
    from ..agents.organization.inference.strong.batch import score_transcripts

    n, n_periods = transcripts.shape
    starts = range(0, n, _CHUNK)

    def chunk(start: int) -> FloatArray:
        part = transcripts[start : start + _CHUNK]
        return score_transcripts(mechanism, stream[:n_periods], part, target, period, key, start, n_particles)

    # the compiled filter lets go of the GIL; each transcript has its own key, so threads change no result
    scores = []
    with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
        for start, part in zip(starts, pool.map(chunk, starts), strict=True):
            scores.append(part)
            progress(min(start + _CHUNK, n))
    return np.concatenate(scores)


def measure_leakage(
    mechanism: Mechanism,
    stream: IntArray,
    *,
    period: int,
    target: int,
    n_transcripts: int,
    draws: KeyedDraws,
    n_particles: int = 200,
    progress: Callable[[int], None] = lambda _done: None,
) -> Leakage:
    """Play the distinguishing game.

    Parameters
    ----------
    mechanism
        The mechanism to play against; its horizon must cover the stream. It is reset.
    stream
        New reports without the report in question, shape (periods, targets).
    period, target
        Where the report would be, both from 0.
    n_transcripts
        Transcripts per world.
    draws
        Named random streams.
    n_particles
        Particles of each filter, where the likelihood is not exact.
    progress
        Told how many transcripts of both worlds have been scored.

    Returns
    -------
    Leakage

    Raises
    ------
    InputError
        If nothing is known about the law of the mechanism's transcript.
    """
    with_report = stream.copy()
    with_report[period, target] += 1
    transcripts = [
        simulate_transcripts(
            mechanism, world, n_transcripts, draws.generator("leakage.mechanism", i), period, target
        )
        for i, world in enumerate((stream, with_report))
    ]
    if isinstance(mechanism, MemorylessMechanism):
        method = "exact"
        scores = [exact_scores(mechanism, stream, made, period, target) for made in transcripts]
    elif isinstance(mechanism, CounterMechanism):
        method = "particle"
        scores = []
        for i, made in enumerate(transcripts):
            key = int(draws.generator("leakage.particles", i).integers(0, 1 << 64, dtype=np.uint64))
            done = i * n_transcripts
            scores.append(
                _particle_scores(
                    mechanism,
                    stream,
                    made,
                    period,
                    target,
                    key,
                    n_particles,
                    lambda n, done=done: progress(done + n),  # type: ignore[misc]
                )
            )
    else:
        raise InputError(
            f'mechanism "{mechanism.id}" has neither an exact law of a decision nor a counter, so the strongest '
            "adversary's likelihood ratio is not known"
        )
    return Leakage(mechanism, period, target, scores[0], scores[1], method)
