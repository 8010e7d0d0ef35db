"""A batch that nobody simulated: its true rates are known, and runs of one seed share their luck."""

import json

import numpy as np
import pandas as pd

from deniability.analysis.metrics import METRICS

MECHANISMS = ("greedy", "uniform", "rr", "tca", "exponential")
DELTAS = (0.05, 0.1, 0.2, 0.4)
IGNORE_DELTA = ("greedy", "uniform")


def truth(mechanism, delta):
    """True rates and levels of a cell."""
    if mechanism == "greedy":
        return {"hit": 0.3, "identified": 0.4, "missed": 0.0, "weeks": 4.0, "reported": 0.5}
    if mechanism == "uniform":
        return {"hit": 0.1, "identified": 0.0, "missed": 0.9, "weeks": 16.0, "reported": 0.6}
    better = {"rr": 0.0, "tca": 1.0, "exponential": 1.5}[mechanism]
    return {
        "hit": 0.1 + 0.2 * delta,
        "identified": delta / 2,
        "missed": 0.9 - better * delta,
        "weeks": 16.0 - 12 * better * delta,
        "reported": 0.6 + 0.1 * delta,
    }


def make_runs(replicates=12, mechanisms=MECHANISMS, deltas=DELTAS, seed=0, people=40, spread=0.3):
    """Rows of runs.parquet: beta-binomial counts whose luck (a quantile) is shared by all runs of a seed."""
    rng = np.random.default_rng(seed)
    luck = rng.uniform(0.02, 0.98, (replicates, 5))
    rows = []
    for mechanism in mechanisms:
        for delta in deltas:
            true = truth(mechanism, delta)
            for i in range(replicates):
                row = {
                    "run_id": f"{mechanism}-{delta}-{i}",
                    "auditor.mechanism": mechanism,
                    "auditor.delta": delta,
                    "replicate": i,
                    "seed": 1000 + i,
                    "status": "done",
                    "error": None,
                }
                stream = np.random.default_rng(
                    [seed, i, 0 if mechanism in IGNORE_DELTA else int(100 * delta)]
                )
                rows.append(row | _metrics(true, luck[i], stream, people, spread))
    return pd.DataFrame(rows)


def _metrics(true, luck, stream, people, spread):
    def count(name, n, which):
        p = float(np.clip(true[name] * (1 + spread * (2 * luck[which] - 1)), 0, 1))
        return int(stream.binomial(n, p)), n

    ratios = {
        "retaliation_rate": count("hit", people, 0),
        "false_retaliation_rate": (int(stream.binomial(3 * people, 0.01)), 3 * people),
        "strong_identification_rate": count("identified", people, 1),
        "strong_false_alarm_rate": (int(stream.binomial(3 * people, true["identified"] / 2)), 3 * people),
        "misselection_rate": count("missed", 50, 2),
        "reporting_rate": count("reported", 2 * people, 3),
        "silent_incident_rate": (int(stream.binomial(20, 0.2)), 20),
        "productive_audit_rate": (int(stream.binomial(50, 0.3)), 50),
        "weeks_to_audit": (20 * true["weeks"] * (0.8 + 0.4 * luck[4]), 20),
        "restricted_weeks_to_audit": (16 * true["weeks"] * (0.8 + 0.4 * luck[4]), 16),
    }
    hit = ratios["retaliation_rate"][0]
    shares = {
        "transcript": hit // 2,
        "side_information": hit // 4,
        "self_disclosure": hit // 8,
        "audit_scope": 0,
    }
    ratios |= {f"retaliation_rate_{channel}": (n, people) for channel, n in shares.items()}
    for name in ("mean_deficit", "mean_normalized_deficit", "reports_resolved_per_audit"):
        ratios[name] = (50 * true["weeks"] * (0.5 + luck[4]), 50)
    result = {}
    for one in METRICS:
        if one.is_ratio:
            above, below = ratios[one.key]
            result |= {one.key: above / below, f"{one.key}_numerator": above, f"{one.key}_denominator": below}
        else:
            result[one.key] = 10 * true["weeks"] * (0.5 + luck[4]) if one.kind == "total" else 20
    result["final_fear"] = 0.3 + 0.1 * true["hit"] * luck[0]
    result["final_efficacy"] = 0.5
    return result


def make_groups(runs):
    """Rows of groups.parquet that go with the runs: small circles are found out more often."""
    rows = []
    for run in runs.to_dict("records"):
        stream = np.random.default_rng([run["seed"], 7])
        for level, factor in (("2-3", 2.0), ("8-15", 1.0), ("64+", 0.5)):
            hit = int(
                stream.binomial(
                    12, min(truth(run["auditor.mechanism"], run["auditor.delta"])["hit"] * factor, 1)
                )
            )
            rows.append((run["run_id"], "anonymity_set", level, "retaliation_rate", float(hit), 12.0))
        for lab in ("lab-a", "lab-b"):
            rows.append(
                (run["run_id"], "lab", lab, "retaliation_rate", float(stream.binomial(20, 0.2)), 20.0)
            )
            rows.append(
                (run["run_id"], "lab", lab, "restricted_weeks_to_audit", float(stream.gamma(20)), 4.0)
            )
    return pd.DataFrame(rows, columns=["run_id", "dimension", "level", "metric", "numerator", "denominator"])


def make_series(runs, periods=20):
    """Rows of series.parquet that go with the runs."""
    parts = []
    for run in runs.to_dict("records"):
        stream = np.random.default_rng([run["seed"], 8])
        time = np.arange(periods + 1.0)
        parts.append(
            pd.DataFrame(
                {
                    "run_id": run["run_id"],
                    "time": time,
                    "reports": stream.poisson(3, periods + 1) * (time > 0),
                    "fear": 0.3 + 0.001 * time,
                    "efficacy": 0.5 + 0.002 * time,
                }
            )
        )
    return pd.concat(parts, ignore_index=True)


SCENARIO = {
    "scenario": {
        "name": "made-up",
        "title": "A made-up study <of> nothing",
        "question": "What would a report say?",
        "description": "Nobody & nothing.",
    },
    "time": {"periods": 20, "period_weeks": 2.0},
    "auditor": {"mechanism": "tca", "delta": 0.1},
    "organizations": {"prior": 0.3, "threshold": 0.5},
    "evidence": {"auditor": "a-source: from there", "time.periods": "assumption: long enough"},
    "sources": {"a-source": "Somebody, Something, 2020. https://example.org/a"},
}


def write_batch(directory, runs=None, *, manifest=None, groups=True, series=True):
    """Write the files of a batch (docs/results.md)."""
    directory.mkdir(parents=True, exist_ok=True)
    runs = make_runs(6) if runs is None else runs
    runs.to_parquet(directory / "runs.parquet", index=False)
    if groups and len(runs):
        make_groups(runs).to_parquet(directory / "groups.parquet", index=False)
    if series and len(runs):
        make_series(runs).to_parquet(directory / "series.parquet", index=False)
    told = {
        "kind": "batch",
        "identity": "0123",
        "scenario": "made-up",
        "resolved_scenario": SCENARIO,
        "content_hash": "c0",
        "code_hash": "c1",
        "code_path": "/somewhere/else/deniability",
        "versions": {"deniability": "0.1.0", "python": "3.12.0"},
        "seed": 1,
        "command": ["/opt/bin/deniability", "batch", "made-up", "--out", "/home/someone/secret/made-up"],
        "started": "2026-01-01T00:00:00+00:00",
        "ended": "2026-01-01T00:01:00+00:00",
    } | (manifest or {})
    (directory / "manifest.json").write_text(json.dumps(told), encoding="utf-8")
    return directory
