"""Code from outside that takes part in runs: `--plugin` files and entry points, with what they import.

A result depends on it as on our own code. So it is noted in manifests, a batch is not taken up again once it has
changed, and no worker with other foreign code makes runs of a batch (docs/batches.md).
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

from ..agents.registry import plugin_hashes
from ..scenarios import ScenarioConfig
from .import_walk import imported_by_file, imported_by_modules
from .registries import REGISTRIES
from .texts import storable

__all__ = ["ForeignCode", "changes", "foreign_code", "recorded"]

_PLUGIN = "plugin "  # how the label of one begins
_MOST = 8  # sources that a message lists of each
_DIGITS = 64  # of a hash
_ABSENT = "not imported"
_ABOUT = {"scenario", "evidence", "sources", "sweep"}  # tables that no run reads


@dataclass(frozen=True)
class ForeignCode:
    """A plugin or an entry point, and what it stands on.

    Attributes
    ----------
    label
        What it is called in messages and manifests.
    group
        Its entry-point group; empty for a plugin.
    name
        Id of the class that joined through the entry point, or the plugin's file.
    sources
        Names of modules and distributions with hashes and versions; of a plugin, those that it imports.
    """

    label: str
    group: str
    name: str
    sources: tuple[tuple[str, str], ...]

    def here(self) -> "ForeignCode | None":
        """The same as it is in this process, whose plugins are loaded; None if there is no such entry point.

        Raises
        ------
        InputError
            An entry point cannot be loaded.
        """
        if not self.group:
            return ForeignCode(self.label, "", self.name, _imports_of(Path(self.name)))
        entries = next((one.installed() for one in REGISTRIES if one.group == self.group), {})
        return _of_entry(self.group, self.name, entries[self.name]) if self.name in entries else None

    def told_differences(self, other: "ForeignCode") -> str:
        """In words, what another process (`other`) has in place of what is here; empty if it is the same."""
        pairs = _changed(dict(other.sources), dict(self.sources))
        return _listed(f"{name} {theirs} (here {ours})" for name, theirs, ours in pairs)


def foreign_code(configs: Iterable[ScenarioConfig]) -> tuple[ForeignCode, ...]:
    """All foreign code that takes part in runs of these scenarios.

    That is every plugin that is loaded, and the entry points whose ids the scenarios name. An entry point that is
    installed and not named changes nothing.

    Raises
    ------
    InputError
        An entry point cannot be loaded.
    """
    found = [
        ForeignCode(label, "", str(file), _imports_of(file))
        for file, label in _labels(plugin_hashes()).items()
    ]
    entries = {(one.group, name): entry for one in REGISTRIES for name, entry in one.installed().items()}
    if entries:  # seldom: there is nothing to look for otherwise
        named = set().union(*(_texts(config.model_dump(exclude=_ABOUT)) for config in configs))
        found += [_of_entry(group, name, entry) for (group, name), entry in entries.items() if name in named]
    return tuple(found)


def recorded(plugins: Mapping[Path, str], foreign: Iterable[ForeignCode]) -> dict[str, dict[str, Any]]:
    """What a manifest says of foreign code.

    Parameters
    ----------
    plugins
        Files with the hashes of their content: `plugins` in the manifest, by name.
    foreign
        What they import, and entry points: `foreign_code` in the manifest.
    """
    return {
        "plugins": {label.removeprefix(_PLUGIN): plugins[file] for file, label in _labels(plugins).items()},
        "foreign_code": {one.label: dict(one.sources) for one in foreign if one.sources},
    }


def changes(before: Any, now: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    """What tells the foreign code of a manifest from that of now, in sentences; none if it is the same.

    Parameters
    ----------
    before
        `foreign_code` of a manifest; None where there was none.
    now
        As `recorded` gives it.
    """
    there = before if isinstance(before, Mapping) else {}
    for label in dict.fromkeys([*now, *there]):
        old = there.get(label)
        pairs = _changed(old if isinstance(old, Mapping) else {}, now.get(label, {}))
        if told := _listed(f"{name} {was} there, {is_now} now" for name, was, is_now in pairs):
            yield f"Foreign code, {label}: {told}."


@cache
def _imports_of(file: Path) -> tuple[tuple[str, str], ...]:
    return tuple(imported_by_file(file).items())


@cache
def _of_entry(group: str, name: str, entry: EntryPoint) -> ForeignCode:
    cls = entry.load()
    # a class may be offered by one module and defined in another
    modules = tuple(dict.fromkeys([entry.module, cls.__module__]))
    distribution = entry.dist.name if entry.dist is not None else ""
    sources = tuple(imported_by_modules(modules, distribution).items())
    return ForeignCode(f"entry point {entry.value}", group, name, sources)


def _labels(files: Iterable[Path]) -> dict[Path, str]:
    """Each plugin's file name, with as much of its folder as tells it from the others."""
    all_parts = [file.parts for file in files]
    labels = {}
    for parts in all_parts:
        n = 1
        while n < len(parts) and sum(other[-n:] == parts[-n:] for other in all_parts) > 1:
            n += 1
        labels[Path(*parts)] = f"{_PLUGIN}{storable('/'.join(parts[-n:]))}"
    return labels


def _texts(tree: Any) -> set[str]:
    """Every text in a tree of settings, wherever an id may stand."""
    if isinstance(tree, Mapping):
        return set().union(*map(_texts, tree.values()))
    if isinstance(tree, list | tuple):
        return set().union(*map(_texts, tree))
    return {tree} if isinstance(tree, str) else set()


def _changed(before: Mapping[str, str], now: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """Names of what differs, each with what it was and what it is."""
    for name in sorted({*before, *now}):
        was, is_now = before.get(name, _ABSENT), now.get(name, _ABSENT)
        if was != is_now:
            yield name, _short(was), _short(is_now)


def _short(value: str) -> str:
    return value[:8] if len(value) == _DIGITS else value  # versions are told in full


def _listed(told: Iterable[str]) -> str:
    each = list(told)
    return ", ".join(each[:_MOST]) + (", …" if len(each) > _MOST else "")
