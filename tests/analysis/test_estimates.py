"""Estimates from runs: the seed is the unit, intervals cover, what is missing is named."""

import numpy as np
import pandas as pd
import pytest

from deniability.analysis.borrowing import borrowed
from deniability.analysis.estimates import available_metrics, estimate, estimates
from deniability.analysis.group_estimates import group_estimates
from deniability.analysis.intervals import cluster_wilson, t_interval, wilson_bounds
from deniability.analysis.results import Results
from deniability.analysis.slices import reference_slice
from deniability.scenarios.errors import InputError

from .made_up_batch import make_groups, make_runs


def beta_binomial(rng, n_sets, n_runs, rate, within, size):
    """Counts (data sets, runs): outcomes of a run correlate by `within`."""
    concentration = 1 / within - 1
    p = rng.beta(rate * concentration, (1 - rate) * concentration, (n_sets, n_runs))
    return rng.binomial(size, p)


def as_runs(counts, size, metric="retaliation_rate"):
    """One table with a cell of a made-up key for each data set."""
    n_sets, n_runs = counts.shape
    return pd.DataFrame(
        {
            "run_id": [f"{i}-{j}" for i in range(n_sets) for j in range(n_runs)],
            "made.up": np.repeat(np.arange(n_sets), n_runs),
            "seed": np.tile(np.arange(n_runs), n_sets),
            f"{metric}_numerator": counts.ravel(),
            f"{metric}_denominator": size,
        }
    )


def test_a_cell_is_estimated_from_its_runs():
    runs = make_runs(8)
    row = estimates(runs, ["retaliation_rate"]).query(
        "`auditor.mechanism` == 'tca' and `auditor.delta` == 0.1"
    )
    mine = runs[(runs["auditor.mechanism"] == "tca") & (runs["auditor.delta"] == 0.1)]
    one = cluster_wilson(mine["retaliation_rate_numerator"], mine["retaliation_rate_denominator"])
    assert row[["value", "low", "high", "error", "n_runs"]].iloc[0].tolist() == [
        one.value,
        one.low,
        one.high,
        one.error,
        8,
    ]
    assert row["numerator"].iloc[0] == mine["retaliation_rate_numerator"].sum()
    assert row["denominator"].iloc[0] == 8 * 40


def test_every_kind_of_metric_has_its_interval():
    table = estimates(make_runs(8, ["tca"], [0.1])).set_index("metric")
    methods = table["method"]
    assert methods["retaliation_rate"] == "cluster wilson"
    assert methods["weeks_to_audit"] == "cluster bootstrap"
    assert methods["excess_retaliation"] == "paired Wilson intervals"  # few non-reporters were hit
    many = estimates(make_runs(60, ["tca"], [0.1]), ["excess_retaliation"])
    assert list(many["method"]) == ["paired cluster bootstrap"]
    assert methods["harm"] == methods["reports"] == methods["final_fear"] == "t"
    expected = table["value"]["retaliation_rate"] - table["value"]["false_retaliation_rate"]
    assert table["value"]["excess_retaliation"] == pytest.approx(expected)


def test_an_interval_ends_where_its_metric_does():
    """Two runs with harm 1 and 9 are 5 ± 50.8 by Student, and there is no harm below 0; no fear above 1 either."""
    runs = pd.DataFrame({"run_id": ["a", "b"], "seed": [1, 2], "harm": [1.0, 9.0], "final_fear": [0.5, 0.9]})
    harm, fear = estimate(runs, "harm"), estimate(runs, "final_fear")
    free = t_interval([1.0, 9.0])
    assert free.low < 0
    assert (harm.low, harm.high) == (0.0, free.high)
    assert (fear.low, fear.high) == (0.0, 1.0)


def test_cells_that_share_seeds_add_no_runs():
    """Greedy ignores delta: its four cells hold the same runs four times, and know no more than one cell."""
    runs = make_runs(9, ["greedy"])
    pooled = estimate(runs, "retaliation_rate")
    one = estimate(runs[runs["auditor.delta"] == 0.1], "retaliation_rate")
    assert pooled.n_runs == one.n_runs == 9
    assert (pooled.value, pooled.error) == pytest.approx((one.value, one.error))
    assert pooled.high - pooled.low == pytest.approx(one.high - one.low)
    # negative control: taken as 36 runs they would seem to know twice as much
    naive = cluster_wilson(runs["retaliation_rate_numerator"], runs["retaliation_rate_denominator"])
    assert naive.n_runs == 36
    assert naive.high - naive.low < 0.6 * (pooled.high - pooled.low)


def test_levels_are_averaged_within_a_seed():
    runs = make_runs(6)
    per_seed = runs.groupby("seed")["harm"].mean()
    found, expected = estimate(runs, "harm"), t_interval(per_seed.to_numpy())
    assert (found.value, found.low, found.n_runs) == pytest.approx((expected.value, expected.low, 6))


