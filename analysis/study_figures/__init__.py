"""The figures of a study, made from its tables: one module a figure, all in the house style.

Every function gives a `Drawing` (figure, data, caption), or None where the results hold nothing to draw.
`chosen_figures` picks those that fit a directory of results.
"""

from .access_graph import access_graph_figure
from .anonymity import anonymity_figure
from .choice import chosen_figures
from .frontier import frontier_figure, pareto
from .indices import indices_figure
from .mechanisms import mechanisms_figure
from .posteriors import posteriors_figure
from .reporting import reporting_figure
from .sweeps import sweep_figure
from .tipping import tipping_figure
from .twins import effects_figure

__all__ = [
    "access_graph_figure",
    "anonymity_figure",
    "chosen_figures",
    "effects_figure",
    "frontier_figure",
    "indices_figure",
    "mechanisms_figure",
    "pareto",
    "posteriors_figure",
    "reporting_figure",
    "sweep_figure",
    "tipping_figure",
]
