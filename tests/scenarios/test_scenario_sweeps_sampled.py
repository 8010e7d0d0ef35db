"""Sampled cells spread as the method promises, depend on nothing but the table, and bad tables are told so."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniability.scenarios import InputError, cell_config, resolve, resolve_tree, sweep_cells, to_toml

LAB = "[labs.lab-a]\nemployees = 10\n"
BASE: dict[str, Any] = {"labs": {"lab-a": {"employees": 10, "targets": ["x", "y"]}}}


def cells(sample: dict[str, Any], **rest: Any) -> list[dict[str, Any]]:
    return sweep_cells(resolve_tree(BASE | {"sweep": {"sample": sample, **rest}}))


def slices(values: list[float], low: float, high: float, pieces: int) -> list[int]:
    """In which of so many equal pieces of the range each value lies."""
    return sorted(math.floor((value - low) / (high - low) * pieces) for value in values)


@settings(deadline=None)  # the first call waits for scipy
@given(st.integers(1, 60), st.integers(0, 2**63 - 1))
def test_a_latin_hypercube_has_one_point_in_each_slice_of_every_range(points: int, seed: int) -> None:
    found = cells(
        {
            "points": points,
            "seed": seed,
            "linear": {"organizations.prior": [0.2, 0.6]},
            "log": {"auditor.delta": [0.01, 0.64]},
        }
    )
    assert slices([cell["organizations.prior"] for cell in found], 0.2, 0.6, points) == list(range(points))
    logs = [math.log(cell["auditor.delta"]) for cell in found]
    assert slices(logs, math.log(0.01), math.log(0.64), points) == list(range(points))


@settings(deadline=None)  # the first call waits for scipy
@given(st.integers(0, 6), st.integers(0, 100))
def test_sobol_points_balance_every_pair_of_ranges(power: int, seed: int) -> None:
    # a (0, m, 2)-net in base 2: each dyadic box of area 2**-m holds one point, more than a Latin hypercube promises
    found = cells(
        {
            "method": "sobol",
            "points": 2**power,
            "seed": seed,
            "linear": {
                "organizations.leak_probability": [0.0, 1.0],
                "employees.notice_probability": [0.0, 1.0],
            },
        }
    )
    for first in range(power + 1):
        wide, high = 2**first, 2 ** (power - first)
        boxes = {
            (
                math.floor(cell["organizations.leak_probability"] * wide),
                math.floor(cell["employees.notice_probability"] * high),
            )
            for cell in found
        }
        assert len(boxes) == 2**power


def test_whole_numbers_get_equal_pieces_and_stay_whole() -> None:
    found = cells({"points": 40, "linear": {"organizations.budget": [1, 4], "auditor.delta": [0.1, 0.2]}})
    budgets = [cell["organizations.budget"] for cell in found]
    assert all(type(budget) is int for budget in budgets)
    assert [budgets.count(budget) for budget in (1, 2, 3, 4)] == [10] * 4


def test_points_follow_the_table_and_its_seed_alone() -> None:
    table = {"points": 8, "linear": {"auditor.delta": [0.1, 0.9]}}
    assert cells(table) == cells(table)
    assert cells(table) == cells(table | {"seed": 1})
    assert cells(table) != cells(table | {"seed": 2})
    # written with ten digits at most, so that a machine's last bit does not make another run of it
    assert all(cell["auditor.delta"] == float(f"{cell['auditor.delta']:.10g}") for cell in cells(table))


def test_zipped_values_are_outermost_then_points_then_the_grid() -> None:
    found = cells(
        {"points": 2, "linear": {"auditor.delta": [0.1, 0.9]}},
        grid={"auditor.mechanism": ["tca", "rr"]},
        zip={"time.periods": [10, 20]},
    )
    first, second = dict.fromkeys(cell["auditor.delta"] for cell in found)
    expected = [
        (periods, delta, mechanism)
        for periods in (10, 20)
        for delta in (first, second)
        for mechanism in ("tca", "rr")
    ]
    assert [tuple(cell.values()) for cell in found] == expected
    assert tuple(found[0]) == ("time.periods", "auditor.delta", "auditor.mechanism")


def test_a_sample_without_ranges_samples_nothing() -> None:
    assert cells({"points": 5, "method": "sobol"}) == [{}]


def test_a_study_with_samples_and_a_target_is_written_and_read_again(write: Callable[..., Path]) -> None:
    scenario = resolve(
        write(
            LAB + "[sweep.sample]\nmethod = 'sobol'\npoints = 4\nlog.'auditor.delta' = [0.01, 0.1]\n"
            "[sweep.precision]\nmetric = 'harm'\nhalf_width = 2.5\n"
        )
    )
    again = resolve(write(to_toml(scenario.config), "again.toml"))
    assert again.config.sweep == scenario.config.sweep
    assert sweep_cells(again) == sweep_cells(scenario)
    assert (
        cell_config(scenario, sweep_cells(scenario)[0]).auditor.delta
        == sweep_cells(again)[0]["auditor.delta"]
    )


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        (
            "[sweep.sample.linear]\n'auditor.delta' = [0.2, 1.5]",
            [
                'study.toml:4: sweep.sample.linear."auditor.delta"[1] = 1.5: must be a number greater than 0 and '
                "less than 1 (probability)"
            ],
        ),
        (
            "[sweep.sample.linear]\n'auditor.delta' = [0.2, 0.1]",
            ['study.toml:4: sweep.sample.linear."auditor.delta" = [0.2, 0.1]: low must be less than high'],
        ),
        (
            "[sweep.sample.log]\n'incidents.rate' = [0.0, 1.0]",
            [
                'study.toml:4: sweep.sample.log."incidents.rate" = [0.0, 1.0]: low must be greater than 0 for a '
                "logarithm"
            ],
        ),
        (
            "[sweep.sample.linear]\n'auditor.delta' = [0.1, 0.2, 0.3]",
            [
                'study.toml:4: sweep.sample.linear."auditor.delta" = [0.1, 0.2, 0.3]: must be a list of two numbers, '
                "[low, high]"
            ],
        ),
        (
            "[sweep.sample.linear]\n'auditor.mechanism' = ['rr', 'tca']",
            [
                'study.toml:4: sweep.sample.linear."auditor.mechanism": auditor.mechanism is no number; list its '
                "values in [sweep.grid]"
            ],
        ),
        (
            "[sweep.sample.linear]\n'organizations.budget' = [1, 2.5]",
            [
                'study.toml:4: sweep.sample.linear."organizations.budget" = [1, 2.5]: organizations.budget takes '
                "whole numbers",
                'study.toml:4: sweep.sample.linear."organizations.budget"[1] = 2.5: must be a whole number from 0 '
                "to 1000000 (people)",
            ],
        ),
        (
            "[sweep.sample]\nmethod = 'sobol'\npoints = 100\n[sweep.sample.linear]\n'auditor.delta' = [0.1, 0.2]",
            [
                "study.toml:5: sweep.sample.points = 100: must be a power of 2 for sobol, for example 64 or 128"
            ],
        ),
        (
            "[sweep.sample]\nmethod = 'sobel'",
            [
                'study.toml:4: sweep.sample.method = "sobel": must be one of "latin-hypercube", "sobol"; did you '
                'mean "sobol"?'
            ],
        ),
        (
            "[sweep.sample.linear]\n'auditor.delta' = [0.1, 0.2]\n[sweep.grid]\n'auditor.delta' = [0.1]",
            ['study.toml:4: sweep.sample.linear."auditor.delta": also in [sweep.grid]'],
        ),
        (
            "[sweep.sample]\npoints = 3\nlinear.'organizations.budget' = [1, 2]",
            [
                "study.toml:3: sweep.sample: organizations.budget = 1: a second time; the same cell would run twice"
            ],
        ),
        (
            "[sweep.sample.linear]\n'auditor.dleta' = [0.1, 0.2]",
            ['study.toml:4: sweep.sample.linear."auditor.dleta": unknown key; did you mean auditor.delta?'],
        ),
        (
            "[sweep]\nreplicates = 30\nprecision = { metric = 'harm', max_replicates = 20 }",
            ["study.toml:5: sweep.precision.max_replicates = 20: less than sweep.replicates = 30"],
        ),
        (
            "[sweep.precision]\nmetric = 'harm'\nhalf_width = 0",
            [
                "study.toml:5: sweep.precision.half_width = 0: must be a number greater than 0 and at most "
                "1000000000"
            ],
        ),
    ],
)
def test_what_is_wrong_with_a_sample_or_a_target(
    problems: Callable[..., Any], text: str, messages: list[str]
) -> None:
    assert list(problems(LAB + text)) == messages


def test_a_metric_that_does_not_exist_is_told(write: Callable[..., Path]) -> None:
    path = write(LAB + "[sweep.precision]\nmetric = 'retaliation'\n")
    with pytest.raises(
        InputError, match=r'study.toml:4: sweep.precision.metric = "retaliation": .* known: harm'
    ):
        resolve(path, known_names={"sweep.precision.metric": ["harm"]})


def test_sampled_values_are_judged_in_whole_cells() -> None:
    ranges = {
        "employees.beliefs.safe_visibility": [0.1, 0.9],
        "employees.beliefs.retaliation_visibility": [0.1, 0.9],
    }
    with pytest.raises(InputError, match=r"safe_visibility .* must be less than retaliation_visibility"):
        cells({"points": 16, "linear": ranges})


def test_a_sample_counts_towards_the_number_of_cells() -> None:
    numbers = [n / 1000 for n in range(1, 1000)]
    with pytest.raises(InputError, match="sweep: 127872 cells; at most 100000 are allowed"):
        cells({"points": 128, "linear": {"auditor.delta": [0.1, 0.2]}}, grid={"organizations.prior": numbers})
