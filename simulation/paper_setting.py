"""What the paper's experiments are run with. Light to import, so that bad options are refused at once."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product

from ..scenarios.errors import InputError
from .seeds import checked_seed

__all__ = ["DynamicSetting", "PaperSetting", "StaticSetting"]

_HIGHEST_RATE = 1e6


@dataclass(frozen=True)
class StaticSetting:
    """Grid of Experiment 1. The paper does not print its own; all combinations are run."""

    n_targets: tuple[int, ...] = (10, 20, 50, 200)
    run_lengths: tuple[int, ...] = (10, 100, 1000)
    deltas: tuple[float, ...] = (0.05, 0.1, 0.2)
    gaps: tuple[int, ...] = (0, 2, 5, 10, 15, 20, 30, 40, 50, 60, 80, 100)
    trials: int = 1000

    def cells(self) -> Iterator[tuple[int, int, float]]:
        """Combinations of everything but the gap."""
        return product(self.n_targets, self.run_lengths, self.deltas)


@dataclass(frozen=True)
class DynamicSetting:
    """Sizes and rates of Experiment 2; the paper's by default.

    Rates are reports per target and period: target 0 leads, the others follow.
    """

    n_targets: int = 50
    horizon: int = 1000
    rate_lead: float = 1.0
    rate_other: float = 0.2
    seeds: int = 100


@dataclass(frozen=True)
class PaperSetting:
    """What to run. Experiment 1 has its own grid; `delta` and `dynamic` are Experiment 2's."""

    seed: int = 1
    delta: float = 0.1
    dynamic: DynamicSetting = field(default_factory=DynamicSetting)
    static: StaticSetting = field(default_factory=StaticSetting)
    appendix: bool = True
    """Draw Experiment 1 also for more than the first number of targets."""

    def check(self) -> None:
        """Refuse what makes no sense.

        Raises
        ------
        InputError
            With a message for each option that is out of range.
        """
        d = self.dynamic
        at_least = {
            "--seeds": (d.seeds, 1),
            "--trials": (self.static.trials, 1),
            "--targets": (d.n_targets, 2),
            "--horizon": (d.horizon, 1),
        }
        messages = [f"{k}: must be at least {low}, got {v}" for k, (v, low) in at_least.items() if v < low]
        try:
            checked_seed(self.seed)
        except InputError as error:
            messages.extend(error.messages)
        if not 0.0 < self.delta < 1.0:
            messages.append(f"--delta: must lie strictly between 0 and 1, got {self.delta}")
        for option, rate in (("--rate-lead", d.rate_lead), ("--rate-other", d.rate_other)):
            if not 0.0 <= rate <= _HIGHEST_RATE:
                messages.append(f"{option}: must be from 0 to {_HIGHEST_RATE:g} reports, got {rate}")
        if messages:
            raise InputError(messages)
