"""Chooses the scorer that fits a mechanism."""

import numpy as np

from .....scenarios.errors import InputError
from ....auditor.mechanisms import CounterMechanism, Mechanism, MemorylessMechanism
from .base import StrongScorer
from .exact import ExactScorer

__all__ = ["LONGEST_HORIZON", "strong_scorer"]

LONGEST_HORIZON = 10_000
"""Longest horizon of a counter mechanism, in periods: 0.8 GB for each of encoder and decoder."""


def strong_scorer(
    mechanism: Mechanism, n_targets: int, generator: np.random.Generator, n_particles: int = 1000
) -> StrongScorer:
    """Make the strongest adversary's scorer for a mechanism.

    Parameters
    ----------
    mechanism
        The mechanism whose transcript will be observed; its state is neither used nor changed.
    n_targets
        Number of audit targets.
    generator
        Source of the particles' randomness; one draw is taken from it, here, whatever is scored later.
    n_particles
        Particles for mechanisms with a counter; ignored where the likelihood is exact.

    Returns
    -------
    scorer
        Exact for mechanisms without memory, a particle filter for those with a `Counter`.

    Raises
    ------
    InputError
        If nothing is known about the law of the mechanism's transcript, or the horizon of a counter mechanism
        exceeds `LONGEST_HORIZON`.
    """
    if n_particles < 1:
        raise ValueError(f"n_particles must be at least 1, got {n_particles}")
    key = int(generator.integers(0, 1 << 64, dtype=np.uint64))
    if isinstance(mechanism, MemorylessMechanism):
        return ExactScorer(mechanism, n_targets)
    if isinstance(mechanism, CounterMechanism):
        if mechanism.horizon > LONGEST_HORIZON:
            raise InputError(
                f"auditor.horizon: {mechanism.horizon} periods; the strongest adversary's score of a counter "
                f"mechanism keeps matrices of horizon x horizon, and allowed is at most {LONGEST_HORIZON}"
            )
        # compiled code: a second to load, so only when it is needed
        from .particle_scorer import ParticleScorer

        return ParticleScorer(mechanism, n_targets, key, n_particles)
    raise InputError(
        f'mechanism "{mechanism.id}" has neither an exact law of a decision nor a counter, so the strongest '
        "adversary's likelihood ratio is not known"
    )
