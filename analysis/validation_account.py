"""The readable account of a validation: which patterns hold, which do not, with figures."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

__all__ = ["range_text", "validation_account", "value_text"]

_VERDICTS = {"holds": "bold green", "undecided": "bold yellow", "fails": "bold red", "undefined": "dim"}


def validation_account(summary: Mapping[str, Any], directory: Path | None = None) -> RenderableType:
    """Tell the result of a validation.

    Parameters
    ----------
    summary
        As printed with `--json`: scenario, replicates, patterns.
    directory
        Where the files are, if any were written.
    """
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("")
    table.add_column("Pattern")
    table.add_column("Role", no_wrap=True)
    for heading in ("Model", "95 % interval", "Shown by"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("Verdict", no_wrap=True)
    for row in summary["patterns"]:
        table.add_row(
            str(row["number"]),
            row["name"],
            row["role"],
            value_text(row["value"], row["unit"]),
            f"{value_text(row['low'], row['unit'])} to {value_text(row['high'], row['unit'])}",
            range_text(row),
            Text(row["verdict"], style=_VERDICTS[row["verdict"]]),
        )
    parts: list[RenderableType] = [
        Text(f"{summary['scenario']}: {summary['replicates']} runs of each variant", "bold"),
        table,
    ]
    for verdict, sentence in (
        ("fails", "Does not show"),
        ("undecided", "Not decided (the interval crosses a limit)"),
        ("undefined", "Not defined (nothing to divide by)"),
    ):
        parts += [
            Text(f"\n{sentence}: {row['statement']} Measured: {row['measure']}")
            for row in summary["patterns"]
            if row["verdict"] == verdict
        ]
    if directory is not None:
        parts.append(Text(f"\nWritten to {directory}"))
    return Group(*parts)


def value_text(value: float | None, unit: str) -> str:
    """Write a value with its unit: a share in per cent, a difference in points, reports as they are."""
    if value is None or pd.isna(value):
        return "–"
    return {"share": f"{100 * value:.1f} %", "points": f"{100 * value:+.1f}", "reports": f"{value:.2f}"}[unit]


def range_text(row: Mapping[str, Any]) -> str:
    """Write the values that show a pattern."""
    low, high = (value_text(row[key], row["unit"]) for key in ("range_low", "range_high"))
    if high == "–":
        return f"above {low}"
    return f"{low} to {high}"
