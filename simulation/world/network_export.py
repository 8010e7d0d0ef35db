"""An access graph as a network that can be written to a file, imported again, or taken elsewhere."""

import numpy as np

from .access import Access
from .layout import Layout
from .network import Network, Side

__all__ = ["access_network"]


def access_network(access: Access, layout: Layout, label: str = "access") -> Network:
    """Everybody, every compartment, and who has access to what, with labs, departments, teams and targets.

    Imported into a scenario with the same labs, targets and headcounts, it gives the same graph again. To write it:
    `write_network(access_network(access, layout), Path("graph.graphml"))`.

    Parameters
    ----------
    access, layout
        The graph and its labs.
    label
        What messages call the network.
    """
    lab_names, teams = layout.lab_names, layout.teams
    slots = np.arange(int(layout.headcounts.sum()), dtype=np.int64)
    lab = np.repeat(np.arange(len(lab_names)), layout.headcounts).tolist()
    first = layout.first_slot.tolist()
    imported = layout.employee_ids()
    own_ids = len(set(imported.values())) == len(imported)
    people = [
        (imported.get(slot, "") if own_ids else "") or f"{lab_names[at]}/{slot - first[at]}"
        for slot, at in enumerate(lab)
    ]
    if len(set(people)) < len(people):
        people = [f"{lab_names[at]}/{slot - first[at]}" for slot, at in enumerate(lab)]
    target = [layout.target_names[number] for number in access.target.tolist()]
    of_target = np.arange(access.n_compartments) - np.searchsorted(access.target, access.target)
    owner = [lab_names[number] for number in access.lab.tolist()]
    sizes = access.sizes
    return Network(
        label,
        Side(
            tuple(people),
            {
                "lab": tuple(lab_names[at] for at in lab),
                "department": tuple(f"department-{d}" for d in teams.department_of(slots).tolist()),
                "team": tuple(f"team-{t}" for t in teams.team_of(slots).tolist()),
            },
        ),
        Side(
            tuple(
                f"compartment {name}/{number}"
                for name, number in zip(target, of_target.tolist(), strict=True)
            ),
            {
                "lab": tuple(owner),
                "target": tuple(name.removeprefix(f"{of}/") for name, of in zip(target, owner, strict=True)),
            },
        ),
        np.concatenate([np.zeros(0, dtype=np.int64), *access.members]),
        np.repeat(np.arange(access.n_compartments, dtype=np.int64), sizes),
    )
