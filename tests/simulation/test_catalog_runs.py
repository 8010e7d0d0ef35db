"""Every shipped scenario runs under every mechanism, shrunken, with an account in which nothing is infinite."""

import math
import re
from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from deniability.analysis.account import account
from deniability.scenarios import resolve, shipped_names
from deniability.simulation import load_scenario, run
from deniability.simulation.guarantees import stated_guarantee

PERIODS = 12
MECHANISMS = ["exponential", "greedy", "rr", "tca", "uniform"]


def shrunken(name: str, mechanism: str):
    """The scenario with a tenth of its people and twelve decisions; what happens at a time happens in proportion."""
    config = resolve(name).config
    ratio = PERIODS / config.time.periods
    changes: list[dict[str, Any]] = [
        change.model_dump(mode="json", exclude_none=True) | {"at": max(round(change.at * ratio), 1)}
        for change in config.changes
    ]
    bursts = [burst.model_dump(mode="json") | {"at": burst.at * ratio} for burst in config.reports.bursts]
    overrides: list[Any] = [
        ("time.periods", PERIODS),
        ("employees.scale", 0.1),
        ("changes", changes),
        ("reports.bursts", bursts),
        ("auditor.mechanism", mechanism),
    ]
    return load_scenario(name, overrides=overrides)


@pytest.mark.slow
@pytest.mark.parametrize("name", shipped_names())
def test_every_scenario_runs_under_every_mechanism(name: str) -> None:
    for mechanism in MECHANISMS:
        scenario = shrunken(name, mechanism)
        result = run(scenario, seed=1)
        assert result.metrics["audits"] == PERIODS, mechanism
        for key, value in result.metrics.items():
            assert value is None or math.isfinite(value), (mechanism, key)
        guarantee = stated_guarantee(scenario.config).text
        console = Console(width=100, file=StringIO())
        console.print(account(result.metrics, scenario.config, seed=1, guarantee=guarantee))
        words = set(re.findall(r"[A-Za-z]+", console.file.getvalue()))
        assert "audits" in words, mechanism
        assert not words & {"nan", "inf", "None", "null"}, mechanism
