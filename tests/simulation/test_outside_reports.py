"""Reports from outside: Poisson per target, bursts, few people behind many, and labs where nobody works."""

import numpy as np
import pytest

from deniability.analysis.metrics import run_groups, run_metrics
from deniability.scenarios import resolve_tree
from deniability.scenarios.changing import timeline
from deniability.simulation.calendar import WEEKS_PER_YEAR
from deniability.simulation.draws import KeyedDraws
from deniability.simulation.model import DeniabilityModel
from deniability.simulation.tables import run_tables
from deniability.simulation.world.layout import Layout
from deniability.simulation.world.outside import draw_outside_reports, outside_rates
from deniability.simulation.world.public import public_arrivals

MECHANISMS = ["greedy", "uniform", "rr", "tca", "exponential"]
LAB = {"employees": 0, "targets": ["x", "y", "z"]}


def config(reports, periods=40, lab=None, **more):
    tree = {"time": {"periods": periods}, "labs": {"lab-a": lab or LAB}, "reports": reports}
    return resolve_tree(tree | more).config


def drawn(study, seed=1):
    return draw_outside_reports(KeyedDraws(seed), timeline(study), Layout.of(study))


def test_each_target_has_its_rate_per_year_or_per_period():
    reports = {"rate": 3.0, "lead": "lab-a/y", "lead_rate": 7.0, "rates": {"lab-a/z": 1.0}}
    study = config(reports)
    layout = Layout.of(study)
    assert outside_rates(study.reports, layout, 2.0) == pytest.approx(
        np.array([3, 7, 1]) * 2 / WEEKS_PER_YEAR
    )
    per_period = config(reports | {"rates_per": "period"}).reports
    assert outside_rates(per_period, layout, 2.0).tolist() == [3.0, 7.0, 1.0]


def test_counts_per_period_are_poisson():
    rates = np.array([0.2, 1.0, 0.0])
    study = config({"rate": 0.2, "lead": "lab-a/y", "lead_rate": 1.0, "rates": {"lab-a/z": 0.0},
                    "rates_per": "period"}, periods=5000)  # fmt: skip
    reports = drawn(study)
    counts = np.zeros((5000, 3))
    np.add.at(counts, ([int(r.time) for r in reports], [r.target for r in reports]), 1)
    # mean and variance of a Poisson number; five standard errors each, a false alarm in some 400,000
    error = np.sqrt(rates / 5000)
    assert np.all(np.abs(counts.mean(axis=0) - rates) <= 5 * error)
    spread = np.sqrt((rates + 2 * rates**2) / 5000)
    assert np.all(np.abs(counts.var(axis=0) - rates) <= 5 * spread)
    assert [r.time for r in reports] == sorted(r.time for r in reports)


def test_a_change_of_the_rate_leaves_what_came_before_and_other_targets_alone():
    reports = {"rate": 0.5, "lead": "lab-a/y", "lead_rate": 0.5, "rates_per": "period"}
    change = {"changes": [{"at": 20, "set": {"reports.lead_rate": 4.0}}]}
    before, after = drawn(config(reports)), drawn(config(reports, **change))

    def times(rows, target, until=np.inf):
        return [r.time for r in rows if r.target == target and r.time < until]

    for target in (0, 2):
        assert times(before, target) == times(after, target)
    assert times(before, 1, 20) == pytest.approx(times(after, 1, 20), rel=1e-12)
    late = len(times(after, 1)) - len(times(after, 1, 20))
    assert abs(late - 80) < 5 * np.sqrt(80)
    stopped = drawn(config(reports, changes=[{"at": 20, "set": {"reports.lead_rate": 0.0}}]))
    assert times(stopped, 1) == pytest.approx(times(before, 1, 20), rel=1e-12)


def test_a_burst_has_its_size_and_its_time():
    burst = {"targets": ["lab-a/x", "lab-a/z"], "at": 10, "size": 40, "spread_weeks": 4.0}
    rows = drawn(config({"bursts": [burst]}, time={"periods": 40, "period_weeks": 2.0}))
    for target in (0, 2):
        times = [r.time for r in rows if r.target == target]
        assert len(times) == 40
        assert min(times) >= 10
        assert max(times) <= 12
    assert not [r for r in rows if r.target == 1]
    at_once = drawn(config({"bursts": [burst | {"spread_weeks": 0.0}]}))
    assert {r.time for r in at_once} == {10.0}
    late = drawn(config({"bursts": [burst | {"at": 38}]}))
    assert 0 < len(late) < 80
    assert max(r.time for r in late) <= 40


