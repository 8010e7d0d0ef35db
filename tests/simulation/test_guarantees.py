"""What a scenario guarantees: segments, composition, groups; checked by formula and by enumeration."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniability.agents.auditor.mechanisms import build
from deniability.agents.auditor.privacy import (
    exponential_group_delta,
    renewed_counter_delta,
    renewed_delta,
    same_counter_group_delta,
)
from deniability.scenarios import InputError, resolve_tree
from deniability.simulation import load_scenario
from deniability.simulation.guarantees import check_horizons, published_deltas, segments, stated_guarantee
from deniability.simulation.model import DeniabilityModel

MECHANISMS = ["greedy", "uniform", "rr", "tca", "exponential"]


def scenario(*overrides, periods=20, **tables):
    tree = {"time": {"periods": periods}, "labs": {"lab-a": {"employees": 20, "targets": ["x", "y", "z"]}}}
    return resolve_tree(tree | tables, overrides)


def config(*overrides, **more):
    return scenario(*overrides, **more).config


@pytest.mark.parametrize(
    ("mechanism", "delta"),
    [("greedy", 1.0), ("uniform", 0.0), ("rr", 0.1), ("tca", 0.1), ("exponential", 0.1)],
)
def test_a_plain_run_has_its_mechanisms_guarantee(mechanism, delta):
    stated = stated_guarantee(config(f"auditor.mechanism={mechanism}"))
    assert (stated.delta, stated.person_delta, stated.segments, stated.reports) == (delta, delta, 1, 1)
    assert stated.text


def test_several_audits_count_against_the_horizon_as_the_mechanism_has_it():
    horizons = {}
    for mechanism in MECHANISMS:
        (part,) = segments(config(f"auditor.mechanism={mechanism}", "auditor.audits_per_period=2"))
        horizons[mechanism] = part.horizon
    # a counter's noisy counts are released once a period; randomized response pays per decision
    assert horizons["tca"] == 20
    assert horizons["rr"] == 40


def test_renewal_composes():
    def stated(mechanism, *more):
        return stated_guarantee(
            config(f"auditor.mechanism={mechanism}", "auditor.horizon=6", "auditor.renewal=true", *more)
        )

    assert stated("tca").segments == 4
    assert stated("tca").delta == pytest.approx(float(renewed_counter_delta(0.1, 4.0, 1.0)), rel=1e-12)
    assert stated("rr").delta == pytest.approx(float(renewed_delta(0.1, 4.0)), rel=1e-12)
    assert stated("exponential").delta == 0.1  # at every age
    assert stated("uniform").delta == 0.0
    repeated = stated("tca", "employees.repeat_reports=2")
    assert repeated.person_delta == pytest.approx(float(renewed_counter_delta(0.1, 4.0, 3.0)), rel=1e-12)
    assert repeated.person_delta_linear == pytest.approx(3 * repeated.delta)


@pytest.mark.parametrize(
    ("mechanism", "bound"),
    [
        ("tca", float(same_counter_group_delta(0.1, 3.0))),
        ("exponential", float(exponential_group_delta(0.1, 3.0))),
        ("rr", 0.1),
        ("uniform", 0.0),
        ("greedy", 1.0),
    ],
)
def test_several_reports_of_one_person_have_the_group_guarantee(mechanism, bound):
    stated = stated_guarantee(config(f"auditor.mechanism={mechanism}", "employees.repeat_reports=2"))
    assert stated.person_delta == pytest.approx(bound, rel=1e-12)
    assert stated.person_delta <= stated.person_delta_linear
    assert stated.reports == 3
    assert "3 reports" in stated.text


def test_a_new_mechanism_composes_with_the_old_one():
    change = {"at": 11, "set": {"auditor.mechanism": "exponential", "auditor.delta": 0.2}}
    changed = config(changes=[change])
    first, second = segments(changed)
    assert (first.first, first.last, second.first, second.last) == (1, 10, 11, 20)
    assert first.horizon == 20  # nobody foresees the change
    assert stated_guarantee(changed).delta == pytest.approx(1 - 0.9 * 0.8)
    assert published_deltas(changed) == (0.1, 0.2)
    later = config(changes=[change | {"at": 10.5}])
    assert [part.first for part in segments(later)] == [1, 11]
    nothing = config(changes=[{"at": 11, "set": {"auditor.published": False}}])
    assert len(segments(nothing)) == 1
    assert published_deltas(nothing) == (0.1, None)


def test_employees_are_told_the_composed_guarantee():
    renewed = config("auditor.horizon=10", "auditor.renewal=true")
    assert DeniabilityModel(renewed, 1).published_delta == pytest.approx(
        float(renewed_counter_delta(0.1, 2.0, 1.0))
    )


def test_a_horizon_that_several_audits_use_up_too_fast_is_refused_unless_renewed():
    short = ["auditor.mechanism=rr", "auditor.audits_per_period=2", "auditor.horizon=20"]
    with pytest.raises(InputError, match=r"less than the 40 decisions .*auditor.renewal = true"):
        segments(config(*short))
    assert [p.last for p in segments(config(*short, "auditor.renewal=true"))] == [10, 20]
    assert len(segments(config(*short[1:]))) == 1  # one release a period under tca
    swept = scenario(*short[1:], ("sweep.grid", {"auditor.mechanism": ["tca", "rr"]}))
    with pytest.raises(InputError, match=r"cell auditor\.mechanism = rr"):
        check_horizons(swept)
    with pytest.raises(InputError, match="each audit of a period is one"):
        load_scenario("five-labs", overrides=[*short[:2], "auditor.horizon=104"])


def test_who_files_without_limit_is_told_to_have_no_fixed_bound():
    text = stated_guarantee(config(reports={"rate": 5.0, "people": 2, "people_share": 0.5})).text
    assert "The 2 who file 50% of the outside reports" in text


@settings(max_examples=60, deadline=None)
@given(
    mechanism=st.sampled_from(MECHANISMS),
    audits=st.integers(1, 3),
    horizon=st.none() | st.integers(3, 60),
    changes=st.lists(
        st.tuples(st.floats(0.01, 20), st.sampled_from(MECHANISMS), st.sampled_from([0.1, 0.3])), max_size=3
    ),
)
def test_segments_make_every_decision_once_within_their_horizon(mechanism, audits, horizon, changes):
    tables = {"mechanism": mechanism, "audits_per_period": audits, "renewal": True}
    made = config(
        auditor=tables | ({"horizon": horizon} if horizon else {}),
        changes=[
            {"at": at, "set": {"auditor.mechanism": other, "auditor.delta": delta}}
            for at, other, delta in changes
        ],
    )
    parts = segments(made)
    assert [d for part in parts for d in range(part.first, part.last + 1)] == list(range(1, 21))
    for part in parts:
        rule = part.build()
        if rule.needs_horizon:
            assert rule.horizon_of(part.last - part.first + 1, audits) <= part.horizon
    stated = stated_guarantee(made)
    assert max(part.build().guarantee() for part in parts) <= stated.delta + 1e-12
    assert stated.delta <= 1.0


def test_the_composed_bound_holds_and_one_horizons_delta_does_not():
    # all transcripts of four decisions under randomized response of horizon 1, started afresh each time
    n_targets, n_decisions, delta = 6, 4, 0.3
    rule = build("rr", delta, 1)
    distance = 0.0
    for transcript in itertools.product(range(n_targets), repeat=n_decisions):
        chance = []
        for extra in (0, 1):
            counts = np.zeros(n_targets, dtype=np.int64)
            counts[0] = extra
            p = 1.0
            for audited in transcript:
                p *= np.exp(rule.log_probabilities(counts))[audited]
                counts[audited] = 0
            chance.append(p)
        distance += abs(chance[0] - chance[1]) / 2
    stated = stated_guarantee(
        config(
            f"auditor.delta={delta}",
            "auditor.mechanism=rr",
            "auditor.horizon=1",
            "auditor.renewal=true",
            periods=4,
        )
    )
    assert delta < distance <= stated.delta == pytest.approx(1 - 0.7**4)
