"""Continual counters: the noise of counter-based auditing. One a file.

>>> COUNTERS.names()
('binary_tree', 'blt', 'independent', 'toeplitz')
"""

from ...registry import Registry
from .base import Counter, NoisePaths

__all__ = ["COUNTERS", "Counter", "NoisePaths", "counter"]

COUNTERS: Registry[Counter] = Registry("counter", Counter, __name__, "deniability.counters")
"""Every counter by its id, those of plugins included."""


def counter(name: str) -> type[Counter]:
    """Class of the counter called `name`; InputError if there is none."""
    return COUNTERS[name]
