"""Write a scenario as TOML."""

from typing import Any

import tomli_w

from .schema import ScenarioConfig

__all__ = ["config_tree", "to_toml"]


def config_tree(config: ScenarioConfig) -> dict[str, Any]:
    """Return the whole configuration, defaults included, as plain values that a scenario file could hold.

    What is absent (a horizon that follows the run) stays absent, for TOML has no null; empty tables are left out.
    """
    tree: dict[str, Any] = _without_blanks(config.model_dump(mode="json", exclude_none=True))
    tree["scenario"].pop("extends", None)
    return tree


def to_toml(config: ScenarioConfig) -> str:
    """Write the whole configuration; reading it gives the same configuration again."""
    return tomli_w.dumps(config_tree(config), multiline_strings=False)


def _without_blanks(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {key: _without_blanks(item) for key, item in value.items() if item != {}}
