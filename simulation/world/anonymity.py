"""How many people each compartment's reporter could be: anonymity sets, the measure of what access gives away."""

import numpy as np
import pandas as pd

from .access import Access
from .layout import Layout

__all__ = ["anonymity_sets", "anonymity_summary"]


def anonymity_sets(access: Access, layout: Layout) -> pd.DataFrame:
    """A row per compartment.

    Returns
    -------
    DataFrame
        Columns compartment, lab, target (numbers), `anonymity_set` (people with access, at the start and ever after:
        newcomers take over the access of their place), `teams` and `departments` (to which these people belong).
    """
    teams = layout.teams
    return pd.DataFrame(
        {
            "compartment": np.arange(access.n_compartments, dtype=np.int64),
            "lab": access.lab.astype(np.int64),
            "target": access.target.astype(np.int64),
            "anonymity_set": access.sizes,
            "teams": np.array([_distinct(teams.team_of(m)) for m in access.members], dtype=np.int64),
            "departments": np.array(
                [_distinct(teams.department_of(m)) for m in access.members], dtype=np.int64
            ),
        }
    )


def _distinct(sorted_numbers: np.ndarray) -> int:
    return int(np.count_nonzero(np.diff(sorted_numbers))) + 1 if len(sorted_numbers) else 0


def anonymity_summary(access: Access, layout: Layout) -> dict[str, dict[str, float | int]]:
    """Anonymity sets of each lab in a few numbers.

    Returns
    -------
    dict
        Lab to `compartments`, `smallest`, `median`, `largest` (people), `below_5` (compartments with fewer than five
        people) and `people_with_access` (distinct).
    """
    summary: dict[str, dict[str, float | int]] = {}
    for lab, name in enumerate(layout.lab_names):
        rows = np.flatnonzero(access.lab == lab).tolist()
        sizes = access.sizes[rows]
        reached = np.zeros(int(layout.headcounts[lab]), dtype=bool)
        for row in rows:
            reached[access.members[row] - layout.first_slot[lab]] = True
        summary[name] = {
            "compartments": len(rows),
            "smallest": int(sizes.min()),
            "median": float(np.median(sizes)),
            "largest": int(sizes.max()),
            "below_5": int((sizes < 5).sum()),
            "people_with_access": int(reached.sum()),
        }
    return summary
