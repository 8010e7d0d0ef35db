# ruff: noqa: RUF005 (rows are clearer in pieces)
"""Made-up tables of a run, consistent among themselves, for everything that reads tables."""

import numpy as np
import pandas as pd
import pytest

LABS = {
    "lab-a": ["training", "deployment"],
    "lab-b": ["training", "safeguards", "security"],
    "lab-c": ["evaluations"],
}
CHANNELS = ["transcript", "side_information", "self_disclosure", "audit_scope"]

COLUMNS = {
    "incidents": "incident time lab target compartment severity anonymity_set notices reports status "
    "found_time first_audit_time harm",
    "notices": "incident person time decision probability fear efficacy exposure",
    "reports": "report incident person lab target time period anonymity_set leaked disclosed audited_time "
    "likelihood_ratio strong_posterior strong_identified",
    "audits": "decision time lab target active_reports max_active_reports misselected deficit "
    "normalized_deficit open_incidents found sanction",
    "inferences": "time decision lab target person incident rule posterior flagged",
    "retaliations": "time identified_time lab person incident channel reporter",
    "departures": "time lab person reason",
    "people": "person lab team compartments joined left observed_incidents reports retaliated channel",
    "access": "person lab target compartment",
    "series": "time reports active_reports audited lab deficit open_incidents retaliations fear efficacy",
}
TEXT = {"lab", "target", "status", "decision", "rule", "channel", "reason", "audited"}
TRUTH = {"leaked", "disclosed", "misselected", "flagged", "reporter", "retaliated"}


def typed(table, rows):
    """A data frame of tuples, with the types that the model writes, also when there are no rows."""
    names = COLUMNS[table].split()
    frame = pd.DataFrame(rows, columns=names)
    for name in names:
        if name == "strong_identified":
            frame[name] = frame[name].astype("boolean")
        elif name in TEXT and not (table in ("audits", "inferences") and name == "decision"):
            frame[name] = frame[name].astype("str")
        elif name in TRUTH:
            frame[name] = frame[name].astype(bool)
        elif not len(frame):
            frame[name] = frame[name].astype(float if "time" in name else "int64")
    return frame


