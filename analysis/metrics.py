"""What a run reports: every metric of a run from its tables, with numerators and denominators.

`METRICS` says what each one is; `run_metrics` computes them. A rate or a mean `x` comes with `x_numerator`
and `x_denominator`, so that runs can be pooled as a ratio of sums; what has nothing in its denominator is
None.

The unit of a retaliation rate is a person, not a report and not an act: a person counts once however many
reports he or she filed. Reports without a person (an outside stream, person below 0) count as reports and
for nothing that is about people.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from .groups import run_groups
from .tables import CHANNELS, HORIZON_WEEKS, Columns, Tables, innocents, restricted_waits

__all__ = ["CHANNELS", "METRICS", "Metric", "metric", "metric_keys", "run_groups", "run_metrics"]

type Kind = Literal["count", "total", "rate", "mean", "difference", "level"]
type _Sums = dict[str, tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric of a run.

    Attributes
    ----------
    key
        Name in `runs.parquet`, in JSON and in `--metric`.
    unit
        What one of it is.
    kind
        "count" and "total" add up; "rate" (numerator counts some of what the denominator counts) and "mean"
        have a numerator and a denominator; "difference" is one of two rates; "level" is a state at the end.
    sentence
        What it says, exactly.
    """

    key: str
    unit: str
    kind: Kind
    sentence: str

    @property
    def is_ratio(self) -> bool:
        """Whether it comes with a numerator and a denominator."""
        return self.kind in ("rate", "mean")


def _channel_metric(channel: str, how: str) -> Metric:
    return Metric(
        f"retaliation_rate_{channel}",
        "reporters",
        "rate",
        f"Share of distinct reporters who were retaliated against, after reporting, through {how}, "
        "whether or not for an incident they had reported.",
    )


METRICS: tuple[Metric, ...] = (
    Metric("incidents", "incidents", "count", "Incidents of misconduct that happened."),
    Metric("observers", "people", "count", "Distinct people who noticed an incident."),
    Metric(
        "notices", "notices", "count", "One per person and incident noticed, by people silenced earlier too."
    ),
    Metric("reports", "reports", "count", "Reports filed by the end, those of an outside stream included."),
    Metric(
        "reporting_rate",
        "notices",
        "rate",
        "Share of notices with the decision to report; a report still on its way at the end counts, and so does a "
        "notice by somebody whom retaliation has silenced, as one without.",
    ),
    Metric(
        "silent_incident_rate",
        "incidents",
        "rate",
        "Share of incidents about which no report was filed by the end, whether or not anybody noticed.",
    ),
    Metric(
        "retaliation_rate",
        "reporters",
        "rate",
        "Share of distinct reporters who were retaliated against, having filed a report before, "
        "whether or not for an incident they had reported.",
    ),
    _channel_metric("transcript", "what the lab inferred from the audit transcript"),
    _channel_metric("side_information", "a leak outside the transcript"),
    _channel_metric("self_disclosure", "being known as a reporter"),
    _channel_metric("audit_scope", "what the findings of an audit gave away"),
    Metric(
        "false_retaliation_rate",
        "people",
        "rate",
        "Share of people with access to an incident who filed no report all run and were retaliated against.",
    ),
    Metric(
        "excess_retaliation",
        "difference of rates",
        "difference",
        "retaliation_rate minus false_retaliation_rate. Confounded (who reports differs from who does not), "
        "and not bounded by delta: the causal effect is what `deniability twin` estimates.",
    ),
    Metric(
        "strong_identification_rate",
        "reports",
        "rate",
        "Share of scored reports whose exact worst-case posterior reaches the lab's threshold.",
    ),
    Metric(
        "strong_false_alarm_rate",
        "would-be reports",
        "rate",
        "Share of scored reports that were not filed, but would be by someone with access, whose exact "
        "worst-case posterior reaches the lab's threshold.",
    ),
    Metric("audits", "audits", "count", "Audits made."),
    Metric(
        "productive_audit_rate", "audits", "rate", "Share of audits that brought an open incident to light."
    ),
    Metric(
        "misselection_rate",
        "audits",
        "rate",
        "Share of audits whose target had fewer active reports than the maximum.",
    ),
    Metric("mean_deficit", "reports", "mean", "Maximum active reports minus those of the audited target."),
    Metric(
        "mean_normalized_deficit", "share", "mean", "Deficit divided by the maximum active reports plus one."
    ),
    Metric(
        "reports_resolved_per_audit",
        "reports",
        "mean",
        "Active reports of the audited target when it was audited.",
    ),
    Metric(
        "weeks_to_audit",
        "weeks",
        "mean",
        "Time from an incident to the next audit of its target, over incidents with such an audit before the end of "
        "the run. Too short where audits are slow, for it leaves out those still waiting: compare mechanisms by "
        "restricted_weeks_to_audit.",
    ),
    Metric(
        "restricted_weeks_to_audit",
        "weeks",
        "mean",
        f"Time from an incident to the next audit of its target, counting at most {HORIZON_WEEKS:g} weeks, over all "
        f"incidents at least {HORIZON_WEEKS:g} weeks before the end of the run.",
    ),
    Metric(
        "incidents_never_audited",
        "incidents",
        "count",
        "Incidents whose target was not audited after they happened.",
    ),
    Metric(
        "harm", "severity-weeks", "total", "Severity times weeks open until found or the end, over incidents."
    ),
    Metric("departures", "people", "count", "People who left, by turnover or after retaliation."),
    Metric(
        "final_fear",
        "probability",
        "level",
        "Mean over employees, at the end, of the belief that an identified reporter is retaliated against.",
    ),
    Metric(
        "final_efficacy",
        "probability",
        "level",
        "Mean, at the end, of the belief that reporting gets things fixed.",
    ),
)
"""Every metric of a run, in the order in which it is written."""

