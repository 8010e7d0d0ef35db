"""The event log: append-only typed records, written as tables when the run is over."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

__all__ = ["COLUMNS", "EventLog"]

COLUMNS: dict[str, dict[str, str]] = {
    "notices": {
        "incident": "int64",
        "person": "int64",
        "time": "float64",
        "decision": "str",
        "probability": "float64",
        "fear": "float64",
        "efficacy": "float64",
        "exposure": "float64",
    },
    "reports": {
        "report": "int64",
        "incident": "int64",
        "person": "int64",
        "lab": "int64",
        "target": "int64",
        "time": "float64",
        "period": "int64",
        "repeat": "int64",
        "anonymity_set": "int64",
        "covered": "bool",
        "leaked": "bool",
        "disclosed": "bool",
    },
    "audits": {
        "decision": "int64",
        "time": "float64",
        "target": "int64",
        "active_reports": "int64",
        "max_active_reports": "int64",
        "misselected": "bool",
        "deficit": "int64",
        "normalized_deficit": "float64",
        "open_incidents": "int64",
        "found": "int64",
        "sanction": "float64",
    },
    "inferences": {
        "time": "float64",
        "decision": "int64",
        "lab": "str",
        "target": "int64",
        "person": "int64",
        "incident": "int64",
        "rule": "str",
        "posterior": "float64",
        "flagged": "bool",
    },
    "retaliations": {
        "time": "float64",
        "identified_time": "float64",
        "lab": "str",
        "person": "int64",
        "incident": "int64",
        "channel": "str",
        "covered": "bool",
        "reporter": "bool",
    },
    "departures": {"time": "float64", "lab": "int64", "person": "int64", "reason": "str"},
    "series": {
        "time": "float64",
        "reports": "int64",
        "active_reports": "int64",
        "audited": "str",
        "lab": "str",
        "deficit": "int64",
        "open_incidents": "int64",
        "retaliations": "int64",
        "fear": "float64",
        "efficacy": "float64",
    },
}
"""Tables that are recorded as things happen: column names and types, in the order of the file."""

type _Row = dict[str, Any] | tuple[Any, ...]


class EventLog:
    """Append-only records of a run, one list of chunks a table; rows keep the order in which they came."""

    def __init__(self) -> None:
        self._rows: dict[str, list[_Row]] = {name: [] for name in COLUMNS}
        self._blocks: dict[str, list[tuple[int, dict[str, Any]]]] = {name: [] for name in COLUMNS}

    def record(self, table: str, **values: Any) -> None:
        """Append one row to `table`, every column named."""
        self._rows[table].append(values)

    def recorder(self, table: str) -> Callable[[tuple[Any, ...]], None]:
        """Give what appends one row to `table` as a tuple in the order of the columns: for what happens most."""
        return self._rows[table].append

    def record_block(self, table: str, **columns: Any) -> None:
        """Append many rows to `table`: arrays of one length; scalars are repeated."""
        self._blocks[table].append((len(self._rows[table]), columns))

    def count(self, table: str) -> int:
        """Number of rows recorded singly in `table`."""
        return len(self._rows[table])

    def frame(self, table: str) -> pd.DataFrame:
        """The table as a data frame with the columns and types of `COLUMNS`."""
        rows = self._rows[table]
        # stretches of single rows, with the blocks that came between them
        stretches: list[list[_Row] | tuple[dict[str, Any], int]] = []
        done = 0
        for before, columns in self._blocks[table]:
            stretches.append(rows[done:before])
            length = max(len(v) for v in columns.values() if isinstance(v, np.ndarray))
            stretches.append((columns, length))
            done = before
        stretches.append(rows[done:])
        # column by column: a frame for each stretch would cost more than the run
        kinds = enumerate(COLUMNS[table].items())
        return pd.DataFrame({name: _column(stretches, place, name, kind) for place, (name, kind) in kinds})


def _column(
    stretches: list[list[_Row] | tuple[dict[str, Any], int]], place: int, name: str, kind: str
) -> Any:
    """One column over all stretches, as an array of its type."""
    text = kind == "str"
    pieces: list[np.ndarray] = []
    for stretch in stretches:
        if isinstance(stretch, tuple):
            columns, length = stretch
            value = np.asarray(columns[name], dtype=object if text else kind)
            pieces.append(np.broadcast_to(value, (length,)))
        elif stretch:
            values = [row[name] if isinstance(row, dict) else row[place] for row in stretch]
            pieces.append(np.array(values, dtype=object if text else kind))
    joined = np.concatenate(pieces) if pieces else np.empty(0, dtype=object if text else kind)
    return pd.array(joined, dtype="str") if text else joined
