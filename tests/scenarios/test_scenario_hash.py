"""The content hash, and scenarios written as TOML: the same behaviour, the same hash, and nothing else."""

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from deniability.scenarios import content_hash, parameter_table, resolve, resolve_tree, to_toml
from deniability.scenarios.paths import look_up
from deniability.scenarios.reference import BEHAVIOUR
from deniability.scenarios.schema.base import FILE_UNIT

from .strategies import scenarios

BASE: dict[str, Any] = {
    "labs": {"lab-a": {"employees": 10, "targets": ["x", "y"]}, "lab-b": {"employees": 5}}
}


def hash_of(*settings_: str | tuple[str, Any], tree: dict[str, Any] = BASE) -> str:
    return content_hash(resolve_tree(tree, settings_).config)


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tree=scenarios())
def test_what_is_written_reads_back_to_the_same_configuration_and_hash(
    tree: dict[str, Any], tmp_path: Path
) -> None:
    config = resolve_tree(tree).config
    path = tmp_path / "other-name.toml"
    path.write_text(to_toml(config), encoding="utf-8")
    again = resolve(path)
    assert again.config == config
    assert content_hash(again.config) == content_hash(config)
    assert to_toml(again.config) == to_toml(config)


def test_the_hash_is_sixty_four_hexadecimal_digits_and_stays_the_same() -> None:
    assert re.fullmatch("[0-9a-f]{64}", hash_of())
    assert hash_of() == hash_of()


@pytest.mark.parametrize(
    "setting",
    [
        "scenario.title=x",
        "scenario.name=x",
        "scenario.question=x",
        "labs.lab-a.title=x",
        "sweep.replicates=9",
        ("sweep.grid", {"auditor.delta": [0.2]}),
        ("evidence", {"auditor.delta": "assumption: x"}),
        ("sources", {"x": "y"}),
        "auditor.delta=0.1",  # the default, now written out
        "incidents.rate=1",  # a whole number for 1.0
        ("labs.lab-a.organization", {"prior": 0.3}),  # overridden with what holds anyway
    ],
)
def test_what_changes_no_run_changes_no_hash(setting: Any) -> None:
    assert hash_of(setting) == hash_of()


OTHER = {
    "number": lambda value: value * 0.8 + 0.013,
    "whole number": lambda value: (value or 1000) + 1,
    "true or false": lambda value: not value,
    "choice": {
        "independent": "report-led",
        "own-audit": "every-decision",
        "threshold": "expected-gain",
        "year": "period",
    }.get,
    "text": lambda value: f"{value}-x",
}


@pytest.mark.parametrize(
    "row",
    [
        row
        for row in parameter_table()
        if row.path.split(".")[0] in BEHAVIOUR
        and row.type in OTHER
        and row.unit != FILE_UNIT  # their content counts: test_scenario_linked.py
        and "title" not in row.path
    ],
    ids=lambda row: row.path,
)
def test_every_behaviour_value_changes_the_hash(row: Any) -> None:
    path = row.path.replace("<id>", "lab-b")
    value = 5 if path.endswith("lab-b.employees") else row.default
    # a target has to exist
    changed = "lab-a/x" if path == "reports.lead" else OTHER[row.type](value)
    tree = resolve_tree(BASE, [(path, changed)])
    assert look_up(tree.config.model_dump(), tuple(path.split("."))) == changed
    assert content_hash(tree.config) != hash_of()


def test_one_labs_own_values_and_the_order_of_labs_count() -> None:
    assert hash_of(("labs.lab-a.organization", {"prior": 0.2})) != hash_of()
    assert hash_of(("labs.lab-a.targets", ["y", "x"])) != hash_of()
    swapped = {"labs": {"lab-b": BASE["labs"]["lab-b"], "lab-a": BASE["labs"]["lab-a"]}}
    assert hash_of(tree=swapped) != hash_of()
    # the same, whether said of all labs or of each
    each = [(f"labs.{lab}.organization", {"prior": 0.2}) for lab in ("lab-a", "lab-b")]
    assert hash_of(*each) == hash_of("organizations.prior=0.2")