_BY_KEY = {one.key: one for one in METRICS}


def metric(key: str) -> Metric:
    """Look a metric up by its key; KeyError if there is none."""
    return _BY_KEY[key]


def metric_keys() -> list[str]:
    """Keys of the flat dictionary of `run_metrics`, in order."""
    keys: list[str] = []
    for one in METRICS:
        keys.append(one.key)
        if one.is_ratio:
            keys += [f"{one.key}_numerator", f"{one.key}_denominator"]
    return keys


def run_metrics(
    tables: Tables, period_weeks: float, *, threshold: float | None = None
) -> dict[str, float | int | None]:
    """Compute every metric of one run.

    Parameters
    ----------
    tables
        The tables of the run: incidents, notices, reports, audits, retaliations, departures, people, series,
        and candidates if there is one.
    period_weeks
        Weeks in an audit period, in which `time` is counted.
    threshold
        The posterior at which every lab believes, for `strong_false_alarm_rate` alone, and only where the
        table `candidates` has no column `strong_identified`. Without either that rate is undefined.

    Returns
    -------
    dict
        The keys of `metric_keys`. Whole numbers where it counts; None where it is undefined (0/0).

    Raises
    ------
    InputError
        If a table or a column is missing: the message names both.
    """
    read = Columns.of(tables)
    counts, sums = _about_incidents(read, period_weeks)
    sums |= _about_people(read) | _about_the_worst_case(read, threshold) | _about_audits(read)
    counts |= {
        "observers": len(np.unique(read.column("notices", "person"))),
        "notices": len(read.column("notices", "incident")),
        "reports": len(read.column("reports", "report")),
        "audits": len(read.column("audits", "decision")),
        "departures": len(read.column("departures", "person")),
        "final_fear": _last(read.floats("series", "fear")),
        "final_efficacy": _last(read.floats("series", "efficacy")),
    }
    result: dict[str, float | int | None] = {}
    for one in METRICS:
        if one.is_ratio:
            numerator, denominator = sums[one.key]
            result[one.key] = float(numerator / denominator) if denominator else None
            result[f"{one.key}_numerator"] = numerator
            result[f"{one.key}_denominator"] = denominator
        elif one.key != "excess_retaliation":
            result[one.key] = counts[one.key]
        else:
            of_reporters, of_others = result["retaliation_rate"], result["false_retaliation_rate"]
            defined = of_reporters is not None and of_others is not None
            result[one.key] = of_reporters - of_others if defined else None  # type: ignore[operator]
    return result


