"""The interface that every continual counter implements."""

from abc import ABC, abstractmethod
from typing import ClassVar

from ...ports import FloatArray, IntArray

__all__ = ["Counter", "NoisePaths"]


class NoisePaths(ABC):
    """Streaming noise of many independent counters, with individual restarts.

    The noise of the run that began after the last restart, at run length L (1 for its first period), is
    `sum_j B[L-1, j] z_j`, with `z_j` the innovation fed in the run's period j + 1 and B the decoder. In
    units of sigma: the caller multiplies. A row of innovations is fed every period to every counter, so a
    restart changes nobody else's noise.
    """

    @abstractmethod
    def step(self, innovations: FloatArray) -> FloatArray:
        """Advance every counter by one period.

        Parameters
        ----------
        innovations
            Standard normals, one per counter; shape (replicates, targets).

        Returns
        -------
        noise
            The noise of this period, a new array of the same shape.
        """

    @abstractmethod
    def carried(self) -> FloatArray:
        """The part of the next period's noise that is already drawn; a new array (replicates, targets).

        The next `step` returns this plus its innovations, unless a restart comes between.
        """

    @abstractmethod
    def restart(self, audited: IntArray) -> None:
        """Restart, in each replicate, the counter(s) of `audited` (replicates,) or (replicates, n_audits)."""

    @abstractmethod
    def take(self, replicates: IntArray) -> None:
        """Continue from the states of `replicates`, as a particle filter does.

        Any number of them, repeats allowed; shape (new replicates,).
        """


class Counter(ABC):
    """A Gaussian matrix counter: prefix sums A = B C, output B (C x + z), z ~ N(0, sigma^2 I).

    Both factors are lower triangular, and the decoder has a unit diagonal, so the noise that is new in a
    period is one innovation of variance sigma^2, and the guarantee holds for adaptive streams.
    """

    id: ClassVar[str]
    """Name in scenario files, columns and figures."""

    @abstractmethod
    def encoder(self, horizon: int) -> FloatArray:
        """The factor C, shape (horizon, horizon)."""

    @abstractmethod
    def decoder(self, horizon: int) -> FloatArray:
        """The factor B, shape (horizon, horizon)."""

    @abstractmethod
    def sensitivity(self, horizon: int) -> float:
        """The largest column norm of the encoder that is really used, M_T."""

    @abstractmethod
    def noise_std(self, run_length: int, horizon: int) -> float:
        """Standard deviation of the noise at `run_length`, in units of sigma."""

    @abstractmethod
    def paths(self, n_replicates: int, n_targets: int, horizon: int) -> NoisePaths:
        """Begin streaming noise for (replicates x targets) independent counters."""
