"""Every value of a scenario with its unit, where it is set and what it rests on."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from .loading import ResolvedScenario
from .merging import GIVES_NO_SOURCE
from .paths import Keys, look_up, render_path
from .reference import BEHAVIOUR, all_paths, find_parameter

__all__ = ["ValueRow", "evidence_for", "unsupported", "value_rows"]


class ValueRow(NamedTuple):
    """One value that changes what happens in a run."""

    path: str
    value: Any
    """None where absence has a meaning (an absent horizon is that of the run)."""
    unit: str
    set_in: str
    """File and line; "default" where no file sets it."""
    evidence: str
    """What [evidence] says of it, of its table, or ""."""
    citation: str
    """The entry of [sources] that the evidence refers to, or ""."""


def value_rows(resolved: ResolvedScenario) -> list[ValueRow]:
    """Every behaviour value, in the order of the schema; a lab's overrides only where it has some."""
    tree = resolved.config.model_dump(mode="json")
    rows = []
    for keys in all_paths(list(resolved.config.labs)):
        row = find_parameter(keys)
        if keys[0] not in BEHAVIOUR or row is None or row.type == "table" or keys[2:] == ("title",):
            continue
        try:
            value = look_up(tree, keys)
        except KeyError:
            continue  # a lab that does not override this key
        path = render_path(keys)
        origin = resolved.origins.get(path)
        evidence = evidence_for(keys, resolved.config.evidence)
        citation = resolved.config.sources.get(evidence.partition(":")[0].strip(), "")
        rows.append(ValueRow(path, value, row.unit, str(origin or "default"), evidence, citation))
    return rows


def unsupported(resolved: ResolvedScenario) -> list[ValueRow]:
    """Values that the scenario's own file sets, with nothing in [evidence] for them; defaults need none.

    What a parent sets is the parent's to support, and a value that is only swept is no value that is claimed.
    """
    parents = {"default", "--set", *resolved.parents}
    return [
        row
        for row in value_rows(resolved)
        if (origin := resolved.origins.get(row.path))
        and origin.file not in parents
        and (not row.evidence or row.evidence.endswith(GIVES_NO_SOURCE))
    ]


def evidence_for(keys: Keys, evidence: Mapping[str, str]) -> str:
    """Return what is said of the value at `keys`, or of the nearest table above it."""
    for length in range(len(keys), 0, -1):
        if text := evidence.get(render_path(keys[:length])):
            return text
    return ""
