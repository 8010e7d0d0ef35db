"""The metrics of a run: worked by hand on a small run, and against plain loops over rows on any run."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniability.analysis.groups import ANONYMITY_LEVELS, GROUPS, run_groups
from deniability.analysis.metrics import CHANNELS, METRICS, metric, metric_keys, run_metrics
from deniability.scenarios.errors import InputError

CONTRACT = [
    "incidents",
    "notices",
    "reports",
    "reporting_rate",
    "silent_incident_rate",
    "retaliation_rate",
    "retaliation_rate_transcript",
    "retaliation_rate_side_information",
    "retaliation_rate_self_disclosure",
    "retaliation_rate_audit_scope",
    "false_retaliation_rate",
    "excess_retaliation",
    "strong_identification_rate",
    "audits",
    "productive_audit_rate",
    "misselection_rate",
    "mean_deficit",
    "mean_normalized_deficit",
    "reports_resolved_per_audit",
    "weeks_to_audit",
    "restricted_weeks_to_audit",
    "incidents_never_audited",
    "harm",
    "departures",
    "final_fear",
    "final_efficacy",
]


def by_hand():
    """Two labs. a/x: persons 1, 2, 3 know incident 0; b/y: 11, 12 know incident 1; nobody audits it.

    1 and 2 report incident 0 (1 twice, once about incident 2), 2 is hit through the transcript, 3 (silent) too.
    """

    def table(**columns):
        return pd.DataFrame(columns)

    nan = np.nan
    return {
        "incidents": table(
            incident=[0, 1, 2],
            time=[1.0, 2.0, 3.0],
            lab=["a", "b", "a"],
            target=["a/x", "b/y", "a/x"],
            anonymity_set=[3, 2, 1],
            reports=[2, 0, 1],
            first_audit_time=[4.0, nan, 4.0],
            harm=[1.5, 2.0, 0.25],
        ),
        "notices": table(
            incident=[0, 0, 0, 1, 2, 2],
            person=[1, 2, 3, 11, 1, 2],
            decision=["report", "report", "silent", "silent", "report", "report"],
        ),
        "reports": table(
            report=[0, 1, 2, 3],
            incident=[0, 0, 2, -1],
            person=[1, 2, 1, -1],
            lab=["a", "a", "a", "b"],
            target=["a/x", "a/x", "a/x", "b/y"],
            anonymity_set=[3, 3, 1, 0],
            strong_identified=pd.array([True, False, None, None], dtype="boolean"),
        ),
        "audits": table(
            decision=[1, 2, 3, 4],
            lab=["b", "b", "b", "a"],
            target=["b/y", "b/y", "b/y", "a/x"],
            active_reports=[0, 0, 1, 3],
            misselected=[False, True, True, False],
            deficit=[0, 2, 1, 0],
            normalized_deficit=[0.0, 2 / 3, 1 / 3, 0.0],
            found=[0, 0, 0, 2],
        ),
        "retaliations": table(
            person=[2, 3], incident=[0, 0], channel=["transcript", "transcript"], reporter=[True, False]
        ),
        "departures": table(person=[2], lab=["a"]),
        "people": table(
            person=[1, 2, 3, 4, 11, 12],
            lab=["a", "a", "a", "a", "b", "b"],
            observed_incidents=[2, 1, 1, 0, 1, 1],
            reports=[2, 1, 0, 0, 0, 0],
            retaliated=[False, True, True, False, False, False],
            channel=[None, "transcript", "transcript", None, None, None],
        ),
        "series": table(time=[0.0, 4.0], fear=[0.3, 0.4], efficacy=[0.5, 0.6]),
    }


EXPECTED = {
    "incidents": 3,
    "observers": 4,
    "notices": 6,
    "reports": 4,  # that of the outside stream included
    "reporting_rate": (4, 6),  # the second report of person 2 is still on its way at the end
    "silent_incident_rate": (1, 3),
    "retaliation_rate": (1, 2),
    "retaliation_rate_transcript": (1, 2),
    "retaliation_rate_side_information": (0, 2),
    "retaliation_rate_self_disclosure": (0, 2),
    "retaliation_rate_audit_scope": (0, 2),
    "false_retaliation_rate": (1, 3),  # 3 of {3, 11, 12}; 4 had access to no incident
    "strong_identification_rate": (1, 2),
    "strong_false_alarm_rate": (0, 0),
    "audits": 4,
    "productive_audit_rate": (1, 4),
    "misselection_rate": (2, 4),
    "mean_deficit": (3, 4),
    "mean_normalized_deficit": (1, 4),
    "reports_resolved_per_audit": (4, 4),
    "weeks_to_audit": ((3 + 1) * 4.345, 2),
    "restricted_weeks_to_audit": (0, 0),  # the run is shorter than 26 weeks
    "incidents_never_audited": 1,
    "harm": 3.75,
    "departures": 1,
    "final_fear": 0.4,
    "final_efficacy": 0.6,
}


def test_worked_example():
    metrics = run_metrics(by_hand(), 4.345)
    for key, value in EXPECTED.items():
        if isinstance(value, tuple):
            above, below = value
            assert metrics[f"{key}_numerator"] == pytest.approx(above), key
            assert metrics[f"{key}_denominator"] == below, key
            assert metrics[key] == (pytest.approx(above / below) if below else None), key
        else:
            assert metrics[key] == value, key
    assert metrics["excess_retaliation"] == pytest.approx(1 / 2 - 1 / 3)
    assert set(EXPECTED) | {"excess_retaliation"} == {one.key for one in METRICS}


def test_a_reporter_hit_for_an_incident_that_another_reported_counts():
    """The unit is the person: 2 reported incident 0 only, and is hit over 2. The sentences say so."""
    tables = by_hand()
    tables["retaliations"]["incident"] = [2, 0]
    metrics = run_metrics(tables, 1.0)
    for key in ("retaliation_rate", "retaliation_rate_transcript"):
        assert (metrics[f"{key}_numerator"], metrics[f"{key}_denominator"]) == (1, 2)
    told = [one for one in METRICS if one.key.startswith("retaliation_rate")]
    assert len(told) == 5
    assert all("whether or not for an incident they had reported" in one.sentence for one in told)
    assert not any("because" in one.sentence for one in told)


def test_waits_cut_off_by_hand():
    """Incidents at 1, 2, 3 wait 3 weeks, for ever, and 1 week; the last that counts is exactly 26 weeks early."""
    tables = by_hand()
    for end, expected in ((30.0, (3 + 26 + 1, 3)), (29.0, (30, 3)), (28.5, (29, 2)), (26.5, (0, 0))):
        tables["series"]["time"] = [0.0, end]
        metrics = run_metrics(tables, 1.0)
        above, below = (metrics[f"restricted_weeks_to_audit_{part}"] for part in ("numerator", "denominator"))
        assert (above, below) == expected, end
        assert metrics["restricted_weeks_to_audit"] == (above / below if below else None)
    tables["incidents"]["time"] = [0.0, 0.5, 3.0]
    rows = run_groups(tables, 1.0).query("metric == 'restricted_weeks_to_audit'")
    cells = {(r.dimension, r.level): (r.numerator, r.denominator) for r in rows.itertuples()}
    assert cells == {(d, level): cell for d, names in (("lab", "ab"), ("target", ("a/x", "b/y")))
                     for level, cell in zip(names, ((4.0, 1.0), (26.0, 1.0)), strict=True)}  # fmt: skip


def test_the_end_of_the_run_does_not_shorten_the_restricted_wait():
    """Uniform audits over 25 targets, one a week: half a week, and then a geometric number of weeks G.

    With q = 24/25, E[min(1/2 + G, 26)] is the integral of P(1/2 + G > s) over 0 to 26, which is
    1/2 + q + ... + q^25 + q^26 / 2. The mean over audited incidents should be 24.5 and is far below (control).
    """
    rng, q, n = np.random.default_rng(8), 24 / 25, 40_000
    time = rng.integers(0, 104, n) + 0.5
    audited = np.ceil(time) + rng.geometric(1 / 25, n) - 1
    audited[audited > 104] = np.nan
    tables = by_hand()
    tables["incidents"] = pd.DataFrame(
        {
            "incident": np.arange(n),
            "time": time,
            "lab": "a",
            "target": "a/x",
            "anonymity_set": 3,
            "reports": 0,
            "first_audit_time": audited,
            "harm": 0.0,
        }
    )
    tables["series"]["time"] = [0.0, 104.0]
    metrics = run_metrics(tables, 1.0)
    expected = 0.5 + sum(q**k for k in range(1, 26)) + q**26 / 2
    # the standard deviation of a wait cut off at 26 is below 13: four standard errors of 30,000 are below 0.3
    assert metrics["restricted_weeks_to_audit"] == pytest.approx(expected, abs=4 * 13 / np.sqrt(0.74 * n))
    assert metrics["weeks_to_audit"] < 20


def test_worked_example_by_group():
    rows = run_groups(by_hand(), 1.0)
    cells = {
        (row.dimension, row.level, row.metric): (row.numerator, row.denominator) for row in rows.itertuples()
    }
    assert cells["lab", "a", "reporting_rate"] == (4, 5)
    assert cells["lab", "b", "reporting_rate"] == (0, 1)
    assert cells["lab", "b", "silent_incident_rate"] == (1, 1)
    assert cells["lab", "a", "retaliation_rate"] == (1, 2)
    assert ("lab", "b", "retaliation_rate") not in cells  # its only report has no person
    assert cells["lab", "a", "false_retaliation_rate"] == (1, 1)
    assert cells["lab", "b", "false_retaliation_rate"] == (0, 2)
    assert cells["lab", "b", "audit_share"] == (3, 4)
    assert cells["target", "a/x", "weeks_to_audit"] == (4, 2)
    assert cells["target", "a/x", "retaliation_rate"] == (1, 2)
    assert cells["target", "b/y", "productive_audit_rate"] == (0, 3)
    assert cells["channel", "transcript", "retaliation_rate"] == (1, 2)
    assert cells["channel", "transcript", "false_retaliation_rate"] == (1, 3)
    assert cells["channel", "audit_scope", "retaliation_rate"] == (0, 2)
    # person 1 reported about sets of 3 and of 1, and counts with the smaller
    assert cells["anonymity_set", "1", "retaliation_rate"] == (0, 1)
    assert cells["anonymity_set", "2-3", "retaliation_rate"] == (1, 1)
    assert cells["anonymity_set", "2-3", "strong_identification_rate"] == (1, 2)
    assert ("anonymity_set", "1", "strong_identification_rate") not in cells


def test_keys_are_those_of_the_contract_and_each_is_explained(run_tables):
    metrics = run_metrics(run_tables(0), 1.0)
    assert list(metrics) == metric_keys()
    assert set(CONTRACT) <= set(metrics)
    for one in METRICS:
        assert one.sentence.endswith("."), one.key
        assert one.unit
        assert one.is_ratio == (f"{one.key}_numerator" in metrics)
    assert metric("harm").kind == "total"
    assert "twin" in metric("excess_retaliation").sentence
    assert "not bounded by delta" in metric("excess_retaliation").sentence


def test_no_rows_give_zeros_and_nones(empty_tables):
    metrics = run_metrics(empty_tables, 1.0)
    json.dumps(metrics, allow_nan=False)
    for one in METRICS:
        if one.kind in ("count", "total"):
            assert metrics[one.key] == 0, one.key
        else:
            assert metrics[one.key] is None, one.key
    assert run_groups(empty_tables, 1.0).empty
    assert list(run_groups(empty_tables, 1.0).columns) == [
        "dimension",
        "level",
        "metric",
        "numerator",
        "denominator",
    ]
    assert run_groups(empty_tables, 1.0).dtypes.equals(run_groups(by_hand(), 1.0).dtypes)


def test_tables_without_even_columns_read_as_empty(empty_tables):
    bare = {name: pd.DataFrame() for name in empty_tables}
    assert run_metrics(bare, 1.0) == run_metrics(empty_tables, 1.0)
    assert run_groups(bare, 1.0).empty


@pytest.mark.parametrize("compute", [run_metrics, run_groups])
@pytest.mark.parametrize(
    ("table", "name"),
    [("incidents", "first_audit_time"), ("reports", "person"), ("people", "retaliated"), ("audits", "found")],
)
def test_missing_column_is_named(run_tables, compute, table, name):
    tables = run_tables(0)
    tables[table] = tables[table].drop(columns=name)
    with pytest.raises(InputError, match=f"'{table}' has no column '{name}'; it has: "):
        compute(tables, 1.0)
    del tables[table]
    with pytest.raises(InputError, match=f"table '{table}' is missing"):
        compute(tables, 1.0)


def test_a_column_of_another_type_is_named():
    with pytest.raises(InputError, match="'incidents': column 'harm' must hold numbers"):
        run_metrics(by_hand() | {"incidents": by_hand()["incidents"].assign(harm="much")}, 1.0)
    torn = by_hand()["people"].assign(retaliated=[None, True, True, False, False, False])
    with pytest.raises(InputError, match="'people': column 'retaliated' must be true or false"):
        run_metrics(by_hand() | {"people": torn}, 1.0)


def test_optional_columns_may_be_missing(run_tables):
    tables = run_tables(0)
    tables["reports"] = tables["reports"].drop(columns=["strong_identified", "likelihood_ratio"])
    metrics = run_metrics(tables, 1.0)
    assert metrics["strong_identification_rate"] is None
    assert metrics["strong_identification_rate_denominator"] == 0
    assert "strong_identification_rate" not in set(run_groups(tables, 1.0)["metric"])


def test_reports_without_a_person_may_say_so_in_any_way():
    """-1, NaN and NA all mean: nobody's (an outside stream)."""
    expected = run_metrics(by_hand(), 1.0), run_groups(by_hand(), 1.0)
    for nobody in (np.array([1, 2, 1, np.nan]), pd.array([1, 2, 1, None], dtype="Int64")):
        tables = by_hand()
        tables["reports"]["person"] = nobody
        assert run_metrics(tables, 1.0) == expected[0]
        pd.testing.assert_frame_equal(run_groups(tables, 1.0), expected[1])


