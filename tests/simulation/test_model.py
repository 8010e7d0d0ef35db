"""The model as a whole: what its tables say of one another, recomputed independently."""

import numpy as np
import pandas as pd
import pytest

from deniability.agents.base import Actor
from deniability.simulation import load_scenario
from deniability.simulation.model import DeniabilityModel

MECHANISMS = ["greedy", "uniform", "rr", "tca", "exponential"]


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_same_seed_same_tables_other_seed_other_tables(mechanism, world):
    first = world(mechanism)
    model = DeniabilityModel(first.scenario.config, 1)
    model.run()
    from deniability.simulation.tables import run_tables

    for name, table in run_tables(model).items():
        pd.testing.assert_frame_equal(table, first.tables[name], check_exact=True)
    assert not first.tables["incidents"].equals(world(mechanism, seed=2).tables["incidents"])


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_active_counts_follow_from_reports_and_transcript(mechanism, world):
    # replay the auditor's bookkeeping from the reports alone
    tables = world(mechanism).tables
    reports, audits = tables["reports"], tables["audits"]
    counts = dict.fromkeys(tables["access"]["target"].unique(), 0)
    for row in audits.itertuples():
        due = reports[(reports["time"] > row.decision - 1) & (reports["time"] <= row.decision)]
        assert (due["period"] == row.decision).all()
        for target in due["target"]:
            counts[target] += 1
        assert row.active_reports == counts[row.target]
        assert row.max_active_reports == max(counts.values())
        assert row.deficit == max(counts.values()) - counts[row.target]
        assert row.normalized_deficit == pytest.approx(row.deficit / (row.max_active_reports + 1))
        assert row.misselected == (row.deficit > 0)
        counts[row.target] = 0
    assert len(audits) == 52


def test_greedy_never_misselects(world):
    assert not world("greedy").tables["audits"]["misselected"].any()


@pytest.mark.parametrize("mechanism", ["greedy", "tca"])
def test_everyone_decides_once_and_reports_only_after_deciding(mechanism, world):
    tables = world(mechanism).tables
    notices, reports = tables["notices"], tables["reports"]
    assert not notices.duplicated(["person", "incident"]).any()
    assert not reports.duplicated(["person", "incident"]).any()
    both = reports.merge(notices, on=["person", "incident"], suffixes=("", "_noticed"), validate="one_to_one")
    assert len(both) == len(reports)
    assert (both["decision"] == "report").all()
    assert (both["time"] >= both["time_noticed"]).all()
    happened = notices.merge(tables["incidents"], on="incident", suffixes=("", "_incident"))
    assert (happened["time"] >= happened["time_incident"]).all()


def test_only_people_with_access_notice_and_are_suspected(world):
    tables = world("greedy").tables
    access = tables["access"]
    n_slots = tables["people"]["person"].lt(len(tables["people"])).sum()
    places = tables["people"].groupby("lab")["person"].min()
    assert len(places) == 5
    n_slots = int((tables["people"]["joined"] == 0.0).sum())
    allowed = set(zip(access["person"], access["compartment"], strict=True))
    where = tables["incidents"].set_index("incident")["compartment"]
    for table in ("notices", "candidates", "inferences"):
        rows = tables[table]
        found = set(zip(rows["person"] % n_slots, where.loc[rows["incident"]], strict=True))
        assert found <= allowed, table


def test_found_incidents_were_audited_and_stop_being_suspicious(world):
    tables = world("greedy").tables
    incidents, audits = tables["incidents"], tables["audits"]
    found = incidents[incidents["status"] == "found"]
    assert len(found) > 10
    assert audits["found"].sum() == len(found)
    audited = set(zip(audits["target"], audits["time"], strict=True))
    assert set(zip(found["target"], found["found_time"], strict=True)) <= audited
    later = tables["inferences"].merge(found, on="incident", suffixes=("", "_incident"))
    assert (later["time"] <= later["found_time"]).all()
    end = np.where(found["found_time"].notna(), found["found_time"], 52.0)
    assert found["harm"].to_numpy() == pytest.approx(found["severity"] * (end - found["time"]))


@pytest.mark.parametrize("mechanism", ["greedy", "uniform"])
def test_first_audit_is_the_first_one_after_the_incident(mechanism, world):
    tables = world(mechanism).tables
    audits = tables["audits"]
    before = 0
    for row in tables["incidents"].itertuples():
        times = audits.loc[audits["target"] == row.target, "time"]
        after = times[times >= row.time]
        before += int((np.ceil(row.time) - 1 == times).any())
        assert row.first_audit_time == after.min() if len(after) else np.isnan(row.first_audit_time)
    assert before > 0  # an audit just before an incident is what must not be taken for one after it


def test_retaliation_has_a_cause_in_its_channel(world):
    settings = [
        "organizations.leak_probability=0.5",
        "organizations.retaliation_probability=1.0",
        "employees.scale=0.2",
    ]
    tables = world("greedy", set=settings).tables
    hit = tables["retaliations"]
    assert {"transcript", "side_information", "self_disclosure"} <= set(hit["channel"])
    assert not hit.duplicated("person").any()  # nobody is punished twice
    assert (hit["time"] > hit["identified_time"]).all()
    reports = tables["reports"].set_index(["person", "incident"])
    for row in hit.itertuples():
        if row.channel == "transcript":
            flagged = tables["inferences"].query(
                "person == @row.person and incident == @row.incident and flagged"
            )
            assert row.identified_time in flagged["time"].to_numpy()
        else:
            report = reports.loc[(row.person, row.incident)]
            assert report["disclosed" if row.channel == "self_disclosure" else "leaked"]
            assert report["time"] == row.identified_time
    first = tables["reports"].groupby("person")["time"].min()
    had_reported = [
        row.person in first.index and first[row.person] <= row.identified_time for row in hit.itertuples()
    ]
    assert hit["reporter"].tolist() == had_reported
    punished = tables["people"].query("retaliated")
    assert sorted(punished["person"]) == sorted(hit["person"])


