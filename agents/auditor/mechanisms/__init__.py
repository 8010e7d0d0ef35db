"""Selection mechanisms: how the auditor chooses whom to audit. One a file.

>>> MECHANISMS.names()
('exponential', 'greedy', 'rr', 'tca', 'uniform')
>>> build("tca", delta=0.1, horizon=100, counter="binary_tree").label
'tca-binary_tree'
"""

from ...registry import Registry
from .base import NO_CANDIDATE, Mechanism, MemorylessMechanism
from .counter_based import CounterMechanism

__all__ = [
    "MECHANISMS",
    "NO_CANDIDATE",
    "CounterMechanism",
    "Mechanism",
    "MemorylessMechanism",
    "build",
    "mechanism",
]

MECHANISMS: Registry[Mechanism] = Registry("mechanism", Mechanism, __name__, "deniability.mechanisms")
"""Every mechanism by its id, those of plugins included."""


def mechanism(name: str) -> type[Mechanism]:
    """Class of the mechanism called `name`; InputError if there is none."""
    return MECHANISMS[name]


def build(name: str, delta: float, horizon: int, counter: str = "toeplitz") -> Mechanism:
    """Make the mechanism called `name`.

    Parameters
    ----------
    name
        Id of a mechanism.
    delta
        Per-report deniability level, 0 < delta < 1.
    horizon
        Number of decisions that the guarantee covers.
    counter
        Id of the continual counter, for mechanisms that are based on one; others do not look at it.

    Raises
    ------
    InputError
        If there is no such mechanism or counter.
    ValueError
        If `delta` or `horizon` is out of range.
    """
    cls = MECHANISMS[name]
    if issubclass(cls, CounterMechanism):
        return cls(delta, horizon, counter)
    return cls(delta, horizon)
