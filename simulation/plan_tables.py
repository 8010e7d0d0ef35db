"""A plan's tables: tidy, one for each question, as written by `plan --out` and drawn by its figure."""

import numpy as np
import pandas as pd

from ..agents.auditor import privacy
from ..agents.auditor.counters import counter
from .plan_crossings import crossings, run_lengths
from .plans import COUNTER_KEYS, GROUP_SIZES, MECHANISM_KEYS, Plan

__all__ = ["crossing_table", "group_table", "lead_table", "misselection_table"]


def misselection_table(plan: Plan) -> pd.DataFrame:
    """Exact error by lead: columns `mechanism`, `gap`, `probability`.

    Every whole lead (about a hundred of them where leads are large) up to half as much again as what the
    counter and the exponential mechanism need for 90 %. The floor of all rules that treat targets alike is
    the mechanism `lower_bound`.
    """
    needed = max(plan.gap_for_90["tca"] or 0, plan.gap_for_90["exponential"] or 0)
    last = max(20, int(1.5 * needed))
    gaps = np.arange(0.0, last + 1.0, max(1, last // 100))
    parts = {key: plan.error(key, gaps) for key in MECHANISM_KEYS}
    parts["lower_bound"] = privacy.error_floor(
        gaps, np.asarray(plan.delta), np.asarray(float(plan.n_targets))
    )
    return pd.concat(
        [
            pd.DataFrame({"mechanism": key, "gap": gaps.astype(int), "probability": values})
            for key, values in parts.items()
        ],
        ignore_index=True,
    )


def lead_table(plan: Plan, compared: pd.DataFrame) -> pd.DataFrame:
    """Smallest lead for 90 % by run length: columns `mechanism`, `programme`, `run_length`, `lead`.

    `programme` as in `crossing_table`, `whole` for `tca` only; `lead` is undefined where none is large enough.

    Parameters
    ----------
    plan
        The plan.
    compared
        Its `crossing_table`.
    """
    lengths = run_lengths(plan.horizon)
    rows: list[tuple[str, str, int, int | None]] = []
    for key in MECHANISM_KEYS:
        leads = (
            _counter_leads(plan, key, lengths)
            if key in COUNTER_KEYS
            else [plan.gap_for_90[key]] * len(lengths)
        )
        rows += [(key, "part", length, lead) for length, lead in zip(lengths, leads, strict=True)]
    whole = compared[compared["programme"] == "whole"]
    rows += [
        ("tca", "whole", length, lead)
        for length, lead in zip(whole["run_length"], whole["counter_gap"], strict=True)
    ]
    table = pd.DataFrame(rows, columns=["mechanism", "programme", "run_length", "lead"])
    return table.astype({"lead": "Int64"})


def _counter_leads(plan: Plan, key: str, lengths: list[int]) -> list[int | None]:
    one, targets = counter(COUNTER_KEYS[key])(), float(plan.n_targets)
    # the sensitivity to a long horizon takes time: once is enough
    sigma = plan.noise_std(key) / one.noise_std(plan.run_length, plan.horizon)

    def lead(noise: float) -> int | None:
        return privacy.smallest_gap(lambda gap: privacy.counter_misselection(gap, noise, targets), 0.9)

    return [lead(sigma * one.noise_std(length, plan.horizon)) for length in lengths]


def crossing_table(plan: Plan) -> pd.DataFrame:
    """Counter against exponential mechanism: the fields of `Crossing`, and `programme`.

    `programme` is `whole` where the horizon is the run length, and `part` where it is the plan's.
    """
    rows = [
        {"programme": name} | vars(one)
        for name, whole in (("whole", True), ("part", False))
        for one in crossings(plan, whole_programme=whole)
    ]
    return pd.DataFrame(rows).astype({"exponential_from": "Int64", "exponential_to": "Int64"})


def group_table(plan: Plan) -> pd.DataFrame:
    """Several reports by one person: columns `k`, the rows of `Plan.group`, `rr`, and `separated_<periods>`.

    The last are for `tca` and reports about one target so far apart, undefined where so many do not fit.
    """
    apart = {f"separated_{b}": np.array(values, np.float64) for b, values in plan.separated.items()}
    return pd.DataFrame({"k": GROUP_SIZES} | plan.group | {"rr": plan.delta} | apart)
