"""What a study is: the scenario schema, its loader and the catalogue of shipped scenarios.

Data first, little code. Nothing here knows agents, analysis or simulation; the other three build on it. Names are
imported when they are first asked for, so that a command that needs only `InputError` does not wait for the schema.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .errors import InputError

if TYPE_CHECKING:
    from .catalog import shipped_names
    from .hashing import content_hash
    from .loading import ResolvedScenario, cell_config, resolve, resolve_tree, sweep_cells
    from .reference import parameter_table, scenario_json_schema
    from .schema import ScenarioConfig
    from .writing import config_tree, to_toml

__all__ = [
    "InputError",
    "ResolvedScenario",
    "ScenarioConfig",
    "cell_config",
    "config_tree",
    "content_hash",
    "parameter_table",
    "resolve",
    "resolve_tree",
    "scenario_json_schema",
    "shipped_names",
    "sweep_cells",
    "to_toml",
]

_MODULES = {
    "ResolvedScenario": "loading",
    "ScenarioConfig": "schema",
    "cell_config": "loading",
    "config_tree": "writing",
    "content_hash": "hashing",
    "parameter_table": "reference",
    "resolve": "loading",
    "resolve_tree": "loading",
    "scenario_json_schema": "reference",
    "shipped_names": "catalog",
    "sweep_cells": "loading",
    "to_toml": "writing",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_MODULES[name]}", __name__), name)
    globals()[name] = value
    return value