def test_whoever_was_punished_says_nothing_any_more(world):
    settings = [
        "organizations.leak_probability=1.0",
        "organizations.retaliation_probability=1.0",
        "employees.scale=0.05",
    ]
    tables = world("greedy", set=settings).tables
    first = tables["retaliations"].set_index("person")["time"]
    reports = tables["reports"][tables["reports"]["person"].isin(first.index)]
    assert (reports["time"] <= first.loc[reports["person"]].to_numpy()).all()
    # what they notice afterwards is kept: leaving it out would make the rate of reporting look the better, the more
    # people retaliation has silenced
    notices = tables["notices"]
    later = notices["time"] > notices["person"].map(first).fillna(np.inf)
    assert later.sum() > 5
    assert (notices.loc[later, "decision"] == "silenced").all()
    assert not (notices.loc[~later, "decision"] == "silenced").any()
    per_incident = tables["incidents"].set_index("incident")["notices"]
    counted = notices.groupby("incident").size().reindex(per_incident.index, fill_value=0)
    assert counted.tolist() == per_incident.tolist()


def test_no_channel_no_retaliation(world):
    settings = [
        "organizations.leak_probability=0.0",
        "organizations.disclosure_probability=0.0",
        "organizations.threshold=1.0",
    ]
    assert world("exponential", set=settings).tables["retaliations"].empty


def test_the_mechanism_leaves_the_rest_of_the_world_alone(world):
    # common random numbers: same incidents and access; a person who notices under both does so at the same time
    one, other = world("greedy").tables, world("uniform", inference="timing").tables
    assert one["access"].equals(other["access"])
    fixed = ["incident", "time", "lab", "target", "compartment", "severity"]
    assert one["incidents"][fixed].equals(other["incidents"][fixed])
    both = one["notices"].merge(other["notices"], on=["person", "incident"])
    assert len(both) > 0.9 * len(one["notices"])
    assert (both["time_x"] == both["time_y"]).all()
    turnover = [t["departures"].query("reason == 'turnover'")["time"].to_numpy() for t in (one, other)]
    assert np.array_equal(*turnover)


def test_series_adds_up(world):
    tables = world("exponential").tables
    series = tables["series"]
    assert series["reports"].sum() == len(tables["reports"])
    assert series["retaliations"].sum() == len(tables["retaliations"])
    assert series["time"].tolist() == [float(t) for t in range(1, 53)]
    assert ((series[["fear", "efficacy"]] > 0) & (series[["fear", "efficacy"]] < 1)).all(axis=None)


def test_newcomers_take_the_places_of_those_who_left(world):
    tables = world("greedy", set=["employees.turnover=1.0", "employees.scale=0.1"]).tables
    people = tables["people"]
    n_slots = int((people["joined"] == 0.0).sum())
    left, joined = people["left"].dropna(), people.loc[people["joined"] > 0, "joined"]
    assert sorted(left) == sorted(joined)
    assert len(tables["departures"]) == len(left)
    generation = people["person"] // n_slots
    assert generation.max() >= 2
    notices = tables["notices"].merge(people, on="person")
    assert (notices["time"] >= notices["joined"]).all()
    assert (notices["time"] <= notices["left"].fillna(np.inf)).all()


def test_a_removed_agents_events_are_cancelled():
    config = load_scenario("five-labs", mechanism="greedy", overrides=["employees.scale=0.01"]).config
    model = DeniabilityModel(config, 1)
    called = []

    class Watcher(Actor):
        def note(self, what):
            called.append((what, self.model.time))

    stays, goes = Watcher(model), Watcher(model)
    stays.call_at(1.5, stays.note, "stays")
    goes.call_at(1.5, goes.note, "goes")
    goes.call_at(0.5, goes.remove)
    model.run_until(2.0)
    assert called == [("stays", 1.5)]
    assert goes.n_pending == 0
    assert stays.n_pending == 0


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -1.0])
def test_a_time_that_is_no_time_is_refused(bad):
    config = load_scenario("five-labs", mechanism="greedy", overrides=["employees.scale=0.01"]).config
    model = DeniabilityModel(config, 1)
    actor = Actor(model)
    with pytest.raises(ValueError, match="time must"):
        actor.call_at(bad, actor.remove)


def test_callbacks_survive_garbage_collection():
    # Mesa holds callbacks weakly: a task that only the event list knew would be lost in silence
    import gc

    config = load_scenario("five-labs", mechanism="greedy", overrides=["employees.scale=0.01"]).config
    model = DeniabilityModel(config, 1)
    called = []

    class Watcher(Actor):
        def note(self, i):
            called.append(i)

    actor = Watcher(model)
    for i in range(100):
        actor.call_at(1.0 + i / 100, actor.note, i)
    gc.collect()
    model.run_until(3.0)
    assert called == list(range(100))
