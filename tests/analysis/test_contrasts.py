"""Contrasts on common random numbers: pairs by seed, intervals that cover, what the sweep lacks is not made up."""

import numpy as np
import pandas as pd
import pytest

from deniability.analysis.contrasts import (
    RETALIATION_KEY,
    advantages,
    contrast,
    contrasts,
    deterrence,
    group_contrast,
    is_told_apart,
    mechanism_contrasts,
)
from deniability.analysis.intervals import Estimate, cluster_wilson, paired_t

from .made_up_batch import make_groups, make_runs


def part(runs, mechanism, delta=0.1):
    return runs[(runs["auditor.mechanism"] == mechanism) & (runs["auditor.delta"] == delta)]


def test_the_difference_is_that_of_the_pooled_rates():
    runs = make_runs(10)
    one, other = part(runs, "tca"), part(runs, "greedy")
    found = contrast(one, other, "retaliation_rate")
    expected = one["retaliation_rate_numerator"].sum() / 400 - other["retaliation_rate_numerator"].sum() / 400
    assert found.value == pytest.approx(expected)
    assert found.n_runs == 10


def test_pairs_go_by_seed_and_not_by_place():
    runs = make_runs(10)
    one, other = part(runs, "tca"), part(runs, "greedy")
    shuffled = other.sample(frac=1, random_state=1)
    for metric in ("retaliation_rate", "restricted_weeks_to_audit", "harm"):
        assert contrast(one, shuffled, metric) == contrast(one, other, metric)


def test_only_seeds_that_both_have_make_pairs():
    runs = make_runs(10)
    one, other = part(runs, "tca").iloc[:7], part(runs, "greedy").iloc[3:]
    assert contrast(one, other, "harm") == paired_t(one["harm"][3:], other["harm"][:4])
    assert contrast(one.iloc[:2], other, "harm").method == "no pairs"
    alone = contrast(*(side.drop(columns=["seed", "replicate"]) for side in (one, other)), "harm")
    assert (alone.value, alone.n_runs) == (None, 0)


def test_paired_intervals_cover_and_unpaired_ones_are_too_long():
    """Runs of a seed share their luck. 95 % coverage of 500 data sets leaves 92-98 % with p < 0.003."""
    rng = np.random.default_rng(4)
    n_sets, n_pairs, size = 500, 20, 60
    luck = rng.beta(4, 4, (n_sets, n_pairs))
    rates = {"a": 0.6 * luck, "b": 0.4 * luck}
    rows = [
        pd.DataFrame(
            {
                "run_id": [f"{name}{i}-{j}" for i in range(n_sets) for j in range(n_pairs)],
                "auditor.mechanism": name,
                "made.up": np.repeat(np.arange(n_sets), n_pairs),
                "seed": np.tile(np.arange(n_pairs), n_sets),
                "retaliation_rate_numerator": rng.binomial(size, p).ravel(),
                "retaliation_rate_denominator": size,
            }
        )
        for name, p in rates.items()
    ]
    table = mechanism_contrasts(pd.concat(rows, ignore_index=True), ["retaliation_rate"])
    assert len(table) == n_sets
    covered = (table["low"] <= 0.1) & (table["high"] >= 0.1)
    assert 0.92 <= covered.mean() <= 0.98
    # negative control: the same data without pairs
    first, second = (
        rows[0]["retaliation_rate_numerator"][:n_pairs],
        rows[1]["retaliation_rate_numerator"][:n_pairs],
    )
    sides = [cluster_wilson(counts, np.full(n_pairs, size)) for counts in (first, second)]
    unpaired = np.hypot(*(side.high - side.low for side in sides))
    assert unpaired > 1.5 * (table["high"] - table["low"]).median()


def test_other_keys_are_held_equal():
    runs = make_runs(5)
    table = mechanism_contrasts(runs, ["retaliation_rate"], [("tca", "greedy")])
    assert table["auditor.delta"].tolist() == [0.05, 0.1, 0.2, 0.4]
    assert set(table["key"]) == {"auditor.mechanism"}
    by_delta = contrasts(runs, "auditor.delta", ["harm"], [(0.4, 0.05)])
    assert sorted(by_delta["auditor.mechanism"]) == ["exponential", "greedy", "rr", "tca", "uniform"]
    same = by_delta[by_delta["auditor.mechanism"] == "greedy"].iloc[0]
    assert (same["value"], same["low"], same["high"]) == (0.0, 0.0, 0.0)
    assert not is_told_apart(same)


def test_every_pair_of_values_is_compared_once():
    table = mechanism_contrasts(make_runs(3, deltas=[0.1]), ["harm"])
    assert len(table) == 10
    assert len({frozenset(pair) for pair in zip(table["first"], table["second"], strict=True)}) == 10


def test_deterrence_needs_the_world_without_retaliation():
    runs = make_runs(4, ["tca"], [0.1])
    assert len(deterrence(runs)) == 0
    assert len(deterrence(runs.assign(**{RETALIATION_KEY: 0.3}))) == 0
    spared = runs.assign(
        run_id=runs["run_id"] + "-spared", reporting_rate_numerator=runs["reporting_rate_denominator"]
    )
    both = pd.concat([runs.assign(**{RETALIATION_KEY: 0.3}), spared.assign(**{RETALIATION_KEY: 0.0})])
    table = deterrence(both.reset_index(drop=True), ["reporting_rate"])
    assert table[["first", "second"]].values.tolist() == [[0.3, 0.0]]
    expected = runs["reporting_rate_numerator"].sum() / runs["reporting_rate_denominator"].sum() - 1
    assert table["value"].iloc[0] == pytest.approx(expected)


def test_levels_are_compared_within_runs():
    runs = make_runs(10, ["greedy"], [0.1])
    groups = make_groups(runs)
    found = group_contrast(groups, runs, "retaliation_rate", "2-3", "64+")
    sums = groups.groupby("level")["numerator"].sum()
    assert found.value == pytest.approx((sums["2-3"] - sums["64+"]) / 120)
    assert is_told_apart(found)
    assert group_contrast(groups, runs, "retaliation_rate", "2-3", "1").value is None


def test_the_worst_case_advantage_is_a_difference_within_runs():
    runs = make_runs(10, ["tca", "uniform"], [0.2])
    table = advantages(runs, ["auditor.mechanism"]).set_index("auditor.mechanism")
    mine = part(runs, "tca", 0.2)
    rates = [
        mine[f"{name}_numerator"].sum() / mine[f"{name}_denominator"].sum()
        for name in ("strong_identification_rate", "strong_false_alarm_rate")
    ]
    assert table["value"]["tca"] == pytest.approx(rates[0] - rates[1])
    # nobody is identified and nobody wrongly: an interval around 0 that is no point, and shorter than 2 x 28 %
    assert table["value"]["uniform"] == 0
    assert -0.2 < table["low"]["uniform"] < 0 < table["high"]["uniform"] < 0.2
    assert len(advantages(runs.drop(columns="strong_false_alarm_rate_numerator"), [])) == 0


@pytest.mark.parametrize(
    ("low", "high", "apart"), [(0.1, 0.2, True), (-0.2, -0.1, True), (0.0, 0.1, False), (None, None, False)]
)
def test_apart_means_zero_outside(low, high, apart):
    assert is_told_apart(Estimate(0.1, low, high, None, 5, "")) is apart