def test_few_people_file_their_share_and_everyone_else_once():
    study = config({"rate": 10.0, "rates_per": "period", "people": 2, "people_share": 0.5}, periods=100)
    people = np.array([r.person for r in drawn(study)])
    assert (people < 0).all()
    few = np.isin(people, [-1, -2])
    assert abs(few.mean() - 0.5) < 5 * 0.5 / np.sqrt(len(people))
    others = people[~few]
    assert len(np.unique(others)) == len(others)
    assert abs((people[few] == -1).mean() - 0.5) < 5 * 0.5 / np.sqrt(few.sum())


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("inference", ["strong", "bayes", "timing"])
def test_a_lab_where_nobody_works_runs_on_outside_reports(mechanism, inference):
    study = config({"rate": 0.5, "rates_per": "period"}, periods=15,
                   auditor={"mechanism": mechanism}, organizations={"inference": inference})  # fmt: skip
    model = DeniabilityModel(study, 1)
    model.run()
    tables = run_tables(model)
    assert len(tables["audits"]) == 15
    assert len(tables["reports"]) == sum(r.time <= 15 for r in drawn(study))
    assert (tables["reports"]["incident"] == -1).all()
    for name in ("incidents", "people", "access", "notices", "candidates", "inferences", "retaliations"):
        assert tables[name].empty, name
    metrics = run_metrics(tables, 1.0)
    assert metrics["reports"] == len(tables["reports"])
    assert metrics["mean_deficit_denominator"] == 15
    for rate in ("retaliation_rate", "false_retaliation_rate", "reporting_rate", "final_fear"):
        assert metrics[rate] is None
    assert set(run_groups(tables, 1.0)["dimension"]) == {"lab", "target"}


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_outside_reports_count_for_the_auditor_like_others_and_for_no_rate_of_people(mechanism):
    lab = {"employees": 40, "targets": ["x", "y", "z"]}
    study = config({"rate": 0.4, "rates_per": "period", "people_share": 0.3}, lab=lab,
                   auditor={"mechanism": mechanism}, incidents={"rate": 5.0})  # fmt: skip
    model = DeniabilityModel(study, 2)
    model.run()
    tables = run_tables(model)
    reports, audits = tables["reports"], tables["audits"]
    outside = reports["person"] < 0
    assert outside.any()
    assert (~outside).any()
    counts = dict.fromkeys(["lab-a/x", "lab-a/y", "lab-a/z"], 0)
    for row in audits.itertuples():
        for target in reports.loc[reports["period"] == row.decision, "target"]:
            counts[target] += 1
        assert (row.active_reports, row.max_active_reports) == (counts[row.target], max(counts.values()))
        counts[row.target] = 0
    assert reports.loc[outside, "likelihood_ratio"].isna().all()
    assert reports.loc[~outside & (reports["period"] <= 40), "likelihood_ratio"].notna().all()
    metrics = run_metrics(tables, 1.0)
    assert metrics["reports"] == len(reports)
    assert metrics["retaliation_rate_denominator"] == reports.loc[~outside, "person"].nunique()
    assert tables["incidents"]["reports"].sum() == (~outside).sum()
    assert tables["series"]["reports"].sum() == (reports["period"] <= 40).sum()


def test_a_careful_lab_reckons_with_outside_reports():
    study = config({"rate": 0.5, "lead": "lab-a/x", "lead_rate": 2.0, "rates_per": "period"}, periods=20)
    arrivals = public_arrivals(study, Layout.of(study), 0.3, 500, KeyedDraws(0).generator("test"))
    # 10,000 Poisson numbers a target: five standard errors
    assert arrivals.mean(axis=(0, 1)) == pytest.approx([2.0, 0.5, 0.5], abs=5 * np.sqrt(2.0 / 10_000))
    rule = DeniabilityModel(study, 1).organizations[0].inference
    assert [rule.knowledge.outside_reports(target) for target in range(3)] == [2.0, 0.5, 0.5]
