"""Plans: reference values through the JSON contract, crossings against a full search, messages."""

import json
import math

import numpy as np
import pandas as pd
import pytest

from deniability.agents.auditor import privacy
from deniability.agents.auditor.counters import counter
from deniability.scenarios.errors import InputError
from deniability.simulation.plan_crossings import (
    crossings,
    longest_run_for_the_counter,
    run_lengths,
)
from deniability.simulation.plan_tables import crossing_table, lead_table
from deniability.simulation.plans import GAPS, MECHANISM_KEYS, make_plan, parse_plan


@pytest.fixture(scope="module")
def reference():
    """The paper's numbers as JSON sees them."""
    return json.loads(json.dumps(make_plan(50, 1000, 0.1).summary(), allow_nan=False))


def probability(entries, gap):
    return next(entry["probability"] for entry in entries if entry["gap"] == gap)


def test_keys_are_the_contract(reference):
    assert list(reference) == [
        "sigma",
        "sensitivity",
        "p_rand",
        "epsilon",
        "mu",
        "odds_cap",
        "group",
        "gap_for_90",
        "misselection",
        "lower_bound",
        "group_separated",  # more than was asked for
    ]
    assert [list(entry) for entry in reference["group"]] == [
        ["k", "linear", "same_counter", "different_targets", "exponential"]
    ] * 10
    assert [entry["k"] for entry in reference["group"]] == list(range(1, 11))
    assert tuple(reference["gap_for_90"]) == tuple(reference["misselection"]) == MECHANISM_KEYS
    for entries in (*reference["misselection"].values(), reference["lower_bound"]):
        assert [entry["gap"] for entry in entries] == list(GAPS)


def test_parameters_of_the_reference_plan(reference):
    assert reference["sigma"] == pytest.approx(7.18968878514, rel=1e-11)
    assert reference["sensitivity"] == pytest.approx(1.806931952418915, rel=5e-16)
    assert reference["p_rand"] == pytest.approx(0.999894645035, abs=5e-13)
    assert reference["epsilon"] == pytest.approx(0.2726700105, abs=5e-11)
    assert reference["mu"] == pytest.approx(reference["sensitivity"] / reference["sigma"], rel=1e-14)
    assert reference["odds_cap"] == pytest.approx(math.exp(reference["epsilon"]), rel=1e-14)


@pytest.mark.parametrize(
    ("k", "linear", "same", "different", "exponential"),
    [
        (2, 0.2, 0.1984, 0.1411, 0.1982),
        (5, 0.5, 0.4702, 0.2213, 0.4658),
        (10, 1.0, 0.7911, 0.3089, 0.7721),
    ],
)
def test_group_rows_of_the_reference_plan(reference, k, linear, same, different, exponential):
    entry = reference["group"][k - 1]
    assert entry["linear"] == pytest.approx(linear, rel=1e-15)
    assert entry["same_counter"] == pytest.approx(same, abs=5e-5)
    assert entry["different_targets"] == pytest.approx(different, abs=5e-5)
    assert entry["exponential"] == pytest.approx(exponential, abs=5e-5)


def test_reports_about_one_target_that_are_apart_cost_less(reference):
    entries = reference["group_separated"]
    assert [(entry["separation"], entry["k"]) for entry in entries] == [
        (b, k) for b in (4, 13, 52) for k in range(1, 11)
    ]
    column = privacy.toeplitz_coefficients(1000)
    same = {entry["k"]: entry["same_counter"] for entry in reference["group"]}
    for entry in entries:
        k, b, value = entry["k"], entry["separation"], entry["tca"]
        assert value == privacy.separated_group_delta(0.1, column, k, b)
        assert value < same[k] if k > 1 else value == pytest.approx(0.1)
    documented = {(entry["separation"], entry["k"]): round(entry["tca"], 4) for entry in entries}
    assert [documented[b, 2] for b in (4, 13, 52)] == [0.1818, 0.1755, 0.1676]
    assert [documented[b, 5] for b in (4, 13, 52)] == [0.3992, 0.3735, 0.3378]


