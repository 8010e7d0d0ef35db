"""One run of a scenario, as a function."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Real
from os import PathLike
from typing import Any

import pandas as pd

from ..analysis.metrics import run_metrics
from ..scenarios import ResolvedScenario, ScenarioConfig, content_hash, resolve
from ..scenarios.errors import InputError
from ..scenarios.settings import Setting, contradictions
from .guarantees import segments
from .model import DeniabilityModel
from .provenance import run_id
from .registries import known_names
from .seeds import checked_seed
from .tables import run_tables

__all__ = ["RunResult", "load_scenario", "run", "simulated"]


@dataclass(frozen=True)
class RunResult:
    """What a run gave.

    Attributes
    ----------
    scenario
        The resolved scenario.
    seed
        Root seed of every draw.
    tables
        Tidy tables by name.
    metrics
        Flat metrics; undefined ones (nothing to divide by) are None.
    """

    scenario: ResolvedScenario
    seed: int
    tables: dict[str, pd.DataFrame]
    metrics: dict[str, Any]

    @property
    def run_id(self) -> str:
        """Identity of the run."""
        return run_id(content_hash(self.scenario.config), self.seed)


def load_scenario(
    source: str | PathLike[str],
    *,
    mechanism: str | None = None,
    delta: float | None = None,
    overrides: Sequence[str] = (),
) -> ResolvedScenario:
    """Load a scenario and check it, names of mechanisms and rules included.

    Parameters
    ----------
    source
        A shipped scenario's name or the path of a TOML file.
    mechanism, delta
        Override `auditor.mechanism` and `auditor.delta`.
    overrides
        Further `KEY=VALUE` overrides; a value is TOML, else a string. No two may give a key different values, nor
        another than `mechanism` or `delta` gives.

    Raises
    ------
    InputError
        With one message per problem.
    """
    settings: list[str | Setting] = list(overrides)
    if mechanism is not None:
        settings.append(Setting("auditor.mechanism", mechanism, "--mechanism"))
    if delta is not None:
        settings.append(Setting("auditor.delta", _plain(delta), "--delta"))
    if clashes := contradictions(settings):
        raise InputError(clashes)
    scenario = resolve(str(source), overrides=settings, known_names=known_names())
    segments(scenario.config)  # a guarantee that ends before the run is better known now
    return scenario


def _plain(value: Any) -> Any:
    """A number of any kind (numpy's) as one that a scenario file could hold; anything else as it is."""
    if isinstance(value, bool):
        return value
    return float(value) if isinstance(value, Real) else value


def run(
    scenario: ResolvedScenario | str | PathLike[str],
    *,
    seed: int = 1,
    mechanism: str | None = None,
    delta: float | None = None,
    overrides: Sequence[str] = (),
    progress: Callable[[int], None] | None = None,
) -> RunResult:
    """Run a scenario once.

    Parameters
    ----------
    scenario
        A resolved scenario, or what `load_scenario` takes together with `mechanism`, `delta` and `overrides`.
    seed
        Root seed, from 0 to 2**63 - 1: the same seed gives the same bytes.
    progress
        Called after each decision with its number.

    Raises
    ------
    InputError
        If the scenario or the seed is bad.

    Examples
    --------
    >>> result = run("five-labs", mechanism="greedy", overrides=["time.periods=8", "employees.scale=0.1"])
    >>> result.metrics["audits"]
    8
    """
    if not isinstance(scenario, ResolvedScenario):
        scenario = load_scenario(scenario, mechanism=mechanism, delta=delta, overrides=overrides)
    elif mechanism is not None or delta is not None or overrides:
        raise TypeError("a resolved scenario takes no further overrides: give them to load_scenario")
    seed = checked_seed(seed)
    tables, metrics = simulated(scenario.config, seed, progress)
    return RunResult(scenario, seed, tables, metrics)


def simulated(
    config: ScenarioConfig, seed: int, progress: Callable[[int], None] | None = None
) -> tuple[dict[str, pd.DataFrame], dict[str, Any]]:
    """Tables and metrics of one run: what `run` and every run of a batch do."""
    try:
        model = DeniabilityModel(config, seed, progress)
        model.run()
    except SystemExit as end:  # else a plugin would end the process, and as if all were well
        raise RuntimeError(f"code of the run wanted to leave Python: sys.exit({end.code!r})") from end
    tables = run_tables(model)
    return tables, run_metrics(tables, config.time.period_weeks)
