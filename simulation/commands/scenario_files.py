"""Verbs for scenario files: list, show, new, validate, schema."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...scenarios.errors import InputError
from .options import Plugins, Settings, load_plugins

if TYPE_CHECKING:
    from ...scenarios import ResolvedScenario

__all__ = ["register"]

_WIDE = 180  # columns of output that is not a terminal's
_ROOM_FOR_TABLE = 120  # columns from which on a table is easier to read than a list

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]


def register(app: typer.Typer) -> None:
    """Add the verbs of this module to the application."""
    app.command("list")(list_scenarios)
    app.command("show")(show)
    app.command("new")(new)
    app.command("validate")(validate)
    app.command("schema")(schema)


def list_scenarios(as_json: AsJson = False) -> None:
    """List the scenarios that come with the package."""
    from ...scenarios import resolve, shipped_names, sweep_cells

    rows = []
    for name in shipped_names():
        resolved = resolve(name)
        config = resolved.config
        rows.append(
            {
                "name": name,
                "title": config.scenario.title,
                "question": config.scenario.question,
                "labs": len(config.labs),
                "targets": config.n_targets,
                "periods": config.time.periods,
                "cells": len(sweep_cells(resolved)),
                "replicates": config.sweep.replicates,
            }
        )
    if as_json:
        _print_json({"scenarios": rows})
        return
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("name", no_wrap=True)
    table.add_column("question")
    for heading in ("labs", "targets", "periods", "sweep"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(
            Text(str(row["name"]), style="bold"),
            Text(_lines(str(row["question"] or row["title"]))),
            *(str(row[key]) for key in ("labs", "targets", "periods")),
            f"{row['cells']} × {row['replicates']}",
        )
    _console().print(table)


def show(
    name: Annotated[
        str, typer.Argument(help="A shipped scenario's name or a TOML file.", metavar="SCENARIO")
    ],
    resolved: Annotated[
        bool,
        typer.Option("--resolved", help="Print the whole scenario as TOML, parents and defaults included."),
    ] = False,
    settings: Settings = None,
    plugins: Plugins = None,
    as_json: AsJson = False,
) -> None:
    """Show what a scenario asks and every value with its unit and source."""
    from ...scenarios import config_tree, content_hash, resolve, to_toml
    from ...scenarios.values import value_rows
    from ..registries import known_names

    load_plugins(plugins)
    scenario = resolve(name, overrides=settings or (), known_names=known_names())
    config = scenario.config
    if as_json:
        about = {key: getattr(config.scenario, key) for key in ("name", "title", "question", "description")}
        _print_json(
            about
            | {
                "content_hash": content_hash(config),
                "extends": list(scenario.parents),
                "parameters": [row._asdict() for row in value_rows(scenario)],
                "config": config_tree(config),
            }
        )
    elif resolved:
        typer.echo(to_toml(config), nl=False)
    else:
        _show(scenario)


def new(
    name: Annotated[
        str, typer.Argument(help="Name of the study; the file will be NAME.toml.", metavar="NAME")
    ],
) -> None:
    """Write NAME.toml: a commented scenario to start from."""
    from ...scenarios.starter import starter_text, study_name
    from ...scenarios.wording import printable, shell_word

    path = Path(name if name.endswith(".toml") else f"{name}.toml")
    if "\0" in name or not path.name.removesuffix(".toml").strip(". "):
        raise InputError(f"{name!r}: no name for a file")
    word = shell_word(str(path))
    text = starter_text(study_name(path.stem), word)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise InputError(f"{path}: exists already, and is left as it is") from None
    except FileNotFoundError:
        raise InputError(f"{path}: there is no folder {path.parent}") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}") from None
    typer.echo(f"{printable(str(path))} written. Check it with: deniability validate {word}")


def validate(
    files: Annotated[list[str], typer.Argument(help="Scenario files, or shipped names.", metavar="FILE...")],
    plugins: Plugins = None,
    as_json: AsJson = False,
) -> None:
    """Check scenario files: each is OK, or every problem in it is told (exit code 2).

    A value that a file sets without anything in [evidence] is worth a warning, and no problem; so are labs that
    suspect everybody, because organizations.threshold is at or below organizations.prior.
    """
    from ...scenarios import resolve, sweep_cells
    from ...scenarios.suspicion import suspicion_warnings
    from ...scenarios.values import unsupported
    from ...scenarios.wording import written
    from ..guarantees import check_horizons
    from ..registries import known_names
    from ..world.checks import check_networks

    load_plugins(plugins)
    names = known_names()
    results: list[dict[str, Any]] = []
    for file in files:
        try:
            scenario = resolve(file, known_names=names)
            check_networks(scenario.config)
            check_horizons(scenario)
        except InputError as error:
            results.append({"file": file, "ok": False, "problems": list(error.messages), "warnings": []})
            continue
        warnings = [
            f"{row.set_in}: warning: {row.path} = {written(row.value)} has no entry in [evidence]: a key of "
            '[sources], "assumption: why" or "tuned: how"'
            for row in unsupported(scenario)
        ]
        warnings += suspicion_warnings(scenario)
        results.append({"file": file, "ok": True, "problems": [], "warnings": warnings})
        if not as_json:
            runs = len(sweep_cells(scenario)) * scenario.config.sweep.replicates
            typer.echo(f"{file}: OK ({scenario.config.n_targets} targets, {runs} runs in its sweep)")
            for warning in warnings:
                typer.echo(warning, err=True)
    problems = [problem for result in results for problem in result["problems"]]
    if as_json:
        _print_json({"ok": not problems, "files": results})
        if problems:
            raise typer.Exit(2)
    elif problems:
        raise InputError(problems)


def schema() -> None:
    """Print the JSON Schema of scenario files, for editors and other programs."""
    from ...scenarios import scenario_json_schema

    _print_json(scenario_json_schema())


def _show(scenario: "ResolvedScenario") -> None:
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    from ...scenarios import content_hash
    from ...scenarios.values import value_rows
    from ...scenarios.wording import written

    about = scenario.config.scenario
    console = _console()
    console.print(Text(_lines(about.title), style="bold"))
    for text in (about.question, about.description.strip()):
        if text:
            console.print(Text(_lines(text)))
    if scenario.parents:
        console.print(Text(f"Built on {', '.join(scenario.parents)}."))
    console.print(Text(f"Content hash {content_hash(scenario.config)[:12]}"), end="\n\n")

    rows = value_rows(scenario)
    told = [
        (
            row.path,
            "that of the run" if row.value is None else written(row.value),
            "" if row.unit == "none" else row.unit,
            _lines(row.evidence) or ("default" if row.set_in == "default" else "no source given"),
        )
        for row in rows
    ]
    if console.width < _ROOM_FOR_TABLE:
        for path, value, unit, source in told:
            console.print(Text.assemble((path, "bold"), f" = {value} {unit}".rstrip()))
            console.print(Padding(Text(source, style="dim"), (0, 0, 0, 4)))
    else:
        table = Table(box=None, pad_edge=False, header_style="bold")
        table.add_column("parameter", no_wrap=True)
        table.add_column("value", justify="right", overflow="fold", max_width=40)
        table.add_column("unit", no_wrap=True)
        table.add_column("source", overflow="fold")
        for cells in told:
            table.add_row(*map(Text, cells))
        console.print(table)

    cited = {row.evidence.partition(":")[0].strip(): row.citation for row in rows if row.citation}
    if cited:
        console.print(Text("\nSources", style="bold"))
        for key, citation in cited.items():
            console.print(Text(_lines(f"{key}: {citation}")))
    sweep = scenario.config.sweep
    sample = sweep.sample
    if sweep.grid or sweep.zip or sample.linear or sample.log:
        console.print(Text(f"\nSweep, {sweep.replicates} replicates per cell", style="bold"))
        for path, values in {**sweep.zip, **sweep.grid}.items():
            console.print(Text(f"{path}: {', '.join(map(written, values))}"))
        for ranges, how in ((sample.linear, ""), (sample.log, " in the logarithm")):
            for path, (low, high) in ranges.items():
                spread = f"{sample.points} {sample.method} points{how}"
                console.print(Text(f"{path}: {written(low)} to {written(high)}, {spread}"))


def _lines(text: str) -> str:
    """Take the control characters out of a file's text; line breaks stay."""
    from ...scenarios.wording import printable

    return "\n".join(map(printable, text.split("\n")))


def _print_json(value: dict[str, Any]) -> None:
    # ASCII: whatever a file contains can be printed on any terminal
    typer.echo(json.dumps(value, allow_nan=False, indent=2))


def _console() -> Any:
    from rich.console import Console

    # what is piped or redirected is not cut to the width of a terminal
    return Console(highlight=False) if sys.stdout.isatty() else Console(highlight=False, width=_WIDE)
