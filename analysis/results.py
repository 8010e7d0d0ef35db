"""Results as they lie on disk: any directory of ours, whole or half-finished, from whichever machine.

Nothing outside the directory is looked at, and no path that the manifest holds is followed.

>>> import tempfile
>>> from deniability.scenarios.errors import InputError
>>> with tempfile.TemporaryDirectory() as empty:
...     try:
...         read_results(empty)
...     except InputError as error:
...         print("no results" in str(error))
True
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from ..scenarios import parameter_table
from ..scenarios.errors import InputError
from ..scenarios.wording import printable

__all__ = ["DONE", "Results", "finished", "read_results", "swept_keys", "value_at"]

DONE = "done"
"""Status of a run that came to its end."""

MECHANISM, DELTA = "auditor.mechanism", "auditor.delta"

KINDS = ("batch", "run", "twin", "leakage", "sensitivity")
"""Kinds of results that are read here; others (a plan, the paper's experiments, a validation) tell all themselves."""

_TABLES = ("runs", "groups", "series", "pairs", "transcripts")


@dataclass(frozen=True)
class Results:
    """A directory of results, read.

    Attributes
    ----------
    kind
        One of `KINDS`.
    name
        Name of the directory.
    manifest
        What the manifest says; empty if there is none.
    tables
        Tables at the top: runs, groups, series, pairs, as far as they are there.
    events
        Tables of a single run, by name.
    summaries
        Small tables under `tables/` and at the top, by name: effects, indices, …
    notices
        What a reader of a report must know of the state of these results.
    """

    kind: str
    name: str
    manifest: Mapping[str, Any]
    tables: Mapping[str, pd.DataFrame]
    events: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    summaries: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    notices: tuple[str, ...] = ()

    @property
    def scenario(self) -> Mapping[str, Any]:
        """The resolved scenario as plain values; empty if it is not known."""
        tree = self.manifest.get("resolved_scenario")
        return tree if isinstance(tree, Mapping) else {}

    @property
    def title(self) -> str:
        """Title of the study, or its name."""
        about = self.scenario.get("scenario", {})
        return str(about.get("title") or about.get("name") or self.manifest.get("scenario") or self.name)

    @property
    def runs(self) -> pd.DataFrame:
        """The finished runs, with mechanism and delta as columns also where they were not swept."""
        frame = finished(self.tables.get("runs", pd.DataFrame()))
        missing = {key: value_at(self.scenario, key) for key in (MECHANISM, DELTA) if key not in frame}
        return frame.assign(**{k: v for k, v in missing.items() if v is not None and self.scenario})

    @property
    def unit(self) -> tuple[str, float]:
        """What time is counted in for people, and how many of them an audit period has."""
        weeks = value_at(self.scenario, "time.period_weeks") if self.scenario else None
        return ("audit periods", 1.0) if weeks is None else ("weeks", float(weeks))


def finished(runs: pd.DataFrame) -> pd.DataFrame:
    """Rows of the runs that came to their end; all of them where no status is told.

    Raises
    ------
    InputError
        If there are rows but no column `run_id`.
    """
    if "status" in runs and not (done := (runs["status"] == DONE).to_numpy()).all():
        runs = runs[done].reset_index(drop=True)
    if len(runs) and "run_id" not in runs:
        raise InputError(f"table 'runs' has no column 'run_id'; it has {len(runs.columns)} others")
    listed = [
        key
        for key in swept_keys(runs)
        if runs[key].dtype == object
        and runs[key].map(lambda v: isinstance(v, (list, dict, np.ndarray))).any()
    ]
    return runs.assign(**{key: runs[key].map(_plain) for key in listed}) if listed else runs


def swept_keys(runs: pd.DataFrame) -> list[str]:
    """Columns named by a dotted path: mechanism first, delta second, then as in the table.

    >>> swept_keys(pd.DataFrame(columns=["run_id", "time.periods", "auditor.delta", "harm"]))
    ['auditor.delta', 'time.periods']
    """
    keys = [str(column) for column in runs.columns if "." in str(column)]
    return sorted(keys, key=lambda key: (key != MECHANISM, key != DELTA))


def value_at(tree: Mapping[str, Any], path: str) -> Any:
    """Value of a scenario at a dotted path, the schema's default where the scenario does not say.

    >>> value_at({"auditor": {"delta": 0.3}}, "auditor.delta")
    0.3
    """
    found: Any = tree
    for key in path.split("."):
        if not isinstance(found, Mapping) or key not in found:
            return next((row.default for row in parameter_table() if row.path == path), None)
        found = found[key]
    return found


def read_results(directory: str | Path) -> Results:
    """Read a directory of results.

    Parameters
    ----------
    directory
        A batch (whole or not), a single run, a twin study, a leakage study, a sensitivity study.

    Raises
    ------
    InputError
        If there is no such directory, nothing of ours in it, results of another kind, or a file that cannot be read.
    """
    folder = Path(directory)
    if not folder.is_dir():
        raise InputError(
            f"{directory}: {'a file, not a' if folder.exists() else 'there is no such'} directory"
        )
    manifest = _json(folder / "manifest.json")
    if game := _json(folder / "leakage.json"):
        manifest = {"kind": "leakage"} | manifest | {"leakage_result": game}
    said = manifest.get("kind")
    if said and said not in KINDS:  # first, for the tables of other kinds are of other columns
        raise InputError(
            f"{directory}: results of kind {printable(str(said))}; a report can be made of {', '.join(KINDS)}"
        )
    notices = list(_manifest_notices(folder, manifest))
    tables = {name: _table(f) for name in _TABLES if (f := folder / f"{name}.parquet").is_file()}
    if "runs" not in tables or manifest.get("ended", "") is None:
        parts, damaged = _parts(folder / "parts")
        if parts:
            tables |= parts
            notices.append(
                "This batch is not finished: the report is made from the runs that are done so far."
            )
        if damaged:
            notices.append(f"{damaged} part files cannot be read and are left out.")
    events = {f.stem: _table(f) for f in sorted((folder / "events").glob("*.parquet"))}
    summaries = dict(_summaries(folder))
    if not (said or tables or summaries):
        raise InputError(
            f"{directory}: no results here. Expected manifest.json with runs.parquet (a batch or a run), "
            "parts/ (a batch at work), pairs.parquet (a twin study), or tables/"
        )
    kind = str(said or _kind(tables, events))
    notices += _run_notices(tables.get("runs"), manifest)
    if kind != "run":
        events = events if len(tables.get("runs", ())) == 1 else {}
    return Results(kind, folder.resolve().name, manifest, tables, events, summaries, tuple(notices))


def _json(file: Path) -> dict[str, Any]:
    """Content of a JSON file; empty if there is no such file."""
    try:
        value = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise InputError(f"{file}: cannot be read ({error})") from error
    if not isinstance(value, dict):
        raise InputError(f"{file}: expected a JSON object")
    return value


def _table(file: Path) -> pd.DataFrame:
    try:
        return pd.read_parquet(file)
    except Exception as error:  # whatever a broken file makes the reader raise
        raise InputError(f"{file}: cannot be read as Parquet ({error})") from error


def _parts(folder: Path) -> tuple[dict[str, pd.DataFrame], int]:
    """What is done of a batch at work, put together from its chunks, and how many chunks cannot be read."""
    found: dict[str, list[pd.DataFrame]] = {}
    damaged = 0
    files = [file for file in folder.glob("*.parquet") if not file.name.startswith(".")]
    for file in sorted(files, key=lambda file: (len(file.name), file.name)):
        try:
            part = pq.read_table(file)
        except Exception:  # noqa: BLE001  # cut short by what stopped the batch: its runs will be made again
            damaged += 1
            continue
        nested = {field.name for field in part.schema if pa.types.is_list(field.type)}
        found.setdefault("runs", []).append(part.drop_columns(sorted(nested)).to_pandas())
        for name in nested & {"groups", "series"}:
            found.setdefault(name, []).append(_unnested(part, name))
    tables = {name: pd.concat(some, ignore_index=True) for name, some in found.items()}
    tables = {name: table if name == "runs" else table.drop_duplicates() for name, table in tables.items()}
    if "runs" in tables:
        # a run may be there twice: done goes before failed, later before earlier
        runs = tables["runs"]
        best = runs.assign(_done=runs["status"] == DONE).sort_values("_done", kind="stable")
        kept = best.drop_duplicates("run_id", keep="last").index
        tables["runs"] = runs.loc[sorted(kept)].reset_index(drop=True)
    return tables, damaged


def _unnested(part: pa.Table, name: str) -> pd.DataFrame:
    """A table of each run, stored as a list of its rows, as one table with the column `run_id`."""
    column = part[name].combine_chunks()
    names = [field.name for field in column.type.value_type]
    rows = pd.DataFrame(pa.table(column.flatten().flatten(), names=names).to_pandas())
    counts = column.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
    rows.insert(0, "run_id", np.repeat(part["run_id"].to_numpy(), counts))
    return rows


def _summaries(folder: Path) -> Iterator[tuple[str, pd.DataFrame]]:
    for name in ("effects", "indices", "roc", "leakage"):
        for file in (
            folder / "tables" / f"{name}.csv",
            folder / f"{name}.csv",
            folder / f"{name}.parquet",
            folder / "figures" / f"{name}.csv",
        ):
            if file.is_file():
                try:
                    yield name, pd.read_csv(file) if file.suffix == ".csv" else _table(file)
                except ValueError as error:
                    raise InputError(f"{file}: cannot be read as a table ({error})") from error
                break


def _kind(tables: Mapping[str, pd.DataFrame], events: Mapping[str, pd.DataFrame]) -> str:
    if "pairs" in tables:
        return "twin"
    return "run" if events and len(tables.get("runs", ())) == 1 else "batch"


def _manifest_notices(folder: Path, manifest: Mapping[str, Any]) -> Iterator[str]:
    if not manifest:
        yield (
            f"{folder.resolve().name} has no manifest, so scenario, evidence, seed and versions behind these "
            "numbers are not known."
        )


def _run_notices(runs: pd.DataFrame | None, manifest: Mapping[str, Any]) -> Iterator[str]:
    if runs is None:
        if manifest.get("kind") == "batch":
            yield "No run of this batch is finished, so there is nothing to estimate yet."
        return
    planned = manifest.get("planned_runs", manifest.get("runs_planned", manifest.get("n_runs")))
    if isinstance(planned, int) and planned > len(runs):
        yield f"{len(runs):,} of {planned:,} planned runs are there; the estimates rest on these alone."
    failed = len(runs) - len(finished(runs))
    if failed:
        first = runs[runs["status"] != DONE].iloc[0]
        told = f" The first says: {first['error']}" if "error" in runs and first["error"] else ""
        yield f"{failed:,} of {len(runs):,} runs failed and are left out of every estimate.{told}"
    if len(runs) == failed:
        yield "No run came to its end, so there is nothing to estimate."
    elif len(runs) - failed == 1:
        yield (
            "There is one run only. Intervals hold within that run, as if people in it were independent, and nothing "
            "can be said of what other runs would give."
        )


def _plain(value: Any) -> Any:
    value = value.tolist() if hasattr(value, "tolist") else value
    return json.dumps(value, sort_keys=True) if isinstance(value, (list, dict)) else value
