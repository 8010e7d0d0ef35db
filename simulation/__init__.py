"""The roof: worlds, draws, the Mesa model, records, studies, and the command line.

The Python face: `from deniability.simulation import batch, load_scenario, run`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .batch_results import BatchResult, load_batch
    from .batches import batch
    from .runs import RunResult, load_scenario, run

__all__ = ["BatchResult", "RunResult", "batch", "load_batch", "load_scenario", "run"]

_MODULES = {
    "BatchResult": "batch_results",
    "RunResult": "runs",
    "batch": "batches",
    "load_batch": "batch_results",
    "load_scenario": "runs",
    "run": "runs",
}


def __getattr__(name: str) -> Any:
    # imported on first use, so that the command line's --help does not wait for Mesa and pandas
    if name in _MODULES:
        return getattr(import_module(f".{_MODULES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
