"""The schema: strict types, bounds, frozen, and every parameter explained."""

import math
from typing import Any

import pytest
from pydantic import ValidationError

from deniability.scenarios import ScenarioConfig, parameter_table, scenario_json_schema
from deniability.scenarios.paths import with_value
from deniability.scenarios.schema import SPANNED, Table

BASE: dict[str, Any] = {"labs": {"lab-a": {"employees": 10}}}


def accepts(path: str, value: Any) -> bool:
    try:
        ScenarioConfig.model_validate(
            with_value(BASE, tuple(path.replace("<id>", "lab-a").split(".")), value)
        )
    except ValidationError:
        return False
    return True


def test_every_parameter_has_a_description_a_unit_and_words_for_what_is_allowed() -> None:
    for row in parameter_table():
        assert row.description.endswith("."), row.path
        assert row.description[0].isupper(), row.path
        assert row.unit, row.path
        assert row.allowed, row.path


def test_the_defaults_are_those_of_the_contract() -> None:
    config = ScenarioConfig.model_validate(BASE)
    assert (config.time.periods, config.time.period_weeks) == (104, 1.0)
    assert (config.auditor.mechanism, config.auditor.delta, config.auditor.counter) == (
        "tca",
        0.1,
        "toeplitz",
    )
    assert config.auditor.horizon is None
    assert config.labs["lab-a"].targets == ("whole-lab",)
    assert config.organizations.retaliation_probability == 0.33
    assert config.employees.decision.fear_weight == 5.65
    # the evidence in five-labs: 1.13 (n0 + 1)
    assert math.isclose(
        1.13 * (config.employees.beliefs.fear_strength + 1), config.employees.decision.fear_weight
    )


@pytest.mark.parametrize("row", [r for r in parameter_table() if r.type == "number"], ids=lambda r: r.path)
def test_a_number_is_a_finite_number_and_nothing_that_looks_like_one(row: Any) -> None:
    for junk in (True, "0.5", math.nan, math.inf, -math.inf, [0.5], None, {}, 10**400):
        assert not accepts(row.path, junk), junk
    assert accepts(row.path, row.default)


@pytest.mark.parametrize(
    "row", [r for r in parameter_table() if r.type == "whole number"], ids=lambda r: r.path
)
def test_a_whole_number_has_no_decimal_point(row: Any) -> None:
    for junk in (True, "3", 3.0, 3.5, math.nan, [3], -1, 10**30):
        assert not accepts(row.path, junk), junk


def test_a_whole_number_is_taken_where_any_number_is_allowed() -> None:
    config = ScenarioConfig.model_validate(with_value(BASE, ("incidents", "rate"), 2))
    assert config.incidents.rate == 2.0
    assert isinstance(config.incidents.rate, float)


@pytest.mark.parametrize(
    ("path", "inside", "outside"),
    [
        ("auditor.delta", [1e-9, 0.999], [0, 1, -0.1, 1.5]),
        ("auditor.discovery_probability", [0, 1], [-1e-9, 1.0001]),
        ("organizations.prior", [0.01, 0.99], [0, 1]),
        ("organizations.threshold", [0.01, 1], [0, 1.01]),
        ("organizations.budget", [0, 5], [-1]),
        ("employees.beliefs.decay", [0.5, 1], [0, 1.01]),
        ("labs.<id>.employees", [0, 1], [-1]),
        ("auditor.scope", ["independent", "report-led"], ["reports", "", "Independent"]),
        ("auditor.published", [True, False], [1, 0, "true"]),
        ("labs.<id>.targets", [["a"], ["a", "b"]], [[], ["a", "a"], "a", [""], [" a"], ["a\n"], [1]]),
        ("labs.<id>.access", [{}, {"median_access": 3}], [{"median": 3}, {"median_access": 0}, 3]),
        ("scenario.name", ["a-b"], ["A", "a b", "a/b", "", "-a", "a" * 65]),
        ("auditor.counter", ["binary_tree"], ["Binary", "", "a b"]),
    ],
)
def test_bounds(path: str, inside: list[Any], outside: list[Any]) -> None:
    assert [value for value in inside if not accepts(path, value)] == []
    assert [value for value in outside if accepts(path, value)] == []


