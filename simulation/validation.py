"""Pattern-oriented validation: run the worlds that the patterns need, and count what they ask for.

The patterns themselves, with their ranges and roles, are in `deniability.analysis.validation`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from ..agents.employee.decision import report_logit, report_probability
from ..agents.registry import loaded_plugins
from ..analysis.validation import pattern_table
from ..scenarios import InputError, ResolvedScenario, ScenarioConfig, cell_config
from .calendar import WEEKS_PER_YEAR
from .draws import child_seed
from .model import DeniabilityModel
from .registries import load_plugins
from .seeds import checked_seed
from .workers import local_pool

__all__ = [
    "STRONG_INTIMIDATION",
    "ValidationResult",
    "count_patterns",
    "validate_patterns",
    "variant_configs",
]

STRONG_INTIMIDATION = 0.82
"""Chance of retaliation once identified under strong intimidation: 82 % of the employees identified in the cases of
Dyck, Morse and Zingales were fired, quit under duress or had their duties altered (not verified)."""

_SWIFT_WEEKS = 3.0
_SHOCK = 10.0
"""What is added to or taken from the intercept while history is made: everybody reports, or nobody."""
_SHOCK_YEARS, _LONG_YEARS, _LATE_SHARE = 1, 6, 1 / 3


@dataclass(frozen=True)
class ValidationResult:
    """What a validation gave.

    Attributes
    ----------
    runs
        A row per run: variant, seed, numerators and denominators.
    patterns
        A row per pattern (`pattern_table`).
    """

    runs: pd.DataFrame
    patterns: pd.DataFrame


def variant_configs(scenario: ResolvedScenario) -> dict[str, ScenarioConfig]:
    """Make the worlds that the patterns compare.

    `default` is the scenario; `randomized` the same, under TCA if the scenario is greedy; `greedy` under the greedy
    mechanism. `outspoken` and `silenced` are the scenario under strong intimidation, six years long: everybody who
    notices something reports it in the first year, or nobody does, and then both go by the same rules.

    Raises
    ------
    InputError
        Nobody works at the scenario's labs.
    """
    config = scenario.config
    if not any(lab.employees for lab in config.labs.values()):
        raise InputError(f"{config.scenario.name}: nobody works there, and the patterns are about employees")
    is_greedy = config.auditor.mechanism == "greedy"
    cells: dict[str, dict[str, Any]] = {
        "default": {},
        "randomized": {"auditor.mechanism": "tca"} if is_greedy else {},
        "greedy": {"auditor.mechanism": "greedy"},
    }
    intimidation = _intimidation(config)
    for name, sign in (("outspoken", 1.0), ("silenced", -1.0)):
        cells[name] = intimidation | {"employees.decision.intercept": _clipped(config, sign)}
    return {name: cell_config(scenario, cell) for name, cell in cells.items()}


def _clipped(config: ScenarioConfig, sign: float) -> float:
    return min(max(config.employees.decision.intercept + sign * _SHOCK, -1000.0), 1000.0)


def _intimidation(config: ScenarioConfig) -> dict[str, Any]:
    weeks = config.time.period_weeks
    back = {
        "at": float(max(round(_SHOCK_YEARS * WEEKS_PER_YEAR / weeks), 1)),
        "set": {"employees.decision.intercept": config.employees.decision.intercept},
    }
    own = [change.model_dump(mode="json", exclude_none=True) for change in config.changes]
    periods = max(round(_LONG_YEARS * WEEKS_PER_YEAR / weeks), config.time.periods)
    cell: dict[str, Any] = {
        "organizations.retaliation_probability": STRONG_INTIMIDATION,
        "time.periods": periods,
        "changes": [*own, back],
    }
    if config.auditor.horizon is not None:
        cell["auditor.horizon"] = max(config.auditor.horizon, periods * config.auditor.audits_per_period)
    for lab, settings in config.labs.items():
        if "retaliation_probability" in settings.organization:
            cell[f"labs.{lab}.organization.retaliation_probability"] = STRONG_INTIMIDATION
    return cell


def count_patterns(config: ScenarioConfig, seed: int) -> dict[str, float]:
    """Run a world once and count what the patterns ask for.

    Parameters
    ----------
    config
        The world.
    seed
        Root seed.

    Returns
    -------
    dict
        `<quantity>_numerator` and `<quantity>_denominator`, for each quantity that a pattern reads.
    """
    model = DeniabilityModel(config, seed)
    model.run()
    counts: dict[str, float] = {}
    for name, (above, below) in _counted(model).items():
        counts[f"{name}_numerator"], counts[f"{name}_denominator"] = float(above), float(below)
    return counts


def _counted(model: DeniabilityModel) -> dict[str, tuple[float, float]]:
    notices, reports = model.log.frame("notices"), model.log.frame("reports")
    hits = model.log.frame("retaliations")
    reports = reports[reports["person"] >= 0]
    hits = hits[hits["reporter"]]
    reported, silent = notices["decision"] == "report", notices["decision"] == "silent"
    late = notices["time"] > model.config.time.periods * (1 - _LATE_SHARE)
    years = model.config.time.periods * model.period_weeks / WEEKS_PER_YEAR
    return {
        "reporting": (reported.sum(), len(notices)),
        "late_reporting": ((reported & late).sum(), late.sum()),
        "retaliation": (hits["person"].nunique(), reports["person"].nunique()),
        "swift": _swift(model, reports, hits),
        "fear_of_silent": (notices.loc[silent, "fear"].sum(), silent.sum()),
        "volume": (len(reports), model.population.n_slots * years / 100.0),
        **_willingness(model, reports, hits),
    }


def _swift(model: DeniabilityModel, reports: pd.DataFrame, hits: pd.DataFrame) -> tuple[float, float]:
    """Retaliations within three weeks of the person's first report about the incident, and all retaliations.

    Retaliation over an incident that the person has not reported, though another one, counts as not swift.
    """
    first = reports.groupby(["person", "incident"])["time"].min().rename("filed")
    wait = hits.join(first, on=["person", "incident"])
    weeks = (wait["time"] - wait["filed"]) * model.period_weeks
    return ((weeks >= 0.0) & (weeks <= _SWIFT_WEEKS)).sum(), len(hits)


def _willingness(
    model: DeniabilityModel, reports: pd.DataFrame, hits: pd.DataFrame
) -> dict[str, tuple[float, float]]:
    """Chances to report the last reported matter again, as somebody known, summed over people still employed."""
    hit = set(hits["person"])
    sums = {"again_if_hit": [0.0, 0.0], "again_if_spared": [0.0, 0.0]}
    last = reports.groupby("person")["incident"].last()
    for person, incident in zip(last.index.tolist(), last.tolist(), strict=True):
        if model.population.in_place(person):
            group = sums["again_if_hit" if person in hit else "again_if_spared"]
            group[0] += _chance_to_report(model, person, incident)
            group[1] += 1.0
    return {name: (above, below) for name, (above, below) in sums.items()}


def _chance_to_report(model: DeniabilityModel, person: int, incident: int) -> float:
    matter, weights = model.incidents[incident], model.weights
    return report_probability(
        report_logit(
            intercept=weights.intercept,
            severity=matter.severity,
            severity_weight=weights.severity_weight,
            efficacy=model.efficacy_at(matter.lab),
            efficacy_weight=weights.efficacy_weight,
            fear=model.fear_of(person),
            fear_weight=weights.fear_weight,
            exposure=1.0,
            conscience=model.employee(person).conscience,
            anonymity_set=matter.anonymity_set,
            bystander_weight=weights.bystander_weight,
        )
    )


def validate_patterns(
    scenario: ResolvedScenario,
    *,
    replicates: int,
    seed: int = 1,
    jobs: int = 1,
    progress: Callable[[int], None] = lambda _done: None,
) -> ValidationResult:
    """Measure every pattern.

    Parameters
    ----------
    scenario
        The world that is to be validated.
    replicates
        Runs of each variant, at least 2; the variants share their seeds.
    seed
        Root seed; replicate i runs on a seed derived from it and i, so the result does not depend on `jobs`.
    jobs
        Worker processes.
    progress
        Called with the number of runs done.

    Raises
    ------
    InputError
        Nobody works at the scenario's labs, or the seed is bad.
    """
    seed = checked_seed(seed)
    configs = variant_configs(scenario)
    names = _to_run(configs)
    seeds = [child_seed(seed, "validation.run", number) for number in range(replicates)]
    tasks = [(name, one) for name in names for one in seeds]
    counted = run_tasks([(configs[name], one) for name, one in tasks], jobs, progress)
    rows: list[dict[str, Any]] = []
    for (name, one), counts in zip(tasks, counted, strict=True):
        rows.append({"variant": name, "seed": str(one), **counts})
        if name == "default" and "randomized" not in names:
            rows.append({"variant": "randomized", "seed": str(one), **counts})
    runs = pd.DataFrame(rows)
    return ValidationResult(runs, pattern_table(runs))


def n_tasks(scenario: ResolvedScenario, replicates: int) -> int:
    """Return how many runs `validate_patterns` makes."""
    return replicates * len(_to_run(variant_configs(scenario)))


def _to_run(configs: Mapping[str, ScenarioConfig]) -> list[str]:
    """Variants that have to be run: the randomized one is mostly the default."""
    same = configs["randomized"] == configs["default"]
    return [name for name in configs if not (same and name == "randomized")]


def run_tasks(
    tasks: Sequence[tuple[ScenarioConfig, int]],
    jobs: int,
    progress: Callable[[int], None] = lambda _done: None,
) -> list[Mapping[str, float]]:
    """Count the patterns in many worlds, in the order of `tasks` (configuration and seed)."""
    results: list[Mapping[str, float]] = []
    if jobs == 1 or len(tasks) == 1:
        for done, task in enumerate(tasks, 1):
            results.append(count_patterns(*task))
            progress(done)
        return results
    with local_pool(min(jobs, len(tasks))) as pool:
        for done, counts in enumerate(pool.map(partial(_count, loaded_plugins()), tasks), 1):
            results.append(counts)
            progress(done)
    return results


def _count(plugins: Sequence[Path], task: tuple[ScenarioConfig, int]) -> dict[str, float]:
    load_plugins(plugins)
    return count_patterns(*task)
