"""Tables of the documentation that are made from the schema and from what the shipped scenarios say."""

from collections.abc import Iterator
from typing import Any

from .catalog import shipped_names
from .loading import ResolvedScenario, resolve, sweep_cells
from .reference import BEHAVIOUR, ParameterRow, parameter_table
from .values import value_rows
from .wording import written

__all__ = ["parameters_markdown", "scenarios_markdown", "sources_markdown"]


def parameters_markdown(name: str = "five-labs") -> str:
    """Every parameter that changes a run: its value in a scenario, unit, range, meaning, and what it rests on.

    Parameters
    ----------
    name
        The scenario whose values and evidence are shown.
    """
    scenario = resolve(name)
    lines = [
        f"| parameter | `{name}` | unit | allowed | meaning | evidence |",
        "|---|---|---|---|---|---|",
    ]
    for row in parameter_table():
        if row.path.split(".")[0] in BEHAVIOUR:
            value, evidence = _value_and_evidence(scenario, row)
            cells = (f"`{row.path}`", value, _unit(row), row.allowed, row.description, evidence)
            lines.append(f"| {' | '.join(map(_cell, cells))} |")
    items = [row for row in parameter_table(items=True) if "[]" in row.path]
    for row in items:
        if row.path.split(".")[0].removesuffix("[]") in BEHAVIOUR:
            cells = (f"`{row.path}`", "", _unit(row), row.allowed, row.description, "")
            lines.append(f"| {' | '.join(map(_cell, cells))} |")
    return "\n".join(lines)


def _unit(row: ParameterRow) -> str:
    return "" if row.unit == "none" else row.unit


def _value_and_evidence(scenario: ResolvedScenario, row: ParameterRow) -> tuple[str, str]:
    """The value, or those of all labs, and the evidence; the lab's own name before it where labs differ."""
    found = list(_of_scenario(scenario, row.path))
    values = list(dict.fromkeys(value for _, value, _ in found))
    told: dict[str, list[str]] = {}
    for lab, _, evidence in found:
        if evidence:
            told.setdefault(evidence, []).append(lab)
    several = len(told) > 1
    evidence = "; ".join(f"{', '.join(labs)}: {text}" if several else text for text, labs in told.items())
    return "; ".join(values), evidence


def _of_scenario(scenario: ResolvedScenario, path: str) -> Iterator[tuple[str, str, str]]:
    """Lab (empty where it is none's), value and evidence of each value that the row stands for."""
    head, lab_id, tail = path.partition("<id>")
    for row in value_rows(scenario):
        if not lab_id and row.path == path:
            yield "", _written(row.value), row.evidence
        elif lab_id and row.path.startswith(head):
            lab, _, rest = row.path.removeprefix(head).partition(".")
            if rest == tail[1:]:
                yield lab, _written(row.value), row.evidence
            elif rest.startswith(f"{tail[1:]}."):
                yield lab, f"{rest.rpartition('.')[2]} = {_written(row.value)}", row.evidence


def _written(value: Any) -> str:
    if value is None:
        return "that of the run"
    if value in ("", [], {}):
        return "none"
    return ", ".join(map(str, value)) if isinstance(value, list) else written(value)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def scenarios_markdown() -> str:
    """The shipped scenarios: what each asks, its size and its sweep."""
    lines = [
        "| scenario | asks | targets | decisions | sweep | first figure |",
        "|---|---|---|---|---|---|",
    ]
    for name in shipped_names():
        scenario = resolve(name)
        config = scenario.config
        axes = ", ".join(f"`{path}` × {len(values)}" for path, values in config.sweep.grid.items())
        cells = (
            f"`{name}`",
            config.scenario.question,
            str(config.n_targets),
            str(config.time.periods),
            f"{axes}; {len(sweep_cells(scenario))} cells × {config.sweep.replicates} runs",
            f"`{config.scenario.headline}`",
        )
        lines.append(f"| {' | '.join(map(_cell, cells))} |")
    return "\n".join(lines)


def sources_markdown(name: str = "five-labs") -> str:
    """The sources that a scenario names, by key."""
    sources = resolve(name).config.sources
    return "\n".join(f"- `{key}`: {_cell(text)}" for key, text in sources.items())