def test_false_alarms_of_the_strong_adversary():
    """Of 3 scored would-be reports 2 reach one half, one of them exactly; filed and unscored ones do not count."""
    tables = by_hand()
    tables["candidates"] = pd.DataFrame(
        {"filed": [True, False, False, False, False], "strong_posterior": [0.9, 0.5, 0.7, 0.4, np.nan]}
    )
    metrics = run_metrics(tables, 1.0, threshold=0.5)
    assert metrics["strong_false_alarm_rate_numerator"] == 2
    assert metrics["strong_false_alarm_rate_denominator"] == 3
    assert run_metrics(tables, 1.0)["strong_false_alarm_rate"] is None  # nobody said what the threshold is
    # where labs differ in their threshold the table says itself who passed
    tables["candidates"]["strong_identified"] = pd.array([True, True, False, False, None], dtype="boolean")
    assert run_metrics(tables, 1.0, threshold=0.5)["strong_false_alarm_rate_numerator"] == 1
    assert run_metrics(tables, 1.0)["strong_false_alarm_rate_denominator"] == 3


def loops(tables, period_weeks):
    """The definitions again, as loops over rows: slow, plain, and sharing no code."""
    rows = {name: frame.to_dict("records") for name, frame in tables.items()}
    reporters = {r["person"] for r in rows["reports"] if r["person"] >= 0}
    hit = [r for r in rows["retaliations"] if r["reporter"]]
    others = [p for p in rows["people"] if p["observed_incidents"] > 0 and p["reports"] == 0]
    waits = [
        (i["first_audit_time"] - i["time"]) * period_weeks
        for i in rows["incidents"]
        if not math.isnan(i["first_audit_time"])
    ]
    end = max(r["time"] for r in rows["series"])
    cut = [
        26.0
        if math.isnan(i["first_audit_time"])
        else min((i["first_audit_time"] - i["time"]) * period_weeks, 26.0)
        for i in rows["incidents"]
        if (end - i["time"]) * period_weeks >= 26.0
    ]
    scored = [r["strong_identified"] for r in rows["reports"] if not pd.isna(r["strong_identified"])]
    audits = rows["audits"]
    return {
        "reporting_rate": ([n["decision"] == "report" for n in rows["notices"]]),
        "silent_incident_rate": ([i["reports"] == 0 for i in rows["incidents"]]),
        "retaliation_rate": [any(r["person"] == p for r in hit) for p in reporters],
        **{
            f"retaliation_rate_{c}": [
                any(r["person"] == p and r["channel"] == c for r in hit) for p in reporters
            ]
            for c in CHANNELS
        },
        "false_retaliation_rate": [p["retaliated"] for p in others],
        "strong_identification_rate": scored,
        "productive_audit_rate": [a["found"] > 0 for a in audits],
        "misselection_rate": [a["active_reports"] < a["max_active_reports"] for a in audits],
        "mean_deficit": [a["max_active_reports"] - a["active_reports"] for a in audits],
        "mean_normalized_deficit": [
            (a["max_active_reports"] - a["active_reports"]) / (a["max_active_reports"] + 1) for a in audits
        ],
        "reports_resolved_per_audit": [a["active_reports"] for a in audits],
        "weeks_to_audit": waits,
        "restricted_weeks_to_audit": cut,
    }


