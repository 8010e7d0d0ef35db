"""The manifest: what a directory of results is, and how it came about (docs/results.md)."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from ..agents.registry import plugin_hashes
from ..scenarios import ResolvedScenario, content_hash
from ..scenarios.linked import linked_files
from .foreign_code import foreign_code, recorded
from .guarantees import stated_guarantee
from .provenance import code_hash, code_path, versions
from .texts import storable

__all__ = ["manifest"]


def manifest(
    kind: str,
    identity: str,
    scenario: ResolvedScenario,
    *,
    seed: int,
    command: Sequence[str],
    started: datetime,
    **more: Any,
) -> dict[str, Any]:
    """The manifest of results made from a scenario, ended now.

    Parameters
    ----------
    kind, identity
        What the results are ("run", "twin", …) and which: what `store.check_directory` compares.
    scenario
        The resolved scenario.
    seed
        Root seed.
    command
        The command line that was given.
    started
        When work began.
    more
        Whatever else this kind says.
    """
    return {
        "kind": kind,
        "identity": identity,
        "scenario": scenario.config.scenario.name,
        "resolved_scenario": scenario.tree,
        "scenario_files": linked_files(scenario.config),
        "content_hash": content_hash(scenario.config),
        "guarantee": asdict(stated_guarantee(scenario.config)),
        "code_hash": code_hash(),
        "code_path": storable(str(code_path())),
        "versions": versions(),
        **recorded(plugin_hashes(), foreign_code([scenario.config])),
        "seed": seed,
        "command": [storable(word) for word in command],
        "started": started.isoformat(timespec="seconds"),
        "ended": datetime.now(UTC).isoformat(timespec="seconds"),
    } | more