def test_reports_that_do_not_fit_into_the_horizon_have_no_bound():
    entries = make_plan(10, 53, 0.1).summary()["group_separated"]
    known = {
        b: max(e["k"] for e in entries if e["separation"] == b and e["tca"] is not None) for b in (4, 13, 52)
    }
    assert known == {4: 10, 13: 5, 52: 2}  # the first period and every b-th after it
    assert make_plan(10, 4, 0.1).summary()["group_separated"] == []


def test_leads_by_run_length_are_those_of_plans_at_these_run_lengths():
    plan = make_plan(20, 100, 0.1, run_length=7)
    table = lead_table(plan, crossing_table(plan)).set_index(["programme", "mechanism", "run_length"])["lead"]
    for length in (1, 10, 100):
        part = make_plan(20, 100, 0.1, run_length=length).gap_for_90
        for key in MECHANISM_KEYS:
            lead = table["part", key, length]
            assert (None if pd.isna(lead) else lead) == part[key]
        assert table["whole", "tca", length] == make_plan(20, length, 0.1).gap_for_90["tca"]


def test_errors_and_leads_of_the_reference_plan(reference):
    errors = reference["misselection"]
    assert probability(errors["tca"], 20) == pytest.approx(0.7366, abs=5e-5)
    assert probability(errors["tca"], 50) == pytest.approx(0.0735, abs=5e-5)
    assert probability(errors["exponential"], 10) == pytest.approx(0.762, abs=5e-4)
    assert probability(errors["exponential"], 15) == pytest.approx(0.451, abs=5e-4)
    assert probability(reference["lower_bound"], 5) == pytest.approx(0.98 - 0.5)
    leads = reference["gap_for_90"]
    assert (leads["greedy"], leads["uniform"], leads["rr"]) == (1, None, None)
    assert leads["exponential"] == math.ceil(math.log(9 * 49) / reference["epsilon"])


@pytest.mark.parametrize(("length", "gap", "tca"), [(1, 10, 0.400), (5, 15, 0.436)])
def test_short_programmes_where_the_counter_is_better(length, gap, tca):
    errors = make_plan(50, length, 0.1).summary()["misselection"]
    assert probability(errors["tca"], gap) == pytest.approx(tca, abs=5e-4)
    assert probability(errors["tca"], gap) < probability(errors["exponential"], gap)


@pytest.mark.parametrize(
    ("key", "name"), [("tca", "toeplitz"), ("binary_tree",) * 2, ("blt",) * 2, ("independent",) * 2]
)
def test_every_counter_is_calibrated_with_its_own_sensitivity(key, name):
    plan = make_plan(10, 64, 0.2, run_length=12)
    one = counter(name)()
    noise = privacy.sigma_for_delta(0.2, one.sensitivity(64)) * one.noise_std(12, 64)
    assert plan.noise_std(key) == noise
    expected = privacy.counter_misselection(10.0, noise, 10)
    assert probability(plan.summary()["misselection"][key], 10) == pytest.approx(expected, rel=1e-14)


def test_run_length_is_the_horizon_by_default_and_changes_only_counters():
    whole, short = make_plan(20, 100, 0.1), make_plan(20, 100, 0.1, run_length=12)
    assert whole.summary() == make_plan(20, 100, 0.1, run_length=100).summary()
    assert whole.gap_for_90["tca"] > short.gap_for_90["tca"]
    assert whole.gap_for_90["exponential"] == short.gap_for_90["exponential"]
    assert make_plan(20, 52, 0.1, run_length=12).gap_for_90["tca"] == 28


def test_one_target_is_never_missed():
    plan = make_plan(1, 10, 0.1)
    assert set(plan.gap_for_90.values()) == {0}
    assert not any(errors.any() for errors in plan.misselection.values())


def test_run_lengths_end_with_the_horizon():
    assert run_lengths(1) == [1]
    assert run_lengths(52) == [1, 2, 3, 5, 10, 20, 30, 50, 52]
    assert run_lengths(100) == [1, 2, 3, 5, 10, 20, 30, 50, 100]