def _about_incidents(read: Columns, period_weeks: float) -> tuple[dict[str, float | int | None], _Sums]:
    filed = read.column("incidents", "reports")
    wait = read.floats("incidents", "first_audit_time") - read.floats("incidents", "time")
    audited = ~np.isnan(wait)
    n_audited = int(np.count_nonzero(audited))
    counted, cut = restricted_waits(read, period_weeks)
    decided = read.column("notices", "decision")
    counts: dict[str, float | int | None] = {
        "incidents": len(filed),
        "incidents_never_audited": len(filed) - n_audited,
        "harm": float(read.floats("incidents", "harm").sum()),
    }
    sums: _Sums = {
        "reporting_rate": (int(np.count_nonzero(decided == "report")), len(decided)),
        "silent_incident_rate": (int(np.count_nonzero(filed == 0)), len(filed)),
        "weeks_to_audit": (float(wait[audited].sum() * period_weeks), n_audited),
        "restricted_weeks_to_audit": (float(cut[counted].sum()), int(np.count_nonzero(counted))),
    }
    return counts, sums


def _about_people(read: Columns) -> _Sums:
    reporters = read.floats("reports", "person")
    n_reporters = len(np.unique(reporters[reporters >= 0]))
    person = read.column("retaliations", "person")
    had_reported = read.truths("retaliations", "reporter")
    hit, channel = person[had_reported], read.column("retaliations", "channel")[had_reported]
    sums: _Sums = {"retaliation_rate": (len(np.unique(hit)), n_reporters)}
    for name in CHANNELS:
        sums[f"retaliation_rate_{name}"] = (len(np.unique(hit[channel == name])), n_reporters)
    others = innocents(read)
    false = np.count_nonzero(read.truths("people", "retaliated") & others)
    sums["false_retaliation_rate"] = (int(false), int(np.count_nonzero(others)))
    return sums


def _about_the_worst_case(read: Columns, threshold: float | None) -> _Sums:
    none = (0, 0)
    sums: _Sums = {"strong_identification_rate": none, "strong_false_alarm_rate": none}
    if read.has("reports", "strong_identified"):
        identified = read.floats("reports", "strong_identified")
        identified = identified[~np.isnan(identified)]
        sums["strong_identification_rate"] = (int(identified.sum()), len(identified))
    alarm = None
    if read.has("candidates", "strong_identified"):
        alarm = read.floats("candidates", "strong_identified")
    elif threshold is not None and read.has("candidates", "strong_posterior"):
        posterior = read.floats("candidates", "strong_posterior")
        alarm = np.where(np.isnan(posterior), np.nan, posterior >= threshold)
    if alarm is not None:
        alarm = alarm[~read.truths("candidates", "filed") & ~np.isnan(alarm)]
        sums["strong_false_alarm_rate"] = (int(alarm.sum()), len(alarm))
    return sums


def _about_audits(read: Columns) -> _Sums:
    found = read.column("audits", "found")
    n_audits = len(found)
    misselected = read.truths("audits", "misselected")
    return {
        "productive_audit_rate": (int(np.count_nonzero(found > 0)), n_audits),
        "misselection_rate": (int(np.count_nonzero(misselected)), n_audits),
        "mean_deficit": (float(read.floats("audits", "deficit").sum()), n_audits),
        "mean_normalized_deficit": (float(read.floats("audits", "normalized_deficit").sum()), n_audits),
        "reports_resolved_per_audit": (float(read.floats("audits", "active_reports").sum()), n_audits),
    }


def _last(values: npt.NDArray[np.float64]) -> float | None:
    return float(values[-1]) if len(values) and not np.isnan(values[-1]) else None