@pytest.mark.parametrize("lab_id", ["Lab", "lab.a", "lab a", "", "lab_a", "-lab"])
def test_a_lab_id_can_stand_in_a_dotted_path(lab_id: str) -> None:
    with pytest.raises(ValidationError):
        ScenarioConfig.model_validate({"labs": {lab_id: {"employees": 1}}})


def test_good_news_spreads_less_than_bad() -> None:
    for safe, retaliation, right in ((0.2, 0.3, True), (0.3, 0.3, False), (0.4, 0.3, False)):
        tree = BASE | {
            "employees": {"beliefs": {"safe_visibility": safe, "retaliation_visibility": retaliation}}
        }
        if right:
            ScenarioConfig.model_validate(tree)
        else:
            with pytest.raises(ValidationError, match="must be less than"):
                ScenarioConfig.model_validate(tree)


def test_the_guarantee_lasts_as_long_as_the_run_and_audits_of_a_period_differ() -> None:
    ScenarioConfig.model_validate(BASE | {"time": {"periods": 10}, "auditor": {"horizon": 10}})
    with pytest.raises(ValidationError, match="end before the run"):
        ScenarioConfig.model_validate(BASE | {"time": {"periods": 10}, "auditor": {"horizon": 9}})
    with pytest.raises(ValidationError, match="only 1"):
        ScenarioConfig.model_validate(BASE | {"auditor": {"audits_per_period": 2}})


def test_at_least_one_lab() -> None:
    for tree in ({}, {"labs": {}}):
        with pytest.raises(ValidationError):
            ScenarioConfig.model_validate(tree)


def test_nothing_can_be_changed_afterwards() -> None:
    config = ScenarioConfig.model_validate(BASE)
    with pytest.raises(ValidationError):
        config.auditor.delta = 0.2
    with pytest.raises(ValidationError):
        config.labs["lab-a"].employees = 3


def test_a_lab_overrides_single_keys_and_keeps_the_rest() -> None:
    config = ScenarioConfig.model_validate(
        {
            "labs": {
                "lab-a": {"employees": 1, "access": {"median_access": 8}, "organization": {"budget": 0}},
                "lab-b": {"employees": 1},
            },
            "access": {"access_sigma": 0.5},
            "organizations": {"prior": 0.2},
        }
    )
    assert config.access_of("lab-a").median_access == 8.0
    assert isinstance(config.access_of("lab-a").median_access, float)
    assert config.access_of("lab-a").access_sigma == 0.5
    assert config.access_of("lab-b") == config.access
    assert (config.organization_of("lab-a").budget, config.organization_of("lab-a").prior) == (0, 0.2)
    assert config.organization_of("lab-b") == config.organizations


def test_the_json_schema_explains_every_key_and_refuses_others() -> None:
    schema = scenario_json_schema()
    for name, table in schema["$defs"].items():
        assert table["additionalProperties"] is False, name
        for key, field in table["properties"].items():
            if "$ref" not in field:
                assert {"description", "unit"} <= field.keys(), (name, key)
    lab = schema["$defs"]["Lab"]
    assert lab["required"] == ["employees"]
    assert set(lab["properties"]["organization"]["properties"]) == set(
        schema["$defs"]["Organizations"]["properties"]
    )
    assert "default" not in lab["properties"]["organization"]["properties"]["prior"]


def test_the_rules_that_span_several_parameters_are_those_that_sweeps_look_at() -> None:
    # a new rule belongs into SPANNED, or a sweep would find out about it only when the cell runs
    ruled = {
        model.__name__
        for model in Table.__subclasses__()
        if model.__pydantic_decorators__.model_validators or model.__pydantic_decorators__.root_validators
    }
    assert ruled == {"Beliefs", "ScenarioConfig"}
    assert {row.path for row in parameter_table()} >= SPANNED
