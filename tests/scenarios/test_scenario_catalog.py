"""Every shipped scenario is right, and says of each value where it comes from."""

import re
from pathlib import Path

import pytest

from deniability.scenarios import resolve, shipped_names, sweep_cells, to_toml
from deniability.scenarios.catalog import shipped_path
from deniability.scenarios.starter import starter_text, study_name
from deniability.scenarios.values import value_rows
from deniability.simulation.registries import known_names

REAL = ["openai", "anthropic", "deepmind", "google", "meta", "xai", "mistral", "microsoft", "amazon"]


@pytest.mark.parametrize("name", shipped_names())
def test_a_shipped_scenario_is_right_and_tells_what_it_is_for(name: str) -> None:
    config = resolve(name, known_names=known_names()).config
    assert config.scenario.name == name
    assert config.scenario.title != name
    assert config.scenario.question.endswith("?")
    assert config.scenario.description


@pytest.mark.parametrize("name", shipped_names())
def test_every_behaviour_value_has_evidence(name: str) -> None:
    scenario = resolve(name)
    for row in value_rows(scenario):
        assert row.evidence, row.path
        assert "gives no source" not in row.evidence, row.path
        head = row.evidence.partition(":")[0]
        known = {"assumption", "tuned", *scenario.config.sources}
        assert head in known, (row.path, row.evidence)
        assert row.evidence.partition(":")[2].strip(), row.path


@pytest.mark.parametrize("name", shipped_names())
def test_every_source_has_an_address(name: str) -> None:
    for key, citation in resolve(name).config.sources.items():
        assert re.search(r"https://\S+", citation) or "not verified" in citation, key


@pytest.mark.parametrize("name", shipped_names())
def test_no_lab_is_a_real_company(name: str) -> None:
    for lab_id, lab in resolve(name).config.labs.items():
        assert not any(company in f"{lab_id} {lab.title}".lower() for company in REAL)


def test_five_labs_is_the_default_study() -> None:
    scenario = resolve("five-labs")
    config = scenario.config
    assert [lab.employees for lab in config.labs.values()] == [4500, 3000, 2600, 2000, 600]
    assert config.n_targets == 25
    assert [config.access_of(lab).median_access for lab in config.labs] == [8, 14, 25, 45, 80]
    assert (config.time.periods, config.time.period_weeks, config.incidents.rate) == (104, 1, 1)
    assert (config.auditor.mechanism, config.auditor.delta) == ("tca", 0.1)
    assert config.organizations.retaliation_probability == 0.33
    cells = sweep_cells(scenario)
    assert {cell["auditor.mechanism"] for cell in cells} == {"greedy", "uniform", "rr", "tca", "exponential"}
    assert {cell["auditor.delta"] for cell in cells} == {0.05, 0.1, 0.2, 0.4}
    assert (len(cells), config.sweep.replicates) == (20, 50)


def test_five_labs_writes_every_value_out_itself() -> None:
    for row in value_rows(resolve("five-labs")):
        assert row.set_in.startswith("five-labs (shipped):") or row.path == "auditor.horizon", row.path


def test_five_labs_stands_alone_when_written_out(tmp_path: Path) -> None:
    config = resolve("five-labs").config
    path = tmp_path / "copy.toml"
    path.write_text(to_toml(config), encoding="utf-8")
    assert "extends" not in to_toml(config)
    assert resolve(path, known_names=known_names()).config == config


def test_shipped_names_are_the_files_of_the_folder() -> None:
    assert "five-labs" in shipped_names()
    assert all(shipped_path(name).is_file() for name in shipped_names())


