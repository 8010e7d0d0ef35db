"""How the default world was tuned: two parameters to two surveys, by a procedure that anybody can repeat.

Tuned are `employees.decision.intercept`, for the share of observers who report (pattern 1), and
`organizations.disclosure_probability`, for the share of reporters retaliated against through all channels together
(pattern 2). The other patterns play no part in it. The targets:

- 65 % report: the middle of 60 to 70 %; 64 % did in IBE 2024, 69 % in ECI 2018.
- 15 % are retaliated against: towards the lower end of the surveys' 12 to 44 %, for the surveys' reporters were
  mostly known, and those of an auditor's channel more often are not.

The two are searched in turn, each by bracketing and guarded false position with the other held, until both shares are
within the tolerance. All evaluations share their seeds, so what is searched is a function and not a noisy one.
`deniability validation five-labs --tune` repeats it; the values in force are in the scenario file.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from ..scenarios import InputError, ResolvedScenario, cell_config
from .draws import child_seed
from .seeds import checked_seed
from .validation import run_tasks

__all__ = ["REPORTING_TARGET", "RETALIATION_TARGET", "Tuned", "search", "tune"]

REPORTING_TARGET = 0.65
RETALIATION_TARGET = 0.15

_INTERCEPT = "employees.decision.intercept"
_DISCLOSURE = "organizations.disclosure_probability"
_ROUNDS = 6
_STEPS = 20


@dataclass(frozen=True)
class Tuned:
    """What was found.

    Attributes
    ----------
    intercept, disclosure_probability
        The values, rounded to three digits after the point.
    reporting, retaliation
        The shares that they give over the seeds used.
    evaluations
        How many worlds were tried, each on all seeds.
    """

    intercept: float
    disclosure_probability: float
    reporting: float
    retaliation: float
    evaluations: int


def tune(
    scenario: ResolvedScenario,
    *,
    replicates: int = 40,
    seed: int = 1,
    jobs: int = 1,
    tolerance: float = 0.005,
    progress: Callable[[int], None] = lambda _done: None,
) -> Tuned:
    """Tune a scenario for patterns 1 and 2.

    Parameters
    ----------
    scenario
        Where the search starts from.
    replicates
        Runs behind each evaluation. Their seeds are not those of `validate_patterns`: the world is judged on runs
        that it was not tuned on.
    seed, jobs
        Root seed, and worker processes.
    tolerance
        How near both shares must come.
    progress
        Called with the number of evaluations done.

    Raises
    ------
    InputError
        There is no such world, the search does not settle, or the seed is bad.
    """
    seed = checked_seed(seed)
    seeds = [child_seed(seed, "tuning.run", number) for number in range(replicates)]
    known: dict[tuple[float, float], tuple[float, float]] = {}

    def shares(intercept: float, disclosure: float) -> tuple[float, float]:
        """Share of observers who report, and of reporters retaliated against."""
        at = (round(intercept, 3), round(disclosure, 3))
        if at not in known:
            config = cell_config(scenario, {_INTERCEPT: at[0], _DISCLOSURE: at[1]})
            counts = run_tasks([(config, one) for one in seeds], jobs)
            known[at] = (_pooled(counts, "reporting"), _pooled(counts, "retaliation"))
            progress(len(known))
        return known[at]

    def gap_of_retaliation(intercept: float, disclosure: float) -> float:
        return shares(intercept, disclosure)[1] - RETALIATION_TARGET

    def gap_of_reporting(disclosure: float, intercept: float) -> float:
        return shares(intercept, disclosure)[0] - REPORTING_TARGET

    intercept = scenario.config.employees.decision.intercept
    disclosure = scenario.config.organizations.disclosure_probability
    for _ in range(_ROUNDS):
        reporting, retaliation = shares(intercept, disclosure)
        if (
            abs(reporting - REPORTING_TARGET) <= tolerance
            and abs(retaliation - RETALIATION_TARGET) <= tolerance
        ):
            return Tuned(round(intercept, 3), round(disclosure, 3), reporting, retaliation, len(known))
        disclosure = search(partial(gap_of_retaliation, intercept), disclosure, 0.1, (0.0, 1.0), tolerance)
        intercept = search(partial(gap_of_reporting, disclosure), intercept, 0.5, (-20.0, 20.0), tolerance)
    raise InputError(f"{scenario.config.scenario.name}: the search does not settle within {_ROUNDS} rounds")


def _pooled(counts: Sequence[Mapping[str, float]], what: str) -> float:
    below = sum(one[f"{what}_denominator"] for one in counts)
    return sum(one[f"{what}_numerator"] for one in counts) / below if below else 0.0


def search(
    gap: Callable[[float], float], start: float, step: float, limits: tuple[float, float], tolerance: float
) -> float:
    """Find where an increasing function is within `tolerance` of 0.

    Steps of doubling size from `start` bracket the place; then the chord's zero is tried, kept off the bracket's ends
    by a tenth of its width.

    Parameters
    ----------
    gap
        The function.
    start, step
        Where to begin, and the first step.
    limits
        Where to look.
    tolerance
        How near to 0 is near enough.

    Raises
    ------
    InputError
        It is not there.

    Examples
    --------
    >>> round(search(lambda x: x**3 - 8.0, 1.0, 0.5, (0.0, 10.0), 1e-6), 4)
    2.0
    """
    at, value = start, gap(start)
    if abs(value) <= tolerance:
        return at
    side = 1.0 if value < 0.0 else -1.0
    near, near_value = at, value
    while True:
        at = min(max(near + side * step, limits[0]), limits[1])
        value = gap(at)
        if abs(value) <= tolerance:
            return at
        if value * near_value < 0.0:
            break
        if at in limits:
            raise InputError(f"no value from {limits[0]:g} to {limits[1]:g} reaches the target")
        near, near_value, step = at, value, 2.0 * step
    (low, below), (high, above) = sorted([(near, near_value), (at, value)])
    for _ in range(_STEPS):
        chord = low - below * (high - low) / (above - below)
        margin = 0.1 * (high - low)
        at = min(max(chord, low + margin), high - margin)
        value = gap(at)
        if abs(value) <= tolerance:
            return at
        if value < 0.0:
            low, below = at, value
        else:
            high, above = at, value
    raise InputError(f"the search between {low:g} and {high:g} does not come near enough")
