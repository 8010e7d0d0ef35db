"""Names of metrics and keys for people, and numbers in sentences: one wording in figures, tables and pages."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from ..scenarios import parameter_table
from .metrics import METRICS
from .style import MECHANISM_LABEL, channel_label, mechanism_label
from .tables import CHANNELS

__all__ = [
    "WORDING",
    "Wording",
    "interval_text",
    "key_label",
    "level_text",
    "number_text",
    "short_mechanism",
    "wording",
]


@dataclass(frozen=True, slots=True)
class Wording:
    """How a metric is named.

    Attributes
    ----------
    name
        Heads rows and panels.
    unit
        What it is counted in.
    kind
        As in `METRICS`.
    better
        "lower", "higher", or "" where neither is better by itself.
    """

    name: str
    unit: str
    kind: str
    better: str

    @property
    def axis(self) -> str:
        """Name and unit, for an axis."""
        return f"{self.name.removeprefix('– ')} ({self.unit})"

    @property
    def is_share(self) -> bool:
        """Whether it is shown in percent."""
        return self.kind in ("rate", "difference")


_NAMES: Mapping[str, tuple[str, str, str]] = {
    "incidents": ("Incidents", "per run", ""),
    "observers": ("Observers", "people per run", ""),
    "notices": ("Notices", "per run", ""),
    "reports": ("Reports", "per run", ""),
    "reporting_rate": ("Reporting", "% of notices", "higher"),
    "silent_incident_rate": ("Silent incidents", "% of incidents", "lower"),
    "retaliation_rate": ("Reporters retaliated against", "% of reporters", "lower"),
    **{f"retaliation_rate_{c}": (f"– {channel_label(c)}", "% of reporters", "lower") for c in CHANNELS},
    "false_retaliation_rate": ("Non-reporters hit", "% of those with access", "lower"),
    "excess_retaliation": ("Excess retaliation", "percentage points", "lower"),
    "strong_identification_rate": ("Identified, worst case", "% of reports", "lower"),
    "strong_false_alarm_rate": ("False alarms, worst case", "% of would-be reports", ""),
    "audits": ("Audits", "per run", ""),
    "productive_audit_rate": ("Audits that found something", "% of audits", "higher"),
    "misselection_rate": ("Audits that missed the leader", "% of audits", "lower"),
    "mean_deficit": ("Behind the leader", "reports per audit", "lower"),
    "mean_normalized_deficit": ("Normalised deficit", "share", "lower"),
    "reports_resolved_per_audit": ("Reports resolved", "per audit", "higher"),
    "weeks_to_audit": ("Incident to next audit, if audited", "weeks", ""),
    "restricted_weeks_to_audit": ("Incident to next audit", "weeks, at most 26", "lower"),
    "incidents_never_audited": ("Never audited", "incidents per run", "lower"),
    "harm": ("Harm", "severity-weeks per run", "lower"),
    "departures": ("Departures", "people per run", ""),
    "final_fear": ("Fear at the end", "mean belief", "lower"),
    "final_efficacy": ("Efficacy at the end", "mean belief", "higher"),
    # not in the table of runs: made from it or from groups
    "audit_share": ("Share of audits", "% of audits", ""),
    "worst_case_advantage": ("Worst-case advantage", "percentage points", "lower"),
}
_KINDS = {one.key: one.kind for one in METRICS} | {
    "audit_share": "rate",
    "worst_case_advantage": "difference",
}

WORDING: Mapping[str, Wording] = MappingProxyType(
    {
        key: Wording(name, unit, _KINDS[key], better)
        for key, (name, unit, better) in _NAMES.items()
        if key in _KINDS
    }
)
"""Wording by metric."""

_KEYS = {"auditor.mechanism": "Mechanism", "auditor.delta": "δ (per report)"}


def wording(metric: str) -> Wording:
    """Wording of a metric; an unknown one keeps its key and counts as a mean."""
    known = WORDING.get(metric)
    return known or Wording(metric, "units", "mean", "")


def key_label(key: str) -> str:
    """Name of a swept key with its unit.

    >>> key_label("auditor.delta"), key_label("incidents.rate")
    ('δ (per report)', 'Incidents: rate (1/year)')
    """
    if key in _KEYS:
        return _KEYS[key]
    *table, last = key.split(".")
    unit = next((row.unit for row in parameter_table() if row.path == key), "none")
    name = f"{' '.join(table).replace('_', ' ')}: {last.replace('_', ' ')}"
    return name[:1].upper() + name[1:] + ("" if unit in ("none", "", last.split("_")[-1]) else f" ({unit})")


def level_text(value: Any) -> str:
    """A swept value as it is written in labels: mechanisms by name, numbers short."""
    if isinstance(value, str):
        return mechanism_label(value) if value in MECHANISM_LABEL else value
    if isinstance(value, (float, int, np.number)) and not isinstance(value, (bool, np.bool_)):
        return f"{float(value):g}"
    return str(value)


def short_mechanism(name: str) -> str:
    """Name of a mechanism inside a sentence.

    >>> short_mechanism("greedy"), short_mechanism("tca")
    ('greedy', 'Toeplitz (TCA)')
    """
    label = mechanism_label(name).split(" (no privacy)")[0]
    return (
        label if label.split()[0] in ("Toeplitz", "TCA,") or name == label else label[0].lower() + label[1:]
    )


def number_text(metric: str, value: float | None, *, signed: bool = False, points: bool = False) -> str:
    """A value of a metric with its unit: percent, percentage points, or a number of two or three digits.

    >>> number_text("retaliation_rate", 0.1234), number_text("weeks_to_audit", 12.345)
    ('12.3 %', '12.3')
    """
    if value is None or np.isnan(value):
        return "–"
    if wording(metric).is_share:
        return f"{_percent(value, signed=signed)} {'points' if points else '%'}"
    return _plain(value, signed=signed)


def interval_text(metric: str, low: float | None, high: float | None, *, signed: bool = False) -> str:
    """Both ends of an interval, the unit left to the value.

    >>> interval_text("retaliation_rate", 0.1, 0.25)
    '10.0 to 25.0'
    """
    if low is None or high is None or np.isnan(low) or np.isnan(high):
        return "–"
    if wording(metric).is_share:
        return f"{_percent(low, signed=signed)} to {_percent(high, signed=signed)}"
    return f"{_plain(low, signed=signed)} to {_plain(high, signed=signed)}"


def _percent(value: float, *, signed: bool) -> str:
    text = f"{100 * value:{'+' if signed else ''}.1f}"
    if float(text) == 0 and value != 0:
        # never zero where it is not: the sign of an interval's end decides what may be said
        text = f"{100 * value:{'+' if signed else ''}.1g}"
    return text.replace("-", "−")


def _plain(value: float, *, signed: bool) -> str:
    size = abs(value)
    digits = 0 if size >= 1000 else 1 if size >= 10 else 2 if size >= 1 or value == 0 else 3
    if 0 < size < 0.1:
        # two figures that count, so that an end of an interval never reads as zero
        digits = min(1 - math.floor(math.log10(size)), 8)
    return f"{value:{'+' if signed else ''},.{digits}f}".replace("-", "−")
