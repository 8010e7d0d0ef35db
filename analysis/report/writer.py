"""Making a report from a directory, and writing it there or elsewhere."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from ...scenarios.errors import InputError
from ..drawing import write_atomically
from ..estimates import available_metrics
from ..findings import Finding
from ..latex import latex_table
from ..metrics import METRICS
from ..results import Results, read_results
from ..study_figures import chosen_figures
from .other_findings import findings_of
from .page import Picture, render_page
from .sections import provenance
from .tables import Printed, printed_tables, tidy_tables

__all__ = ["Report", "holds_report", "make_report", "write_report"]

PAGE = "report.html"
_MARK = b"<footer>Made with deniability"  # in every page (page.html)
_UNFINISHED = b"""<!doctype html><meta charset="utf-8"><title>Unfinished report</title>
<p>This report is being written, or was interrupted; the same command writes it anew.</p>
<footer>Made with deniability</footer>
"""


@dataclass(frozen=True)
class Report:
    """What a directory of results says, before anything is drawn or written.

    Attributes
    ----------
    results
        What it is made from.
    findings
        Sentences with their estimates.
    tables
        Tidy tables by name.
    """

    results: Results
    findings: Sequence[Finding]
    tables: Mapping[str, pd.DataFrame]

    def as_dict(self) -> dict[str, Any]:
        """What `--json` prints: undefined numbers are None."""
        results = self.results
        return {
            "kind": results.kind,
            "scenario": results.scenario.get("scenario", {}).get("name", results.manifest.get("scenario")),
            "runs": len(results.runs),
            "notices": list(results.notices),
            "findings": [
                {"topic": one.topic, "sentence": one.sentence, "estimates": [_plain(row) for row in one.rows]}
                for one in self.findings
            ],
            "estimates": [
                _plain(row) for row in self.tables.get("estimates", pd.DataFrame()).to_dict("records")
            ],
        }


def make_report(directory: str | Path) -> Report:
    """Read a directory and say what is in it.

    Raises
    ------
    InputError
        If there are no results, or a table cannot be used: the message names table and column.
    """
    results = read_results(directory)
    if len(results.runs):
        absent = [one.key for one in METRICS if one.key not in available_metrics(results.runs)]
        if absent:
            told = f"Columns are missing for, and nothing is said of: {', '.join(absent)}."
            results = replace(results, notices=(*results.notices, told))
    tables = tidy_tables(results) if results.kind != "sensitivity" else {}
    return Report(results, findings_of(results), tables)


def holds_report(directory: Path) -> bool:
    """Whether a directory holds a page that `write_report` wrote."""
    try:
        return _MARK in (directory / PAGE).read_bytes()
    except OSError:
        return False


def write_report(
    report: Report, source: str | Path, out: str | Path, progress: Callable[[str], None] = lambda _name: None
) -> list[Path]:
    """Write figures, tables and the page.

    Parameters
    ----------
    report
        Of `make_report`.
    source
        The directory it was made from.
    out
        Where `report.html`, `figures/` and `tables/` go; may be the same.
    progress
        Told the name of each file's stem when it is written.

    Returns
    -------
    list of Path
        The page first, then figures and tables.

    Raises
    ------
    InputError
        If it cannot be written.
    """
    target, results = Path(out), report.results
    page, written = target / PAGE, list[Path]()
    try:
        if not page.exists():  # whatever happens from here on, the directory can be told as ours
            target.mkdir(parents=True, exist_ok=True)
            write_atomically(page, _UNFINISHED)
        pictures = list(_pictures(results, Path(source), target, written, progress))
        printed = list(printed_tables(results)) if results.kind != "sensitivity" else []
        (target / "tables").mkdir(parents=True, exist_ok=True)
        for name, table in report.tables.items():
            written.append(target / "tables" / f"{name}.csv")
            text = table.to_csv(index=False, float_format="%.10g", lineterminator="\n")
            write_atomically(written[-1], text.encode())
        for one in printed:
            written.append(target / "tables" / f"{one.stem}.tex")
            write_atomically(written[-1], _latex(one).encode())
        progress("tables")
        write_atomically(page, render_page(results, report.findings, pictures, printed).encode())
    except OSError as error:
        raise InputError(f"--out {out}: cannot write there ({error.strerror})") from error
    progress(PAGE)
    return [page, *written]


def _pictures(
    results: Results, source: Path, target: Path, written: list[Path], progress: Callable[[str], None]
) -> Iterator[Picture]:
    """Draw and save what these results have figures for; where that is none, show those that came with them."""
    drawn = False
    for drawing in chosen_figures(results):
        written.extend(drawing.save(target / "figures", provenance(results)))
        svg = (target / "figures" / f"{drawing.stem}.svg").read_text(encoding="utf-8")
        drawn = True
        progress(drawing.stem)
        yield drawing.stem, svg, drawing.caption
    if drawn:
        return
    for file in sorted((source / "figures").glob("*.svg")):
        caption = file.with_suffix(".txt")
        text = caption.read_text(encoding="utf-8") if caption.is_file() else file.stem
        yield file.stem, file.read_text(encoding="utf-8"), text.split("\n\nProvenance:")[0].strip()


def _latex(one: Printed) -> str:
    return latex_table(
        one.table, caption=one.caption, label=one.stem, notes=one.notes, text_columns=one.text_columns
    )


def _plain(row: Mapping[Any, Any]) -> dict[str, Any]:
    """A row as JSON takes it."""
    values = {str(k): v.item() if hasattr(v, "item") else v for k, v in row.items()}
    return {k: None if isinstance(v, float) and v != v else v for k, v in values.items()}
