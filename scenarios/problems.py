"""From the schema's complaints to messages: file, line, key path, what was given, what is allowed."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

from pydantic import ValidationError

from .merging import Merged
from .paths import Keys, Place, render_path
from .reference import find_item, find_parameter, item_keys, table_keys
from .schema import ScenarioConfig
from .wording import did_you_mean, likely_names, likely_paths, written

__all__ = ["Problem", "lab_ids", "name_problems", "schema_problems", "validated"]


class Problem(NamedTuple):
    """Something wrong at one place of the merged tree."""

    place: Place
    text: str
    clash: bool = False
    """Whether it is two values that do not go together, each of them right."""

    def message(self, merged: Merged, label: str) -> str:
        """The whole message; `label` names the file where no line is to blame."""
        return f"{merged.origin(self.place) or label}: {self.text}"


def validated(tree: Mapping[str, Any]) -> tuple[ScenarioConfig | None, list[Problem]]:
    """Check the tree against the schema: the configuration, or what is wrong with it."""
    try:
        return ScenarioConfig.model_validate(tree), []
    except ValidationError as error:
        return None, list(schema_problems(error, tree))


def lab_ids(tree: Mapping[str, Any]) -> list[str]:
    """Ids of the labs, as far as the tree has any."""
    labs = tree.get("labs")
    return list(labs) if isinstance(labs, Mapping) else []


def schema_problems(error: ValidationError, tree: Mapping[str, Any]) -> Iterator[Problem]:
    """One problem for each of the schema's complaints."""
    for item in error.errors(include_url=False):
        context = item.get("ctx", {})
        if item["type"] == "conflicts":
            yield from (Problem(tuple(place), text, clash=True) for place, text in context["found"])
        else:
            yield _problem(item["type"], item["loc"], item["input"], item["msg"], tree)


def _problem(kind: str, place: Place, given: Any, message: str, tree: Mapping[str, Any]) -> Problem:
    path = render_path(place)
    keys: Keys = tuple(part for part in place if isinstance(part, str))
    if kind == "extra_forbidden":
        return Problem(place, f"{path}: unknown key{_hint(keys, tree)}")
    if keys[-1:] == ("[key]",):
        path = render_path(place[:-1])
        return Problem(
            place[:-1], f"{path}: a lab's id must be lower-case letters and digits, joined by single hyphens"
        )
    row = find_parameter(keys) or find_item(keys)
    allowed = f"must be {row.allowed}" if row else "must be a table"
    if row and row.unit not in ("none", ""):
        allowed += f" ({row.unit})"
    if kind == "missing":
        if keys == ("labs",):
            return Problem(
                place, "labs: missing: at least one [labs.<id>] with its number of employees is needed"
            )
        return Problem(place, f"{path}: missing: {allowed}")
    if kind == "too_short" and keys == ("labs",):
        return Problem(place, "labs: empty: at least one [labs.<id>] with its number of employees is needed")
    if kind == "visibility":
        return Problem(place, f"{path}: {message}", clash=True)
    if kind in ("repeated_names", "target_name"):
        return Problem(place, f"{path} = {written(given)}: must be {message}")
    if keys[:1] in (("evidence",), ("sources",)) and len(keys) > 1:
        allowed = "must be text"
    elif keys[:2] == ("reports", "rates") and len(keys) > 2:
        allowed = "must be a number from 0 to 1000000 (1/year)"
    elif keys[:2] in (("sweep", "grid"), ("sweep", "zip")) and len(keys) > 2:
        allowed = "must be a non-empty list of values"
    elif keys[:2] == ("sweep", "sample") and len(keys) > 3:
        allowed = "must be a list of two numbers, [low, high]"
    suggestion = ""
    if kind == "literal_error" and isinstance(given, str) and row:
        suggestion = did_you_mean(likely_names(given, row.allowed.split('"')[1::2], 1), '"')
    return Problem(place, f"{path} = {written(given)}: {allowed}{suggestion}")


def _hint(keys: Keys, tree: Mapping[str, Any]) -> str:
    if names := item_keys(keys[:-1]):
        return did_you_mean(likely_names(keys[-1], names, 1)) or f"; each has {', '.join(names)}"
    if likely := likely_paths(keys, lab_ids(tree)):
        return did_you_mean(likely)
    names = table_keys(keys[:-1])
    table = f"[{render_path(keys[:-1])}]" if keys[:-1] else "the top level"
    return f"; {table} has {', '.join(names)}" if names else ""


def name_problems(
    keys: Keys, value: Any, known_names: Mapping[str, Collection[str]], shown: str | None = None
) -> Iterator[Problem]:
    """Complain about a name that no registry has."""
    row = find_parameter(keys)
    names = known_names.get(row.path) if row else None
    if names is None or not isinstance(value, str) or value in names:
        return
    hint = did_you_mean(likely_names(value, sorted(names), 1), '"')
    yield Problem(
        keys,
        f"{shown or render_path(keys)} = {written(value)}: there is no such name{hint}; "
        f"known: {', '.join(sorted(names))}",
    )
