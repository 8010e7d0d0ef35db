"""What can be set, read from the schema itself: the reference table, the JSON Schema, and words for messages."""

from collections.abc import Collection, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from .paths import Keys, render_path
from .schema import ScenarioConfig

__all__ = [
    "BEHAVIOUR",
    "ParameterRow",
    "all_paths",
    "find_item",
    "find_parameter",
    "is_table",
    "item_keys",
    "parameter_table",
    "scenario_json_schema",
    "table_keys",
]

BEHAVIOUR = (
    "time",
    "auditor",
    "labs",
    "access",
    "colleagues",
    "incidents",
    "employees",
    "organizations",
    "reports",
    "changes",
)
"""The sections that change what happens in a run."""

LAB = "<id>"
_OVERRIDES = {
    "access": "access",
    "organization": "organizations",
}  # a lab's table -> the section it overrides
_FREE = (
    ("evidence",),
    ("sources",),
    ("sweep", "grid"),
    ("sweep", "zip"),
    ("sweep", "sample", "linear"),
    ("sweep", "sample", "log"),
)  # tables whose keys the file chooses


class ParameterRow(NamedTuple):
    """One parameter, as the reference shows it."""

    path: str
    """Dotted path; `<id>` stands for a lab's id."""
    type: str
    unit: str
    default: Any
    """None where there is none, or where absence has a meaning of its own (see the description)."""
    allowed: str
    """What is allowed, in words that follow "must be"."""
    description: str


def scenario_json_schema() -> dict[str, Any]:
    """JSON Schema of a scenario file, for editors and other programs."""
    schema = ScenarioConfig.model_json_schema()
    tables = {name: part for name, part in schema["$defs"].items() if "properties" in part}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **_inlined(schema | {"$defs": tables}, schema["$defs"]),
        "title": "deniability scenario",
        "description": "A scenario file. Rates are per year, delays in weeks. A file that extends another one need "
        "not have the required keys itself.",
    }


def _inlined(part: Any, definitions: Mapping[str, Any]) -> Any:
    """Put the definitions of plain values in the place of references to them; tables stay references."""
    if isinstance(part, list):
        return [_inlined(item, definitions) for item in part]
    if not isinstance(part, dict):
        return part
    if "$ref" in part:
        meant = definitions[part["$ref"].rsplit("/", 1)[-1]]
        if "properties" not in meant:
            rest = {key: value for key, value in part.items() if key != "$ref"}
            return _inlined({**meant, **rest}, definitions)
    return {key: _inlined(value, definitions) for key, value in part.items()}


def parameter_table(*, items: bool = False) -> list[ParameterRow]:
    """Every parameter in the order of the schema.

    Parameters
    ----------
    items
        List also the keys of tables in lists (`reports.bursts[].size`), which have no dotted path.
    """
    rows = list(_parameters().values())
    return sorted([*rows, *_items().values()], key=_order) if items else rows


def find_item(keys: Keys) -> ParameterRow | None:
    """Return the key of a table in a list, positions left out (`reports.bursts.size`), or None."""
    return _items().get(keys)


def item_keys(keys: Keys) -> list[str]:
    """Return the keys of the tables in the list at `keys`; none where it is no list of tables."""
    return [item[-1] for item in _items() if item[:-1] == keys]


def find_parameter(keys: Keys) -> ParameterRow | None:
    """Return the parameter at `keys` (a lab's id in its place), or None where there is none."""
    return _parameters().get(_general(keys))


def is_table(keys: Keys) -> bool:
    """Whether `keys` lead to a table of the schema."""
    return _general(keys) in _tables()


def table_keys(keys: Keys) -> list[str]:
    """Return the keys that the table at `keys` may have; none where the file chooses them."""
    return list(_tables().get(_general(keys), ()))


def all_paths(lab_ids: Collection[str]) -> Iterator[Keys]:
    """Every parameter's keys, for each of these labs where it is a lab's."""
    for keys in [row.path.split(".") for row in _parameters().values()]:
        for lab_id in lab_ids if keys[0] == "labs" else [""]:
            yield tuple(lab_id if key == LAB else key for key in keys)
            if keys[-1] in _OVERRIDES and keys[0] == "labs":
                yield from (("labs", lab_id, keys[-1], key) for key in table_keys((_OVERRIDES[keys[-1]],)))


def _general(keys: Keys) -> Keys:
    """Put `<id>` for a lab's id, and the overridden section for a lab's overrides of it."""
    if len(keys) < 2 or keys[0] != "labs":
        return keys
    if len(keys) > 3 and keys[2] in _OVERRIDES:
        return (_OVERRIDES[keys[2]], *keys[3:])
    return ("labs", LAB, *keys[2:])


@cache
def _parameters() -> dict[Keys, ParameterRow]:
    schema = ScenarioConfig.model_json_schema()
    return {tuple(row.path.split(".")): row for row in _walk(schema, (), schema["$defs"])}


