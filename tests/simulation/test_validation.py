"""What the patterns count is what happened, and the worlds they compare differ in what they should."""

from pathlib import Path

import pytest

from deniability.scenarios import InputError, ResolvedScenario, ScenarioConfig
from deniability.simulation import load_scenario
from deniability.simulation.model import DeniabilityModel
from deniability.simulation.runs import run
from deniability.simulation.tuning import search
from deniability.simulation.validation import (
    STRONG_INTIMIDATION,
    count_patterns,
    validate_patterns,
    variant_configs,
)

SMALL = ["employees.scale=0.1", "time.periods=26", "incidents.rate=4.0"]


def small(*more: str, mechanism: str = "exponential"):
    return load_scenario("five-labs", mechanism=mechanism, overrides=[*SMALL, *more])


TINY = """
[labs.lab-a]
employees = 60
targets = ["one", "two", "three"]
access = { median_access = 6.0 }
[auditor]
mechanism = "exponential"
[incidents]
rate = 6.0
[time]
periods = 30
"""


@pytest.fixture
def tiny(tmp_path: Path) -> ResolvedScenario:
    """One lab with sixty people."""
    path = tmp_path / "tiny.toml"
    path.write_text(TINY, encoding="utf-8")
    return load_scenario(path)


def test_counts_agree_with_the_metrics_of_the_same_run() -> None:
    scenario = small("organizations.disclosure_probability=0.8", "organizations.retaliation_probability=0.9")
    counts, result = count_patterns(scenario.config, 3), run(scenario, seed=3)
    for quantity, metric in (("reporting", "reporting_rate"), ("retaliation", "retaliation_rate")):
        for part in ("numerator", "denominator"):
            assert counts[f"{quantity}_{part}"] == result.metrics[f"{metric}_{part}"] > 0
    assert counts["volume_numerator"] == result.metrics["reports"]
    years = 26 / (365.25 / 7)
    assert counts["volume_denominator"] == pytest.approx(1270 * years / 100, rel=1e-3)
    silent = result.tables["notices"].query("decision == 'silent'")["fear"]
    assert counts["fear_of_silent_denominator"] == len(silent)
    assert counts["fear_of_silent_numerator"] == pytest.approx(silent.sum())
    late = result.tables["notices"].query("time > 26 * 2 / 3")["decision"]
    assert counts["late_reporting_denominator"] == len(late)
    assert counts["late_reporting_numerator"] == (late == "report").sum()


def test_swift_counts_from_the_report_and_not_from_its_detection() -> None:
    scenario = small("organizations.disclosure_probability=1.0", "organizations.retaliation_probability=1.0")
    counts, tables = count_patterns(scenario.config, 2), run(scenario, seed=2).tables
    filed = {(row.person, row.incident): row.time for row in tables["reports"].itertuples()}
    hits = tables["retaliations"].query("reporter")
    waits = [row.time - filed[row.person, row.incident] for row in hits.itertuples()]
    assert counts["swift_denominator"] == len(waits) > 10
    assert counts["swift_numerator"] == sum(wait <= 3.0 for wait in waits)


def test_own_retaliation_lowers_willingness_by_what_the_belief_says() -> None:
    # people who never learn anything are as willing after retaliation as before
    told = ["organizations.disclosure_probability=0.5", "organizations.retaliation_probability=0.9"]
    kept = [
        "employees.departure_probability=0.0",
        "employees.turnover=0.0",
        "employees.decision.conscience_sd=0.0",
    ]
    fixed = ["employees.beliefs.fear_strength=1e6", "employees.decision.severity_weight=0.0"]

    def gap(*more: str) -> float:
        counts = count_patterns(small(*told, *kept, *more).config, 5)
        rates = [
            counts[f"again_if_{w}_numerator"] / counts[f"again_if_{w}_denominator"] for w in ("spared", "hit")
        ]
        return rates[0] - rates[1]

    assert gap() > 0.1
    assert abs(gap(*fixed)) < 0.05


def test_the_worlds_differ_in_what_the_patterns_compare() -> None:
    scenario = small()
    configs = variant_configs(scenario)
    assert configs["default"] == configs["randomized"] == scenario.config
    assert configs["greedy"].auditor.mechanism == "greedy"
    greedy = variant_configs(small(mechanism="greedy"))
    assert greedy["default"] == greedy["greedy"]
    assert greedy["randomized"].auditor.mechanism == "tca"


def test_outspoken_and_silenced_worlds_differ_in_their_first_year_alone(tiny: ResolvedScenario) -> None:
    outspoken, silenced = (variant_configs(tiny)[name] for name in ("outspoken", "silenced"))
    assert outspoken.changes == silenced.changes
    assert outspoken.organizations.retaliation_probability == STRONG_INTIMIDATION

    def rates(config: ScenarioConfig) -> tuple[float, float]:
        model = DeniabilityModel(config, 1)
        model.run()
        notices = model.log.frame("notices").query("decision != 'silenced'")  # of those who still decide
        reported, early = notices["decision"] == "report", notices["time"] < 52
        return reported[early].mean(), reported[~early].mean()

    assert outspoken.time.periods == round(6 * 365.25 / 7)
    assert rates(outspoken)[0] > 0.97
    assert rates(silenced)[0] < 0.03
    assert 0.2 < rates(silenced)[1] < 0.9


def test_strong_intimidation_reaches_labs_with_a_policy_of_their_own() -> None:
    scenario = small("labs.lab-e.organization.retaliation_probability=0.1", "auditor.horizon=26")
    config = variant_configs(scenario)["silenced"]
    assert config.organization_of("lab-e").retaliation_probability == STRONG_INTIMIDATION
    assert config.auditor.horizon == config.time.periods


def test_a_world_without_people_is_refused() -> None:
    with pytest.raises(InputError, match="nobody works there"):
        variant_configs(load_scenario("paper-baseline"))


def test_a_result_follows_from_the_seed(tiny: ResolvedScenario) -> None:
    scenario = load_scenario(str(tiny.source), overrides=["time.period_weeks=13.0", "time.periods=6"])
    one, again = (validate_patterns(scenario, replicates=2, seed=7) for _ in range(2))
    assert one.runs.equals(again.runs)
    assert one.patterns.equals(again.patterns)
    assert set(one.runs["variant"]) == {"default", "randomized", "greedy", "outspoken", "silenced"}
    assert (one.runs.groupby("variant").size() == 2).all()
    assert not one.runs.equals(validate_patterns(scenario, replicates=2, seed=8).runs)


@pytest.mark.parametrize("start", [-5.0, 0.0, 1.9, 2.0, 7.0])
def test_the_search_finds_where_a_rising_function_is_zero(start: float) -> None:
    found = search(lambda x: x**3 - 8.0, start, 0.5, (-10.0, 10.0), 1e-6)
    assert found == pytest.approx(2.0, abs=1e-6)


def test_the_search_bears_steps_and_says_when_there_is_nothing_to_find() -> None:
    # a share over few runs is a step function; near enough is enough
    assert abs(search(lambda x: round(x, 1) - 0.3, 0.0, 0.1, (0.0, 1.0), 0.01) - 0.3) <= 0.06
    with pytest.raises(InputError, match="reaches the target"):
        search(lambda x: x - 2.0, 0.5, 0.1, (0.0, 1.0), 1e-3)
    with pytest.raises(InputError, match="near enough"):
        search(lambda x: 1.0 if x > 0.55 else -1.0, 0.5, 0.1, (0.0, 1.0), 1e-3)
