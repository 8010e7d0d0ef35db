"""Which names a scenario file may use: taken from the registries of the code that implements them."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ..agents.auditor.counters import COUNTERS
from ..agents.auditor.mechanisms import MECHANISMS
from ..agents.employee.decision import EXPOSURES
from ..agents.organization.inference import INFERENCES
from ..agents.registry import Registry, load_plugin
from ..analysis.metrics import METRICS
from .world.access import GENERATORS
from .world.colleagues import COLLEAGUES

__all__ = ["REGISTRIES", "known_names", "load_plugins"]

REGISTRIES: tuple[Registry[Any], ...] = (MECHANISMS, COUNTERS, INFERENCES)
"""Those that code from outside can join."""


def known_names() -> dict[str, list[str]]:
    """Allowed names by dotted path of the scenario schema."""
    return {
        "auditor.mechanism": sorted(MECHANISMS),
        "auditor.counter": sorted(COUNTERS),
        "organizations.inference": sorted(INFERENCES),
        "employees.decision.exposure": sorted(EXPOSURES),
        "access.generator": sorted(GENERATORS),
        "colleagues.generator": sorted(COLLEAGUES),
        "sweep.precision.metric": [one.key for one in METRICS],
    }


def load_plugins(files: Iterable[Path]) -> None:
    """Let what these files define join the registries, in this process.

    Raises
    ------
    InputError
        One cannot be loaded.
    """
    for file in files:
        load_plugin(file)