def test_without_seeds_the_replicate_and_else_the_run_is_the_unit():
    runs = make_runs(6, ["tca"])
    assert estimate(runs.drop(columns="seed"), "harm").n_runs == 6
    assert estimate(runs.drop(columns=["seed", "replicate"]), "harm").n_runs == 24


def test_failed_runs_count_for_nothing():
    runs = make_runs(6, ["tca"], [0.1])
    broken = runs.assign(
        status=["failed", *["done"] * 5],
        retaliation_rate_numerator=[np.nan, *runs["retaliation_rate_numerator"][1:]],
    )
    assert estimate(broken, "retaliation_rate") == estimate(runs.iloc[1:], "retaliation_rate")


def test_a_missing_column_is_named():
    runs = make_runs(3).drop(columns="retaliation_rate_denominator")
    with pytest.raises(InputError, match="no column 'retaliation_rate_denominator'"):
        estimates(runs, ["retaliation_rate"])
    with pytest.raises(InputError, match=r"no column 'no\.such'"):
        estimates(runs, ["harm"], by=["no.such"])
    assert "retaliation_rate" not in available_metrics(runs)
    assert "excess_retaliation" not in available_metrics(runs)  # made from it
    assert "weeks_to_audit" in available_metrics(runs)


def test_a_column_of_words_is_refused():
    with pytest.raises(InputError, match="'harm' must hold numbers"):
        estimate(make_runs(2).assign(harm="much"), "harm")


def test_no_runs_give_no_rows():
    assert len(estimates(make_runs(2).iloc[:0])) == 0


def test_undefined_is_missing_and_not_zero():
    runs = make_runs(4, ["tca"], [0.1]).assign(retaliation_rate_numerator=0, retaliation_rate_denominator=0)
    row = estimates(runs, ["retaliation_rate", "excess_retaliation"])
    assert row["value"].isna().all()
    assert (row["numerator"].iloc[0], row["denominator"].iloc[0]) == (0, 0)


def test_one_run_has_an_interval_within_it_and_no_error():
    row = estimates(make_runs(1, ["tca"], [0.1]), ["retaliation_rate", "harm"]).set_index("metric")
    assert row["method"].tolist() == ["wilson", "t"]
    assert row["error"].isna().all()
    assert np.isnan(row["low"]["harm"])


def test_pooled_rates_cover():
    """20 runs of 40 outcomes that correlate by 0.1. 95 % coverage of 2000 data sets leaves 93-97 % with p < 1e-4."""
    rng = np.random.default_rng(1)
    counts = beta_binomial(rng, 2000, 20, 0.25, 0.1, 40)
    table = estimates(as_runs(counts, 40), ["retaliation_rate"])
    covered = (table["low"] <= 0.25) & (table["high"] >= 0.25)
    assert 0.93 <= covered.mean() <= 0.97
    # negative control: outcomes taken as independent
    low, high = wilson_bounds(counts.sum(axis=1), 800)
    assert ((low <= 0.25) & (high >= 0.25)).mean() < 0.75


@pytest.mark.slow
def test_a_rate_of_nothing_borrows_the_spread_of_its_like():
    """Rare outcomes beside common ones of the same unit: intervals still cover, and say more than "a run is one"."""
    rng = np.random.default_rng(2)
    n_sets, n_runs, size = 300, 20, 40
    rare, covered, shorter, zeros = 0.002, [], [], 0
    common = beta_binomial(rng, n_sets, n_runs, 0.3, 0.1, size)
    seldom = beta_binomial(rng, n_sets, n_runs, rare, 0.1, size)
    # each data set by itself, since a table lends its largest design effect
    for one, other in zip(common, seldom, strict=True):
        table = estimates(as_runs(np.vstack([one, other]), size), ["retaliation_rate"])
        row = table.iloc[1]
        covered.append(row["low"] <= rare <= row["high"])
        if row["numerator"] == 0:
            zeros += 1
            assert row["method"].endswith("borrowed design effect")
            shorter.append(row["high"] / cluster_wilson(other, np.full(n_runs, size)).high)
    assert zeros > 50
    # 2.5 standard errors of 300 data sets below 95 %
    assert np.mean(covered) >= 0.918
    assert max(shorter) < 0.5


def test_nothing_is_borrowed_where_nobody_lends():
    counts = np.zeros((2, 10), dtype=int)
    table = estimates(as_runs(counts, 40), ["retaliation_rate"])
    assert table["method"].tolist() == ["cluster wilson"] * 2
    assert table["high"].iloc[0] == cluster_wilson(counts[0], np.full(10, 40)).high
    # another unit lends nothing
    other = as_runs(beta_binomial(np.random.default_rng(3), 2, 10, 0.3, 0.1, 40), 40, "misselection_rate")
    both = pd.concat([table, estimates(other, ["misselection_rate"])], ignore_index=True)
    pd.testing.assert_frame_equal(borrowed(both), both)


