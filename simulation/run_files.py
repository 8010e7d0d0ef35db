"""The files of a single run: manifest, metrics, tables, and two figures."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import pyarrow as pa

from ..analysis.metrics import run_groups
from ..analysis.rates_figure import retaliation_rates_figure
from ..analysis.timeline_figure import timeline_figure
from ..scenarios import content_hash
from .manifest import manifest
from .provenance import code_hash
from .run_records import DONE, metric_fields
from .runs import RunResult
from .store import MANIFEST, staged, write_json, write_table
from .world.anonymity import anonymity_summary

__all__ = ["WRITTEN", "run_row", "write_run"]

WRITTEN = ("manifest.json", "runs.parquet", "groups.parquet", "series.parquet", "events/", "figures/")
"""What `write_run` leaves in its directory."""

_TOP_LEVEL = ("series",)


def run_row(result: RunResult) -> pa.Table:
    """The run as a row of `runs.parquet`; metrics have the types that they have in a batch."""
    auditor = result.scenario.config.auditor
    about = {
        "run_id": result.run_id,
        "scenario": result.scenario.config.scenario.name,
        "auditor.mechanism": auditor.mechanism,
        "auditor.delta": float(auditor.delta),
        "replicate": 0,
        "seed": result.seed,
        "status": DONE,
    }
    columns = {key: pa.array([value]) for key, value in about.items()}
    columns |= {f.name: pa.array([result.metrics.get(f.name)], type=f.type) for f in metric_fields()}
    return pa.table(columns)


def write_run(
    result: RunResult,
    directory: Path,
    *,
    command: Sequence[str],
    started: datetime,
    row: pa.Table | None = None,
) -> None:
    """Write everything about a run into `directory` (docs/results.md).

    Parameters
    ----------
    result
        The run.
    directory
        Where to; it is made if need be.
    command
        The command line that was given.
    started
        When work began.
    row
        Its row of `runs.parquet`, where that is not to be `run_row`.

    Raises
    ------
    InputError
        If it cannot be written.
    """
    config = result.scenario.config
    provenance = {
        "scenario": config.scenario.name,
        "content_hash": content_hash(config),
        "code_hash": code_hash(),
        "seed": result.seed,
        "run_id": result.run_id,
    }
    with staged(directory) as aside:
        write_table(run_row(result) if row is None else row, aside / "runs.parquet")
        groups = run_groups(result.tables, config.time.period_weeks)
        groups.insert(0, "run_id", result.run_id)
        write_table(groups, aside / "groups.parquet")
        for name, table in result.tables.items():
            if name in _TOP_LEVEL:
                write_table(
                    table.assign(run_id=result.run_id)[["run_id", *table.columns]], aside / f"{name}.parquet"
                )
            else:
                write_table(table, aside / "events" / f"{name}.parquet")
        timeline = timeline_figure(
            result.tables, config.scenario.title, period_weeks=config.time.period_weeks
        )
        rates = retaliation_rates_figure(result.metrics, config.scenario.title)
        for drawing in (timeline, rates):
            drawing.save(aside / "figures", provenance)
        write_json(
            manifest(
                "run",
                result.run_id,
                result.scenario,
                seed=result.seed,
                command=command,
                started=started,
                run_id=result.run_id,
                anonymity_sets=anonymity_summary(result.tables["compartments"], result.tables["access"]),
            ),
            aside / MANIFEST,
        )
