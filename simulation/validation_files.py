"""The files of a validation: runs, the table of patterns, the figure and the manifest."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from ..analysis.validation_figure import patterns_figure
from ..scenarios import ResolvedScenario, content_hash
from .manifest import manifest
from .provenance import code_hash
from .store import MANIFEST, staged, write_json, write_table
from .validation import ValidationResult

__all__ = ["write_validation"]


def write_validation(
    result: ValidationResult,
    directory: Path,
    scenario: ResolvedScenario,
    *,
    seed: int,
    identity: str,
    command: Sequence[str],
    started: datetime,
) -> None:
    """Write a validation into `directory`: runs.parquet, tables/patterns.csv, figures/patterns.* and manifest.json.

    Raises
    ------
    InputError
        If it cannot be written.
    """
    config = scenario.config
    provenance = {
        "scenario": config.scenario.name,
        "content_hash": content_hash(config),
        "code_hash": code_hash(),
        "seed": seed,
    }
    with staged(directory) as aside:
        write_table(result.runs, aside / "runs.parquet")
        (aside / "tables").mkdir()
        result.patterns.to_csv(aside / "tables" / "patterns.csv", index=False)
        patterns_figure(result.patterns, config.scenario.title).save(aside / "figures", provenance)
        write_json(
            manifest("validation", identity, scenario, seed=seed, command=command, started=started),
            aside / MANIFEST,
        )
