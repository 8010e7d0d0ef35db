"""Changes during a run, and what else came with them: cover, deterrence, repeated reports, renewal, expected gain."""

from functools import cache

import numpy as np
import pandas as pd
import pytest

from deniability.scenarios import resolve_tree
from deniability.scenarios.schema import Incidents
from deniability.simulation.guarantees import segments
from deniability.simulation.model import DeniabilityModel
from deniability.simulation.tables import run_tables
from deniability.simulation.world.deterrence import Deterrence

MECHANISMS = ["greedy", "uniform", "rr", "tca", "exponential"]
AT = 20

WORLD = {
    "time": {"periods": 40},
    "labs": {
        "lab-a": {"employees": 60, "targets": ["x", "y", "u", "v"]},
        "lab-b": {"employees": 40, "targets": ["z"], "organization": {"leak_probability": 0.6}},
    },
    "access": {"median_access": 8.0},
    "incidents": {"rate": 16.0},
    "auditor": {"mechanism": "exponential"},
    "employees": {"notice_probability": 0.8, "notice_delay_weeks": 1.0, "turnover": 0.3},
    "organizations": {"inference": "strong", "leak_probability": 0.4, "retaliation_probability": 0.9},
}


@cache
def _run(seed, settings):
    config = resolve_tree(WORLD, [(path, _thawed(value)) for path, value in settings]).config
    model = DeniabilityModel(config, seed)
    model.run()
    return model, run_tables(model)


def _frozen(value):
    if isinstance(value, dict):
        return ("dict", *((k, _frozen(v)) for k, v in value.items()))
    return ("list", *map(_frozen, value)) if isinstance(value, list) else value


def _thawed(value):
    if isinstance(value, tuple) and value[0] == "dict":
        return {k: _thawed(v) for k, v in value[1:]}
    return list(map(_thawed, value[1:])) if isinstance(value, tuple) else value


def run(seed=1, changes=(), **settings):
    """Model and tables of `WORLD` with settings (`organizations__prior=0.2`) and changes; each once."""
    every = {k.replace("__", "."): v for k, v in settings.items()} | {"changes": list(changes)}
    return _run(seed, tuple((path, _frozen(value)) for path, value in every.items()))


def change(at=AT, purge=None, **settings):
    one = {"at": at, "set": {k.replace("__", "."): v for k, v in settings.items()}}
    return one | ({"purge": purge} if purge else {})


def early(tables, until):
    """Rows before a time, of what is recorded as it happens."""
    names = ("notices", "audits", "inferences", "retaliations", "departures", "series")
    return {name: tables[name][tables[name]["time"] < until] for name in names}


# ---- changes


@pytest.mark.parametrize(
    "settings",
    [
        {"organizations__retaliation_probability": 0.0},
        {"auditor__mechanism": "greedy"},
        {"incidents__rate": 1.0},
        {"employees__decision__intercept": -20.0},
        {"auditor__published": False},
        {"organizations__inference": "timing"},
        {"reports__rate": 50.0},
    ],
    ids=lambda settings: next(iter(settings)),
)
def test_until_the_change_nothing_is_different_and_afterwards_something_is(settings):
    plain, changed = run()[1], run(changes=(change(**settings),))[1]
    for name, rows in early(plain, AT).items():
        pd.testing.assert_frame_equal(rows, early(changed, AT)[name], check_exact=True)
    assert any(
        not plain[name].equals(changed[name]) for name in ("notices", "audits", "inferences", "series")
    )


def test_each_behaviour_comes_into_force_at_its_time():
    _, silent = run(changes=(change(employees__decision__intercept=-50.0),))
    notices = silent["notices"]
    assert notices.loc[notices["time"] >= AT, "decision"].isin(["silent", "silenced"]).all()
    assert (notices.loc[notices["time"] < AT, "decision"] == "report").any()

    _, kind = run(changes=(change(organizations__retaliation_probability=0.0),))
    assert (kind["retaliations"]["identified_time"] < AT).all()
    assert not kind["retaliations"].empty

    _, quiet = run(changes=(change(incidents__rate=0.0),))
    assert (quiet["incidents"]["time"] < AT).all()

    _, tight = run(changes=(change(organizations__leak_probability=0.0),))
    late = tight["reports"][tight["reports"]["time"] >= AT]
    assert not late.loc[late["lab"] == "lab-a", "leaked"].any()
    assert late.loc[late["lab"] == "lab-b", "leaked"].any()  # its own value comes first


