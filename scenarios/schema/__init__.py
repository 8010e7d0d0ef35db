"""The tables of a scenario file, one module a topic.

Which mechanisms, counters, rules and generators exist is not known here: their names are checked by whoever knows
the registries (`known_names` of `resolve`).
"""

from .auditing import Auditor
from .base import Table
from .config import SPANNED, ScenarioConfig
from .incidents import Incidents
from .labs import Access, Colleagues, Lab
from .organizations import Organizations
from .people import Beliefs, Decision, Employees
from .study import Study, Time
from .sweeping import Sweep

__all__ = [
    "SPANNED",
    "Access",
    "Auditor",
    "Beliefs",
    "Colleagues",
    "Decision",
    "Employees",
    "Incidents",
    "Lab",
    "Organizations",
    "ScenarioConfig",
    "Study",
    "Sweep",
    "Table",
    "Time",
]
