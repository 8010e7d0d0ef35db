"""What a guarantee costs: every mechanism's parameters, error and group bounds for one choice of numbers.

The choice is the number of targets (the granularity), the horizon and delta; nothing is simulated, all values
are exact.

>>> plan = make_plan(n_targets=50, horizon=1000, delta=0.1)
>>> plan.gap_for_90["tca"], plan.gap_for_90["exponential"], plan.gap_for_90["rr"]
(48, 23, None)
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..agents.auditor import privacy
from ..agents.ports import FloatArray
from ..scenarios.errors import InputError

__all__ = [
    "COUNTER_KEYS",
    "GAPS",
    "GROUP_SIZES",
    "MECHANISM_KEYS",
    "SEPARATIONS",
    "Plan",
    "make_plan",
    "parse_plan",
]

GAPS = (0, 2, 5, 10, 15, 20, 30, 40, 50, 60, 80, 100)
"""Leads, in reports, at which errors are tabulated: those of the paper's Experiment 1 as run here."""

GROUP_SIZES = tuple(range(1, 11))

SEPARATIONS = (4, 13, 52)
"""Periods between reports about one target, for which group bounds are tabulated: a month, a quarter, a year."""

COUNTER_KEYS: Mapping[str, str] = {
    "tca": "toeplitz",
    "binary_tree": "binary_tree",
    "blt": "blt",
    "independent": "independent",
}
"""Key of each counter mechanism in a plan, and the id of its counter."""

MECHANISM_KEYS = ("greedy", "uniform", "rr", "tca", "exponential", "binary_tree", "blt", "independent")
"""Order in which a plan lists mechanisms."""

_LARGEST = 1_000_000

_LEAST, _MOST = 1e-9, 0.999999
"""Levels between which every number of a plan is calculated fast and leads are exact to the report."""


@dataclass(frozen=True)
class Plan:
    """A choice of granularity, horizon and delta, with what follows from it.

    Made by `make_plan`, which checks the numbers.

    Attributes
    ----------
    n_targets
        Number C of audit targets.
    horizon
        Number T of decisions that the guarantee covers.
    delta
        Per-report deniability level.
    run_length
        Periods since the counters' last restart, that period included, at which errors are computed.
    """

    n_targets: int
    horizon: int
    delta: float
    run_length: int

    @property
    def mu(self) -> float:
        """Gaussian-DP level of the counter mechanisms."""
        return privacy.mu_for_delta(self.delta)

    @property
    def epsilon(self) -> float:
        """Weight of a report in the exponential mechanism."""
        return privacy.epsilon_for_delta(self.delta)

    @property
    def odds_cap(self) -> float:
        """Most by which a transcript of the exponential mechanism multiplies the odds of one report."""
        return privacy.odds_cap(self.epsilon, 1)

    @property
    def p_rand(self) -> float:
        """Probability of a uniform choice in randomized response."""
        return privacy.p_rand_for_delta(self.delta, self.horizon)

    @property
    def sensitivity(self) -> float:
        """Toeplitz encoder's largest column norm over the horizon."""
        return privacy.toeplitz_sensitivity(float(self.horizon))

    @property
    def sigma(self) -> float:
        """Innovation noise of the Toeplitz counter, in reports."""
        return privacy.sigma_for_delta(self.delta, self.sensitivity)

    def noise_std(self, mechanism: str) -> float:
        """Noise of a counter mechanism's counts at the run length, in reports (s.d.)."""
        known = self._noise.get(mechanism)
        if known is None:
            from ..agents.auditor.counters import counter

            one = counter(COUNTER_KEYS[mechanism])()
            sigma = privacy.sigma_for_delta(self.delta, one.sensitivity(self.horizon))
            known = self._noise[mechanism] = sigma * one.noise_std(self.run_length, self.horizon)
        return known

    @cached_property
    def _noise(self) -> dict[str, float]:
        return {}

    def error(self, mechanism: str, gap: FloatArray | float) -> FloatArray:
        """Probability of auditing another target than the leader, who leads by `gap` (any shape)."""
        gaps = np.asarray(gap, dtype=np.float64)
        targets = np.asarray(float(self.n_targets))
        rules: dict[str, Callable[[], FloatArray]] = {
            "greedy": lambda: privacy.greedy_misselection(gaps, targets),
            "uniform": lambda: privacy.uniform_misselection(gaps, targets),
            "rr": lambda: privacy.rr_misselection(gaps, np.asarray(self.p_rand), targets),
            "exponential": lambda: privacy.exponential_misselection(gaps, np.asarray(self.epsilon), targets),
        }
        if mechanism in rules:
            return rules[mechanism]()
        return privacy.counter_misselection(gaps, np.asarray(self.noise_std(mechanism)), targets)

    def lead_for_90(self, mechanism: str) -> int | None:
        """Smallest lead, in reports, at which the leader is audited with 90 %; None if there is none."""
        return privacy.smallest_gap(lambda gap: float(self.error(mechanism, gap)), 0.9)

    @cached_property
    def gap_for_90(self) -> dict[str, int | None]:
        """`lead_for_90` of every mechanism."""
        return {key: self.lead_for_90(key) for key in MECHANISM_KEYS}

    @cached_property
    def misselection(self) -> dict[str, FloatArray]:
        """Error of each mechanism at `GAPS`."""
        return {key: self.error(key, np.array(GAPS, dtype=np.float64)) for key in MECHANISM_KEYS}

    @property
    def lower_bound(self) -> FloatArray:
        """Least error, at `GAPS`, of any rule with this guarantee that treats targets alike."""
        gaps = np.array(GAPS, dtype=np.float64)
        return privacy.error_floor(gaps, np.asarray(self.delta), np.asarray(float(self.n_targets)))

    @cached_property
    def group(self) -> dict[str, FloatArray]:
        """Total variation at most for each of `GROUP_SIZES` reports by one person, by where they fall."""
        k, delta = np.array(GROUP_SIZES, dtype=np.float64), np.asarray(self.delta)
        return {
            "linear": privacy.linear_group_delta(delta, k),
            "same_counter": privacy.same_counter_group_delta(delta, k),
            "different_targets": privacy.different_targets_group_delta(delta, k),
            "exponential": privacy.exponential_group_delta(delta, k),
        }

    @cached_property
    def separated(self) -> dict[int, list[float | None]]:
        """Under the Toeplitz counter, for reports about one target at least so many periods apart; as `group`.

        For each of `SEPARATIONS` below the horizon; None where so many reports do not fit into it.
        """
        separations = [b for b in SEPARATIONS if b < self.horizon]
        if not separations:
            return {}
        column = privacy.toeplitz_coefficients(self.horizon)
        return {
            b: [
                privacy.separated_group_delta(self.delta, column, k, b)
                if (k - 1) * b < self.horizon
                else None
                for k in GROUP_SIZES
            ]
            for b in separations
        }

    def summary(self) -> dict[str, Any]:
        """Everything as plain values, ready for JSON (the keys are a contract)."""
        return {
            "sigma": self.sigma,
            "sensitivity": self.sensitivity,
            "p_rand": self.p_rand,
            "epsilon": self.epsilon,
            "mu": self.mu,
            "odds_cap": self.odds_cap,
            "group": [
                {"k": k} | {row: float(values[i]) for row, values in self.group.items()}
                for i, k in enumerate(GROUP_SIZES)
            ],
            "gap_for_90": self.gap_for_90,
            "misselection": {key: _by_gap(values) for key, values in self.misselection.items()},
            "lower_bound": _by_gap(self.lower_bound),
            "group_separated": [
                {"separation": b, "k": k, "tca": value}
                for b, values in self.separated.items()
                for k, value in zip(GROUP_SIZES, values, strict=True)
            ],
        }