def make_tables(
    seed=0, periods=52, incident_rate=0.12, people_per_lab=60, p_report=0.5, p_identified=0.25, outside=0
):
    """A run that nobody simulated: the auditor audits by noisy counts, labs guess, some people are hit."""
    rng = np.random.default_rng(seed)
    targets = [f"{lab}/{name}" for lab, names in LABS.items() for name in names]
    lab_of = {target: target.split("/")[0] for target in targets}
    staff = {lab: i * people_per_lab + np.arange(people_per_lab) for i, lab in enumerate(LABS)}
    happened = sorted(
        (t, c) for c in targets for t in rng.uniform(0, periods, rng.poisson(incident_rate * periods))
    )
    knowing, notices, reports = [], [], []
    for incident, (time, target) in enumerate(happened):
        size = int(np.clip(np.exp(rng.normal(2.2, 0.9)), 1, people_per_lab))
        knowing.append(rng.choice(staff[lab_of[target]], size, replace=False))
        for person in knowing[-1]:
            noticed = time + rng.exponential(1)
            if rng.random() < 0.3 and noticed < periods:
                dares = rng.random() < p_report
                notices.append(
                    (incident, person, noticed, "report" if dares else "silent", p_report, 0.3, 0.5, 0.1)
                )
                filed = noticed + rng.exponential(0.5)
                if dares and filed < periods:
                    reports.append((filed, incident, person, target, size))
    reports += [(rng.uniform(0, periods), -1, -1, targets[i % len(targets)], 0) for i in range(outside)]
    reports.sort(key=lambda row: row[0])

    active, fixed = dict.fromkeys(targets, 0), {}
    audits, audited_at = [], []
    n_open = [sum(t <= step for t, _ in happened) for step in range(periods + 1)]
    series = [(0.0, 0, 0, None, None, 0, 0, 0, 0.28, 0.5)]
    pending = list(reports)
    for step in range(1, periods + 1):
        new = 0
        while pending and pending[0][0] <= step:
            active[pending.pop(0)[3]] += 1
            new += 1
        most, total = max(active.values()), sum(active.values())
        chosen = max(targets, key=lambda c: active[c] + 2 * rng.gumbel())
        mine = [i for i, (t, c) in enumerate(happened) if c == chosen and t <= step and i not in fixed]
        found = [i for i in mine if rng.random() < 0.6]
        fixed |= dict.fromkeys(found, float(step))
        deficit = most - active[chosen]
        audits.append(
            (step, float(step), lab_of[chosen], chosen, active[chosen], most, deficit > 0, deficit)
            + (deficit / (most + 1), len(mine), len(found), 1.0 * len(found))
        )
        audited_at.append((step, chosen))
        active[chosen] = 0
        still = n_open[step] - len(fixed)
        series.append(
            (float(step), new, total, chosen, lab_of[chosen], deficit, still, 0, 0.28 + 0.001 * step, 0.5)
        )

    def next_audit(target, time):
        return next((float(s) for s, c in audited_at if c == target and s >= time), np.nan)

    first_report = {}
    for filed, _, person, _, _ in reports:
        first_report.setdefault(person, filed)
    retaliations, inferences, fate = [], [], {}
    for incident, (time, target) in enumerate(happened):
        audit = next_audit(target, time)
        if np.isnan(audit):
            continue
        for person in knowing[incident]:
            reported = first_report.get(person, np.inf) < audit
            posterior = float(np.clip(rng.normal(0.6 if reported else 0.2, 0.15), 0, 1))
            flagged = rng.random() < p_identified * (1.0 if reported else 0.15)
            inferences.append(
                (audit, int(audit), lab_of[target], target, person, incident, "bayes", posterior, flagged)
            )
            struck = audit + rng.exponential(2)
            if flagged and person not in fate and struck < periods:
                channel = CHANNELS[rng.choice(4, p=[0.5, 0.2, 0.2, 0.1])] if reported else "transcript"
                fate[person] = channel
                retaliations.append((struck, audit, lab_of[target], person, incident, channel, reported))
    retaliations.sort(key=lambda row: row[0])
    for row in retaliations:
        step = int(np.ceil(row[0]))
        series[step] = (*series[step][:7], series[step][7] + 1, *series[step][8:])

    everyone = [(person, lab) for lab in LABS for person in staff[lab]]
    seen, filed_by = {}, {}
    for group in knowing:
        for person in group:
            seen[person] = seen.get(person, 0) + 1
    for row in reports:
        filed_by[row[2]] = filed_by.get(row[2], 0) + 1
    silent = dict.fromkeys(range(len(happened)), 0)
    for row in reports:
        silent[row[1]] = silent.get(row[1], 0) + 1
    rows = {
        "incidents": [
            (
                i,
                t,
                lab_of[c],
                c,
                targets.index(c),
                0.4,
                len(knowing[i]),
                sum(n[0] == i for n in notices),
                silent[i],
            )
            + ("found" if i in fixed else "open", fixed.get(i, np.nan), next_audit(c, t))
            + (0.4 * (fixed.get(i, periods) - t),)
            for i, (t, c) in enumerate(happened)
        ],
        "notices": sorted(notices, key=lambda row: row[2]),
        "reports": [
            (k, i, p, lab_of[c], c, t, int(np.ceil(t)), size, False, False, next_audit(c, t))
            + ((1.2, 0.3 + 0.5 * (k % 3 == 0), k % 3 == 0) if k % 4 else (np.nan, np.nan, None))
            for k, (t, i, p, c, size) in enumerate(reports)
        ],
        "audits": audits,
        "inferences": inferences,
        "retaliations": retaliations,
        "departures": [(row[0], row[2], row[3], "retaliation") for row in retaliations[::2]],
        "people": [
            (p, lab, p // 8, 1, 0.0, np.nan, seen.get(p, 0), filed_by.get(p, 0), p in fate, fate.get(p))
            for p, lab in everyone
        ],
        "access": sorted(
            {(p, lab_of[c], c, targets.index(c)) for i, (_, c) in enumerate(happened) for p in knowing[i]}
        ),
        "series": series,
    }
    return {table: typed(table, content) for table, content in rows.items()}


@pytest.fixture(scope="session")
def run_tables():
    """The function that makes tables (see `make_tables`)."""
    return make_tables


@pytest.fixture(scope="session")
def empty_tables():
    """Tables with every column and no row, but for the first of `series`."""
    tables = {table: typed(table, []) for table in COLUMNS}
    tables["series"] = typed("series", [(0.0, 0, 0, None, None, 0, 0, 0, np.nan, np.nan)])
    return tables
