"""A plan's tables: tidy, one for each question, as written by `plan --out` and drawn by its figure."""

import numpy as np
import pandas as pd

from ..agents.auditor import privacy
from .plan_crossings import crossings
from .plans import GROUP_SIZES, MECHANISM_KEYS, Plan

__all__ = ["crossing_table", "group_table", "misselection_table"]


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
    """Several reports by one person: columns `k`, the rows of `Plan.group`, and `rr`."""
    return pd.DataFrame({"k": GROUP_SIZES} | plan.group | {"rr": plan.delta})
