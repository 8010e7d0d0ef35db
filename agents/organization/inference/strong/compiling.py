"""How the particle filter is compiled, and how its compiled form is kept between runs.

Numba keeps compiled functions on disk, but looks for changes in the file of the function alone, and would go on
using what it calls from other files in their old form. So only entry points are kept, and each closes over
`sources_digest()`, which is part of what numba looks at.
"""

import hashlib
from pathlib import Path

from numba import njit
from numba.extending import register_jitable

__all__ = ["allocating", "compilable", "compiled", "kept", "sources_digest"]

compiled = njit(nogil=True, _nrt=False)
"""Decorator of functions that allocate nothing: arrays are then passed without counting references, which would
cost more than the arithmetic."""

allocating = njit(nogil=True)
"""Decorator of functions that do."""

compilable = register_jitable
"""Decorator of functions that compiled ones may call, and that are not compiled where Python calls them: that would
take longer than they do, at every start."""

kept = njit(nogil=True, cache=True)
"""Decorator of entry points: inner functions that close over `sources_digest()`."""


def sources_digest() -> int:
    """Give a number, not 0, that changes with every source of this package."""
    digest = hashlib.sha256()
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.read_bytes())
    return int.from_bytes(digest.digest()[:7], "little") | 1
