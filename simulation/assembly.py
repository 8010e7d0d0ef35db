"""From part files to the tables of a batch, in the order of the plan.

The bytes depend on the plan and on what its runs gave, not on how they were cut into parts: rows are written in
blocks of a fixed number of runs, with types that all runs agree on.
"""

import os
import shutil
import tempfile
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from .batch_plan import BatchPlan, PlannedRun
from .final_tables import remove_strangers
from .parts import PartIndex, sync_directory
from .run_records import COMPRESSION, EVENTS, NESTED, key_column, runs_schema

__all__ = ["TABLES_ASIDE", "assemble", "nested_table", "runs_table"]

TABLES_ASIDE = ".tables-"
"""Prefix of the folder in which tables are written before they are moved into place."""

_RUNS_IN_BLOCK = {"runs": 65_536, "groups": 512, "series": 512}
_RUNS_IN_EVENT_BLOCK = 64  # an event log can be a thousand times as long as a row of metrics
_PARTS_KEPT = 16  # decoded parts: runs that are neighbours in the plan are mostly so in a part


class _Reader:
    """Columns of parts, kept for a while."""

    def __init__(self, columns: Sequence[str]) -> None:
        self._columns = list(columns)
        self._kept: OrderedDict[Path, pa.Table] = OrderedDict()

    def rows(self, part: Path, first: int, count: int) -> pa.Table:
        """Some rows of a part."""
        if part not in self._kept:
            with pq.ParquetFile(part) as file:
                names = file.schema_arrow.names
                self._kept[part] = file.read([c for c in self._columns if c in names])
            if len(self._kept) > _PARTS_KEPT:
                self._kept.popitem(last=False)
        self._kept.move_to_end(part)
        return self._kept[part].slice(first, count)


def runs_table(plan: BatchPlan, runs: Iterable[PlannedRun], index: PartIndex) -> pa.Table:
    """Rows of `runs.parquet` for those of `runs` that are there."""
    schema = runs_schema(plan.keys)
    found = [run for run in runs if run.run_id in index]
    stored = schema.names[schema.get_field_index("status") :]
    reader = _Reader(stored)
    pieces = [reader.rows(part, first, len(some)) for part, first, some in _stretches(found, index)]
    results = pa.concat_tables(pieces) if pieces else schema.empty_table().select(stored)
    columns: dict[str, Any] = {
        "run_id": pa.array([run.run_id for run in found], type=pa.string()),
        **{key: key_column(key, [plan.cells[run.cell].values[key] for run in found]) for key in plan.keys},
        "replicate": pa.array([run.replicate for run in found], type=pa.int64()),
        "seed": pa.array([run.seed for run in found], type=pa.int64()),
        **{name: results[name] for name in stored},
    }
    return pa.table([columns[name] for name in schema.names], schema=schema).combine_chunks()


def nested_table(name: str, runs: Iterable[PlannedRun], index: PartIndex) -> pa.Table:
    """Rows of the runs' own tables (`groups`, `series`, `events:…`), as far as they are there, with `run_id`."""
    found = [run for run in runs if run.run_id in index]
    schema = _nested_schema(name, _parts_of(found, index))
    return _nested_rows(_Reader([name]), name, found, index, schema)


def _nested_rows(
    reader: _Reader, name: str, found: Sequence[PlannedRun], index: PartIndex, schema: pa.Schema
) -> pa.Table:
    pieces = [schema.empty_table()]
    for part, first, some in _stretches(found, index):
        rows = reader.rows(part, first, len(some))
        if name not in rows.column_names:
            continue  # all runs of this part failed
        lists = rows[name].combine_chunks()
        own = pa.Table.from_struct_array(lists.flatten())
        ids = np.repeat([run.run_id for run in some], lists.value_lengths().fill_null(0).to_numpy())
        columns = [pa.array(ids.tolist(), type=pa.string()), *own.columns]
        piece = pa.table(columns, names=["run_id", *own.column_names])
        pieces.append(piece.select(schema.names).cast(schema))
    return pa.concat_tables(pieces).combine_chunks()


