"""The square root of the prefix-sum matrix, as encoder and decoder both."""

from functools import lru_cache

import numpy as np

from ...ports import FloatArray
from ..privacy import toeplitz_coefficients, toeplitz_sensitivity
from .base import Counter, NoisePaths
from .exponentials import ExponentialPaths, ExponentialSum, lower_toeplitz, toeplitz_terms

__all__ = ["Toeplitz"]


class Toeplitz(Counter):
    """The Toeplitz counter: B = C, with coefficients 1, 1/2, 3/8, 5/16 and so on.

    The story: spread each report's weight, and each innovation, over all later periods, evenly between
    encoder and decoder. Both then grow like the square root of the log of the horizon, close to the best
    any factorization can do. Paths are streamed as a sum of decaying exponentials that gives the
    coefficients to about 1e-13.

    Source: Fichtenberger, Henzinger & Upadhyay (2023), "Constant matters: fine-grained complexity of
    differentially private continual observation".

    Names: Toeplitz counter, square-root factorization.
    """

    id = "toeplitz"

    def encoder(self, horizon: int) -> FloatArray:
        """The factor C, shape (horizon, horizon)."""
        return lower_toeplitz(toeplitz_coefficients(horizon))

    def decoder(self, horizon: int) -> FloatArray:
        """The factor B, the same matrix."""
        return self.encoder(horizon)

    def sensitivity(self, horizon: int) -> float:
        """Norm of the encoder's first column."""
        return float(toeplitz_sensitivity(float(horizon)))

    def noise_std(self, run_length: int, horizon: int) -> float:  # noqa: ARG002
        """Norm of the decoder's row: that of the encoder's column of the same length."""
        return float(toeplitz_sensitivity(float(run_length)))

    def paths(self, n_replicates: int, n_targets: int, horizon: int) -> NoisePaths:
        """Begin streaming noise."""
        return ExponentialPaths(_terms(horizon), n_replicates, n_targets)


@lru_cache(maxsize=64)
def _terms(horizon: int) -> ExponentialSum:
    # a little longer than needed costs nothing and lets neighbouring horizons share the work
    return toeplitz_terms(1 << int(np.ceil(np.log2(max(horizon, 2)))))
