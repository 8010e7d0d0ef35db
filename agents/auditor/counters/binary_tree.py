"""Partial sums over a binary tree."""

import numpy as np

from ...ports import FloatArray, IntArray
from .base import Counter, NoisePaths

__all__ = ["BinaryTree"]


class BinaryTree(Counter):
    """One innovation per node of a binary tree over time; a running count adds one node per binary digit.

    The story: sums over blocks of 1, 2, 4, … periods, each with its own noise. A report is in one block of
    each size, a running count is made of at most as many, so both the sensitivity and the noise grow like a
    log and not like a root of time.

    In step form: the node that ends at step L covers `lowbit(L)` steps (the largest power of two that
    divides L), and the count up to L is made of the nodes that end at L, L − lowbit(L), …, until nothing is
    left. Nodes that no running count ever uses (the right-hand children) are left out, as in the Fenwick
    tree, so B and C are square.

    Source: Dwork, Naor, Pitassi & Rothblum (2010), "Differential privacy under continual observation";
    Chan, Shi & Song (2011), "Private and continual release of statistics".

    Names: binary tree, tree aggregation, binary mechanism.
    """

    id = "binary_tree"

    def encoder(self, horizon: int) -> FloatArray:
        """C[L, j] = 1 where the node that ends at step L covers step j; shape (horizon, horizon)."""
        ends = np.arange(1, horizon + 1)
        steps = ends[None, :]
        covered = (ends - _lowbit(ends))[:, None] < steps
        result: FloatArray = (covered & (steps <= ends[:, None])).astype(np.float64)
        return result

    def decoder(self, horizon: int) -> FloatArray:
        """B[L, k] = 1 where the running count at L uses the node that ends at k; shape (horizon, horizon)."""
        result = np.zeros((horizon, horizon))
        for length in range(1, horizon + 1):
            end = length
            while end > 0:
                result[length - 1, end - 1] = 1.0
                end &= end - 1
        return result

    def sensitivity(self, horizon: int) -> float:
        """Square root of the height `floor(log2 T) + 1`: the first step is in a node of each size up to T."""
        return float(np.sqrt(horizon.bit_length()))

    def noise_std(self, run_length: int, horizon: int) -> float:  # noqa: ARG002
        """Square root of the number of binary digits 1 of the run length."""
        return float(np.sqrt(run_length.bit_count()))

    def paths(self, n_replicates: int, n_targets: int, horizon: int) -> NoisePaths:
        """Begin streaming noise."""
        return _TreePaths(n_replicates, n_targets, horizon)


class _TreePaths(NoisePaths):
    """For each counter its run length L, and by height h its noise at the newest step whose node has that height.

    A running count is its newest node plus the count without the binary digit that this node stands for. That
    was the count at an earlier step, with a higher node, and no step since had one as high: its noise is still
    there. So a step reads one entry and writes one, and a restart has nothing to wipe out.
    """

    def __init__(self, n_replicates: int, n_targets: int, horizon: int) -> None:
        self._run_length = np.zeros((n_replicates, n_targets), dtype=np.int64)
        steps = np.arange(horizon + 2)
        steps[0] = 1  # no step; any height will do
        # height of the node that ends at each step: how often 2 divides it
        self._height_of = np.bitwise_count(_lowbit(steps) - 1).astype(np.int64)
        without = steps & (steps - 1)
        nothing = horizon.bit_length() + 1
        self._rest_of = np.where(without > 0, self._height_of[without], nothing)
        self._noise = np.zeros((nothing + 1, n_replicates, n_targets))  # the last row stays 0

    def step(self, innovations: FloatArray) -> FloatArray:
        """Advance every counter by one period; returns its noise."""
        noise = self.carried()
        noise += innovations
        self._run_length += 1
        self._noise.reshape(-1)[self._places(self._height_of)] = noise
        return noise

    def carried(self) -> FloatArray:
        """The part of the next period's noise that is already drawn."""
        return self._noise.take(self._places(self._rest_of[1:]))

    def restart(self, audited: IntArray) -> None:
        """Begin the audited targets' runs again."""
        self._run_length[np.arange(len(audited))[:, None], audited.reshape(len(audited), -1)] = 0

    def take(self, replicates: IntArray) -> None:
        """Continue from the states of `replicates`."""
        self._run_length = self._run_length[replicates]
        self._noise = np.ascontiguousarray(self._noise[:, replicates])

    def _places(self, row_of: IntArray) -> IntArray:
        """Where each counter has its entry in the row that belongs to its run length."""
        places: IntArray = row_of.take(self._run_length)
        places *= places.size  # `take_along_axis` would do, at several times the price
        places += np.arange(places.size).reshape(places.shape)
        return places


def _lowbit(steps: IntArray) -> IntArray:
    """Largest power of two that divides each step."""
    result: IntArray = steps & -steps
    return result
