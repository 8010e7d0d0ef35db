"""`--set KEY=VALUE`."""

from typing import Any

import pytest

from deniability.scenarios import InputError, resolve_tree
from deniability.scenarios.settings import parse_setting

BASE: dict[str, Any] = {"labs": {"lab-a": {"employees": 10}}}


@pytest.mark.parametrize(
    ("text", "keys", "value"),
    [
        ("auditor.delta=0.2", ("auditor", "delta"), 0.2),
        ("auditor.delta = 0.2 ", ("auditor", "delta"), 0.2),
        ("auditor.mechanism=greedy", ("auditor", "mechanism"), "greedy"),
        ('auditor.mechanism="greedy"', ("auditor", "mechanism"), "greedy"),
        ("auditor.published=false", ("auditor", "published"), False),
        ("labs.lab-a.targets=['x', \"y\"]", ("labs", "lab-a", "targets"), ["x", "y"]),
        ("access={median_access=3}", ("access",), {"median_access": 3}),
        ('sweep.grid."auditor.delta"=[0.1]', ("sweep", "grid", "auditor.delta"), [0.1]),
        ("'a=b'=c=d", ("a=b",), "c=d"),
        ("scenario.title=", ("scenario", "title"), ""),
        ("scenario.title=x\ny = 1", ("scenario", "title"), "x\ny = 1"),
        ("scenario.title=1\ny = 1", ("scenario", "title"), "1\ny = 1"),
        ("scenario.title=[", ("scenario", "title"), "["),
    ],
)
def test_a_value_is_toml_or_else_text(text: str, keys: tuple[str, ...], value: Any) -> None:
    assert parse_setting(text) == (keys, value)


def test_later_settings_win_and_tables_are_merged() -> None:
    config = resolve_tree(
        BASE,
        [
            "labs.lab-a.employees=11",
            "labs.lab-a.employees=12",
            "access={median_access=3}",
            "access={access_sigma=1}",
        ],
    ).config
    assert config.labs["lab-a"].employees == 12
    assert (config.access.median_access, config.access.access_sigma) == (3.0, 1.0)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("auditor.dleta=1", "--set: auditor.dleta: unknown key; did you mean auditor.delta?"),
        ("delta=1", "--set: delta: unknown key; did you mean auditor.delta?"),
        ("auditor.delta", "--set auditor.delta: needs KEY=VALUE, for example auditor.delta=0.2"),
        ("=1", "--set =1: '' is no dotted path such as auditor.delta"),
        (
            "labs.lab-b.employees=1",
            "--set labs.lab-b.employees: there is no lab 'lab-b'; did you mean lab-a?",
        ),
        ("labs.zzz.employees=1", "--set labs.zzz.employees: there is no lab 'zzz'; there are lab-a"),
        ("scenario.extends=['x']", "--set scenario.extends: parents belong into the file"),
        ("auditor=3", "--set: auditor = 3: must be a table"),
        (
            "auditor.delta=",
            '--set: auditor.delta = "": must be a number greater than 0 and less than 1 (probability)',
        ),
        ("a\x1bb=1", "--set a\\x1bb=1: 'a\\x1bb' is no dotted path such as auditor.delta"),
        ("scenario.title=caf\udce9", "--set scenario.title=caf\\udce9: must be text in UTF-8"),
    ],
)
def test_a_wrong_setting(setting: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        resolve_tree(BASE, [setting])
    assert error.value.messages == (message,)


def test_a_whole_lab_can_be_added() -> None:
    assert list(resolve_tree(BASE, ["labs.lab-b={employees=3}"]).config.labs) == ["lab-a", "lab-b"]