def test_groups_are_tied_to_cells_by_their_runs():
    runs = make_runs(6)
    groups = make_groups(runs)
    table = group_estimates(groups, runs, "anonymity_set")
    assert list(dict.fromkeys(table["level"])) == ["2-3", "8-15", "64+"]
    row = table.query("`auditor.mechanism` == 'greedy' and `auditor.delta` == 0.4 and level == '2-3'").iloc[0]
    mine = groups[groups["run_id"].str.startswith("greedy-0.4") & (groups["level"] == "2-3")]
    assert (row["numerator"], row["denominator"]) == (mine["numerator"].sum(), mine["denominator"].sum())
    assert row["n_runs"] == 6


def test_groups_of_other_runs_are_left_out():
    runs = make_runs(4)
    few = runs[runs["auditor.mechanism"] == "tca"]
    table = group_estimates(make_groups(runs), few, "lab", ["retaliation_rate"], by=[])
    assert table["rows"].tolist() == [len(few)] * 2
    assert len(group_estimates(make_groups(runs), few, "channel")) == 0
    with pytest.raises(InputError, match="'groups' has no column 'level'"):
        group_estimates(make_groups(runs).drop(columns="level"), few, "lab")


def test_every_table_of_a_study_gives_a_cell_the_same_interval():
    """Nobody identified under uniform: the whole sweep and its reference slice borrow from the same cells."""
    runs = make_runs(12)
    part = reference_slice(Results("batch", "made-up", {}, {"runs": runs}))
    keys = ["auditor.mechanism", "auditor.delta"]
    whole = estimates(runs, by=keys).set_index([*keys, "metric"])
    slice_ = estimates(part.runs, by=keys, lent=part.lent).set_index([*keys, "metric"])
    extreme = slice_[slice_["method"] == "cluster wilson, borrowed design effect"]
    assert len(extreme)
    pd.testing.assert_frame_equal(slice_[["low", "high"]], whole.loc[slice_.index, ["low", "high"]])
    # without what the sweep lends, a slice has fewer cells to borrow from
    alone = estimates(part.runs, by=keys).set_index([*keys, "metric"])
    assert not alone["high"].equals(slice_["high"])


def test_pooled_cells_borrow_only_from_cells_pooled_alike():
    """A seed that carries twenty cells shares its luck over all: a single cell's design effect is too small."""
    rng = np.random.default_rng(5)
    luck = np.repeat(rng.beta(0.4, 19.6, 10), 20)
    runs = pd.DataFrame(
        {
            "run_id": [f"r{i}" for i in range(200)],
            "seed": np.repeat(np.arange(10), 20),
            "a.key": np.tile(np.linspace(0.0, 1.0, 20), 10),
            "retaliation_rate_numerator": rng.binomial(100, luck),
            "retaliation_rate_denominator": 100,
            "strong_identification_rate_numerator": 0,
            "strong_identification_rate_denominator": 100,
        }
    )
    runs["retaliation_rate_transcript_numerator"] = 0
    runs["retaliation_rate_transcript_denominator"] = 100
    part = reference_slice(Results("batch", "made-up", {}, {"runs": runs}))
    assert part.pooled == ("a.key",)
    table = estimates(part.runs, by=[], lent=part.lent).set_index("metric")
    lender, poor = table.loc["retaliation_rate"], table.loc["retaliation_rate_transcript"]
    effect = lender["error"] ** 2 * 20_000 / (lender["value"] * (1 - lender["value"]))
    assert effect > 20
    _, high = wilson_bounds(0, 20_000 / effect)
    assert poor["high"] > high  # Student's quantile for ten seeds, and no fewer than ten outcomes


def test_shares_and_waits_of_groups_end_where_they_must():
    runs = pd.DataFrame(
        {
            "run_id": ["a", "b", "c"],
            "seed": [1, 2, 3],
            "mean_normalized_deficit_numerator": [0.0, 1.0, 30.0],
            "mean_normalized_deficit_denominator": [1.0, 1.0, 60.0],
        }
    )
    share = estimate(runs, "mean_normalized_deficit")
    assert 0.0 <= share.low < share.high <= 1.0
    groups = pd.DataFrame(
        {
            "run_id": ["a", "b", "c"],
            "dimension": "lab",
            "level": "lab-a",
            "metric": "weeks_to_audit",
            "numerator": [1.0, 40.0, 2.0],
            "denominator": [1.0, 2.0, 1.0],
        }
    )
    assert group_estimates(groups, runs, "lab", by=[])["low"].iloc[0] == 0.0
