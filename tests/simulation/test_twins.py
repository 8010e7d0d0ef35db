"""Twin runs: what the certified conditions are for, and that they hold (docs/adversary.md, a to g).

The strongest statement here needs no statistics: where two certified twins have the same transcript, all the rest of
their worlds is the same, to the row. So a fate can differ through the transcript alone, whose laws are within delta.
"""

from functools import cache
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from deniability.scenarios import InputError, resolve_tree
from deniability.simulation import load_scenario
from deniability.simulation.draws import KeyedDraws
from deniability.simulation.guarantees import segments, stated_guarantee
from deniability.simulation.intervention import Intervention
from deniability.simulation.model import DeniabilityModel
from deniability.simulation.twins import TwinResult, focal_report, twin_pair, twin_study

MECHANISMS = ["greedy", "uniform", "rr", "tca", "exponential"]

# everything that could carry news of a report is switched on
WORLD = {
    "time": {"periods": 26},
    "labs": {
        "lab-a": {"employees": 30, "targets": ["x", "y"]},
        "lab-b": {
            "employees": 12,
            "targets": ["z"],
            "organization": {"inference": "timing", "threshold": 0.3},
        },
    },
    "access": {"median_access": 6.0, "access_sigma": 0.5},
    "incidents": {"rate": 6.0, "deterrence": 0.5},
    "reports": {"rate": 5.0},
    "auditor": {
        "mechanism": "greedy",
        "discovery_probability": 0.6,
        "scope": "report-led",
        "unreported_discovery_factor": 0.2,
    },
    "employees": {
        "notice_probability": 0.8,
        "notice_delay_weeks": 0.7,
        "report_delay_weeks": 0.5,
        "turnover": 0.5,
        "departure_probability": 0.5,
        "repeat_reports": 2,
        "repeat_delay_weeks": 1.0,
        "beliefs": {"outcome_weeks": 3.0},
    },
    "organizations": {
        "inference": "strong",
        "evaluate": "every-decision",
        "threshold": 0.4,
        "retaliation_probability": 1.0,
        "retaliation_hazard": 0.8,
        "leak_probability": 0.3,
        "disclosure_probability": 0.3,
        "covered_share": 0.3,
        "covered_retaliation_probability": 0.5,
    },
}
CHANGE = {
    "at": 13,
    "set": {
        "auditor.mechanism": "tca",
        "organizations.criterion": "expected-gain",
        "organizations.gain": 2.0,
    },
    "purge": {"share": 0.3, "among": "reporters"},
}


def world(mechanism="greedy", **more):
    """The configuration of `WORLD` with dotted settings."""
    settings = [("auditor.mechanism", mechanism), *((k.replace("__", "."), v) for k, v in more.items())]
    return resolve_tree(WORLD, settings).config


def twins(config, seed, waived=""):
    """Free run, and the two certified twins around its focal report; None without one."""
    free = DeniabilityModel(config, seed)
    free.run()
    focal = focal_report(free, seed)
    if focal is None:
        return None
    pair = []
    for withheld in (False, True):
        about = Intervention(int(focal["person"]), int(focal["incident"]), withheld, True, frozenset(waived))
        model = DeniabilityModel(config, seed, intervention=about)
        model.run()
        pair.append(model)
    return free, focal, *pair


@cache
def some_twins(mechanism, change=False, n=5, waived="", **more):
    """Several seeds' twins of one world."""
    config = world(mechanism, **({"changes": [CHANGE]} if change else {}), **more)
    return [found for seed in range(1, n + 1) if (found := twins(config, seed, waived))]


TABLES = ("notices", "reports", "audits", "inferences", "retaliations", "departures", "series")
COUNTS = {"active_reports", "max_active_reports", "misselected", "deficit", "normalized_deficit"}


@cache
def state(model):
    """What happened in a run, without the auditor's counts: table to columns, and what became of incidents."""
    frames = {name: model.log.frame(name) for name in TABLES}
    columns = {name: {c: f[c].to_numpy() for c in f.columns if c not in COUNTS} for name, f in frames.items()}
    fields = ("incident", "happened", "n_notices", "n_reports", "found_time")
    columns["incidents"] = {f: np.array([getattr(i, f) for i in model.incidents]) for f in fields}
    return columns


def differing(one, other, until=np.inf):
    """Names of the tables in which two runs differ before a time; posteriors may differ by rounding."""
    first, second = state(one), state(other)
    found = []
    for name in TABLES if until < np.inf else first:
        rows = [t[name]["time"] < until if until < np.inf else slice(None) for t in (first, second)]
        for column, values in first[name].items():
            mine, others = values[rows[0]], second[name][column][rows[1]]
            if len(mine) == len(others) and mine.dtype.kind == "f":
                alike = np.allclose(mine, others, rtol=1e-9, atol=1e-12, equal_nan=True)
            else:
                alike = np.array_equal(mine, others)
            if not alike:
                found.append(name)
                break
    return found


def same_transcript(one, other):
    return one.auditor.transcript == other.auditor.transcript


# ---- the conditions together


