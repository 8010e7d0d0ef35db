"""[[changes]] and [reports]: what may change, what comes into force when, and messages about the rest."""

from collections.abc import Callable
from typing import Any

import pytest

from deniability.scenarios import InputError, content_hash, resolve_tree
from deniability.scenarios.changing import timeline
from deniability.scenarios.paths import parse_path
from deniability.scenarios.reference import find_item, find_parameter, parameter_table
from deniability.scenarios.schema import CHANGEABLE

from .conftest import LAB

BASE: dict[str, Any] = {
    "time": {"periods": 20},
    "labs": {"lab-a": {"employees": 10}, "lab-b": {"employees": 5, "organization": {"prior": 0.4}}},
}


def config(*changes: dict[str, Any], **more: Any) -> Any:
    return resolve_tree(BASE | {"changes": list(changes)} | more).config


def test_without_changes_the_scenario_is_in_force_all_through() -> None:
    plain = resolve_tree(BASE).config
    assert timeline(plain) == ((0.0, plain),)


def test_changes_come_into_force_in_order_of_time_and_stay() -> None:
    stages = timeline(
        config(
            {"at": 12, "set": {"organizations.prior": 0.1}},
            {"at": 5.5, "set": {"auditor.delta": 0.2, "organizations.prior": 0.2}},
        )
    )
    assert [at for at, _ in stages] == [0.0, 5.5, 12.0]
    assert [stage.auditor.delta for _, stage in stages] == [0.1, 0.2, 0.2]
    assert [stage.organizations.prior for _, stage in stages] == [0.3, 0.2, 0.1]
    # a lab's own value comes first
    assert [stage.organization_of("lab-b").prior for _, stage in stages] == [0.4, 0.4, 0.4]
    assert all(stage.changes == () for _, stage in stages)


def test_one_lab_can_change_alone() -> None:
    (_, before), (_, after) = timeline(config({"at": 3, "set": {"labs.lab-a.organization.threshold": 0.9}}))
    assert (before.organization_of("lab-a").threshold, after.organization_of("lab-a").threshold) == (0.5, 0.9)
    assert after.organization_of("lab-b") == before.organization_of("lab-b")


def test_until_the_first_change_nobody_foresees_it() -> None:
    changed = config({"at": 3, "set": {"organizations.threshold": 0.9}})
    assert content_hash(timeline(changed)[0][1]) == content_hash(resolve_tree(BASE).config)
    assert content_hash(changed) != content_hash(resolve_tree(BASE).config)