def test_a_change_at_a_whole_period_comes_before_that_periods_decision():
    _, tables = run(changes=(change(auditor__mechanism="greedy"),))
    audits = tables["audits"]
    assert not audits.loc[audits["decision"] >= AT, "misselected"].any()
    assert audits.loc[audits["decision"] < AT, "misselected"].any()


def test_only_one_lab_changes_if_so_set():
    kinder = {"at": AT, "set": {"labs.lab-a.organization.retaliation_probability": 0.0}}
    _, tables = run(changes=(kinder,))
    late = tables["retaliations"].query("identified_time >= @AT")
    assert set(late["lab"]) == {"lab-b"}


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_active_reports_are_taken_along_to_the_next_mechanism(mechanism):
    changes = (
        change(12, auditor__mechanism=mechanism),
        change(25, auditor__mechanism="tca", auditor__delta=0.3),
    )
    model, tables = run(changes=changes)
    counts = dict.fromkeys(model.layout.target_names, 0)
    for row in tables["audits"].itertuples():
        for target in tables["reports"].query("period == @row.decision")["target"]:
            counts[target] += 1
        assert (row.active_reports, row.max_active_reports) == (counts[row.target], max(counts.values()))
        counts[row.target] = 0


# ---- the careful lab across mechanisms

CAREFUL = {"organizations__inference": "bayes", "auditor__mechanism": "greedy"}


def hazards_of(model):
    return model.organizations[0].inference.knowledge.hazards


def test_the_careful_lab_keeps_the_hazards_of_earlier_mechanisms():
    changes = (change(12, auditor__mechanism="uniform", organizations__prior=0.2),)
    hazards, plain = hazards_of(run(**CAREFUL, changes=changes)[0]), hazards_of(run(**CAREFUL)[0])
    for decision in (1, 11):
        assert [first for first, _ in hazards(decision)] == [1]
    (one, greedy), (twelve, uniform) = hazards(40)
    assert (one, twelve) == (1, 12)
    assert greedy is plain(40)[0][1]  # the very table of the run without the change
    assert greedy.hazard[0, 20] > 0.8
    assert uniform.hazard == pytest.approx(np.full_like(uniform.hazard, 1 / 5), abs=1e-6)


def test_until_the_change_the_careful_lab_judges_as_without_it():
    plain = run(**CAREFUL)[1]
    changed = run(**CAREFUL, changes=(change(auditor__mechanism="rr"),))[1]
    assert not early(plain, AT)["inferences"].empty
    for name, rows in early(plain, AT).items():
        pd.testing.assert_frame_equal(rows, early(changed, AT)[name], check_exact=True)


def test_the_careful_lab_knows_the_calibration_and_the_renewals_of_the_office():
    settings = CAREFUL | {"auditor__mechanism": "rr", "auditor__horizon": 15, "auditor__renewal": True}
    tables = hazards_of(run(**settings)[0])(40)
    assert [first for first, _ in tables] == [1, 16, 31]
    assert (
        len({id(table) for _, table in tables}) == 1
    )  # the same mechanism in the same world: estimated once
    assert len(tables[0][1].hazard) == 15
    # an office that comes in at 20 is calibrated for the 21 decisions that are left
    late = hazards_of(run(**CAREFUL, changes=(change(auditor__mechanism="rr"),))[0])(40)
    assert [(first, len(table.hazard)) for first, table in late] == [(1, 40), (20, 21)]


# ---- the worst-case score across mechanisms


def brute_force_ratio(model, tables, candidate):
    """Log likelihood ratio of one candidate, decision by decision; None where a mechanism has no exact law."""
    names = {name: i for i, name in enumerate(model.layout.target_names)}
    target = names[candidate.target]
    counts, total = np.zeros(len(names), dtype=np.int64), 0.0
    parts = {d: p for p in segments(model.config) for d in range(p.first, p.last + 1)}
    for decision, (audited,) in enumerate(model.auditor.transcript, 1):
        for name in tables["reports"].query("period == @decision")["target"]:
            counts[names[name]] += 1
        if decision >= candidate.period:
            other = counts.copy()
            other[target] += -1 if candidate.filed else 1
            law = parts[decision].build()
            here, there = (law.log_probabilities(c)[audited] for c in (counts, other))
            total += here - there if candidate.filed else there - here
            if audited == target:
                return total
        counts[audited] = 0
    return total


