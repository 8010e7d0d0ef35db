"""The protocols through which actors see the rest of the simulation."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

__all__ = ["BoolArray", "Draws", "FloatArray", "IntArray", "Recorder"]

type FloatArray = npt.NDArray[np.float64]
type IntArray = npt.NDArray[np.int64]
type BoolArray = npt.NDArray[np.bool_]


class Draws(Protocol):
    """Named streams of random numbers: the same purpose and ids always give the same number."""

    def uniforms(self, purpose: str, *ids: int | IntArray) -> FloatArray:
        """Uniforms on the open interval (0, 1), one per broadcast element of `ids`."""
        ...

    def several(self, purposes: Sequence[str], *ids: int | IntArray) -> FloatArray:
        """Row i is `uniforms(purposes[i], *ids)`, for ids of one axis at most."""
        ...

    def uniform(self, purpose: str, *ids: int) -> float:
        """The scalar face of `uniforms`, with the same bits."""
        ...

    def exponential(self, purpose: str, *ids: int) -> float:
        """One unit exponential, keyed as `uniform`."""
        ...

    def exponentials(self, purpose: str, *ids: int | IntArray) -> FloatArray:
        """Unit exponentials, keyed as `uniforms`."""
        ...

    def generator(self, purpose: str, *keys: int) -> np.random.Generator:
        """A numpy generator for blocks of draws, keyed by purpose and keys."""
        ...


class Recorder(Protocol):
    """Takes what happened: append-only typed records, one table a kind of event."""

    def record(self, table: str, **values: Any) -> None:
        """Append one row to `table`."""
        ...

    def recorder(self, table: str) -> Callable[[tuple[Any, ...]], None]:
        """Give what appends one row to `table` as a tuple in the order of the columns."""
        ...

    def record_block(self, table: str, **columns: Any) -> None:
        """Append many rows to `table`; scalars are repeated."""
        ...
