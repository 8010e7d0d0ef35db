"""Fresh noise on every increment."""

import numpy as np

from ...ports import FloatArray
from .base import Counter, NoisePaths
from .exponentials import ExponentialPaths, ExponentialSum

__all__ = ["Independent"]

_SUM = ExponentialSum(np.ones(1), np.zeros(1))  # one buffer that never decays


class Independent(Counter):
    """B = A, C = I: the noise of each period's increment is fresh, so the running count adds all of them up.

    The story: publish each period's number of reports with its own noise. A report touches one number only,
    which is as private as can be had for the noise, but the auditor adds them up and the noise grows like
    the square root of the time since the last audit.

    Source: the first of the two simple counters of Dwork, Naor, Pitassi & Rothblum (2010), "Differential
    privacy under continual observation".

    Names: independent noise, input perturbation, noisy increments.
    """

    id = "independent"

    def encoder(self, horizon: int) -> FloatArray:
        """The identity, shape (horizon, horizon)."""
        return np.eye(horizon)

    def decoder(self, horizon: int) -> FloatArray:
        """The prefix-sum matrix, shape (horizon, horizon)."""
        return np.tri(horizon)

    def sensitivity(self, horizon: int) -> float:  # noqa: ARG002
        """One."""
        return 1.0

    def noise_std(self, run_length: int, horizon: int) -> float:  # noqa: ARG002
        """Square root of the run length."""
        return float(np.sqrt(run_length))

    def paths(self, n_replicates: int, n_targets: int, horizon: int) -> NoisePaths:  # noqa: ARG002
        """Begin streaming noise."""
        return ExponentialPaths(_SUM, n_replicates, n_targets)
