"""Lay files and `--set` over one another, remembering where each value came from."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from .paths import Keys, Place, render_path
from .reference import BEHAVIOUR, find_parameter

__all__ = ["GIVES_NO_SOURCE", "Layer", "Merged", "Origin", "overlay"]


GIVES_NO_SOURCE = "which gives no source"
"""How the remark ends that takes the place of evidence for a value that has been changed."""


class Origin(NamedTuple):
    """Where a value was set."""

    file: str
    """What messages call the file, or `--set`."""
    line: int
    """From 1; 0 where there are no lines."""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


@dataclass(frozen=True)
class Layer:
    """One file, or one `--set`."""

    label: str
    tree: Mapping[str, Any]
    lines: Mapping[Place, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Merged:
    """Several layers, the later ones over the earlier."""

    tree: dict[str, Any] = field(default_factory=dict)
    origins: dict[Place, Origin] = field(default_factory=dict)
    """Also of tables and list elements."""

    def origin(self, place: Place) -> Origin | None:
        """Where the nearest key at or above `place` was set."""
        found = (self.origins.get(place[:length]) for length in range(len(place), 0, -1))
        return next(filter(None, found), None)


def overlay(base: Merged, layer: Layer) -> Merged:
    """Lay `layer` over `base`: tables are merged key by key, everything else is replaced.

    Evidence speaks for the value that it was given for. So where `layer` changes a value and brings no evidence of
    its own, what earlier layers said about that value no longer holds, and that is put down in its place.
    """
    origins = dict(base.origins)
    tree = _merge(base.tree, layer.tree, (), origins, layer)
    unsupported = _unsupported(base.tree, layer)
    if unsupported and isinstance(tree.get("evidence"), dict):
        remark = f"changed in {layer.label.rsplit('/', 1)[-1]}, {GIVES_NO_SOURCE}"
        tree["evidence"] = {**tree["evidence"], **dict.fromkeys(map(render_path, unsupported), remark)}
        origins.update({("evidence", render_path(keys)): _origin(layer, keys) for keys in unsupported})
    return Merged(tree, origins)


def _origin(layer: Layer, place: Place) -> Origin:
    return Origin(layer.label, layer.lines.get(place, 0))


def _merge(
    below: Mapping[str, Any], above: Mapping[str, Any], at: Keys, origins: dict[Place, Origin], layer: Layer
) -> dict[str, Any]:
    merged = dict(below)
    for key, value in above.items():
        keys = (*at, key)
        old = below.get(key)
        if isinstance(value, Mapping) and isinstance(old, Mapping):
            merged[key] = _merge(old, value, keys, origins, layer)
            origins[keys] = _origin(layer, keys)
        elif isinstance(value, Mapping):
            merged[key] = _merge({}, value, keys, origins, layer)
            origins[keys] = _origin(layer, keys)
        else:
            if key in below:
                for place in _places(old, keys):
                    origins.pop(place, None)
            merged[key] = value
            origins[keys] = _origin(layer, keys)
            if isinstance(value, list):
                origins.update({place: _origin(layer, place) for place in _places(value, keys)})
    return merged


def _places(value: Any, at: Place) -> Iterator[Place]:
    yield at
    items = (
        value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, item in items:
        yield from _places(item, (*at, key))


def _unsupported(below: Mapping[str, Any], layer: Layer) -> list[Keys]:
    evidence, own = below.get("evidence"), layer.tree.get("evidence", {})
    if not isinstance(evidence, Mapping) or not evidence or not isinstance(own, Mapping):
        return []
    return [
        keys
        for section in BEHAVIOUR
        if isinstance(table := layer.tree.get(section), Mapping)
        for keys, value, old in _leaves(table, below.get(section), (section,))
        if find_parameter(keys)
        and (old is None or old != value)
        and _covered(keys, evidence)
        and not _covered(keys, own)
    ]


def _leaves(above: Mapping[str, Any], below: Any, at: Keys) -> Iterator[tuple[Keys, Any, Any]]:
    for key, value in above.items():
        old = below.get(key) if isinstance(below, Mapping) else None
        if isinstance(value, Mapping):
            yield from _leaves(value, old, (*at, key))
        else:
            yield (*at, key), value, old


def _covered(keys: Keys, evidence: Mapping[str, Any]) -> bool:
    return any(render_path(keys[:length]) in evidence for length in range(1, len(keys) + 1))
