"""Sentences about estimates: numbers with their intervals, levels, differences."""

from collections.abc import Mapping
from typing import Any

from .wording import interval_text, number_text, wording

__all__ = ["DIFFERS", "achieved", "difference", "found_out", "said", "sentence", "spoke"]

type Rows = Mapping[str, dict[str, Any]]

_UNITS = {"restricted_weeks_to_audit": "weeks", "harm": "severity-weeks", "mean_deficit": "reports per audit"}

DIFFERS = {
    "retaliation_rate": ("more reporters were retaliated against", "fewer reporters were retaliated against"),
    "retaliation_rate_transcript": (
        "more reporters were hit through the audit transcript",
        "fewer reporters were hit through the audit transcript",
    ),
    "strong_identification_rate": (
        "the worst-case adversary identified more reports",
        "the worst-case adversary identified fewer reports",
    ),
    "strong_false_alarm_rate": (
        "it wrongly named more reports that were never filed",
        "it wrongly named fewer reports that were never filed",
    ),
    "false_retaliation_rate": ("more non-reporters were hit", "fewer non-reporters were hit"),
    "reporting_rate": ("more notices led to a report", "fewer notices led to a report"),
    "silent_incident_rate": (
        "more incidents were reported by nobody",
        "fewer incidents were reported by nobody",
    ),
    "final_fear": ("fear ended higher", "fear ended lower"),
    "misselection_rate": ("more audits missed the leader", "fewer audits missed the leader"),
    "mean_deficit": (
        "audits were further behind the leader",
        "audits were closer to the leader",
    ),
    "restricted_weeks_to_audit": (
        "incidents waited longer for an audit, counting at most 26 weeks each",
        "incidents waited less for an audit, counting at most 26 weeks each",
    ),
    "harm": ("there was more harm", "there was less harm"),
}
"""What is said where a metric is higher, and where it is lower."""


def said(row: dict[str, Any], *, signed: bool = False, pairs: bool = False, brief: bool = False) -> str:
    """An estimate with its interval, inside a sentence.

    Parameters
    ----------
    row
        Of a table of estimates.
    signed, pairs
        For a difference.
    brief
        Where the sentence has said before what the parentheses hold, and from how many runs.

    Examples
    --------
    >>> row = {"metric": "retaliation_rate", "value": .1, "low": .05, "high": .2, "n_runs": 9, "numerator": 3,
    ...        "denominator": 30}
    >>> said(row)
    '10.0 % (95 % interval 5.0 to 20.0; 3 of 30 in 9 runs)'
    >>> said(row, brief=True)
    '10.0 % (5.0 to 20.0)'
    """
    metric = str(row["metric"])
    value = number_text(metric, row["value"], signed=signed, points=pairs and wording(metric).is_share)
    value += f" {_UNITS[metric]}" if metric in _UNITS else ""
    bounds = interval_text(metric, row["low"], row["high"], signed=signed)
    known = "no interval" if bounds == "–" else bounds if brief else f"95 % interval {bounds}"
    if brief:
        return f"{value} ({known})"
    counted = ""
    if wording(metric).kind == "rate" and not pairs and row.get("denominator") is not None:
        counted = f"{row['numerator']:,.0f} of {row['denominator']:,.0f} in "
    n = f"{row['n_runs']:,} {'pair' if pairs else 'run'}{'' if row['n_runs'] == 1 else 's'}"
    return f"{value} ({known}; {counted}{n})"


def found_out(under: str, rows: Rows) -> str:
    """How many reporters and others were retaliated against, and what the worst case would have known."""
    if "retaliation_rate" not in rows:
        return ""
    text = f"{under}{said(rows['retaliation_rate'])} of reporters were retaliated against"
    if "retaliation_rate_transcript" in rows:
        text += f", {said(rows['retaliation_rate_transcript'], brief=True)} through the audit transcript"
    if "false_retaliation_rate" in rows:
        others = said(rows["false_retaliation_rate"], brief=True)
        text += f"; of people with access who never reported, {others} were hit"
    text = sentence(text)
    if "strong_identification_rate" in rows:
        text += (
            " An adversary who knows everything but the one report would have identified "
            f"{said(rows['strong_identification_rate'], brief=True)} of reports"
        )
        if "strong_false_alarm_rate" in rows:
            alarms = said(rows["strong_false_alarm_rate"], brief=True)
            text += f", and wrongly {alarms} of those that were never filed"
        text += "."
    return text


def achieved(under: str, rows: Rows) -> str:
    """What the audits were worth."""
    parts = []
    if "misselection_rate" in rows:
        parts.append(
            f"{said(rows['misselection_rate'])} of audits went to a target with fewer reports than another"
        )
    if "restricted_weeks_to_audit" in rows:
        waited = said(rows["restricted_weeks_to_audit"], brief=bool(parts))
        parts.append(
            f"an incident waited {waited} for the next audit of its target, counting at most 26 weeks"
        )
    if "harm" in rows:
        parts.append(f"harm came to {said(rows['harm'], brief=bool(parts))} a run")
    return sentence(under + "; ".join(parts)) if parts else ""


def spoke(under: str, rows: Rows) -> str:
    """How many of those who noticed something reported it, and how many incidents nobody reported."""
    if "reporting_rate" not in rows:
        return ""
    text = f"{under}{said(rows['reporting_rate'])} of notices led to a report"
    if "silent_incident_rate" in rows:
        text += f"; nobody reported {said(rows['silent_incident_rate'], brief=True)} of the incidents"
    return sentence(text)


def difference(row: dict[str, Any], *, brief: bool) -> str:
    """A difference that can be told apart."""
    metric = str(row["metric"])
    name = wording(metric).name
    up, down = DIFFERS.get(metric, (f"{name}: more", f"{name}: less"))
    told = said(row, signed=True, pairs=True, brief=brief)
    return f"{up if row['value'] > 0 else down}, {told}"


def sentence(text: str) -> str:
    """Capital letter and full stop."""
    return text[:1].upper() + text[1:].rstrip(".") + "."
