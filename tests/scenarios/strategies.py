"""Generators of scenario trees, right ones and wrong ones."""

from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st

from deniability.scenarios import parameter_table, scenario_json_schema
from deniability.scenarios.paths import Keys, with_value

small_keys = st.sampled_from(["a", "b", "c"])
trees = st.recursive(
    st.dictionaries(small_keys, st.integers(0, 3) | st.lists(st.integers(0, 3), max_size=2), max_size=3),
    lambda inner: st.dictionaries(small_keys, inner | st.integers(0, 3), max_size=3),
    max_leaves=12,
)
"""Trees over few keys, so that two of them meet."""

junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.dates(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


def leaves(tree: dict[str, Any], at: Keys = ()) -> Iterator[tuple[Keys, Any]]:
    """Everything in a tree that is no table."""
    for key, value in tree.items():
        if isinstance(value, dict):
            yield from leaves(value, (*at, key))
        else:
            yield (*at, key), value


def _fields() -> dict[str, dict[str, Any]]:
    """JSON Schema of each parameter, by dotted path."""
    schema = scenario_json_schema()

    def walk(part: dict[str, Any], at: str) -> Iterator[tuple[str, dict[str, Any]]]:
        for name, field in part.get("properties", {}).items():
            if "$ref" in field:
                yield from walk(schema["$defs"][field["$ref"].rsplit("/", 1)[-1]], f"{at}{name}.")
            else:
                yield f"{at}{name}", field

    return dict(walk(schema, ""))


def _values(field: dict[str, Any]) -> st.SearchStrategy[Any]:
    field = next((option for option in field.get("anyOf", ()) if option != {"type": "null"}), field)
    if "enum" in field:
        return st.sampled_from(field["enum"])
    if field["type"] == "boolean":
        return st.booleans()
    if field["type"] == "integer":
        return st.integers(field["minimum"], min(field["maximum"], 1000))
    low, high = (
        field.get("minimum", field.get("exclusiveMinimum")),
        field.get("maximum", field.get("exclusiveMaximum")),
    )
    return st.floats(low, high, exclude_min="minimum" not in field, exclude_max="maximum" not in field)


FIELDS = _fields()
PLAIN = {
    row.path: _values(FIELDS[row.path])
    for row in parameter_table()
    if row.type in ("number", "whole number", "choice", "true or false") and row.path in FIELDS
}
"""Values of each parameter that is no text, list or table."""


@st.composite
def scenarios(draw: st.DrawFn) -> dict[str, Any]:
    """Right scenarios: some parameters anywhere within their bounds."""
    tree: dict[str, Any] = {"labs": {}}
    for lab_id in draw(st.lists(st.sampled_from(["lab-a", "b", "lab-3"]), min_size=1, unique=True)):
        name = st.text(st.characters(categories=["L", "Nd"]), min_size=1, max_size=5)
        tree["labs"][lab_id] = {
            "employees": draw(st.integers(1, 5000)),
            "title": draw(st.text(st.characters(exclude_categories=["Cs"]), max_size=5)),
            "targets": draw(st.lists(name, min_size=1, max_size=3, unique=True)),
        }
        if draw(st.booleans()):
            tree["labs"][lab_id]["organization"] = {"prior": draw(PLAIN["organizations.prior"])}
    for path in draw(st.lists(st.sampled_from(sorted(PLAIN)), unique=True, max_size=12)):
        tree = with_value(tree, tuple(path.split(".")), draw(PLAIN[path]))
    n_targets = sum(len(lab["targets"]) for lab in tree["labs"].values())
    auditor = tree.get("auditor", {})
    if auditor.get("audits_per_period", 1) > n_targets:
        auditor["audits_per_period"] = n_targets
    if auditor.get("horizon", 10**9) < tree.get("time", {}).get("periods", 104):
        auditor["horizon"] = 1000
    beliefs = tree.get("employees", {}).get("beliefs", {})
    if beliefs.get("safe_visibility", 0.2) >= beliefs.get("retaliation_visibility", 1.0):
        beliefs |= {"safe_visibility": 0.1, "retaliation_visibility": 0.5}
    return tree
