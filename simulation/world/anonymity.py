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


def anonymity_summary(compartments: pd.DataFrame, access: pd.DataFrame) -> dict[str, dict[str, float | int]]:
    """Anonymity sets of each lab in a few numbers.

    Parameters
    ----------
    compartments
        What `anonymity_sets` gives, with whatever names the labs have in it.
    access
        A row per edge: columns `person` and `lab`.

    Returns
    -------
    dict
        Lab to `compartments`, `smallest`, `median`, `largest` (people), `below_5` (compartments with fewer than five
        people) and `people_with_access` (distinct).
    """
    reached = access.groupby("lab", sort=False)["person"].nunique()
    return {
        str(lab): {
            "compartments": len(sizes),
            "smallest": int(sizes.min()),
            "median": float(sizes.median()),
            "largest": int(sizes.max()),
            "below_5": int((sizes < 5).sum()),
            "people_with_access": int(reached[lab]),
        }
        for lab, sizes in compartments.groupby("lab", sort=False)["anonymity_set"]
    }