@pytest.mark.parametrize(("mechanism", "change"), [*((m, False) for m in MECHANISMS), ("greedy", True)])
def test_certified_twins_are_one_world_until_the_report_and_as_long_as_the_transcript_is_the_same(
    mechanism, change
):
    alike = 0
    for free, focal, with_it, without in some_twins(mechanism, change):
        period = int(focal["period"])
        assert with_it.auditor.transcript[: period - 1] == without.auditor.transcript[: period - 1]
        assert differing(with_it, without, until=period) == []
        # and until then nothing is held, so the report that was chosen is one that is filed
        assert differing(free, without, until=float(focal["time"])) == []
        if same_transcript(with_it, without):
            alike += 1
            assert differing(with_it, without) == []
            assert with_it.population.punished == without.population.punished
    assert alike >= 2


def test_the_report_is_in_the_counts_of_one_twin_alone():
    n_longer = 0
    for _, focal, with_it, without in some_twins("uniform"):
        counts = [m.log.frame("series")["active_reports"].to_numpy() for m in (with_it, without)]
        target = int(focal["target"])
        ends = [
            d for d, a in enumerate(with_it.auditor.transcript, 1) if target in a and d >= focal["period"]
        ]
        last = ends[0] if ends else 26
        expected = np.zeros(26, dtype=int)
        expected[int(focal["period"]) - 1 : last] = 1
        assert (counts[0] - counts[1]).tolist() == expected.tolist()
        n_longer += last > focal["period"]
    assert n_longer


def test_under_uniform_audits_the_certified_effect_is_zero_pair_by_pair():
    result = twin_study(world("uniform"), n_pairs=8, seed=5)
    assert result.bound == 0.0
    assert len(result.pairs) >= 5
    assert result.pairs["certified_with"].equals(result.pairs["certified_without"])
    assert result.effect("certified", "transcript").value == 0.0
    assert result.effect("certified").value == 0.0
    # negative control: set free, the same reports do have consequences
    assert result.effect("total").value > 0.0


# ---- one by one: what a world looks like in which one of them is not held


def harmed(pairs):
    """How many pairs with the same transcript are not the same world."""
    return sum(differing(w, o) != [] for _, _, w, o in pairs if same_transcript(w, o))


@pytest.mark.parametrize("waived", ["a", "b", "c"])
def test_a_to_c_each_is_needed(waived):
    # uniform audits: the transcript is always the same, so whatever differs does so through something else
    assert harmed(some_twins("uniform")) == 0
    assert harmed(some_twins("uniform", waived=waived)) > 0


def test_a_the_incidents_status_does_not_follow_the_report():
    def found(model, focal):
        return model.incidents[int(focal["incident"])].found_time

    held = [(found(w, f), found(o, f)) for _, f, w, o in some_twins("uniform")]
    assert all(x == y or (np.isnan(x) and np.isnan(y)) for x, y in held)
    waived = some_twins("uniform", waived="a")
    assert any(w.incidents[int(f["incident"])].n_reports != o.incidents[int(f["incident"])].n_reports
               for _, f, w, o in waived)  # fmt: skip


@pytest.mark.slow
def test_a_waived_under_a_counter_mechanism_makes_it_a_report_like_others():
    """Counted among the incident's reports and hidden from the particle filter at once, it would be one too few."""
    assert len(some_twins("tca", waived="a")) >= 3


def test_b_the_focal_person_decides_and_files_nothing_more_in_both_twins():
    for _, f, *pair in some_twins("uniform"):  # noqa: B007 - the queries read f
        for model in pair:
            assert model.log.frame("reports").query("person == @f.person and time >= @f.time").empty
            noticed = model.log.frame("notices").query("person == @f.person and time >= @f.time")
            assert (noticed["decision"] == "silenced").all()
    loose = some_twins("uniform", waived="b")
    assert any(
        (
            model.log.frame("notices").query("person == @f.person and time > @f.time")["decision"]
            != "silenced"
        ).any()
        for _, f, model, _ in loose
    )


def test_c_the_focal_report_neither_leaks_nor_is_its_author_known():
    sure = {"organizations__leak_probability": 1.0, "organizations__disclosure_probability": 0.0}

    def gave_away(pairs):
        return sum(
            not model.log.frame("retaliations")
            .query("person == @f.person and incident == @f.incident and channel == 'side_information'")
            .empty
            for _, f, model, _ in pairs
        )

    assert gave_away(some_twins("uniform", n=4, **sure)) == 0
    assert gave_away(some_twins("uniform", n=4, waived="c", **sure)) > 0


def test_d_what_the_rules_are_fed_comes_from_no_realised_run():
    config = world("exponential", organizations__inference="bayes")
    tables = []
    for seed in (1, 2):
        model = DeniabilityModel(config, seed)
        model.run()
        tables.append(model.organizations[0].inference.knowledge.hazards(1)[0][1])
    assert tables[0] is tables[1]


