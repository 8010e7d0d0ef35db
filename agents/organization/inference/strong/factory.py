"""Chooses the scorer that fits a mechanism."""

import numpy as np

from .....scenarios.errors import InputError
from ....auditor.mechanisms.base import Mechanism, MemorylessMechanism
from .base import StrongScorer
from .exact import ExactScorer

__all__ = ["strong_scorer"]


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
        If nothing is known about the law of the mechanism's transcript.
    """
    del generator, n_particles
    if isinstance(mechanism, MemorylessMechanism):
        return ExactScorer(mechanism, n_targets)
    raise InputError(
        f'mechanism "{mechanism.id}" has neither an exact law of a decision nor a counter, so the strongest '
        "adversary's likelihood ratio is not known"
    )
