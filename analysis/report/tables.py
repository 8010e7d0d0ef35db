"""The tables of a report: everything as tidy CSV, and what a paper prints as readable text."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pandas as pd

from ..contrasts import advantages, deterrence, mechanism_contrasts
from ..estimates import available_metrics, estimates, lendable
from ..group_estimates import group_estimates, group_lendable
from ..results import DELTA, MECHANISM, Results, swept_keys
from ..slices import IGNORES_DELTA, mechanism_order, reference_slice
from ..style import channel_label, mechanism_label
from ..tables import CHANNELS
from ..wording import interval_text, level_text, number_text, wording

__all__ = ["Printed", "printed_tables", "tidy_tables"]

_MAIN = (
    "retaliation_rate",
    *[f"retaliation_rate_{channel}" for channel in CHANNELS],
    "false_retaliation_rate",
    "excess_retaliation",
    "strong_identification_rate",
    "strong_false_alarm_rate",
    "reporting_rate",
    "silent_incident_rate",
    "productive_audit_rate",
    "misselection_rate",
    "mean_deficit",
    "mean_normalized_deficit",
    "reports_resolved_per_audit",
    "weeks_to_audit",
    "restricted_weeks_to_audit",
    "incidents_never_audited",
    "harm",
    "final_fear",
    "final_efficacy",
)
_BY_DELTA = ("retaliation_rate", "retaliation_rate_transcript", "strong_identification_rate", "misselection_rate",
             "restricted_weeks_to_audit", "reporting_rate")  # fmt: skip
_COMPARED = (*_MAIN[:5], "false_retaliation_rate", "strong_identification_rate", "reporting_rate",
             "silent_incident_rate", "misselection_rate", "mean_deficit",
             "restricted_weeks_to_audit", "harm")  # fmt: skip
_DIMENSIONS = {"lab": "Lab", "target": "Target", "anonymity_set": "People with access", "channel": "Channel"}
_MOST_LEVELS = 12


@dataclass(frozen=True)
class Printed:
    """A table as it is read.

    Attributes
    ----------
    stem
        Name of its files.
    caption, notes
        Plain text.
    table
        Texts.
    text_columns
        So many columns from the left are text.
    """

    stem: str
    caption: str
    notes: str
    table: pd.DataFrame
    text_columns: int = 1


def tidy_tables(results: Results) -> dict[str, pd.DataFrame]:
    """All estimates of a batch as tidy tables, by name: estimates, groups, contrasts, deterrence."""
    runs = results.runs
    if not len(runs):
        return {}
    keys = swept_keys(runs)
    tables = {"estimates": estimates(runs)}
    gained = advantages(runs, keys, lent=lendable(runs))
    if len(gained):
        tables["estimates"] = pd.concat([tables["estimates"], gained], ignore_index=True)
    groups = results.tables.get("groups")
    if groups is not None and len(groups):
        parts = [group_estimates(groups, runs, str(d)) for d in dict.fromkeys(groups["dimension"])]
        tables["groups"] = pd.concat([part for part in parts if len(part)] or parts, ignore_index=True)
    if MECHANISM in runs and runs[MECHANISM].nunique() > 1:
        have = set(available_metrics(runs))
        tables["contrasts"] = mechanism_contrasts(
            runs, [m for m in _MAIN if m in have and m != "excess_retaliation"]
        )
    if "reporting_rate" in available_metrics(runs) and len(deterred := deterrence(runs)):
        tables["deterrence"] = deterred
    return tables


def printed_tables(results: Results) -> Iterator[Printed]:
    """What a report and a paper print, at the reference of the sweep."""
    part = reference_slice(results)
    runs = part.runs
    if not len(runs):
        return
    have = set(available_metrics(runs))
    n = f"n = {part.n_runs} run{'s' if part.n_runs != 1 else ''}" + (
        " of each mechanism" if MECHANISM in runs else ""
    )
    told = f" at {part.told()}" if part.told() else ""
    notes = (
        f"{n}. In parentheses: 95 % intervals (rates: Wilson's for runs as clusters; means: bootstrap over runs; "
        "counts and levels: Student's t). Numerators, denominators and Monte Carlo errors are in estimates.csv."
    )
    main = [m for m in _MAIN if m in have]
    by = [MECHANISM] if MECHANISM in runs else []
    table = estimates(runs, main, by=by, lent=part.lent)
    yield Printed("main", f"What the runs gave{told}.", notes, _wide(table, main, by))

    names = mechanism_order(set(runs[MECHANISM])) if by else []
    if len(names) > 1:
        base = "greedy" if "greedy" in names else names[0]
        compared = [m for m in _COMPARED if m in have]
        pairs = [(name, base) for name in names if name != base]
        differences = mechanism_contrasts(runs, compared, pairs, lent=part.lent)
        if len(differences):
            yield Printed(
                "contrasts",
                f"Differences from {mechanism_label(base)}{told}.",
                f"n = {int(differences['n_runs'].max())} pairs of runs on common random numbers. In parentheses: "
                "95 % intervals of each difference by itself, not widened for their number. Rates: points.",
                _wide(differences, compared, ["first"], signed=True),
            )
    yield from _of_delta(results)
    yield from _of_groups(results, told)


def _of_delta(results: Results) -> Iterator[Printed]:
    part = reference_slice(results, vary=(MECHANISM, DELTA))
    if DELTA not in part.runs or part.runs[DELTA].nunique() < 2 or MECHANISM not in part.runs:
        return
    shown = [m for m in _BY_DELTA if m in available_metrics(part.runs)]
    table = estimates(part.runs, shown, by=[MECHANISM, DELTA], lent=part.lent)
    rows = []
    for name in mechanism_order(set(table[MECHANISM])):
        for delta, some in table[table[MECHANISM] == name].groupby(DELTA):
            texts = {wording(m).axis: _text(some[some["metric"] == m]) for m in shown}
            level = "any" if name in IGNORES_DELTA else level_text(delta)
            rows.append({"Mechanism": mechanism_label(name), "δ": level} | texts)
            if name in IGNORES_DELTA:
                break
    yield Printed(
        "delta",
        "Every mechanism at every δ.",
        f"n = {part.n_runs} runs in each cell. In parentheses: 95 % intervals. "
        "Greedy and uniform ignore δ and stand once.",
        pd.DataFrame(rows),
        2,
    )


def _of_groups(results: Results, told: str) -> Iterator[Printed]:
    groups, part = results.tables.get("groups"), reference_slice(results)
    if groups is None or not len(groups):
        return
    by = [MECHANISM] if MECHANISM in part.runs else []
    for dimension, metric in (("lab", "retaliation_rate"), ("anonymity_set", "retaliation_rate"),
                              ("lab", "restricted_weeks_to_audit")):  # fmt: skip
        lent = None if part.lent is None else group_lendable(groups, results.runs, dimension)
        table = group_estimates(groups, part.runs, dimension, [metric], by, lent=lent)
        if not len(table) or table["level"].nunique() > _MOST_LEVELS:
            continue
        if dimension == "lab":  # a lab that is quiet in the first run is not the last for that
            place = {name: i for i, name in enumerate(results.scenario.get("labs", {}))}
            table = table.sort_values("level", key=lambda c: c.map(place), kind="stable")
        rows = []
        for name in mechanism_order(set(table[MECHANISM])) if by else [""]:
            some = table[table[MECHANISM] == name] if name else table
            texts = {str(row["level"]): _text(pd.DataFrame([row])) for row in some.to_dict("records")}
            rows.append({"Mechanism": mechanism_label(name) if name else "All runs"} | texts)
        yield Printed(
            f"{dimension}-{metric.replace('_', '-')}",
            f"{wording(metric).axis} by {_DIMENSIONS[dimension].lower()}{told}.",
            f"n = {part.n_runs} runs. In parentheses: 95 % intervals. Counts are in groups.csv.",
            pd.DataFrame(rows),
        )


def _wide(
    table: pd.DataFrame, metrics: Sequence[str], by: Sequence[str], *, signed: bool = False
) -> pd.DataFrame:
    """Metrics down, mechanisms across."""
    names = mechanism_order(set(table[by[0]])) if by else [""]
    rows = []
    for metric in metrics:
        some = table[table["metric"] == metric]
        texts = {
            mechanism_label(name) if name else "Estimate": _text(
                some[some[by[0]] == name] if name else some, signed=signed
            )
            for name in names
        }
        label = wording(metric).name
        if metric.startswith("retaliation_rate_"):
            label = f"– {channel_label(metric.removeprefix('retaliation_rate_'))}"
        unit = wording(metric).unit if not (signed and wording(metric).is_share) else "points"
        rows.append({"": f"{label} ({unit})"} | texts)
    return pd.DataFrame(rows)


def _text(rows: pd.DataFrame, *, signed: bool = False) -> str:
    if not len(rows):
        return "–"
    row = rows.iloc[0]
    metric = str(row["metric"])
    value = number_text(metric, row["value"], signed=signed).removesuffix(" %")
    bounds = interval_text(metric, row["low"], row["high"], signed=signed)
    return value if bounds == "–" else f"{value} ({bounds})"
