"""Small worlds without a run: a scenario from a few words, its labs, its access graph."""

from typing import Any

from deniability.scenarios import resolve_tree
from deniability.simulation.draws import KeyedDraws
from deniability.simulation.registries import known_names
from deniability.simulation.world.access import Access
from deniability.simulation.world.layout import Layout, draw_access


def config_of(labs: dict[str, Any], **sections: dict[str, Any]) -> Any:
    """A scenario of these labs and sections."""
    return resolve_tree({"labs": labs, **sections}, known_names=known_names()).config


def lab(headcount: int, n_targets: int = 1) -> dict[str, Any]:
    """A lab with so many people and targets t0, t1, …"""
    return {"employees": headcount, "targets": [f"t{number}" for number in range(n_targets)]}


def drawn(config: Any, seed: int = 1) -> tuple[Layout, Access]:
    """The labs of a scenario and their access graph."""
    layout = Layout.of(config)
    return layout, draw_access(layout, KeyedDraws(seed))
