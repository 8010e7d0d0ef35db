"""The verb `report`: figures, tables and one HTML page from results."""

import json
from pathlib import Path
from typing import Annotated

import typer

from .options import folder, folder_argument

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the verb to the application."""
    app.command("report")(report)


def report(
    directory: Annotated[
        Path, folder_argument("DIR", "Results: a batch, a run, a twin, leakage or sensitivity study.")
    ],
    out: Annotated[Path | None, folder("--out", "Where the report goes [DIR itself].")] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Write into an --out directory of other content.")
    ] = False,
    as_json: Annotated[
        bool,
        typer.Option("--json", help="Print findings and estimates as JSON; without --out write nothing."),
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress and no account.")] = False,
) -> None:
    """Turn results into figures, tables and one page that needs no network.

    Reads tables only, so it works on results copied from another machine, and on a batch that is still at work. What
    it writes (report.html, figures/, tables/) it replaces when it is run again; an --out directory of other content
    is refused.
    """
    from ...analysis.report import make_report, write_report
    from ...analysis.report.writer import holds_report
    from ..store import check_report_place

    if out is not None:
        check_report_place(out, source=directory, ours=holds_report, force=force)
    made = make_report(directory)
    target = out if out is not None else None if as_json else directory
    written: list[Path] = []
    if target is not None:
        say = (lambda _name: None) if quiet else (lambda name: typer.echo(f"  {name}", err=True))
        written = write_report(made, directory, target, say)
    if as_json:
        files = [path.relative_to(target).as_posix() for path in written] if target is not None else []
        typer.echo(json.dumps(made.as_dict() | {"files": files}, allow_nan=False))
    elif not quiet:
        for notice in made.results.notices:
            typer.echo(notice + "\n")
        topic = ""
        for finding in made.findings:
            if finding.topic != topic:
                topic = finding.topic
                typer.echo(topic)
            typer.echo(f"  {finding.sentence}")
        typer.echo(f"\nWritten to {written[0]}, with {len(written) - 1} files of figures and tables.")