def test_e_the_focal_report_is_chosen_by_what_is_known_when_it_is_filed():
    # whatever happens later, here a purge and another auditor, the choice is the same
    later = {
        "changes": [
            {"at": 20, "set": {"auditor.mechanism": "uniform"}, "purge": {"share": 1.0, "among": "everyone"}}
        ]
    }
    compared = 0
    for seed in range(1, 9):
        chosen = []
        for more in ({}, later):
            free = DeniabilityModel(world("exponential", **more), seed)
            free.run()
            chosen.append(focal_report(free, seed))
        if chosen[0] is not None and chosen[0]["time"] < 20:
            compared += 1
            assert chosen[0].equals(chosen[1])
    assert compared >= 4


def test_e_outside_reports_and_further_ones_are_never_focal():
    for free, focal, *_ in some_twins("greedy"):
        assert focal["person"] >= 0
        assert focal["repeat"] == 0
        assert (free.log.frame("reports")["person"] < 0).any()


def test_e_the_first_late_report_of_an_employee_is_taken_and_neither_a_further_nor_an_outside_one():
    earliest = KeyedDraws(3).uniform("twin.time") * 0.75 * 100
    times = earliest + np.array([-1.0, 1.0, 2.0, 3.0, 4.0])
    table = pd.DataFrame(
        {"time": times, "person": [5, -1, 6, 7, 8], "incident": 0, "repeat": [0, 0, 1, 0, 0]}
    )
    free = SimpleNamespace(
        config=SimpleNamespace(time=SimpleNamespace(periods=100)),
        log=SimpleNamespace(frame=lambda _name: table),
    )
    assert focal_report(free, 3)["person"] == 7
    table = table.iloc[:3]
    assert focal_report(free, 3) is None


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_f_all_decisions_lie_within_a_horizon_and_the_bound_is_the_stated_one(mechanism):
    renewed = world(mechanism, auditor__horizon=10, auditor__renewal=True)
    parts = segments(renewed)
    covered = [d for part in parts for d in range(part.first, part.last + 1)]
    assert covered == list(range(1, 27))
    if mechanism in ("rr", "tca"):
        assert [part.last - part.first + 1 for part in parts] == [10, 10, 6]
    else:
        assert len(parts) == 1  # theirs holds at every horizon
    result = twin_study(renewed, n_pairs=1, seed=1)
    assert result.bound == stated_guarantee(renewed).delta
    with pytest.raises(InputError, match="end before the run"):
        world(mechanism, auditor__horizon=10)


def test_g_an_omniscient_lab_leaves_everyone_else_alone_from_the_reports_time_on():
    for _, f, *pair in some_twins("greedy"):  # noqa: B007 - the query reads f
        for model in pair:
            judged = model.log.frame("inferences").query("rule == 'strong' and time > @f.time")
            assert judged.query("person != @f.person or incident != @f.incident").empty


def test_g_is_needed_for_the_scores_of_others_read_whether_the_report_was_filed():
    assert harmed(some_twins("exponential")) == 0
    loose = some_twins("exponential", waived="g")
    compared = [(w, o, f) for _, f, w, o in loose if same_transcript(w, o)]
    assert any("inferences" in differing(w, o) for w, o, _ in compared)


def test_unknown_conditions_cannot_be_waived():
    with pytest.raises(ValueError, match="condition"):
        Intervention(1, 1, withheld=False, certified=True, waived=frozenset("z"))


# ---- the study


def test_a_pair_is_the_same_whatever_it_is_run_with_and_alone():
    config = world("exponential")
    study = twin_study(config, n_pairs=4, seed=9)
    alone = twin_pair(config, int(study.pairs.iloc[0]["seed"]))
    assert alone is not None
    row = study.pairs.iloc[0]
    assert all(alone[key] == row[key] or pd.isna(row[key]) for key in alone)


def test_without_any_report_there_is_no_pair_and_no_effect():
    config = world("greedy", employees__notice_probability=0.0)
    result = twin_study(config, n_pairs=2, seed=1)
    assert result.pairs.empty
    assert result.effect("certified").value is None


def test_where_nobody_works_there_are_no_twins():
    config = load_scenario("paper-baseline").config
    with pytest.raises(InputError, match="paper-baseline: nobody works there"):
        twin_study(config, n_pairs=2, seed=1)


@pytest.mark.slow
def test_the_certified_effect_through_the_transcript_stays_below_the_bound_and_greedy_shows_what_a_bound_is_for():
    quiet = {
        "organizations__evaluate": "own-audit",
        "organizations__covered_share": 0.0,
        "organizations__leak_probability": 0.0,
        "organizations__disclosure_probability": 0.0,
        "auditor__scope": "independent",
        "employees__repeat_reports": 0,
        "reports__rate": 0.0,
        "incidents__rate": 2.0,
        "access__median_access": 2.0,
        "labs": {"lab-a": {"employees": 30, "targets": ["x", "y", "u", "v", "w"]}},
    }
    effects = {}
    for mechanism in ("greedy", "exponential"):
        result: TwinResult = twin_study(world(mechanism, **quiet), n_pairs=36, seed=3)
        effects[mechanism] = result.effect("certified", "transcript"), result.bound
    told, bound = effects["exponential"]
    assert bound == 0.1
    # 95 % intervals: under the bound this fails in one of 40 worlds that attain it
    assert told.low <= bound
    greedy, _ = effects["greedy"]
    assert greedy.low > 0.1
