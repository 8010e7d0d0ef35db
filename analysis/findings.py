"""Findings: what the estimates of a batch say, in plain sentences, each with its interval.

A level (how many reporters were retaliated against) is told with its interval. A difference is told only where its
interval lies on one side of zero and rests on ten pairs of runs or more (a bootstrap of fewer is hardly more than
their range); how many comparisons were left unsaid, and how many would be told by chance, is told once.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from .contrasts import contrasts, deterrence, group_contrast, is_told_apart, mechanism_contrasts
from .estimates import available_metrics, estimates, records, tidy
from .groups import ANONYMITY_LEVELS
from .results import DELTA, MECHANISM, Results
from .sentences import DIFFERS, achieved, difference, found_out, said, sentence, spoke
from .slices import IGNORES_DELTA, Slice, mechanism_order, reference_slice, varying_keys
from .wording import level_text, short_mechanism

__all__ = ["Finding", "batch_findings"]

_ENOUGH = 30
"""Outcomes that a level must have in all for a sentence about it."""
_PAIRS = 10
"""Pairs of runs that a difference must have for a sentence about it."""
_FEAR = 0.005
"""Difference in mean fear that is too small for a sentence: most of a staff have access to nothing."""

COSTS = ("misselection_rate", "mean_deficit", "restricted_weeks_to_audit", "harm")
"""What an audit policy is worth: the metrics in which protection is paid for."""
PROTECTION = (
    "retaliation_rate",
    "retaliation_rate_transcript",
    "strong_identification_rate",
    "strong_false_alarm_rate",
)
SPEAKING = ("reporting_rate", "silent_incident_rate", "final_fear")


_SMALL = ANONYMITY_LEVELS[:4]
"""Numbers of people with access that are worth a sentence about small circles."""


@dataclass(frozen=True)
class Finding:
    """One sentence and what it rests on.

    Attributes
    ----------
    topic
        Heading under which it stands.
    sentence
        Plain text.
    rows
        The estimates in it, as rows of tables.
    lead, parts
        The same in pieces, for a list, where it has several.
    """

    topic: str
    sentence: str
    rows: tuple[dict[str, Any], ...] = field(default=(), compare=False)
    lead: str = ""
    parts: tuple[str, ...] = ()


def batch_findings(results: Results) -> list[Finding]:
    """Say what a batch shows: levels by mechanism at the reference, then what can be told apart."""
    part = reference_slice(results)
    if not len(part.runs):
        return []
    compared = list(_compared(part))
    found = [*_where(results, part), *_in_short(compared), *_levels(part), *compared, *_by_delta(results)]
    found += [*_deterred(results), *_by_anonymity(results, part)]
    order = list(dict.fromkeys(one.topic for one in found))
    return sorted((one for one in found if one.sentence), key=lambda one: order.index(one.topic))


def _where(results: Results, part: Slice) -> Iterator[Finding]:
    """At which cell of a sweep everything is told that names no other."""
    if set(varying_keys(results.runs)) - {MECHANISM}:
        yield Finding("Where", f"Unless it says otherwise, a finding is about {part.told()}.")


def _in_short(compared: Sequence[Finding]) -> Iterator[Finding]:
    """What each mechanism with a guarantee gains in protection over the one without, and what that costs."""
    for one in compared:
        if not one.rows or one.rows[0]["second"] != "greedy" or one.rows[0]["first"] in IGNORES_DELTA:
            continue
        by_metric = {str(row["metric"]): row for row in one.rows}
        gained = [
            by_metric[m]
            for m in ("retaliation_rate", "strong_identification_rate", "strong_false_alarm_rate")
            if m in by_metric
        ]
        paid = [by_metric[m] for m in ("restricted_weeks_to_audit", "harm") if m in by_metric]
        if gained and gained[0]["metric"] != "strong_false_alarm_rate":
            text = f"With {short_mechanism(one.rows[0]['first'])} audits instead of greedy ones, "
            text += " and ".join(difference(row, brief=i > 0) for i, row in enumerate(gained))
            for word, worse in (("but", True), ("and", False)):
                if some := [row for row in paid if (row["value"] > 0) == worse]:
                    text += f"; {word} " + " and ".join(difference(row, brief=True) for row in some)
            yield Finding("In short", sentence(text), (*gained, *paid))


def _levels(part: Slice) -> Iterator[Finding]:
    have = available_metrics(part.runs)
    if MECHANISM not in part.runs:
        table = estimates(part.runs, have, by=[], lent=part.lent)
        yield from _level_sentences({"": table}, have)
        return
    table = estimates(part.runs, have, by=[MECHANISM], lent=part.lent)
    by_name = {name: table[table[MECHANISM] == name] for name in mechanism_order(set(table[MECHANISM]))}
    yield from _level_sentences(by_name, have)


def _level_sentences(by_name: dict[str, pd.DataFrame], have: Sequence[str]) -> Iterator[Finding]:
    for name, table in by_name.items():
        rows = {str(row["metric"]): row for row in records(table) if not pd.isna(row["value"])}
        under = f"Under {short_mechanism(name)}, " if name else ""
        yield Finding("Who is found out", found_out(under, rows), _some(rows, "retaliation_rate"))
        yield Finding("What the audits achieve", achieved(under, rows), _some(rows, *COSTS))
        yield Finding("Who speaks up", spoke(under, rows), _some(rows, *SPEAKING))
    if "retaliation_rate" in have and all(
        "retaliation_rate" not in set(t.dropna(subset="value")["metric"]) for t in by_name.values()
    ):
        yield Finding(
            "Who is found out", "Nobody reported in any of these runs, so no reporter could be found out."
        )


def _compared(part: Slice) -> Iterator[Finding]:
    """What can be told apart between mechanisms, against the one without privacy and among the others."""
    if MECHANISM not in part.runs or part.runs[MECHANISM].nunique() < 2:
        return
    names = mechanism_order(set(part.runs[MECHANISM]))
    base = "greedy" if "greedy" in names else names[0]
    rest = [name for name in names if name != base]
    pairs = [(name, base) for name in rest]
    private = [name for name in rest if name not in IGNORES_DELTA]
    pairs += [(b, a) for i, a in enumerate(private) for b in private[i + 1 :]]
    have = set(available_metrics(part.runs))
    metrics = [m for m in (*PROTECTION, "false_retaliation_rate", *SPEAKING, *COSTS) if m in have]
    table = mechanism_contrasts(part.runs, metrics, pairs, lent=part.lent)
    yield from _told(table, "What differs between mechanisms", short_mechanism)


def _by_delta(results: Results) -> Iterator[Finding]:
    part = reference_slice(results, vary=(MECHANISM, DELTA))
    runs = part.runs
    if DELTA not in runs or runs[DELTA].nunique() < 2:
        return
    if MECHANISM in runs:
        runs = runs[~runs[MECHANISM].isin(IGNORES_DELTA)]
    if not len(runs):
        return
    ends = (float(runs[DELTA].max()), float(runs[DELTA].min()))
    have = set(available_metrics(runs))
    metrics = [m for m in (*PROTECTION, *COSTS) if m in have]
    by = [MECHANISM] if MECHANISM in runs else []
    table = contrasts(runs, DELTA, metrics, [ends], by=by, lent=part.lent)
    yield from _told(table, "What δ buys", lambda value: f"δ = {value:g}")


def _deterred(results: Results) -> Iterator[Finding]:
    part = reference_slice(results, vary=(MECHANISM, "organizations.retaliation_probability"))
    if "reporting_rate" not in available_metrics(part.runs):
        return
    topic = "What retaliation does to reporting"
    table = deterrence(part.runs, lent=part.lent)
    if not len(table):
        if results.kind != "batch":
            return
        yield Finding(
            topic,
            "These results hold no cell of the same world without retaliation "
            "(organizations.retaliation_probability = 0), so what retaliation does to reporting is not estimated "
            "here.",
        )
        return
    yield from _told(table, topic, lambda v: f"a retaliation probability of {v:g}" if v else "none")
    yield Finding(
        topic,
        "These differences hold both what fear deters and the silence of people who have been retaliated against: "
        "they count as observers who do not report.",
    )


def _by_anonymity(results: Results, part: Slice) -> Iterator[Finding]:
    groups = results.tables.get("groups")
    if groups is None or not len(groups):
        return
    groups = groups[(groups["dimension"] == "anonymity_set") & (groups["run_id"].isin(part.runs["run_id"]))]
    names = mechanism_order(set(part.runs[MECHANISM])) if MECHANISM in part.runs else [""]
    unsaid = n_told = 0
    for metric in ("retaliation_rate", "strong_identification_rate"):
        for name in names:
            runs = part.runs[part.runs[MECHANISM] == name] if name else part.runs
            some = groups[(groups["metric"] == metric) & groups["run_id"].isin(runs["run_id"])]
            sizes = some.groupby("level")["denominator"].sum()
            # levels with enough in them to speak of, chosen by their size and not by their outcome
            levels = [level for level in ANONYMITY_LEVELS if sizes.get(level, 0.0) >= _ENOUGH]
            if len(levels) < 2 or levels[0] not in _SMALL:
                continue
            found = group_contrast(groups, runs, metric, levels[0], levels[-1])
            if found.value is None or found.n_runs < _PAIRS:
                continue
            if not is_told_apart(found):
                unsaid += 1
                continue
            n_told += 1
            row = tidy(metric, found, len(runs))
            under = f"under {short_mechanism(name)}, " if name else ""
            what = DIFFERS[metric][0 if found.value > 0 else 1]
            told = said(row, signed=True, pairs=True).replace(" pair", " run")
            circle = "one person" if levels[0] == "1" else f"{levels[0].replace('-', '–')} people"
            text = f"{under}{what} where {circle} had access than where {levels[-1].replace('-', '–')} had: {told}"
            yield Finding("Small circles", sentence(text), (row,))
    if n_told:
        yield Finding("Small circles", _unsaid(unsaid, unsaid + n_told))


def _told(table: pd.DataFrame, topic: str, name_of: Any) -> Iterator[Finding]:
    """A sentence for each difference that can be told apart, by what is compared, and one on those that cannot."""
    unsaid = few = small = 0
    held = [str(c) for c in table.columns if "." in str(c)] if len(table) else []
    told: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in records(table):
        if pd.isna(row["value"]):
            continue
        if row["n_runs"] < _PAIRS:
            few += 1
        elif not is_told_apart(row):
            unsaid += 1
        elif row["metric"] == "final_fear" and max(-row["low"], row["high"]) < _FEAR:
            small += 1
        else:
            told.setdefault((*(row[k] for k in held), row["first"], row["second"]), []).append(row)
    for rows in told.values():
        first, second = name_of(rows[0]["first"]), name_of(rows[0]["second"])
        where = ", ".join(
            f"under {short_mechanism(rows[0][k])}" if k == MECHANISM else f"at {k} = {level_text(rows[0][k])}"
            for k in held
            if k == MECHANISM or table[k].nunique() > 1
        )
        parts = tuple(difference(row, brief=i > 0) for i, row in enumerate(rows))
        lead = sentence(f"{where + ', ' if where else ''}{first} against {second}").removesuffix(".")
        yield Finding(topic, sentence(f"{lead}: {'; '.join(parts)}"), tuple(rows), lead, parts)
    n_told = sum(map(len, told.values()))
    if unsaid or n_told or small:
        yield Finding(topic, _unsaid(unsaid, unsaid + n_told + small, small))
    if few:
        yield Finding(
            topic,
            f"Nothing is said of {few} comparison{'' if few == 1 else 's'} with fewer than {_PAIRS} pairs of runs: "
            "run more replicates.",
        )


def _unsaid(unsaid: int, looked_at: int, small: int = 0) -> str:
    """How many comparisons are not told (`small`: as fear differs too little), and how many chance would tell."""
    silent = unsaid + small
    if silent == 0:
        text = f"All {looked_at} comparisons" if looked_at > 1 else "The one comparison"
        text += f" made here {'are' if looked_at > 1 else 'is'} told."
    else:
        why = "an interval that includes zero"
        if small:
            why += f" (or, {small} of them, a difference of mean fear over all staff below {_FEAR:g})"
        have = "has" if silent == 1 else "have"
        text = f"{silent} of {looked_at} comparisons {have} {why}, and nothing is said of them."
    by_chance = 0.05 * looked_at
    return text + (
        f" Did nothing differ at all, about {by_chance:.0f} of {looked_at} would be told by chance."
        if by_chance >= 1 and unsaid < looked_at
        else ""
    )


def _some(rows: dict[str, dict[str, Any]], *metrics: str) -> tuple[dict[str, Any], ...]:
    return tuple(rows[m] for m in metrics if m in rows)