runs = st.fixed_dictionaries(
    {
        "seed": st.integers(0, 10**6),
        "periods": st.integers(1, 40),
        "incident_rate": st.sampled_from([0.0, 0.02, 0.2]),
        "people_per_lab": st.sampled_from([1, 3, 20]),
        "p_report": st.sampled_from([0.0, 0.5, 1.0]),
        "p_identified": st.sampled_from([0.0, 0.5, 1.0]),
        "outside": st.integers(0, 3),
    }
)


@settings(max_examples=40, deadline=None)
@given(arguments=runs, period_weeks=st.sampled_from([1.0, 4.345]))
def test_every_ratio_equals_plain_loops(run_tables, arguments, period_weeks):
    tables = run_tables(**arguments)
    metrics = run_metrics(tables, period_weeks)
    json.dumps(metrics, allow_nan=False)
    for key, entries in loops(tables, period_weeks).items():
        assert metrics[f"{key}_denominator"] == len(entries), key
        assert metrics[f"{key}_numerator"] == pytest.approx(sum(entries)), key
        assert metrics[key] == (pytest.approx(sum(entries) / len(entries)) if entries else None), key
    assert metrics["harm"] == pytest.approx(tables["incidents"]["harm"].sum())


@settings(max_examples=40, deadline=None)
@given(arguments=runs)
def test_groups_add_up_to_the_run(run_tables, arguments):
    """A partition (labs, anonymity sets of incidents) adds up exactly; channels add up in the numerator."""
    tables = run_tables(**arguments)
    metrics, rows = run_metrics(tables, 1.0), run_groups(tables, 1.0)
    assert (rows["denominator"] > 0).all()
    assert set(zip(rows["dimension"], rows["metric"], strict=True)) <= {group[:2] for group in GROUPS}
    assert not rows.duplicated(["dimension", "level", "metric"]).any()
    sums = rows.groupby(["dimension", "metric"])[["numerator", "denominator"]].sum()
    partitions = [
        ("lab", "reporting_rate silent_incident_rate retaliation_rate false_retaliation_rate weeks_to_audit"),
        ("lab", "productive_audit_rate"),
        ("target", "reporting_rate silent_incident_rate productive_audit_rate weeks_to_audit"),
        ("lab", "restricted_weeks_to_audit"),
        ("target", "restricted_weeks_to_audit"),
        ("anonymity_set", "reporting_rate silent_incident_rate retaliation_rate"),
    ]
    for dimension, keys in partitions:
        for key in keys.split():
            above, below = metrics[f"{key}_numerator"], metrics[f"{key}_denominator"]
            if below:
                assert sums.loc[(dimension, key), "numerator"] == pytest.approx(above), (dimension, key)
                assert sums.loc[(dimension, key), "denominator"] == below, (dimension, key)
            else:
                assert (dimension, key) not in sums.index, (dimension, key)
    for key in ("retaliation_rate", "false_retaliation_rate"):
        if metrics[f"{key}_denominator"]:
            assert sums.loc[("channel", key), "numerator"] == metrics[f"{key}_numerator"], key
    shares = rows[rows["metric"] == "audit_share"].groupby("dimension")["numerator"].sum()
    assert (shares == metrics["audits"]).all()