def _by_gap(values: FloatArray) -> list[dict[str, float]]:
    return [
        {"gap": gap, "probability": float(value)} for gap, value in zip(GAPS, values.tolist(), strict=True)
    ]


def make_plan(n_targets: int, horizon: int, delta: float, run_length: int | None = None) -> Plan:
    """Check the numbers and make a plan.

    Parameters
    ----------
    n_targets
        Number of audit targets, 1 to 1,000,000. (With one target no rule ever errs.)
    horizon
        Number of decisions that the guarantee covers, 1 to 1,000,000.
    delta
        Per-report deniability level, 1e-9 to 0.999999.
    run_length
        Periods since the counters' last restart, 1 to `horizon`; by default the horizon, the worst case of the
        Toeplitz counter.

    Raises
    ------
    InputError
        With one message for each number that is out of range.
    """
    problems = []
    for option, value in (("--targets", n_targets), ("--horizon", horizon)):
        if not 1 <= value <= _LARGEST:
            problems.append(f"{option} {value}: must be a whole number from 1 to {_LARGEST:,}")
    if not 0.0 < delta < 1.0:
        problems.append(f"--delta {delta:g}: must lie strictly between 0 and 1")
    elif delta > _MOST:
        problems.append(f"--delta {delta!r}: at most {_MOST}; nearer to 1 nothing is protected")
    elif delta < _LEAST:
        problems.append(
            f"--delta {delta!r}: at least {_LEAST:g}; nearer to 0 no lead that can occur is seen in the noise"
        )
    if run_length is not None:
        if run_length < 1:
            problems.append(f"--run-length {run_length}: must be a whole number, 1 or more")
        elif run_length > horizon >= 1:
            problems.append(
                f"--run-length {run_length}: must not exceed the horizon, {horizon}; "
                "no run of a counter is longer than that"
            )
    if problems:
        raise InputError(problems)
    return Plan(n_targets, horizon, delta, horizon if run_length is None else run_length)


def parse_plan(n_targets: str, horizon: str, delta: str, run_length: str | None) -> Plan:
    """Make a plan from what was typed.

    Raises
    ------
    InputError
        With one message for each option that is no number or is out of range, all at once.
    """
    problems: list[str] = []
    options = ("--targets", "--horizon", "--delta", "--run-length")

    def number[N: (int, float)](option: str, text: str, kind: type[N], stand_in: N, wanted: str) -> N:
        try:
            return kind(text)
        except ValueError:
            problems.append(f"{option} {text}: must be {wanted}")
            return stand_in

    # the stand-ins pass every check, so that each option gets one message at most
    count = "a whole number, 1 or more"
    targets = number("--targets", n_targets, int, 1, count)
    decisions = number("--horizon", horizon, int, _LARGEST, count)
    level = number("--delta", delta, float, 0.5, "a number strictly between 0 and 1")
    length = None if run_length is None else number("--run-length", run_length, int, 1, count)
    try:
        plan = make_plan(targets, decisions, level, length)
    except InputError as error:
        problems.extend(error.messages)
    if problems:
        raise InputError(sorted(problems, key=lambda message: options.index(message.split()[0])))
    return plan