@pytest.mark.parametrize(
    ("n_targets", "horizon", "delta"), [(50, 1000, 0.1), (5, 52, 0.1), (25, 104, 0.3), (1000, 20, 0.05)]
)
@pytest.mark.parametrize("whole", [True, False])
def test_crossings_are_those_of_a_full_search(n_targets, horizon, delta, whole):
    plan = make_plan(n_targets, horizon, delta)
    end = math.ceil(math.log((n_targets - 1) / 1e-6) / plan.epsilon)
    leads = np.arange(1.0, end + 1.0)
    exponential = plan.error("exponential", leads)
    for crossing in crossings(plan, whole_programme=whole):
        sigma = privacy.sigma_for_delta(delta, privacy.toeplitz_sensitivity(float(crossing.horizon)))
        noise = sigma * privacy.toeplitz_sensitivity(float(crossing.run_length))
        assert crossing.noise_std == pytest.approx(noise, rel=1e-14)
        counted = privacy.counter_misselection(leads, np.asarray(noise), np.asarray(float(n_targets)))
        ahead = leads[exponential < counted]
        if not ahead.size:
            assert (crossing.exponential_from, crossing.exponential_to) == (None, None)
            continue
        assert crossing.exponential_from == ahead[0]
        assert crossing.exponential_to == (None if ahead[-1] == end else ahead[-1])
        # one stretch, without holes
        assert ahead.size == ahead[-1] - ahead[0] + 1
        assert crossing.counter_gap == (np.flatnonzero(counted <= 0.1)[0] + 1)


@pytest.mark.parametrize("whole", [True, False])
def test_longest_run_for_the_counter_is_where_the_leads_for_90_percent_meet(whole):
    plan = make_plan(200, 40, 0.1)
    longest = longest_run_for_the_counter(plan, whole_programme=whole)
    fits = []
    for length in range(1, 41):
        sigma = privacy.sigma_for_delta(0.1, privacy.toeplitz_sensitivity(float(length if whole else 40)))
        noise = sigma * privacy.toeplitz_sensitivity(float(length))
        lead = privacy.smallest_gap(lambda gap, s=noise: privacy.counter_misselection(gap, s, 200), 0.9)
        fits.append(lead <= plan.gap_for_90["exponential"])
    assert longest == sum(fits)
    assert fits == sorted(fits, reverse=True)
    assert whole is False or 0 < longest < 40


@pytest.mark.parametrize(
    ("arguments", "complaints"),
    [
        ((0, 10, 0.1, None), ["--targets 0"]),
        ((5, -1, 0.1, None), ["--horizon -1"]),
        ((5, 10, 0.0, None), ["--delta 0"]),
        ((5, 10, 1.0, None), ["--delta 1"]),
        ((5, 10, 1.5, None), ["--delta 1.5"]),
        ((5, 10, float("nan"), None), ["--delta nan"]),
        ((5, 10, 0.1, 11), ["--run-length 11: must not exceed the horizon, 10"]),
        ((5, 10, 0.1, 0), ["--run-length 0"]),
        ((2_000_000, 2_000_000, 2.0, -4), ["--targets", "--horizon", "--delta", "--run-length"]),
    ],
)
def test_each_number_out_of_range_gets_one_message(arguments, complaints):
    with pytest.raises(InputError) as caught:
        make_plan(*arguments)
    assert len(caught.value.messages) == len(complaints)
    for message, start in zip(caught.value.messages, complaints, strict=True):
        assert message.startswith(start)


def test_text_that_is_no_number_is_reported_with_all_the_rest_in_order():
    with pytest.raises(InputError) as caught:
        parse_plan("2.5", "0", "high", "1e3")
    starts = [message.split(":")[0] for message in caught.value.messages]
    assert starts == ["--targets 2.5", "--horizon 0", "--delta high", "--run-length 1e3"]
    # a horizon that cannot be read makes no complaint about the run length
    with pytest.raises(InputError) as caught:
        parse_plan("5", "soon", "0.1", "12")
    assert len(caught.value.messages) == 1


def test_typed_numbers_make_the_same_plan():
    assert parse_plan("50", "1000", "0.1", None) == make_plan(50, 1000, 0.1)
