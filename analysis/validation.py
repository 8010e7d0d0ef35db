"""Pattern-oriented validation: the patterns that surveys show, and whether the default world shows them.

What each pattern says, how it is measured and which values count as showing it were put down, with the role of each,
before the default world was tuned (`deniability.simulation.tuning`). It was tuned for patterns 1 and 2; no other
played a part in that. A pattern that fails stays in the table.

The method is that of Grimm et al. (2005), Science 310, 987-991: several weak patterns together rule out more models
than one strong one.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from .bootstraps import cluster_bootstrap, paired_bootstrap
from .intervals import Estimate, cluster_wilson

__all__ = ["PATTERNS", "VARIANTS", "Pattern", "Verdict", "judge", "pattern_table"]

type Verdict = Literal["holds", "undecided", "fails", "undefined"]

VARIANTS = ("default", "randomized", "greedy", "outspoken", "silenced")
"""The worlds that are run; `deniability.simulation.validation` says what each is."""


@dataclass(frozen=True)
class Pattern:
    """One pattern.

    Attributes
    ----------
    number, name
        Its number, and a name of a few words.
    statement
        What surveys or theory say.
    source
        A key of docs/references.bib, or several.
    measure
        What is measured in the model, exactly.
    low, high
        The values that show it; None where there is no limit on that side.
    unit
        Of the value: "share", "points" (a difference of shares) or "reports" (per 100 staff and year).
    role
        "tuned" for; "seen", its value roughly known when roles were given, but not tuned for; or "held out".
    estimate
        From the table of runs to the estimate.
    """

    number: int
    name: str
    statement: str
    source: str
    measure: str
    low: float | None
    high: float | None
    unit: Literal["share", "points", "reports"]
    role: Literal["tuned", "seen", "held out"]
    estimate: Callable[[pd.DataFrame], Estimate]


def judge(estimate: Estimate, low: float | None, high: float | None) -> Verdict:
    """Say whether a pattern holds: its 95 % interval lies within the range, outside it, or across a limit.

    Parameters
    ----------
    estimate
        With its interval.
    low, high
        The range; None for no limit.
    """
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return "undefined"
    bottom = -np.inf if low is None else low
    top = np.inf if high is None else high
    if bottom <= estimate.low and estimate.high <= top:
        return "holds"
    if estimate.high < bottom or estimate.low > top:
        return "fails"
    return "undecided"


def pattern_table(runs: pd.DataFrame) -> pd.DataFrame:
    """Measure every pattern.

    Parameters
    ----------
    runs
        A row per run: `variant`, `seed`, and numerators and denominators as `deniability.simulation.validation` gives
        them. Runs of the same seed share their random numbers.

    Returns
    -------
    DataFrame
        A row per pattern: number, name, role, value, low, high, range_low, range_high, unit, verdict, runs (seeds
        behind the value), method, statement, source, measure. Undefined values are NaN.
    """
    rows: list[dict[str, Any]] = []
    for pattern in PATTERNS:
        estimate = pattern.estimate(runs)
        rows.append(
            {
                "number": pattern.number,
                "name": pattern.name,
                "role": pattern.role,
                "value": estimate.value,
                "low": estimate.low,
                "high": estimate.high,
                "range_low": pattern.low,
                "range_high": pattern.high,
                "unit": pattern.unit,
                "verdict": judge(estimate, pattern.low, pattern.high),
                "runs": estimate.n_runs,
                "method": estimate.method,
                "statement": pattern.statement,
                "source": pattern.source,
                "measure": pattern.measure,
            }
        )
    table = pd.DataFrame(rows)
    numbers = ["value", "low", "high", "range_low", "range_high"]
    return table.astype(dict.fromkeys(numbers, "float64"))


def _of(runs: pd.DataFrame, variant: str, what: str) -> tuple[Any, Any]:
    """Numerators and denominators of a quantity in one variant, in the order of the seeds."""
    rows = runs[runs["variant"] == variant].sort_values("seed")
    return rows[f"{what}_numerator"].to_numpy(float), rows[f"{what}_denominator"].to_numpy(float)


def _generator(number: int) -> np.random.Generator:
    return np.random.Generator(np.random.Philox(key=number))


def _share(what: str) -> Callable[[pd.DataFrame], Estimate]:
    return lambda runs: cluster_wilson(*_of(runs, "default", what))


def _difference(
    number: int, first: tuple[str, str], second: tuple[str, str]
) -> Callable[[pd.DataFrame], Estimate]:
    """Difference (first minus second) of two ratios, each given by its variant and quantity."""

    def estimate(runs: pd.DataFrame) -> Estimate:
        one, other = _of(runs, *first), _of(runs, *second)
        if not (one[1].sum() and other[1].sum()):
            return Estimate(None, None, None, None, 0, "none")
        return paired_bootstrap(one, other, _generator(number))

    return estimate


def _volume(runs: pd.DataFrame) -> Estimate:
    return cluster_bootstrap(*_of(runs, "default", "volume"), _generator(6))


PATTERNS: tuple[Pattern, ...] = (
    Pattern(
        1,
        "observers report",
        "60 to 75 % of those who observe misconduct report it where protection is ordinary.",
        "ibe-2024, eci-2018, nbes-2013",
        "Share of notices with the decision to report.",
        0.60,
        0.75,
        "share",
        "tuned",
        _share("reporting"),
    ),
    Pattern(
        2,
        "reporters are retaliated against",
        "12 to 44 % of those who reported were retaliated against, by whatever way it became known.",
        "erc-2009, nbes-2013, eci-2018",
        "Share of distinct reporters who were retaliated against after reporting, all channels together.",
        0.12,
        0.44,
        "share",
        "tuned",
        _share("retaliation"),
    ),
    Pattern(
        3,
        "retaliation is swift",
        "Nearly three quarters of those retaliated against were hit within three weeks of their report.",
        "eci-2018",
        "Share of retaliations against reporters within three weeks of the person's first report about the incident.",
        0.65,
        0.85,
        "share",
        "held out",
        _share("swift"),
    ),
    Pattern(
        4,
        "fear exceeds experience",
        "More of those who stay silent fear retaliation than reporters meet it (36 % against 12 % in 2007).",
        "erc-2009",
        "Mean fear at decisions to stay silent, minus the share of reporters retaliated against.",
        0.0,
        None,
        "points",
        "held out",
        _difference(4, ("default", "fear_of_silent"), ("default", "retaliation")),
    ),
    Pattern(
        5,
        "retaliation lowers willingness",
        "Willingness to report again is about 9 points lower among those retaliated against (86 % against 95 %).",
        "nbes-2013",
        "Chance to report the same matter again by the rule of decision, as somebody who is known (exposure 1), at "
        "the end of the run: reporters who were spared minus those retaliated against, both still employed. What the "
        "model has the latter do, to stay silent, is left out: surveys ask for willingness.",
        0.05,
        0.13,
        "points",
        "held out",
        _difference(5, ("default", "again_if_spared"), ("default", "again_if_hit")),
    ),
    Pattern(
        6,
        "reports are few",
        "Hotlines receive 1 to 2 reports per 100 staff and year, on all topics.",
        "navex-2025",
        "Reports by employees per 100 staff and year.",
        1.0,
        2.0,
        "reports",
        "seen",
        _volume,
    ),
    Pattern(
        7,
        "intimidation has two stable outcomes",
        "Under strong intimidation both speaking up and silence sustain themselves.",
        "chassang-2019, pei-2019",
        "Under strong intimidation, reporting rate in the last two of six years: worlds in which everybody reported "
        "in the first year minus worlds in which nobody did, alike in all else.",
        0.20,
        None,
        "points",
        "held out",
        _difference(7, ("outspoken", "late_reporting"), ("silenced", "late_reporting")),
    ),
    Pattern(
        8,
        "a greedy auditor depresses reporting",
        "An auditor who follows reports too closely gives reporters away; fewer report than under a randomized one.",
        "chassang-2019",
        "Reporting rate under the randomized mechanism minus that under greedy, on the same random numbers.",
        0.0,
        None,
        "points",
        "held out",
        _difference(8, ("randomized", "reporting"), ("greedy", "reporting")),
    ),
)
"""The patterns, in the order of the table."""
