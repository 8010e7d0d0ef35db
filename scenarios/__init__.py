"""What a study is: the scenario schema, its loader and the catalogue of shipped scenarios.

Data first, little code. Nothing here knows agents, analysis or simulation; the other three build on it.
"""

from .catalog import shipped_names
from .errors import InputError
from .hashing import content_hash
from .loading import ResolvedScenario, cell_config, resolve, resolve_tree, sweep_cells
from .reference import parameter_table, scenario_json_schema
from .schema import ScenarioConfig

__all__ = [
    "InputError",
    "ResolvedScenario",
    "ScenarioConfig",
    "cell_config",
    "content_hash",
    "parameter_table",
    "resolve",
    "resolve_tree",
    "scenario_json_schema",
    "shipped_names",
    "sweep_cells",
]
