"""Twin runs: the causal effect of one report on the fate of the person who filed it (docs/adversary.md).

Four runs make a pair, all on the same random numbers. A first run shows which report is the focal one. The run
without it, all else free, gives the *total* effect (own learning, leaks and findings included): for this no bound
is claimed. Two more runs, with and without the report and both held to the certified conditions from its time on,
give the *certified* effect, whose mean through the transcript is at most the stated guarantee.

The focal report is a person's first about an incident. Where people report again, the total effect is that of all
the person's reports about it, and the certified one still that of a single report.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from ..agents.registry import loaded_plugins
from ..analysis.intervals import Estimate
from ..analysis.paired import paired_proportions
from ..scenarios import InputError, ScenarioConfig
from .draws import KeyedDraws, child_seed
from .guarantees import stated_guarantee
from .intervention import Intervention
from .model import DeniabilityModel
from .registries import load_plugins
from .seeds import checked_seed
from .workers import local_pool

__all__ = ["CHANNELS", "TwinResult", "focal_report", "twin_pair", "twin_study"]

CHANNELS = ("transcript", "side_information", "self_disclosure", "audit_scope")

_LATEST = 0.75
"""The focal report is the first one filed after a uniform time in this share of the run, which leaves time for
consequences."""


@dataclass(frozen=True)
class TwinResult:
    """What a twin study gave.

    Attributes
    ----------
    bound
        What the scenario guarantees for the certified effect through the transcript (`stated_guarantee`), renewals
        and changes of the mechanism included; 1 says nothing.
    pairs
        One row per pair: seed, person, incident, time and the fate in each of the four runs (the channel through
        which the person was retaliated against, or missing).
    """

    bound: float
    pairs: pd.DataFrame

    def effect(self, mode: str, channel: str | None = None) -> Estimate:
        """Estimate an effect.

        Parameters
        ----------
        mode
            "certified" or "total".
        channel
            Retaliation through this channel; None for any.
        """
        fates = [self.pairs[f"{mode}_{side}"] for side in ("with", "without")]
        hits = [fate.notna() if channel is None else fate == channel for fate in fates]
        return paired_proportions(hits[0].to_numpy(dtype=bool), hits[1].to_numpy(dtype=bool))


def twin_pair(config: ScenarioConfig, seed: int) -> dict[str, Any] | None:
    """Run one pair.

    Parameters
    ----------
    config
        The scenario.
    seed
        Root seed of all four runs.

    Returns
    -------
    dict or None
        A row of `TwinResult.pairs`; None if nobody filed a report after the chosen time.
    """
    free = DeniabilityModel(config, seed)
    free.run()
    focal = focal_report(free, seed)
    if focal is None:
        return None
    person, incident = int(focal["person"]), int(focal["incident"])

    def fate(*, withheld: bool, certified: bool) -> str | None:
        model = DeniabilityModel(
            config, seed, intervention=Intervention(person, incident, withheld, certified)
        )
        model.run()
        return model.population.punished.get(person)

    return {
        "seed": str(seed),
        "person": person,
        "incident": incident,
        "time": float(focal["time"]),
        "certified_with": fate(withheld=False, certified=True),
        "certified_without": fate(withheld=True, certified=True),
        "total_with": free.population.punished.get(person),
        "total_without": fate(withheld=True, certified=False),
    }


def focal_report(free: DeniabilityModel, seed: int) -> "pd.Series[Any] | None":
    """Choose the focal report: the first one that an employee files after a time drawn beforehand.

    It depends on nothing that happens after the report is filed.

    Parameters
    ----------
    free
        A run in which nothing is held, finished.
    seed
        Its root seed.

    Returns
    -------
    Series or None
        A row of the table `reports`; None if there is no such report.
    """
    earliest = KeyedDraws(seed).uniform("twin.time") * _LATEST * free.config.time.periods
    reports = free.log.frame("reports")
    late = reports[(reports["time"] >= earliest) & (reports["person"] >= 0) & (reports["repeat"] == 0)]
    return None if late.empty else late.iloc[0]


def twin_study(
    config: ScenarioConfig,
    *,
    n_pairs: int,
    seed: int = 1,
    jobs: int = 1,
    progress: Callable[[int], None] = lambda _done: None,
) -> TwinResult:
    """Run many pairs.

    Parameters
    ----------
    config
        The scenario.
    n_pairs
        Number of pairs to run; a pair in which nobody reports in time is left out of the result.
    seed
        Root seed; pair i runs on a seed derived from it and i, so the result does not depend on `jobs`.
    jobs
        Worker processes.
    progress
        Called with the number of pairs done.

    Raises
    ------
    InputError
        The seed is no whole number from 0 to 2**63 - 1, or nobody works at the labs of the scenario.
    """
    seed = checked_seed(seed)
    if not any(lab.employees for lab in config.labs.values()):
        raise InputError(
            f"{config.scenario.name}: nobody works there, and twin runs are about employees' reports"
        )
    seeds = [child_seed(seed, "twin.pair", i) for i in range(n_pairs)]
    rows = _pooled(config, seeds, jobs, progress) if jobs > 1 else _in_line(config, seeds, progress)
    columns = ["seed", "person", "incident", "time"]
    fates = ["certified_with", "certified_without", "total_with", "total_without"]
    table = pd.DataFrame([row for row in rows if row is not None], columns=columns + fates)
    table[fates] = table[fates].astype("str")
    return TwinResult(stated_guarantee(config).delta, table)


def _in_line(
    config: ScenarioConfig, seeds: Sequence[int], progress: Callable[[int], None]
) -> list[dict[str, Any] | None]:
    rows = []
    for done, seed in enumerate(seeds, 1):
        rows.append(twin_pair(config, seed))
        progress(done)
    return rows


def _pooled(
    config: ScenarioConfig, seeds: Sequence[int], jobs: int, progress: Callable[[int], None]
) -> list[dict[str, Any] | None]:
    rows = []
    with local_pool(min(jobs, len(seeds))) as pool:
        for done, row in enumerate(pool.map(partial(_pair, loaded_plugins(), config), seeds), 1):
            rows.append(row)
            progress(done)
    return rows


def _pair(plugins: Sequence[Path], config: ScenarioConfig, seed: int) -> dict[str, Any] | None:
    """`twin_pair` in a worker."""
    load_plugins(plugins)
    return twin_pair(config, seed)
