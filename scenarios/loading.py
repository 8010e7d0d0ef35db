"""From a name or a path to a checked scenario."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .checks import check
from .errors import InputError
from .files import Document, locate, locate_parent, read_document
from .linked import anchored
from .merging import Layer, Merged, Origin, overlay
from .paths import parse_path, render_path
from .reference import find_parameter
from .sampling import sampled_values
from .schema import ScenarioConfig
from .settings import Setting, read_setting, setting_layer
from .starter import study_name
from .sweeps import Cell, cells_of, with_cell
from .wording import written

__all__ = ["ResolvedScenario", "cell_config", "resolve", "resolve_tree", "sweep_cells"]

_DEEPEST = 50  # parents of parents


@dataclass(frozen=True)
class ResolvedScenario:
    """A scenario with its parents merged in, `--set` applied, and everything checked."""

    config: ScenarioConfig
    tree: Mapping[str, Any]
    """What files and settings say, merged: plain values, without the schema's defaults."""
    origins: Mapping[str, Origin]
    """Dotted path to the file and line that set the value."""
    source: Path | None
    """The file; None for a scenario that came as plain values."""
    parents: tuple[str, ...]
    """The files it is built on, in the order in which they were merged."""


def resolve(
    source: str | Path,
    overrides: Iterable[str | tuple[str, Any] | Setting] = (),
    known_names: Mapping[str, Collection[str]] | None = None,
) -> ResolvedScenario:
    """Read a scenario, merge its parents, apply overrides and check it all.

    Parameters
    ----------
    source
        A shipped name, or the path of a TOML file.
    overrides
        `KEY=VALUE` as on the command line, pairs of dotted path and value, or settings; later ones win.
    known_names
        Dotted path to the names that exist, for what only other layers know (`auditor.mechanism`).

    Raises
    ------
    InputError
        With one message for each thing that is wrong.
    """
    label, path = locate(source)
    document = read_document(label, path)
    parents: list[str] = []
    merged = _with_parents(document, [], parents, {})
    return _finished(merged, overrides, known_names or {}, label, path, parents)


def resolve_tree(
    tree: Mapping[str, Any],
    overrides: Iterable[str | tuple[str, Any] | Setting] = (),
    known_names: Mapping[str, Collection[str]] | None = None,
    label: str = "scenario",
) -> ResolvedScenario:
    """Like `resolve`, for a scenario without parents that comes as plain values."""
    if _extends(Document(label, Path(), tree, {})):
        raise InputError(f"{label}: scenario.extends: a scenario given as values has no parents")
    layer = Layer(label, anchored(tree, Path.cwd()))
    return _finished(overlay(Merged(), layer), overrides, known_names or {}, label, None, [])


def _with_parents(
    document: Document, chain: list[Document], parents: list[str], done: dict[Path, Merged]
) -> Merged:
    identity = document.path.resolve()
    if identity in done:
        return done[identity]
    chain = [*chain, document]
    if identity in [other.path.resolve() for other in chain[:-1]]:
        names = " -> ".join(other.label for other in chain)
        raise InputError(f"{_at_extends(chain[-2])}: scenario.extends: a circle: {names}")
    if len(chain) > _DEEPEST:
        raise InputError(f"{document.label}: more than {_DEEPEST} scenarios extend one another")
    merged = Merged()
    for name in _extends(document):
        parent = read_document(*locate_parent(name, document, _at_extends(document)))
        below = _with_parents(parent, chain, parents, done)
        if parent.label not in parents:
            parents.append(parent.label)
        merged = overlay(merged, Layer(parent.label, below.tree, {}))
        merged.origins.update(below.origins)
    # what a study is called and asks is its own
    merged.tree.pop("scenario", None)
    for place in [place for place in merged.origins if place[0] == "scenario"]:
        del merged.origins[place]
    own = anchored(document.tree, document.path.parent)
    merged = overlay(merged, Layer(document.label, own, document.lines))
    done[identity] = merged
    return merged


def _at_extends(document: Document) -> str:
    line = document.lines.get(("scenario", "extends"))
    return f"{document.label}:{line}" if line else document.label


def _extends(document: Document) -> list[str]:
    study = document.tree.get("scenario", {})
    names = study.get("extends", []) if isinstance(study, Mapping) else []
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise InputError(
            f"{_at_extends(document)}: scenario.extends = {written(names)}: must be a list of shipped names "
            'or paths, for example ["five-labs"]'
        )
    return names


def _finished(
    merged: Merged,
    overrides: Iterable[str | tuple[str, Any] | Setting],
    known_names: Mapping[str, Collection[str]],
    label: str,
    source: Path | None,
    parents: list[str],
) -> ResolvedScenario:
    messages: list[str] = []
    for item in overrides:
        try:
            keys, value, option = read_setting(item)
            layer = setting_layer(keys, value, merged.tree, option)
            merged = overlay(merged, Layer(layer.label, anchored(layer.tree, Path.cwd()), layer.lines))
        except InputError as error:
            messages += error.messages
    _name_the_study(merged.tree, source.stem if source else label)
    config, problems = check(merged.tree, known_names)
    problems.sort(key=lambda problem: merged.origin(problem.place) or ("", 0))
    messages += dict.fromkeys(problem.message(merged, label) for problem in problems)
    if messages or config is None:
        raise InputError(messages)
    origins = {render_path(place): origin for place, origin in merged.origins.items()}
    return ResolvedScenario(config, merged.tree, origins, source, tuple(parents))


def _name_the_study(tree: dict[str, Any], stem: str) -> None:
    study = tree.get("scenario", {})
    if isinstance(study, Mapping):
        named = {"name": study_name(stem), **{key: value for key, value in study.items() if key != "extends"}}
        tree["scenario"] = {"title": named["name"], **named}


def sweep_cells(resolved: ResolvedScenario) -> list[Cell]:
    """Return the cells of the scenario's sweep in a fixed order; one empty cell where it sweeps nothing.

    Zipped values are outermost, then the points of a sample, then the grid's axes in the order of the file, the last
    one fastest. A whole number given for a parameter that takes any number comes back as a float, so that columns
    have one type.
    """
    sweep = resolved.config.sweep
    return list(cells_of(_typed(sweep.grid), _typed(sweep.zip), _typed(sampled_values(sweep.sample))))


def _typed(axes: Mapping[str, list[Any]]) -> dict[str, list[Any]]:
    rows = {path: find_parameter(parse_path(path)) for path in axes}
    numbers = {path for path, row in rows.items() if row and row.type == "number"}
    return {path: list(map(float, values)) if path in numbers else values for path, values in axes.items()}


def cell_config(resolved: ResolvedScenario, cell: Mapping[str, Any]) -> ScenarioConfig:
    """Return the configuration of one cell: the scenario with these values set (dotted path to value)."""
    return ScenarioConfig.model_validate(with_cell(resolved.tree, cell))
