"""Reading columns from result tables, with messages that name the table and the column."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..scenarios.errors import InputError

__all__ = ["CHANNELS", "HORIZON_WEEKS", "Columns", "Tables", "innocents", "restricted_waits"]

CHANNELS = ("transcript", "side_information", "self_disclosure", "audit_scope")
"""The channels through which a lab comes to believe that someone reported."""

HORIZON_WEEKS = 26.0
"""Weeks at which the wait of an incident for an audit is cut off, so that runs that end do not shorten it."""

type Tables = Mapping[str, pd.DataFrame] | Columns
"""Name of a table to its rows; or a `Columns`, where several functions read the same tables."""


class Columns:
    """The columns of a run's tables as arrays, each converted once.

    A table that holds nothing at all, not even columns, reads as one without rows.

    Parameters
    ----------
    tables
        Name of a table to its rows. Not to be changed while this is in use.
    """

    def __init__(self, tables: Mapping[str, pd.DataFrame]) -> None:
        self._tables = tables
        self._raw: dict[tuple[str, str], npt.NDArray[Any]] = {}
        self._floats: dict[tuple[str, str], npt.NDArray[np.float64]] = {}

    @classmethod
    def of(cls, tables: Tables) -> "Columns":
        """`tables` themselves if they are columns already."""
        return tables if isinstance(tables, Columns) else cls(tables)

    def has(self, table: str, name: str) -> bool:
        """Whether `table` is there with a column `name`; for what may be left out."""
        return table in self._tables and name in self._tables[table].columns

    def column(self, table: str, name: str) -> npt.NDArray[Any]:
        """Give a column as an array.

        Raises
        ------
        InputError
            If the table or the column is missing.
        """
        key = table, name
        if key not in self._raw:
            series = self._series(table, name)
            self._raw[key] = np.zeros(0) if series is None else series.to_numpy()
        return self._raw[key]

    def truths(self, table: str, name: str) -> npt.NDArray[np.bool_]:
        """Give a column of truth values that are never missing.

        Raises
        ------
        InputError
            If the table or the column is missing, or a value is.
        """
        raw = self.column(table, name)
        if raw.dtype == np.bool_:
            return raw
        values = self.floats(table, name)
        if np.isnan(values).any():
            raise InputError(f"table {table!r}: column {name!r} must be true or false in every row")
        result: npt.NDArray[np.bool_] = values != 0.0
        return result

    def floats(self, table: str, name: str) -> npt.NDArray[np.float64]:
        """Give a column as numbers, NaN where it is undefined (None, NA); True reads as 1.

        Raises
        ------
        InputError
            If the table or the column is missing, or does not hold numbers.
        """
        key = table, name
        if key not in self._floats:
            series = self._series(table, name)
            try:
                self._floats[key] = (
                    np.zeros(0) if series is None else series.to_numpy(dtype=np.float64, na_value=np.nan)
                )
            except (TypeError, ValueError) as error:
                message = f"table {table!r}: column {name!r} must hold numbers: {error}"
                raise InputError(message) from error
        return self._floats[key]

    def _series(self, table: str, name: str) -> "pd.Series[Any] | None":
        frame = self._tables.get(table)
        if frame is None:
            raise InputError(f"table {table!r} is missing; it is needed for its column {name!r}")
        if name in frame.columns:
            series: pd.Series[Any] = frame[name]
            return series
        if not len(frame.columns) and not len(frame):
            return None
        have = ", ".join(map(str, frame.columns))
        raise InputError(f"table {table!r} has no column {name!r}; it has: {have}")


def innocents(read: Columns) -> npt.NDArray[np.bool_]:
    """Rows of `people` who had access to at least one incident and never filed a report in the whole run."""
    observed, filed = read.column("people", "observed_incidents"), read.column("people", "reports")
    result: npt.NDArray[np.bool_] = (observed > 0) & (filed == 0)
    return result


def restricted_waits(
    read: Columns, period_weeks: float
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.float64]]:
    """Waits of incidents for the next audit of their target, as far as the end of the run does not hide them.

    An incident shortly before the end is seen to be audited only if that is soon, so a mean over audited incidents
    is too short, and the shorter the slower the audits. An incident with `HORIZON_WEEKS` before it tells
    min(wait, `HORIZON_WEEKS`) whatever comes after: its mean, the restricted mean, has no such bias.

    Parameters
    ----------
    read
        With the tables incidents and series; the run ends at the last time in series.
    period_weeks
        Weeks in an audit period.

    Returns
    -------
    tuple of ndarray
        Rows of `incidents` that are at least `HORIZON_WEEKS` before the end; and the wait of every row, in weeks and
        at most `HORIZON_WEEKS`.

    References
    ----------
    Royston and Parmar (2013), "Restricted mean survival time", BMC Medical Research Methodology 13, 152.
    """
    happened, ends = read.floats("incidents", "time"), read.floats("series", "time")
    wait = (read.floats("incidents", "first_audit_time") - happened) * period_weeks
    end = float(ends.max()) if len(ends) else -np.inf
    # a hair less, so that an incident exactly that long before the end counts whatever the rounding
    counted: npt.NDArray[np.bool_] = (end - happened) * period_weeks >= HORIZON_WEEKS * (1 - 1e-12)
    return counted, np.fmin(wait, HORIZON_WEEKS)
