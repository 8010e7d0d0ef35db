"""Toeplitz counters as sums of decaying exponentials: O(1) per period and counter, at any horizon.

A decoder with coefficients `b_0 = 1`, `b_k = sum_i w_i (1 - s_i)^(k-1)` needs one buffer per term: it
decays by its rate s each period and takes up the period's innovation. This serves the Toeplitz counter,
which a few dozen terms give to rounding, the buffered linear Toeplitz counter, which makes do with a
handful, and the independent counter, which is the one term w = 1, s = 0.
"""

from dataclasses import dataclass

import numpy as np

from ...ports import FloatArray, IntArray
from .base import NoisePaths

__all__ = ["ExponentialPaths", "ExponentialSum", "lower_toeplitz", "toeplitz_terms"]

_NODES = 16  # of each panel: enough for rounding to dominate
_PANEL = 2.0
_TOLERANCE = 1e-12  # bound on the error of a coefficient; the error itself is about a tenth of it


@dataclass(frozen=True, eq=False)
class ExponentialSum:
    """Coefficients `b_0 = 1`, `b_k = sum_i weights_i (1 - rates_i)^(k-1)` of a Toeplitz decoder.

    Rates are kept instead of the decay factors `1 - rates`, which would lose the digits of the slow ones.
    """

    weights: FloatArray
    rates: FloatArray

    def coefficients(self, length: int) -> FloatArray:
        """The first `length` coefficients."""
        powers = np.exp(np.arange(length - 1.0)[:, None] * np.log1p(-self.rates))
        return np.concatenate(([1.0], powers @ self.weights))

    def prefix_sums_of_inverse(self, length: int) -> FloatArray:
        """The first `length` coefficients of `1/((1 - x) b(x))`: the encoder that belongs to this decoder.

        `1/b(x) = 1 - sum_i v_i x/(1 - (1 - q_i) x)`, where the q are the eigenvalues of `diag(rates) + r
        r'`, `r = sqrt(weights)`, and `v_i = (r' u_i)^2` with the eigenvectors u. Its prefix sums are `1 -
        sum v/q + sum (v/q) (1 - q)^k`, with no term negative.
        """
        root = np.sqrt(self.weights)
        q, vectors = np.linalg.eigh(np.diag(self.rates) + np.outer(root, root))
        shares = (root @ vectors) ** 2 / q
        limit = max(0.0, 1.0 - shares.sum())
        powers = (1.0 - q) ** np.arange(length)[:, None]
        result: FloatArray = limit + powers @ shares
        return result


def toeplitz_terms(horizon: int, n_terms: int | None = None) -> ExponentialSum:
    r"""Exponential sum for the Toeplitz coefficients :math:`f_k = \binom{2k}{k}/4^k`, k below the horizon.

    Parameters
    ----------
    horizon
        Length T of the paths.
    n_terms
        How many terms; by default as many as give every coefficient to within about 1e-13.

    Notes
    -----
    :math:`f_k = \frac1\pi\int_0^1 x^k/\sqrt{x(1-x)}\,dx`, with :math:`x = \cos^2\varphi` equal to
    :math:`\frac2\pi\int_0^{\pi/2} \cos^{2k}\varphi\,d\varphi`. Gauss-Legendre nodes on panels that double
    from :math:`2/\sqrt T` give about a hundred terms. They are a linear system with a symmetric state
    matrix, and balanced truncation of that, here to the leading eigenvectors of its one Gramian over the
    horizon, gives the nearly best sum of fewer. Symmetry keeps rates real and weights positive, and the
    error is at most about twice the sum of the eigenvalues left out (Glover 1984, "All optimal Hankel-norm
    approximations of linear multivariable systems").
    """
    nodes, node_weights = np.polynomial.legendre.leggauss(_NODES)
    first = min(np.pi / 2.0, _PANEL / np.sqrt(horizon))
    doublings = int(np.ceil(np.log2(np.pi / 2.0 / first)))
    edges = np.array([0.0, *(first * 2.0 ** np.arange(doublings)), np.pi / 2.0])
    half = np.diff(edges)[:, None] / 2.0
    angles = (half * nodes + (edges[:-1, None] + half)).ravel()
    weights = (2.0 / np.pi * half * node_weights).ravel() * np.cos(
        angles
    ) ** 2  # one power of x: b_1 has none left
    rates = np.sin(angles) ** 2
    root = np.sqrt(weights)
    log_decay = np.log1p(-rates)
    gramian = (
        np.outer(root, root)
        * -np.expm1(horizon * (log_decay[:, None] + log_decay))
        / (rates[:, None] + rates - np.outer(rates, rates))
    )
    eigenvalues, vectors = np.linalg.eigh(gramian)
    if n_terms is None:
        left_out = np.cumsum(np.maximum(eigenvalues, 0.0))
        n_terms = max(1, int(np.count_nonzero(2.0 * left_out > _TOLERANCE)))
    leading = vectors[:, -n_terms:]
    reduced_rates, rotation = np.linalg.eigh((leading.T * rates) @ leading)
    return ExponentialSum((root @ leading @ rotation) ** 2, reduced_rates)


def lower_toeplitz(coefficients: FloatArray) -> FloatArray:
    """Lower-triangular Toeplitz matrix with this first column."""
    lag = np.subtract.outer(np.arange(len(coefficients)), np.arange(len(coefficients)))
    result: FloatArray = np.where(lag >= 0, coefficients[np.abs(lag)], 0.0)
    return result


class ExponentialPaths(NoisePaths):
    """Noise paths of a decoder that is an `ExponentialSum`."""

    def __init__(self, terms: ExponentialSum, n_replicates: int, n_targets: int) -> None:
        self._weights = terms.weights
        self._decay = (1.0 - terms.rates)[:, None, None]
        self._buffers = np.zeros((len(terms.weights), n_replicates, n_targets))

    def step(self, innovations: FloatArray) -> FloatArray:
        """Advance every counter by one period; returns its noise."""
        noise = self.carried()
        noise += innovations
        self._buffers *= self._decay
        self._buffers += innovations
        return noise

    def carried(self) -> FloatArray:
        """The part of the next period's noise that is already drawn."""
        # not `@`: BLAS would start threads for so little, and they stand in each other's way
        carried: FloatArray = np.einsum("k...,k->...", self._buffers, self._weights)
        return carried

    def restart(self, audited: IntArray) -> None:
        """Empty the buffers of the audited targets."""
        columns = audited.reshape(len(audited), -1)
        self._buffers[:, np.arange(len(audited))[:, None], columns] = 0.0

    def take(self, replicates: IntArray) -> None:
        """Continue from the states of `replicates`."""
        self._buffers = np.ascontiguousarray(self._buffers[:, replicates])
