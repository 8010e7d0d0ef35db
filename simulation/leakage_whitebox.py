"""A counter's privacy seen from inside: on its raw output the best test's advantage must equal delta.

The transcript hides most of what a counter puts out, so a fault can pass unseen there. Here the adversary sees the
counter itself: a first run, an audit, and a second run as long as the horizon, which begins with the report in
question or without it. Two tests are scored:

- `nominal`: the likelihood ratio of the noise as it is meant to be. Its advantage is delta exactly, neither more nor
  less, because the calibration at epsilon = 0 is exact for the path.
- `attack`: the likelihood ratio of normals with the covariance that is really there, both runs together, measured on
  other samples. It finds noise that is not fresh after an audit. At most delta.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..agents.auditor.counters import Counter
from ..agents.auditor.counters.base import NoisePaths
from ..agents.auditor.privacy import sigma_for_delta
from ..agents.ports import FloatArray
from .leakage import difference_interval

__all__ = ["WhiteBox", "white_box"]

_RIDGE = 1e-9


@dataclass(frozen=True)
class WhiteBox:
    """Outcome of a white-box check.

    Attributes
    ----------
    delta
        What the counter is calibrated to.
    nominal, attack
        Advantage of each test, with its interval.
    """

    delta: float
    nominal: tuple[float, float, float]
    attack: tuple[float, float, float]

    @property
    def faults(self) -> tuple[str, ...]:
        """What is wrong, in words; empty if nothing is seen to be."""
        found = []
        if self.nominal[1] > self.delta:
            found.append("the output betrays more than delta")
        if self.nominal[2] < self.delta:
            found.append("the noise is not what the calibration assumes")
        if self.attack[1] > self.delta:
            found.append("both runs together betray more than delta")
        return tuple(found)


def white_box(
    counter: Counter,
    delta: float,
    horizon: int,
    n_samples: int,
    generator: np.random.Generator,
    *,
    level: float = 0.999,
    first_run: int | None = None,
    paths: Callable[[int], NoisePaths] | None = None,
    noise: float = 1.0,
) -> WhiteBox:
    """Check a counter's noise from inside.

    Parameters
    ----------
    counter
        Gives encoder, decoder, sensitivity and, unless `paths` does, the noise.
    delta, horizon
        What it is calibrated for.
    n_samples
        Outputs in each world; half as many more are used to measure the covariance.
    generator
        Source of the innovations.
    level
        Confidence level of the intervals.
    first_run
        Length of the run before the audit; by default the horizon, at most 32.
    paths, noise
        To plant faults: the noise of a number of replicates, and a factor on its standard deviation.
    """
    sigma = float(sigma_for_delta(delta, counter.sensitivity(horizon)))
    decoder, encoder = counter.decoder(horizon), counter.encoder(horizon)
    worst = int(np.argmax(np.linalg.norm(encoder, axis=0)))
    u = encoder[:, worst]
    lead = min(horizon, 32) if first_run is None else first_run

    def innovations(n: int, *, filed: bool) -> tuple[FloatArray, FloatArray]:
        """Innovations of both runs in units of sigma, as decoded from the output."""
        stream = counter.paths(n, 1, horizon) if paths is None else paths(n)
        output = np.empty((n, lead + horizon))
        for t in range(lead + horizon):
            if t == lead:
                stream.restart(np.zeros(n, dtype=np.int64))
            output[:, t] = noise * stream.step(generator.standard_normal((n, 1)))[:, 0]
        if filed:
            # the running count is one more from the report on
            output[:, lead + worst :] += 1.0 / sigma
        first = np.linalg.solve(decoder[:lead, :lead], output[:, :lead].T).T
        second = np.linalg.solve(decoder, output[:, lead:].T).T
        return first, second

    training = np.hstack(innovations(n_samples // 2, filed=False))
    covariance = np.cov(training, rowvar=False) + _RIDGE * np.eye(lead + horizon)
    shift = np.concatenate([np.zeros(lead), u / sigma])
    weights = np.linalg.solve(covariance, shift)
    hits = np.empty((2, 2), dtype=np.int64)
    for world, filed in enumerate((False, True)):
        first, second = innovations(n_samples, filed=filed)
        hits[0, world] = np.sum(second @ u / sigma > u @ u / (2.0 * sigma**2))
        hits[1, world] = np.sum(np.hstack([first, second]) @ weights > shift @ weights / 2.0)
    nominal, attack = (
        difference_interval(int(after), n_samples, int(before), n_samples, level) for before, after in hits
    )
    return WhiteBox(delta, nominal, attack)