def test_groups_are_in_a_fixed_order_whatever_the_order_of_rows(run_tables):
    tables = run_tables(3)
    shuffled = {name: frame.sample(frac=1, random_state=5) for name, frame in tables.items()}
    shuffled["series"] = tables["series"]
    pd.testing.assert_frame_equal(run_groups(tables, 1.0), run_groups(shuffled, 1.0), rtol=1e-12)
    rows = run_groups(tables, 1.0)
    assert list(dict.fromkeys(zip(rows["dimension"], rows["metric"], strict=True))) == [
        group[:2] for group in GROUPS
    ]
    for (dimension, _), part in rows.groupby(["dimension", "metric"]):
        order = {"anonymity_set": ANONYMITY_LEVELS, "channel": CHANNELS}.get(dimension)
        assert list(part["level"]) == sorted(part["level"], key=order.index if order else None)


def test_tables_are_left_as_they_were(run_tables):
    tables = run_tables(2)
    before = {name: frame.copy() for name, frame in tables.items()}
    run_metrics(tables, 1.0)
    run_groups(tables, 1.0)
    for name, frame in tables.items():
        pd.testing.assert_frame_equal(frame, before[name])


def test_tables_read_back_from_disk_give_the_same(run_tables, tmp_path):
    tables = run_tables(1, outside=2)
    for name, frame in tables.items():
        frame.to_parquet(tmp_path / f"{name}.parquet")
    back = {name: pd.read_parquet(tmp_path / f"{name}.parquet") for name in tables}
    assert run_metrics(back, 1.0) == run_metrics(tables, 1.0)
    pd.testing.assert_frame_equal(run_groups(back, 1.0), run_groups(tables, 1.0))