def test_everything_that_may_change_is_a_parameter_and_no_structure() -> None:
    for path in CHANGEABLE:
        assert find_parameter(parse_path(path)), path
        assert path.split(".")[0] not in ("time", "labs", "access", "colleagues", "scenario", "sweep")
    policy = {row.path for row in parameter_table() if row.path.startswith("organizations.")}
    assert policy <= CHANGEABLE


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[changes]]\nset = {}", "study.toml:3: changes[0].at: missing: must be a number greater than 0 and at "
         "most 1000000 (periods)"),
        ("[[changes]]\nat = 0", "study.toml:4: changes[0].at = 0: must be a number greater than 0 and at most "
         "1000000 (periods)"),
        ("[[changes]]\nat = 105", "study.toml:4: changes[0].at = 105: after the end of the run (time.periods = 104)"),
        ("[[changes]]\nat = 5\nfoo = 1", "study.toml:5: changes[0].foo: unknown key; each has at, set, purge"),
        ('[[changes]]\nat = 5\nset = { "organizations.prior" = 2 }',
         'study.toml:5: changes[0].set."organizations.prior" = 2: must be a number greater than 0 and less than 1 '
         "(probability)"),
        ('[[changes]]\nat = 5\nset = { "auditor.mechanism" = "gredy" }',
         'study.toml:5: changes[0].set."auditor.mechanism" = "gredy": there is no such name; did you mean '
         '"greedy"?; known: exponential, greedy, rr, tca, uniform'),
        ('[[changes]]\nat = 5\nset = { "organizations.priors" = 0.2 }',
         'study.toml:5: changes[0].set."organizations.priors": unknown key; did you mean organizations.prior?'),
        ('[[changes]]\nat = 5\nset = { "organizations" = 0.2 }',
         "study.toml:5: changes[0].set.organizations: a table; set its keys one by one"),
        ('[[changes]]\nat = 5\nset = { "employees.beliefs.safe_visibility" = 1.0 }',
         'study.toml:5: changes[0].set."employees.beliefs.safe_visibility" = 1.0: employees.beliefs: '
         "safe_visibility (1.0) must be less than retaliation_visibility (1.0)"),
        ('[[changes]]\nat = 5\npurge = { lab = "lab-b", share = 0.1 }',
         'study.toml:5: changes[0].purge.lab = "lab-b": there is no such lab; there are lab-a'),
        ('[[changes]]\nat = 5\npurge = { share = 0.1, among = "reporter" }',
         'study.toml:5: changes[0].purge.among = "reporter": must be one of "everyone", "access", "reporters"; did '
         'you mean "reporters"?'),
        ('[reports]\nlead = "lab-a/whole"',
         'study.toml:4: reports.lead: there is no target "lab-a/whole"; did you mean "lab-a/whole-lab"?'),
        ("[reports]\nrates = { x = 1 }",
         'study.toml:4: reports.rates: there is no target "x"; one is "lab-a/whole-lab"'),
        ('[reports]\nrates = { "lab-a/whole-lab" = -1 }',
         'study.toml:4: reports.rates."lab-a/whole-lab" = -1: must be a number from 0 to 1000000 (1/year)'),
        ('[[reports.bursts]]\ntargets = ["lab-a/whole-lab", "lab-a/whole-lab"]\nat = 1\nsize = 3',
         'study.toml:4: reports.bursts[0].targets = ["lab-a/whole-lab", "lab-a/whole-lab"]: must be every name once; '
         'repeated: lab-a/whole-lab'),
        ('[[reports.bursts]]\ntargets = []\nat = 1\nsize = 3',
         "study.toml:4: reports.bursts[0].targets = []: must be a non-empty list of text"),
        ('[[reports.bursts]]\ntargets = ["lab-a/whole-lab"]\nat = 1\nsize = 1.5',
         "study.toml:6: reports.bursts[0].size = 1.5: must be a whole number from 0 to 1000000 (reports)"),
    ],
)  # fmt: skip
def test_one_problem_one_line(problems: Callable[..., Any], text: str, message: str) -> None:
    assert problems(LAB + text) == (message,)


@pytest.mark.parametrize(
    "path", ["time.periods", "labs.lab-a.employees", "access.median_access", "auditor.horizon"]
)
def test_what_the_world_is_made_of_does_not_change(problems: Callable[..., Any], path: str) -> None:
    (told,) = problems(f'{LAB}[[changes]]\nat = 5\nset = {{ "{path}" = 7 }}')
    assert f'changes[0].set."{path}": cannot change during a run' in told


def test_a_change_that_does_not_go_with_the_rest_is_refused_without_a_file_too() -> None:
    with pytest.raises(InputError, match="safe_visibility"):
        timeline(
            resolve_tree(BASE).config.model_copy(
                update={"changes": _change({"employees.beliefs.safe_visibility": 1.0})}
            )
        )


def _change(settings: dict[str, Any]) -> Any:
    from deniability.scenarios.schema import Change

    return (Change(at=1.0, set=settings),)


def test_tables_in_lists_are_in_the_reference() -> None:
    rows = {row.path: row for row in parameter_table(items=True)}
    assert rows["reports.bursts[].size"].unit == "reports"
    assert rows["changes[].purge.share"].allowed == "a number from 0 to 1"
    assert find_item(("reports", "bursts", "size")) == rows["reports.bursts[].size"]
    for row in rows.values():
        assert row.description.endswith("."), row.path
        assert row.unit, row.path
    assert [row.path for row in parameter_table()] == [path for path in rows if "[]" not in path]