def test_the_worst_case_score_multiplies_over_mechanisms():
    changes = (
        change(10, auditor__mechanism="rr", auditor__delta=0.4),
        change(14, auditor__mechanism="exponential"),
    )
    model, tables = run(changes=changes)
    scored = tables["candidates"].dropna(subset="likelihood_ratio")
    across = scored[scored["period"] < 14].sample(15, random_state=1)
    assert (across["period"] < 10).any()
    for candidate in across.itertuples():
        expected = brute_force_ratio(model, tables, candidate)
        assert np.log(candidate.likelihood_ratio) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("mechanism", ["tca", "rr"])
def test_renewal_changes_no_score_that_was_settled_before_it(mechanism):
    # the same calibration for twelve decisions: what was audited in them has the same score whatever comes after
    settings = {"auditor__mechanism": mechanism, "auditor__horizon": 12, "auditor__renewal": True}
    _, short = run(**settings, time__periods=12)
    _, long = run(**settings)
    audited = short["reports"].dropna(subset="audited_time")
    both = audited.merge(long["reports"], on=["person", "incident", "repeat"])
    assert len(both) > 5
    assert both["likelihood_ratio_x"].to_numpy() == pytest.approx(
        both["likelihood_ratio_y"].to_numpy(), rel=1e-12
    )
    assert long["candidates"]["likelihood_ratio"].dropna().between(0, np.inf, inclusive="left").all()


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_every_mechanism_can_be_renewed_in_the_middle_of_a_run(mechanism):
    _, tables = run(auditor__mechanism=mechanism, auditor__horizon=15, auditor__renewal=True)
    assert len(tables["audits"]) == 40
    scored = tables["candidates"].query("period <= 40")
    assert scored["likelihood_ratio"].notna().all()


# ---- purges


def test_a_purge_of_everyone_leaves_nobody_and_newcomers_in_every_place():
    model, tables = run(changes=(change(purge={"lab": "lab-a", "share": 1.0, "among": "everyone"}),))
    gone = tables["departures"].query("reason == 'purge'")
    assert len(gone) == 60
    assert (gone["time"] == AT).all()
    assert set(gone["lab"]) == {"lab-a"}
    people = tables["people"].query("lab == 'lab-a'")
    assert not ((people["joined"] < AT) & ~(people["left"] <= AT)).any()
    assert model.population.n_slots == 100


def test_a_purge_among_those_with_access_or_reporters_hits_nobody_else():
    purge = {"lab": "lab-a", "share": 1.0}
    for among in ("access", "reporters"):
        going = change(purge=purge | {"among": among})
        _, tables = run(changes=(going,), auditor__discovery_probability=0.2)
        gone = tables["departures"].query("reason == 'purge'")
        assert len(gone) > 3
        if among == "reporters":
            allowed = set(tables["reports"].query("time < @AT")["person"])
        else:
            rows = tables["incidents"].query("time < @AT and not (found_time < @AT) and lab == 'lab-a'")
            about = tables["candidates"]["incident"].isin(rows["incident"])
            allowed = set(tables["candidates"].loc[about, "person"])
        assert set(gone["person"]) <= allowed


def test_a_larger_purge_contains_the_smaller_one():
    gone = [
        set(run(changes=(change(purge={"share": share, "among": "everyone"}),))[1]["departures"]
            .query("reason == 'purge'")["person"])
        for share in (0.0, 0.2, 0.6)
    ]  # fmt: skip
    assert gone[0] == set()
    assert gone[1] < gone[2]
    # 60 % of 100 places: five standard errors
    assert abs(len(gone[2]) - 60) < 5 * np.sqrt(100 * 0.6 * 0.4)


# ---- protection by law


def test_whom_the_law_covers_is_spared_as_the_law_has_it():
    law = {"organizations__covered_share": 0.5, "organizations__covered_retaliation_probability": 0.0}
    _, tables = run(**law)
    assert not tables["retaliations"]["covered"].any()
    assert not tables["retaliations"].empty
    share = tables["reports"].drop_duplicates("person")["covered"]
    assert abs(share.mean() - 0.5) < 5 * 0.5 / np.sqrt(len(share))
    _, without = run()
    assert not without["reports"]["covered"].any()
    # who is hit for one incident under the law would be hit without it: willingness is the same draw
    _, mild = run(organizations__covered_share=1.0, organizations__covered_retaliation_probability=0.9)
    assert (
        mild["retaliations"].drop(columns="covered").equals(without["retaliations"].drop(columns="covered"))
    )


