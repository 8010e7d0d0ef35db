"""How runs of a batch are stored: a row a run, with its tables nested in it.

A part file is one Parquet table. Its flat columns are those of `runs.parquet`; the columns named in `NESTED`, and
those that begin with `EVENTS`, hold a run's own table each, as a list of its rows. Any program that reads Parquet can
open it.
"""

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from ..analysis.metrics import METRICS
from ..scenarios.paths import parse_path
from ..scenarios.reference import find_parameter
from .batch_plan import PlannedRun
from .texts import storable, told

__all__ = [
    "DONE",
    "EVENTS",
    "FAILED",
    "NESTED",
    "RunRecord",
    "encoded",
    "key_column",
    "metric_fields",
    "run_rows",
    "runs_schema",
]

DONE, FAILED = "done", "failed"
NESTED = ("groups", "series")
"""Tables that every batch keeps of each run."""
EVENTS = "events:"
"""Prefix of the columns that hold tables of the event log."""

COMPRESSION = "zstd"

_LONGEST_ERROR = 500


@dataclass(frozen=True)
class RunRecord:
    """What is kept of one run.

    Attributes
    ----------
    run
        Which it is.
    metrics
        Empty for a failed run.
    tables
        Column of the part file to table.
    error
        Why it failed; empty if it did not.
    """

    run: PlannedRun
    metrics: Mapping[str, Any] = field(default_factory=dict)
    tables: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    error: str = ""

    @property
    def status(self) -> str:
        """`done` or `failed`."""
        return FAILED if self.error else DONE

    @classmethod
    def of_failure(cls, run: PlannedRun, error: BaseException | str) -> "RunRecord":
        """The record of a run that failed: what was raised, in one line."""
        text = storable(" ".join(error.split())) if isinstance(error, str) else told(error)
        return cls(run, error=text[:_LONGEST_ERROR])


def metric_fields() -> list[pa.Field]:
    """Columns of the metrics: whole numbers where something is counted."""
    fields = []
    for one in METRICS:
        fields.append(pa.field(one.key, pa.int64() if one.kind == "count" else pa.float64()))
        if one.is_ratio:
            whole = pa.int64() if one.kind == "rate" else pa.float64()
            fields += [
                pa.field(f"{one.key}_numerator", whole),
                pa.field(f"{one.key}_denominator", pa.int64()),
            ]
    return fields


def runs_schema(keys: Sequence[str]) -> pa.Schema:
    """Columns of `runs.parquet` for a batch that sweeps these keys."""
    return pa.schema(
        [
            pa.field("run_id", pa.string()),
            *(pa.field(key, _key_type(key)) for key in keys),
            pa.field("replicate", pa.int64()),
            pa.field("seed", pa.int64()),
            pa.field("status", pa.string()),
            pa.field("error", pa.string()),
            *metric_fields(),
        ]
    )


def _key_type(key: str) -> pa.DataType:
    row = find_parameter(parse_path(key))
    kinds = {"number": pa.float64(), "whole number": pa.int64(), "true or false": pa.bool_()}
    return kinds.get(row.type if row else "", pa.string())


def key_column(key: str, values: Sequence[Any]) -> pa.Array:
    """Values of a swept key as a column; lists and tables become JSON."""
    kind = _key_type(key)
    if kind == pa.string():
        values = [v if isinstance(v, str) else json.dumps(v, sort_keys=True) for v in values]
    return pa.array(values, type=kind)


def encoded(
    records: Sequence[RunRecord], cells: Mapping[int, Mapping[str, Any]], about: Mapping[str, str]
) -> bytes:
    """Write runs as a part file.

    Parameters
    ----------
    records
        The runs.
    cells
        Number of a cell to its swept values; all cells sweep the same keys.
    about
        Further text, kept in the file's metadata.
    """
    flat = run_rows(records, cells)
    for name in dict.fromkeys(name for r in records for name in r.tables):
        flat = flat.append_column(name, _nested([r.tables.get(name) for r in records]))
    sink = io.BytesIO()
    pq.write_table(flat.replace_schema_metadata(dict(about)), sink, compression=COMPRESSION)
    return sink.getvalue()


def run_rows(records: Sequence[RunRecord], cells: Mapping[int, Mapping[str, Any]]) -> pa.Table:
    """Rows of `runs.parquet`; parameters as in `encoded`."""
    keys = tuple(next(iter(cells.values()))) if cells else ()
    schema = runs_schema(keys)
    columns: dict[str, pa.Array] = {
        "run_id": [r.run.run_id for r in records],
        **{key: key_column(key, [cells[r.run.cell][key] for r in records]) for key in keys},
        "replicate": [r.run.replicate for r in records],
        "seed": [r.run.seed for r in records],
        "status": [r.status for r in records],
        "error": [r.error or None for r in records],
        **{f.name: [r.metrics.get(f.name) for r in records] for f in metric_fields()},
    }
    return pa.table([pa.array(columns[f.name], type=f.type) for f in schema], schema=schema)


def _nested(tables: Sequence[pd.DataFrame | None]) -> pa.ListArray:
    """One list of rows for each table; an empty one where there is none."""
    joined = pa.concat_tables([_arrow(t) for t in tables if t is not None], promote_options="permissive")
    arrays = [_one_array(column) for column in joined.columns]
    rows = pa.StructArray.from_arrays(arrays, fields=list(joined.schema))
    offsets = [0]
    for table in tables:
        offsets.append(offsets[-1] + (0 if table is None else len(table)))
    return pa.ListArray.from_arrays(pa.array(offsets, type=pa.int32()), rows)


def _arrow(table: pd.DataFrame) -> pa.Table:
    """The table as Arrow has it; `Table.from_pandas` does the same in five times the time."""
    return pa.table({name: pa.array(column, from_pandas=True) for name, column in table.items()})


def _one_array(column: pa.ChunkedArray) -> pa.Array:
    if column.num_chunks == 1:
        return column.chunk(0)
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], type=column.type)
