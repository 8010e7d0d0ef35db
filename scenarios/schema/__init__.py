"""The tables of a scenario file, one module a topic.

Which mechanisms, counters, rules and generators exist is not known here: their names are checked by whoever knows
the registries (`known_names` of `resolve`).
"""

from .auditing import Auditor
from .base import Table
from .changes import CHANGEABLE, Change, Purge
from .config import SPANNED, ScenarioConfig
from .incidents import Incidents
from .labs import Access, Colleagues, Lab
from .organizations import Organizations
from .people import Beliefs, Decision, Employees
from .reports import Burst, Reports
from .study import Study, Time
from .sweeping import Precision, Sample, Sweep

__all__ = [
    "CHANGEABLE",
    "SPANNED",
    "Access",
    "Auditor",
    "Beliefs",
    "Burst",
    "Change",
    "Colleagues",
    "Decision",
    "Employees",
    "Incidents",
    "Lab",
    "Organizations",
    "Precision",
    "Purge",
    "Reports",
    "Sample",
    "ScenarioConfig",
    "Study",
    "Sweep",
    "Table",
    "Time",
]
