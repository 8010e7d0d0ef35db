"""Root seeds: what the command line and the Python face take. Light to import."""

from operator import index
from typing import Any

from ..scenarios.errors import InputError

__all__ = ["LARGEST_SEED", "checked_seed"]

LARGEST_SEED = 2**63 - 1
"""A signed column of a table can hold it."""


def checked_seed(seed: Any) -> int:
    """Return a root seed as a plain whole number.

    Raises
    ------
    InputError
        If it is anything else than a whole number from 0 to `LARGEST_SEED`.

    Examples
    --------
    >>> checked_seed(7)
    7
    """
    try:
        number = -1 if isinstance(seed, bool) else index(seed)
    except TypeError:
        number = -1
    if not 0 <= number <= LARGEST_SEED:
        from ..scenarios.wording import written

        given = written(seed) if isinstance(seed, str | int | float) else repr(seed)[:60]
        raise InputError(f"seed = {given}: must be a whole number from 0 to {LARGEST_SEED}")
    return number