@cache
def _items() -> dict[Keys, ParameterRow]:
    schema = ScenarioConfig.model_json_schema()
    definitions = schema["$defs"]
    rows: dict[Keys, ParameterRow] = {}

    def visit(table: Mapping[str, Any], place: Keys, shown: str) -> None:
        """Look for lists of tables among the keys of a table."""
        for name, part in table["properties"].items():
            field = _resolved(part, definitions)
            items = _resolved(field.get("items", {}), definitions)
            keys, path = (*place, name), f"{shown}.{name}" if shown else name
            if "properties" in items:
                enter(items, keys, f"{path}[]")
            elif "properties" in field and "unit" not in field:
                visit(field, keys, path)

    def enter(table: Mapping[str, Any], place: Keys, shown: str) -> None:
        """Take down the keys of a table in a list."""
        for name, part in table["properties"].items():
            field = _resolved(part, definitions)
            rows[(*place, name)] = _row(f"{shown}.{name}", field, definitions)
            if "properties" in field:
                enter(field, (*place, name), f"{shown}.{name}")

    visit(schema, (), "")
    return rows


def _order(row: ParameterRow) -> int:
    """Place of a row in the whole table: an item's behind its list."""
    paths = list(_parameters().values())
    owner = row.path.partition("[]")[0]
    return next(index for index, other in enumerate(paths) if other.path == owner)


@cache
def _tables() -> dict[Keys, tuple[str, ...]]:
    tables: dict[Keys, list[str]] = {("labs",): [], **{keys: [] for keys in _FREE}}
    for keys in _parameters():
        for length in range(len(keys)):
            children = tables.setdefault(keys[:length], [])
            if keys[length] not in children and keys[length] != LAB:
                children.append(keys[length])
    for name, section in _OVERRIDES.items():
        tables["labs", LAB, name] = tables[section,]
    return {keys: tuple(children) for keys, children in tables.items()}


def _resolved(part: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    """Follow references, and look behind "or null"."""
    result = dict(part)
    while "$ref" in result:
        result = {**definitions[result.pop("$ref").rsplit("/", 1)[-1]], **result}
    options = [option for option in result.pop("anyOf", ()) if option != {"type": "null"}]
    return {**_resolved(options[0], definitions), **result} if options else result


def _walk(schema: Mapping[str, Any], place: Keys, definitions: Mapping[str, Any]) -> Iterator[ParameterRow]:
    for name, part in schema["properties"].items():
        field = _resolved(part, definitions)
        keys = (*place, name)
        if keys == ("labs",):
            lab = (
                next(iter(field.get("patternProperties", {}).values()), None) or field["additionalProperties"]
            )
            yield from _walk(_resolved(lab, definitions), (*keys, LAB), definitions)
        elif "properties" in field and "unit" not in field:
            yield from _walk(field, keys, definitions)
        else:
            yield _row(render_path(keys).replace(f'"{LAB}"', LAB), field, definitions)


def _row(path: str, field: Mapping[str, Any], definitions: Mapping[str, Any]) -> ParameterRow:
    items = _resolved(field.get("items", {}), definitions)
    return ParameterRow(
        path=path,
        type=_kind(field, items),
        unit=field.get("unit", ""),
        default=field.get("default"),
        allowed=_allowed(field, items),
        description=field.get("description", ""),
    )


_KINDS = {"number": "number", "integer": "whole number", "boolean": "true or false", "string": "text"}


def _kind(field: Mapping[str, Any], items: Mapping[str, Any]) -> str:
    if "enum" in field:
        return "choice"
    if field["type"] == "array":
        return f"list of {'tables' if 'properties' in items else _KINDS.get(items.get('type', ''), 'values')}"
    return _KINDS.get(field["type"], "table")


def _allowed(field: Mapping[str, Any], items: Mapping[str, Any]) -> str:
    if "enum" in field:
        return "one of " + ", ".join(f'"{choice}"' for choice in field["enum"])
    match field["type"]:
        case "number":
            return "a number" + _bounds(field)
        case "integer":
            return "a whole number" + _bounds(field)
        case "boolean":
            return "true or false"
        case "string":
            return _text(field)
        case "array" if "properties" in items:
            return "a list of tables"
        case "array":
            return (
                f"a {'non-empty ' if field.get('minItems') else ''}list of {_text(items).removeprefix('a ')}"
            )
        case _:
            return "a table"


def _text(field: Mapping[str, Any]) -> str:
    if "pattern" not in field:
        return "text" if "maxLength" not in field else f"text of at most {field['maxLength']} characters"
    joints = "single hyphens or underscores" if "_" in field["pattern"] else "single hyphens"
    return f"a name of lower-case letters and digits, joined by {joints}, at most {field['maxLength']} characters"


def _bounds(field: Mapping[str, Any]) -> str:
    if "minimum" in field and "maximum" in field:
        return f" from {field['minimum']:.12g} to {field['maximum']:.12g}"
    words = {
        "exclusiveMinimum": "greater than",
        "minimum": "at least",
        "exclusiveMaximum": "less than",
        "maximum": "at most",
    }
    limits = [f"{word} {field[key]:.12g}" for key, word in words.items() if key in field]
    return " " + " and ".join(limits) if limits else ""