def _nested_schema(name: str, parts: Iterable[Path]) -> pa.Schema:
    """Columns of a nested table, with types that hold what every run has in them."""
    own = [
        pa.schema(list(schema.field(name).type.value_type))
        for schema in map(pq.read_schema, parts)
        if name in schema.names
    ]
    merged = pa.unify_schemas(own, promote_options="permissive") if own else pa.schema([])
    return pa.schema([pa.field("run_id", pa.string()), *(f for f in merged if f.name != "run_id")])


def _parts_of(found: Iterable[PlannedRun], index: PartIndex) -> list[Path]:
    return list(dict.fromkeys(index[run.run_id].part for run in found))


def _stretches(
    found: Sequence[PlannedRun], index: PartIndex
) -> Iterator[tuple[Path, int, Sequence[PlannedRun]]]:
    """Cut the runs where neighbours in the plan are none in the parts: part, first row, runs."""
    begin = 0
    for end in range(1, len(found) + 1):
        if end < len(found):
            before, here = index[found[end - 1].run_id], index[found[end].run_id]
            if here.part == before.part and here.row == before.row + 1:
                continue
        place = index[found[begin].run_id]
        yield place.part, place.row, found[begin:end]
        begin = end


def assemble(
    plan: BatchPlan, replicates: int, index: PartIndex, directory: Path, *, events: bool
) -> dict[str, int]:
    """Write the final tables: aside first, then moved into place; event tables of an earlier batch are removed.

    Returns
    -------
    dict
        File of each table, relative to the directory, to its number of rows.

    Raises
    ------
    OSError
        They cannot be written; what was there before still is.
    """
    runs = [run for run in plan.runs(replicates) if run.run_id in index]
    aside = Path(tempfile.mkdtemp(prefix=TABLES_ASIDE, dir=directory))
    rows: dict[str, int] = {}

    def write(file: str, schema: pa.Schema, tables: Iterable[pa.Table]) -> None:
        rows[file] = _written(aside / file, schema, tables)

    try:
        blocks = _blocks(runs, _RUNS_IN_BLOCK["runs"])
        write("runs.parquet", runs_schema(plan.keys), (runs_table(plan, b, index) for b in blocks))
        parts = _parts_of(runs, index)
        names = dict.fromkeys(name for part in parts for name in pq.read_schema(part).names)
        logs = sorted(name for name in names if name.startswith(EVENTS)) if events else []
        for name in (*NESTED, *logs):
            schema, reader = _nested_schema(name, parts), _Reader([name])
            blocks = _blocks(runs, _RUNS_IN_BLOCK.get(name, _RUNS_IN_EVENT_BLOCK))
            tables = (_nested_rows(reader, name, block, index, schema) for block in blocks)
            write(_file_of(name), schema, tables)
        for file in sorted(path for path in aside.rglob("*") if path.is_file()):
            place = directory / file.relative_to(aside)
            place.parent.mkdir(exist_ok=True)
            file.replace(place)
        if logs:
            sync_directory(directory / "events")
        remove_strangers(directory, rows)
        sync_directory(directory)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return rows


def _file_of(name: str) -> str:
    return f"events/{name.removeprefix(EVENTS)}.parquet" if name.startswith(EVENTS) else f"{name}.parquet"


def _blocks(runs: Sequence[PlannedRun], size: int) -> Iterator[list[PlannedRun]]:
    rest = iter(runs)
    while block := list(islice(rest, size)):
        yield block


def _written(path: Path, schema: pa.Schema, tables: Iterable[pa.Table]) -> int:
    """Write a table, block by block; its number of rows."""
    path.parent.mkdir(exist_ok=True)
    n_rows = 0
    with path.open("wb") as file:
        with pq.ParquetWriter(file, schema, compression=COMPRESSION) as writer:
            for table in tables:
                writer.write_table(table, row_group_size=max(len(table), 1))
                n_rows += len(table)
        file.flush()
        os.fsync(file.fileno())
    return n_rows
