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
        return _TreePaths(n_replicates, n_targets, horizon.bit_length())


class _TreePaths(NoisePaths):
    """For each counter its run length and the noise of each node in use, by height."""

    def __init__(self, n_replicates: int, n_targets: int, height: int) -> None:
        self._run_length = np.zeros((n_replicates, n_targets), dtype=np.int64)
        self._nodes = np.zeros((height, n_replicates, n_targets))
        self._sizes = (1 << np.arange(height))[:, None, None]

    def step(self, innovations: FloatArray) -> FloatArray:
        """Advance every counter by one period: its new node swallows those of smaller size."""
        self._run_length += 1
        size = _lowbit(self._run_length)
        np.multiply(self._nodes, self._sizes > size, out=self._nodes)
        self._nodes += np.where(self._sizes == size, innovations, 0.0)
        noise: FloatArray = self._nodes.sum(axis=0)
        return noise

    def carried(self) -> FloatArray:
        """Nodes that the next running count will still use."""
        larger = self._sizes > _lowbit(self._run_length + 1)
        carried: FloatArray = np.sum(self._nodes, axis=0, where=larger)
        return carried

    def restart(self, audited: IntArray) -> None:
        """Clear the audited targets' nodes."""
        columns = audited.reshape(len(audited), -1)
        rows = np.arange(len(audited))[:, None]
        self._nodes[:, rows, columns] = 0.0
        self._run_length[rows, columns] = 0

    def take(self, replicates: IntArray) -> None:
        """Continue from the states of `replicates`."""
        self._run_length = self._run_length[replicates]
        self._nodes = self._nodes[:, replicates]


def _lowbit(steps: IntArray) -> IntArray:
    """Largest power of two that divides each step, which is at least 1."""
    result: IntArray = steps & -steps
    return result
