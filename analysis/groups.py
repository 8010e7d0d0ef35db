"""The metrics of a run split by lab, target, channel and anonymity set: the table `groups`.

`GROUPS` says what each row is. Numerators and denominators are given, never ratios, so that runs add up; a
level with an empty denominator has no row.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from .tables import CHANNELS, Columns, Tables, innocents, restricted_waits

__all__ = ["ANONYMITY_LEVELS", "GROUPS", "anonymity_level", "run_groups"]

type _Array = npt.NDArray[np.generic]
type _Row = tuple[str, str, str, float, float]

_EDGES = np.array([2, 4, 8, 16, 32, 64])
ANONYMITY_LEVELS = ("1", "2-3", "4-7", "8-15", "16-31", "32-63", "64+")
"""Levels of the dimension `anonymity_set`: how many people had access, by powers of two."""

GROUPS: tuple[tuple[str, str, str], ...] = (
    ("lab", "reporting_rate", "Notices of the lab's incidents at which the person decided to report."),
    ("lab", "silent_incident_rate", "The lab's incidents about which no report was filed."),
    ("lab", "retaliation_rate", "Distinct reporters at the lab retaliated against after reporting."),
    ("lab", "false_retaliation_rate", "People at the lab with access to an incident who never reported."),
    ("lab", "audit_share", "Audits that went to the lab, of all audits."),
    ("lab", "productive_audit_rate", "Audits of the lab that brought an open incident to light."),
    (
        "lab",
        "weeks_to_audit",
        "Weeks from the lab's incidents to the next audit of their target, if audited.",
    ),
    (
        "lab",
        "restricted_weeks_to_audit",
        "The same, counting at most 26, over all its incidents at least 26 weeks before the end.",
    ),
    ("target", "reporting_rate", "Notices of the target's incidents at which the person decided to report."),
    ("target", "silent_incident_rate", "The target's incidents about which no report was filed."),
    (
        "target",
        "retaliation_rate",
        "Distinct reporters about the target, and those of them retaliated against over one of its "
        "incidents. Someone who reported about two targets is in both denominators.",
    ),
    ("target", "audit_share", "Audits that went to the target, of all audits."),
    ("target", "productive_audit_rate", "Audits of the target that brought an open incident to light."),
    ("target", "weeks_to_audit", "Weeks from the target's incidents to its next audit, if audited."),
    (
        "target",
        "restricted_weeks_to_audit",
        "The same, counting at most 26, over all its incidents at least 26 weeks before the end.",
    ),
    ("channel", "retaliation_rate", "Distinct reporters retaliated against through the channel."),
    (
        "channel",
        "false_retaliation_rate",
        "Non-reporters with access retaliated against through the channel.",
    ),
    ("anonymity_set", "reporting_rate", "Notices of incidents to which so many people had access."),
    ("anonymity_set", "silent_incident_rate", "Incidents to which so many people had access."),
    (
        "anonymity_set",
        "retaliation_rate",
        "Distinct reporters by the smallest anonymity set of their reports, so that each is in one level.",
    ),
    ("anonymity_set", "strong_identification_rate", "Scored reports by the number of people with access."),
)
"""Dimension, metric and what it counts."""

_ORDER = {pair[:2]: i for i, pair in enumerate(GROUPS)}


def anonymity_level(size: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """Index into `ANONYMITY_LEVELS` of each number of people with access.

    >>> [ANONYMITY_LEVELS[i] for i in anonymity_level([1, 3, 4, 63, 64, 900])]
    ['1', '2-3', '4-7', '32-63', '64+', '64+']
    """
    return np.searchsorted(_EDGES, np.asarray(size), side="right").astype(np.int64)


def run_groups(tables: Tables, period_weeks: float) -> pd.DataFrame:
    """Split a run's metrics by group.

    Parameters
    ----------
    tables
        As for `run_metrics`.
    period_weeks
        Weeks in an audit period.

    Returns
    -------
    DataFrame
        Columns dimension, level, metric (str), numerator, denominator (float), in the order of `GROUPS` and
        then of the level's name (size, for `anonymity_set`; the order of `CHANNELS`, for `channel`).

    Raises
    ------
    InputError
        If a table or a column is missing.
    """
    read = Columns.of(tables)
    rows = [*_of_incidents(read, period_weeks), *_of_audits(read), *_of_retaliation(read)]
    places = {name: i for i, name in enumerate((*ANONYMITY_LEVELS, *CHANNELS))}
    rows.sort(key=lambda row: (_ORDER[row[0], row[2]], places.get(row[1], 0), row[1]))
    names = ("dimension", "level", "metric", "numerator", "denominator")
    types = ("str", "str", "str", "float64", "float64")
    columns = zip(*rows, strict=True) if rows else [()] * len(names)
    return pd.DataFrame({n: pd.Series(c, dtype=t) for n, c, t in zip(names, columns, types, strict=True)})


def _tally(dimension: str, metric: str, levels: _Array, numerator: _Array) -> Iterator[_Row]:
    """Rows with the sum of `numerator` and the number of entries in each level."""
    # counting beats array operations here: the tables of a run are short, and their levels are strings
    below = Counter(levels.tolist())
    above: Counter[Any] | defaultdict[Any, float]
    if numerator.dtype == np.bool_:
        above = Counter(levels[numerator.astype(bool)].tolist())
    else:
        above = defaultdict(float)
        for level, value in zip(levels.tolist(), numerator.tolist(), strict=True):
            above[level] += value
    for level, bottom in below.items():
        name = ANONYMITY_LEVELS[level] if dimension == "anonymity_set" else str(level)
        yield dimension, name, metric, float(above[level]), float(bottom)


def _of_incidents(read: Columns, period_weeks: float) -> Iterator[_Row]:
    number = read.column("incidents", "incident")
    silent = read.column("incidents", "reports") == 0
    wait = read.floats("incidents", "first_audit_time") - read.floats("incidents", "time")
    audited = ~np.isnan(wait)
    counted, cut = restricted_waits(read, period_weeks)
    noticed, row = _rows_of(number, read.column("notices", "incident"))
    decided = read.column("notices", "decision")[noticed] == "report"
    for dimension in ("lab", "target", "anonymity_set"):
        level = read.column("incidents", dimension)
        if dimension == "anonymity_set":
            level = anonymity_level(level)
        yield from _tally(dimension, "reporting_rate", level[row], decided)
        yield from _tally(dimension, "silent_incident_rate", level, silent)
        if dimension != "anonymity_set":
            weeks = wait[audited] * period_weeks
            yield from _tally(dimension, "weeks_to_audit", level[audited], weeks)
            yield from _tally(dimension, "restricted_weeks_to_audit", level[counted], cut[counted])


def _of_audits(read: Columns) -> Iterator[_Row]:
    productive = read.column("audits", "found") > 0
    ones = np.ones(len(productive), dtype=bool)
    for dimension in ("lab", "target"):
        level = read.column("audits", dimension)
        yield from _tally(dimension, "productive_audit_rate", level, productive)
        for row in _tally(dimension, "audit_share", level, ones):
            yield *row[:4], float(len(ones))


def _of_retaliation(read: Columns) -> Iterator[_Row]:
    reported_by = read.floats("reports", "person")
    known = np.flatnonzero(reported_by >= 0)
    reported_by = reported_by[known]
    person = read.column("retaliations", "person")
    had_reported = read.truths("retaliations", "reporter")
    channel = read.column("retaliations", "channel")
    hit = np.unique(person[had_reported])

    # one row a reporter: the first of each in the order given
    size = read.column("reports", "anonymity_set")[known]
    by_size = np.lexsort((size, reported_by))
    reporters, first = np.unique(reported_by[by_size], return_index=True)
    chosen = by_size[first]
    fate = np.isin(reporters, hit)
    lab = read.column("reports", "lab")[known]
    yield from _tally("lab", "retaliation_rate", lab[chosen], fate)
    yield from _tally("anonymity_set", "retaliation_rate", anonymity_level(size[chosen]), fate)

    # one row a reporter and target
    target = read.column("reports", "target")[known]
    pairs = list(dict.fromkeys(zip(reported_by.tolist(), target.tolist(), strict=True)))
    about, row = _rows_of(read.column("incidents", "incident"), read.column("retaliations", "incident"))
    target_of_hit = read.column("incidents", "target")[row]
    after = had_reported[about]
    struck = set(zip(person[about][after].tolist(), target_of_hit[after].tolist(), strict=True))
    yield from _tally(
        "target",
        "retaliation_rate",
        np.array([pair[1] for pair in pairs], dtype=object),
        np.array([pair in struck for pair in pairs], dtype=bool),
    )

    others = innocents(read)
    retaliated = read.truths("people", "retaliated")[others]
    yield from _tally("lab", "false_retaliation_rate", read.column("people", "lab")[others], retaliated)
    number = read.column("people", "person")[others]
    hit_others = np.isin(person, number[retaliated])
    for name in CHANNELS:
        if len(reporters):
            n_hit = len(np.unique(person[had_reported & (channel == name)]))
            yield "channel", name, "retaliation_rate", float(n_hit), float(len(reporters))
        if len(number):
            n_hit = len(np.unique(person[hit_others & (channel == name)]))
            yield "channel", name, "false_retaliation_rate", float(n_hit), float(len(number))

    if read.has("reports", "strong_identified"):
        identified = read.floats("reports", "strong_identified")
        scored = ~np.isnan(identified)
        scored[np.setdiff1d(np.arange(len(scored)), known)] = False  # nobody's reports have no anonymity set
        level = anonymity_level(read.column("reports", "anonymity_set")[scored])
        yield from _tally("anonymity_set", "strong_identification_rate", level, identified[scored])


def _rows_of(number: _Array, wanted: _Array) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Which entries of `wanted` are in `number`, and at which row each of them is."""
    if not len(number):
        nothing = np.zeros(0, dtype=np.int64)
        return nothing, nothing
    order = np.argsort(number, kind="stable")
    row = order[np.minimum(np.searchsorted(number[order], wanted), len(number) - 1)]
    there = np.flatnonzero(number[row] == wanted)
    return there, row[there]
