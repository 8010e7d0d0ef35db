"""The files of a twin study: the pairs, the effects and the manifest."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pandas as pd

from ..scenarios import ResolvedScenario
from .manifest import manifest
from .store import MANIFEST, staged, write_json, write_table
from .twins import TwinResult

__all__ = ["write_twins"]


def write_twins(
    result: TwinResult,
    directory: Path,
    scenario: ResolvedScenario,
    *,
    summary: Mapping[str, Any],
    identity: str,
    command: Sequence[str],
    started: datetime,
) -> None:
    """Write a twin study into `directory`: pairs.parquet, tables/effects.csv and manifest.json.

    Raises
    ------
    InputError
        If it cannot be written.
    """
    effects = [{"kind": "certified", "channel": c} | e for c, e in summary["channels"].items()]
    effects += [{"kind": "total", "channel": c} | e for c, e in summary["total_channels"].items()]
    effects.append({"kind": "total", "channel": "any"} | summary["total"])
    with staged(directory) as aside:
        write_table(result.pairs, aside / "pairs.parquet")
        table = pd.DataFrame(effects).assign(bound=result.bound)
        (aside / "tables").mkdir()
        table.to_csv(aside / "tables" / "effects.csv", index=False)
        write_json(
            manifest(
                "twin",
                identity,
                scenario,
                seed=summary["seed"],
                command=command,
                started=started,
                bound=result.bound,
            ),
            aside / MANIFEST,
        )