def test_nobody_loses_cover_when_more_get_it():
    model, _ = run(organizations__covered_share=0.2)
    wider, _ = run(organizations__covered_share=0.6)
    some = [p for p in range(100) if model.organizations[0].covers(p)]
    assert 5 < len(some) < 40
    assert all(wider.organizations[0].covers(p) for p in some)


def test_a_law_in_the_middle_of_a_run_covers_from_then_on():
    law = change(organizations__covered_share=1.0, organizations__covered_retaliation_probability=0.0)
    _, tables = run(changes=(law,))
    hit = tables["retaliations"]
    assert (hit["identified_time"] < AT).all()
    reports = tables["reports"]
    assert (reports["covered"] == (reports["time"] >= AT)).all()


# ---- deterrence


def test_deterrence_adds_up_and_halves():
    table = Incidents(deterrence=0.4, deterrence_weeks=10.0)
    deterrence = Deterrence(2)
    assert deterrence.level(0, 5.0, table) == 0.0
    deterrence.found(0, 5.0, table)
    assert deterrence.level(0, 5.0, table) == pytest.approx(0.4)
    assert deterrence.level(0, 15.0, table) == pytest.approx(0.2)
    deterrence.found(0, 15.0, table)
    assert deterrence.level(0, 15.0, table) == pytest.approx(1 - 0.8 * 0.6)
    assert deterrence.level(1, 15.0, table) == 0.0
    off = Deterrence(1)
    off.found(0, 1.0, Incidents())
    assert off.level(0, 1.0, Incidents()) == 0.0


def test_a_lab_that_is_wholly_deterred_does_no_more_wrong_after_the_first_finding():
    _, plain = run()
    _, tables = run(incidents__deterrence=1.0, incidents__deterrence_weeks=5200.0)
    first = tables["incidents"].groupby("lab")["found_time"].min()
    assert first.notna().all()
    for row in tables["incidents"].itertuples():
        assert row.time < first[row.lab]
    # thinned by draws of their own: what still happens is a part of what would happen anyway
    fixed = ["incident", "time", "target", "severity"]
    assert tables["incidents"][fixed].merge(plain["incidents"][fixed]).shape[0] == len(tables["incidents"])
    assert 0 < len(tables["incidents"]) < len(plain["incidents"])
    assert set(tables["candidates"]["incident"]) == set(tables["incidents"]["incident"])


# ---- repeated reports


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_one_person_reports_again_while_nothing_is_found_and_at_most_so_often(mechanism):
    _, tables = run(
        auditor__mechanism=mechanism, employees__repeat_reports=2, employees__repeat_delay_weeks=1.0
    )
    reports = tables["reports"]
    numbers = reports.groupby(["person", "incident"])["repeat"].apply(list)
    assert max(map(len, numbers)) == 3
    assert all(chain == list(range(len(chain))) for chain in numbers)
    assert reports.groupby(["person", "incident"])["time"].is_monotonic_increasing.all()
    found = tables["incidents"].set_index("incident")["found_time"]
    again = reports[reports["repeat"] > 0]
    assert (again["time"] <= found.loc[again["incident"]].fillna(np.inf).to_numpy()).all()
    # what is scored is the first report
    assert again["likelihood_ratio"].isna().all()
    assert reports.query("repeat == 0 and period <= 40")["likelihood_ratio"].notna().all()
    assert tables["incidents"]["reports"].sum() == len(reports)
    people = tables["people"].set_index("person")["reports"]
    assert (reports.groupby("person").size() == people[people > 0].sort_index()).all()


def test_nobody_reports_again_by_default():
    assert (run()[1]["reports"]["repeat"] == 0).all()


# ---- expected gain


def test_expected_gain_is_a_threshold_of_its_own():
    gain = {
        "organizations__criterion": "expected-gain",
        "organizations__gain": 3.0,
        "organizations__cost": 2.0,
    }
    _, by_gain = run(auditor__mechanism="greedy", **gain)
    _, by_threshold = run(auditor__mechanism="greedy", organizations__threshold=0.4)
    # 2 / (3 + 2) = 0.4, and no posterior lies right on it
    for name in ("retaliations", "inferences", "reports"):
        pd.testing.assert_frame_equal(by_gain[name], by_threshold[name])
    assert by_gain["inferences"]["flagged"].any()


def test_a_lab_with_nothing_to_gain_hits_nobody_through_the_transcript():
    _, tables = run(
        auditor__mechanism="greedy", organizations__criterion="expected-gain", organizations__gain=0.0
    )
    assert "transcript" not in set(tables["retaliations"]["channel"])
    assert not tables["inferences"]["flagged"].any()
