"""Which cells a sweep has, in which order, and what is wrong with it."""

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniability.scenarios import InputError, cell_config, resolve, resolve_tree, sweep_cells

LAB = "[labs.lab-a]\nemployees = 10\n"
BASE: dict[str, Any] = {"labs": {"lab-a": {"employees": 10, "targets": ["x", "y"]}}}


def test_no_sweep_is_one_cell_that_changes_nothing() -> None:
    scenario = resolve_tree(BASE)
    assert sweep_cells(scenario) == [{}]
    assert cell_config(scenario, {}) == scenario.config


def test_the_order_of_cells_is_that_of_the_file_the_last_axis_fastest(write: Callable[..., Path]) -> None:
    scenario = resolve(
        write(
            LAB + "[sweep.zip]\n'time.periods' = [10, 20]\n'incidents.rate' = [1, 2]\n"
            "[sweep.grid]\n'organizations.prior' = [0.3, 0.1]\n'auditor.mechanism' = ['b', 'a']\n"
        )
    )
    cells = sweep_cells(scenario)
    assert [tuple(cell) for cell in cells] == [
        ("time.periods", "incidents.rate", "organizations.prior", "auditor.mechanism")
    ] * 8
    assert [tuple(cell.values()) for cell in cells] == [
        (10, 1.0, 0.3, "b"),
        (10, 1.0, 0.3, "a"),
        (10, 1.0, 0.1, "b"),
        (10, 1.0, 0.1, "a"),
        (20, 2.0, 0.3, "b"),
        (20, 2.0, 0.3, "a"),
        (20, 2.0, 0.1, "b"),
        (20, 2.0, 0.1, "a"),
    ]
    assert all(type(cell["incidents.rate"]) is float and type(cell["time.periods"]) is int for cell in cells)
    config = cell_config(scenario, cells[-1])
    assert (config.time.periods, config.incidents.rate, config.organizations.prior) == (20, 2.0, 0.1)
    assert config.auditor.mechanism == "a"


@given(
    st.lists(st.floats(0.01, 0.99), min_size=1, max_size=3, unique=True),
    st.lists(st.integers(1, 9), min_size=1, max_size=3, unique=True),
)
def test_the_cells_are_the_product(deltas: list[float], budgets: list[int]) -> None:
    grid = {"auditor.delta": deltas, "labs.lab-a.organization.budget": budgets}
    scenario = resolve_tree(BASE | {"sweep": {"grid": grid}})
    cells = sweep_cells(scenario)
    assert [tuple(cell.values()) for cell in cells] == list(itertools.product(deltas, budgets))
    for cell in cells:
        config = cell_config(scenario, cell)
        assert config.auditor.delta == cell["auditor.delta"]
        assert config.organization_of("lab-a").budget == cell["labs.lab-a.organization.budget"]


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        (
            "[sweep.grid]\n'auditor.delta' = [\n  0.1,\n  2,\n  'x']",
            [
                'study.toml:6: sweep.grid."auditor.delta"[1] = 2: must be a number greater than 0 and less than 1 '
                "(probability)",
                'study.toml:7: sweep.grid."auditor.delta"[2] = "x": must be a number greater than 0 and less than 1 '
                "(probability)",
            ],
        ),
        (
            "[sweep.grid]\n'labs.lab-a.organization.inference' = ['timing', 'bays']",
            [
                'study.toml:4: sweep.grid."labs.lab-a.organization.inference"[1] = "bays": there is no such name; '
                'did you mean "bayes"?; known: bayes, strong, timing'
            ],
        ),
        (
            "[sweep.grid]\n'auditor' = [{delta = 0.1}]",
            ["study.toml:4: sweep.grid.auditor: a table; sweep its keys one by one"],
        ),
        (
            "[sweep.grid]\n'scenario.title' = ['x']",
            [
                'study.toml:4: sweep.grid."scenario.title": [scenario] changes nothing in a run, '
                "so it cannot be swept"
            ],
        ),
        (
            "[sweep.grid]\n'auditor. delta' = [0.1]",
            ['study.toml:4: sweep.grid."auditor. delta": write it as auditor.delta'],
        ),
        (
            "[sweep.grid]\n'auditor.delta' = [0.1, 0.2, 0.1]",
            [
                'study.toml:4: sweep.grid."auditor.delta"[2] = 0.1: a second time; the same cell would run twice',
            ],
        ),
        (
            "[sweep.zip]\n'auditor.delta' = [0.1, 0.2]\n'time.periods' = [1]",
            [
                "study.toml:3: sweep.zip: the lists must be equally long; auditor.delta has 2, time.periods has 1"
            ],
        ),
        (
            "[sweep.grid]\n'incidents.rate' = [1, 10, 1.0]\n'auditor.published' = [true, false]",
            [
                'study.toml:4: sweep.grid."incidents.rate"[2] = 1.0: a second time; the same cell would run twice'
            ],
        ),
        (
            "[sweep.zip]\n'auditor.delta' = [0.1, 0.1, 0.1]\n'time.periods' = [1, 2, 1]",
            [
                "study.toml:3: sweep.zip: auditor.delta = 0.1, time.periods = 1: a second time; "
                "the same cell would run twice"
            ],
        ),
        (
            "[sweep.grid]\n'auditor.delta' = [0.1]\n[sweep.zip]\n'auditor.delta' = [0.1]",
            ['study.toml:6: sweep.zip."auditor.delta": also in [sweep.grid]'],
        ),
        (
            "[sweep.grid]\n'auditor.delta' = 0.1\n'time.periods' = []",
            [
                'study.toml:4: sweep.grid."auditor.delta" = 0.1: must be a non-empty list of values',
                'study.toml:5: sweep.grid."time.periods" = []: must be a non-empty list of values',
            ],
        ),
        (
            "[sweep.grid]\n'auditor.horizon' = [10, 100]\n'time.periods' = [50]",
            [
                "study.toml:3: sweep: the cell auditor.horizon = 10, time.periods = 50: auditor.horizon = 10: less "
                "than time.periods = 50, so the guarantee would end before the run; auditor.renewal = true starts it "
                "afresh, at a price"
            ],
        ),
        (
            "[sweep.grid]\n'employees.beliefs.safe_visibility' = [0.1, 0.4]\n"
            "'employees.beliefs.retaliation_visibility' = [0.3, 0.9]",
            [
                "study.toml:3: sweep: the cell employees.beliefs.safe_visibility = 0.4, "
                "employees.beliefs.retaliation_visibility = 0.3: employees.beliefs: safe_visibility (0.4) must be "
                "less than retaliation_visibility (0.3)"
            ],
        ),
    ],
)
def test_what_is_wrong_with_a_sweep(problems: Callable[..., Any], text: str, messages: list[str]) -> None:
    assert list(problems(LAB + text)) == messages


def test_values_that_are_right_only_together_are_right(write: Callable[..., Path]) -> None:
    zipped = "[sweep.zip]\n'time.periods' = [50, 200]\n'auditor.horizon' = [50, 200]\n"
    scenario = resolve(write(LAB + "[auditor]\nhorizon = 104\n" + zipped))
    assert [cell["auditor.horizon"] for cell in sweep_cells(scenario)] == [50, 200]


def test_a_sweep_too_large_to_run_is_refused_before_it_is_laid_out() -> None:
    numbers = [n / 1000 for n in range(1, 1000)]
    grid = {"auditor.delta": numbers, "organizations.prior": numbers, "incidents.rate": numbers}
    with pytest.raises(InputError, match="sweep: 997002999 cells; at most 100000 are allowed"):
        resolve_tree(BASE | {"sweep": {"grid": grid}})
