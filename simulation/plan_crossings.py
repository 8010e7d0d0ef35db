"""Where the continual counter and the exponential mechanism cross.

Both are calibrated to the same delta. The counter's noise grows with the run length and with the horizon, the
exponential mechanism's does not, so the counter is ahead at short runs; and its errors fall off faster
(like a normal tail, not like an exponential), so that it is ahead again at very large leads, where neither errs.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..agents.auditor import privacy
from ..agents.ports import FloatArray
from .plans import Plan

__all__ = ["Crossing", "crossings", "longest_run_for_the_counter", "run_lengths"]

type BoolArray = npt.NDArray[np.bool_]

_NEGLIGIBLE = 1e-6
"""Errors of the exponential mechanism below this are no errors: larger leads are not compared."""

_COARSE = 400
"""Leads that are tried before the switches between them are pinned down."""


@dataclass(frozen=True)
class Crossing:
    """Counter against exponential mechanism at one run length.

    Attributes
    ----------
    run_length, horizon
        Of the counter.
    noise_std
        Noise of the Toeplitz counter's counts, in reports (s.d.).
    counter_gap, exponential_gap
        Smallest lead at which the leader is audited with 90 %.
    exponential_from
        Smallest lead at which the exponential mechanism errs less; None if there is none.
    exponential_to
        Largest such lead; None if it errs less as far as it errs once in a million decisions at all.
    """

    run_length: int
    horizon: int
    noise_std: float
    counter_gap: int
    exponential_gap: int
    exponential_from: int | None
    exponential_to: int | None


def run_lengths(longest: int) -> list[int]:
    """Run lengths 1, 2, 3, 5, 10, 20, 30, 50, 100, … up to `longest`, that one included."""
    steps = [m * 10**e for e in range(len(str(longest))) for m in (1, 2, 3, 5)]
    return [length for length in steps if length < longest] + [longest]


def crossings(plan: Plan, *, whole_programme: bool) -> list[Crossing]:
    """Compare the two at every run length of `run_lengths`.

    Parameters
    ----------
    plan
        The choice of numbers.
    whole_programme
        True: the horizon is the run length (a programme of so many decisions, and no more). False: the plan's
        horizon, at different times since the last restart.
    """
    return [
        _crossing(plan, length, length if whole_programme else plan.horizon)
        for length in run_lengths(plan.horizon)
    ]


def longest_run_for_the_counter(plan: Plan, *, whole_programme: bool) -> int:
    """Longest run (0 to the horizon) at which the counter needs no larger lead than the exponential for 90 %."""
    wanted = _exponential_gap(plan)
    low, high = 0, plan.horizon + 1
    while high - low > 1:
        length = (low + high) // 2
        error = _counter_error(plan, float(wanted), length, length if whole_programme else plan.horizon)
        low, high = (length, high) if error <= 0.1 + 1e-12 else (low, length)
    return low


def _exponential_gap(plan: Plan) -> int:
    gap = plan.gap_for_90["exponential"]
    assert gap is not None  # its error goes to 0
    return gap


def _noise(plan: Plan, run_length: int, horizon: int) -> float:
    sigma = privacy.sigma_for_delta(plan.delta, privacy.toeplitz_sensitivity(float(horizon)))
    return sigma * privacy.toeplitz_sensitivity(float(run_length))


def _counter_error(plan: Plan, gap: float, run_length: int, horizon: int) -> float:
    return privacy.counter_misselection(gap, _noise(plan, run_length, horizon), float(plan.n_targets))


def _crossing(plan: Plan, run_length: int, horizon: int) -> Crossing:
    noise = _noise(plan, run_length, horizon)
    gap = privacy.smallest_gap(
        lambda lead: privacy.counter_misselection(lead, noise, float(plan.n_targets)), 0.9
    )
    assert gap is not None  # its error goes to 0
    first, last = _leads_for_the_exponential(plan, noise)
    return Crossing(run_length, horizon, noise, gap, _exponential_gap(plan), first, last)


def _leads_for_the_exponential(plan: Plan, noise: float) -> tuple[int | None, int | None]:
    """Smallest and largest lead at which the exponential mechanism errs less; see `Crossing`."""
    targets = np.asarray(float(plan.n_targets))

    def ahead(leads: FloatArray) -> BoolArray:
        counter = privacy.counter_misselection(leads, np.asarray(noise), targets)
        result: BoolArray = plan.error("exponential", leads) < counter
        return result

    # as far as the exponential mechanism's error, at most (C - 1) e^(-epsilon lead), is not negligible
    end = max(1, int(np.ceil(np.log(max(plan.n_targets - 1, 1) / _NEGLIGIBLE) / plan.epsilon)))
    leads = np.unique(np.geomspace(1.0, end, _COARSE).round())
    found = np.flatnonzero(ahead(leads))
    if not found.size:
        return None, None
    first, last = found[0], found[-1]
    smallest = _switch(ahead, leads[first - 1], leads[first]) if first else leads[0]
    if last + 1 == leads.size:
        return int(smallest), None
    return int(smallest), int(_switch(ahead, leads[last], leads[last + 1])) - 1


def _switch(ahead: Callable[[FloatArray], BoolArray], low: float, high: float) -> float:
    """Smallest whole lead in (low, high] that differs from `low` in who is ahead."""
    at_low = bool(ahead(np.array([low]))[0])
    while high - low > 1:
        middle = np.floor((low + high) / 2.0)
        if bool(ahead(np.array([middle]))[0]) == at_low:
            low = middle
        else:
            high = middle
    return high