def test_the_starter_is_right_and_changes_what_it_says(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(starter_text("mine", "mine.toml"), encoding="utf-8")
    scenario = resolve(path, known_names=known_names())
    assert scenario.config.scenario.name == "mine"
    assert scenario.parents == ("five-labs (shipped)",)
    assert scenario.config.employees.scale == 0.1
    # the lines that are commented out are right too
    commented = path.read_text(encoding="utf-8").replace("# [labs", "[labs").replace("# retal", "retal")
    commented = commented.replace("# [sources]", "[sources]").replace("# smith", "smith")
    path.write_text(commented, encoding="utf-8")
    config = resolve(path, known_names=known_names()).config
    assert config.organization_of("lab-e").retaliation_probability == 0.82
    assert "smith-2020" in config.sources


@pytest.mark.parametrize(
    ("file", "name"), [("My Study", "my-study"), ("ÄÖ", "scenario"), ("x" * 99, "x" * 64), ("a--b_", "a-b")]
)
def test_a_files_name_becomes_a_studys(file: str, name: str) -> None:
    assert study_name(file) == name


FIGURES = {"retaliation", "delta", "frontier", "reporting", "anonymity", "tipping"}


@pytest.mark.parametrize("name", shipped_names())
def test_a_shipped_scenario_names_its_headline_figure(name: str) -> None:
    config = resolve(name).config
    headline = config.scenario.headline
    swept = {f"sweep-{path.replace('.', '-')}" for path in config.sweep.grid}
    assert headline in FIGURES | swept
    # a figure over delta needs several of them
    assert headline != "delta" or len(config.sweep.grid["auditor.delta"]) > 1


@pytest.mark.parametrize("name", shipped_names())
def test_every_sweep_compares_all_mechanisms(name: str) -> None:
    swept = {cell["auditor.mechanism"] for cell in sweep_cells(resolve(name))}
    assert swept == {"greedy", "uniform", "rr", "tca", "exponential"}


def test_the_catalogue_is_complete() -> None:
    assert shipped_names() == [
        "eu-ai-office-monthly",
        "five-labs",
        "intimidation",
        "lab-targets",
        "leaky-channel",
        "paper-baseline",
        "post-sb53",
        "report-surge",
        "report-surge-two-people",
        "single-lab-narrow",
    ]


def differing(name: str, other: str) -> set[str]:
    """Paths whose values differ between two scenarios, those of labs left out."""
    one, two = ({row.path: row.value for row in value_rows(resolve(n))} for n in (name, other))
    return {
        path for path in one.keys() | two.keys() if one.get(path) != two.get(path) and "labs." not in path
    }


@pytest.mark.parametrize(
    ("name", "other", "paths"),
    [
        ("single-lab-narrow", "five-labs", {"time.periods", "incidents.rate"}),
        ("post-sb53", "five-labs", {"changes"}),
        ("intimidation", "five-labs", {"incidents.rate", "organizations.retaliation_probability"}),
        ("eu-ai-office-monthly", "five-labs", {"time.periods", "time.period_weeks", "changes"}),
        ("report-surge", "five-labs", {"time.periods", "reports.bursts"}),
        ("report-surge-two-people", "report-surge", {"reports.people", "reports.people_share"}),
        ("lab-targets", "five-labs", {"access.compartments_per_target", "incidents.rate"}),
        ("leaky-channel", "five-labs", {"organizations.leak_probability"}),
    ],
)
def test_a_scenario_differs_from_the_default_study_in_what_it_asks_about_alone(
    name: str, other: str, paths: set[str]
) -> None:
    assert differing(name, other) == paths


def test_lab_targets_has_as_much_misconduct_as_five_labs() -> None:
    one, other = resolve("lab-targets").config, resolve("five-labs").config
    assert one.incidents.rate * one.n_targets == other.incidents.rate * other.n_targets
    assert one.access.compartments_per_target * one.n_targets == other.n_targets


def test_paper_baseline_is_the_papers_dynamic_experiment() -> None:
    config = resolve("paper-baseline").config
    assert (config.n_targets, config.time.periods, config.auditor.delta) == (50, 1000, 0.1)
    assert (config.reports.lead_rate, config.reports.rate, config.reports.rates_per) == (1.0, 0.2, "period")
    assert config.reports.lead == config.target_names[0]
    assert [lab.employees for lab in config.labs.values()] == [0]
