"""The roof: worlds, draws, the Mesa model, records, studies, and the command line.

The Python face: `from deniability.simulation import load_scenario, run`.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .runs import RunResult, load_scenario, run

__all__ = ["RunResult", "load_scenario", "run"]


def __getattr__(name: str) -> Any:
    # imported on first use, so that the command line's --help does not wait for Mesa and pandas
    if name in __all__:
        from . import runs

        return getattr(runs, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
