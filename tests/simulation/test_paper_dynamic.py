"""Experiment 2: what is measured, against a plain loop; the stream; the numbers of the paper."""

import numpy as np
import pytest
from scipy import stats

from deniability.agents.auditor.mechanisms import build
from deniability.simulation import paper_dynamic
from deniability.simulation.draws import KeyedDraws
from deniability.simulation.paper_draws import bulk_generator
from deniability.simulation.paper_dynamic import METRICS, report_blocks, run_dynamic
from deniability.simulation.paper_setting import DynamicSetting

ERROR_RATE = 1e-6
SMALL = DynamicSetting(n_targets=6, horizon=40, rate_lead=2.0, rate_other=0.3, seeds=5)
MECHANISMS = ["greedy", "uniform", "rr", "tca", "exponential"]


def stream(setting, seed=1):
    return np.concatenate(list(report_blocks(setting, KeyedDraws(seed))))


@pytest.mark.parametrize("name", MECHANISMS)
def test_running_means_are_those_of_a_plain_loop(name):
    """One seed and one decision at a time, from the same stream."""
    table = run_dynamic(SMALL, [build(name, 0.2, 40)], KeyedDraws(1))
    made = build(name, 0.2, 40)
    made.reset(5, 6, bulk_generator(KeyedDraws(1), f"paper.mechanism.{name}"))
    counts, history = np.zeros((5, 6), dtype=np.int64), []
    for reports in stream(SMALL):
        counts += reports
        audited = made.select(counts)
        row = []
        for seed in range(5):
            most, resolved = counts[seed].max(), counts[seed, audited[seed]]
            row.append((most - resolved, (most - resolved) / (most + 1), resolved))
            counts[seed, audited[seed]] = 0
        history.append(row)
    running = np.cumsum(history, axis=0) / np.arange(1, 41)[:, None, None]  # (step, seed, metric)
    assert table["step"].tolist() == list(range(1, 41))
    for i, metric in enumerate(METRICS):
        values = running[:, :, i]
        assert table[metric].to_numpy() == pytest.approx(values.mean(axis=1))
        half = stats.t.ppf(0.975, 4) * stats.sem(values, axis=1)
        assert table[f"{metric}_low"].to_numpy() == pytest.approx(values.mean(axis=1) - half)
        assert table[f"{metric}_high"].to_numpy() == pytest.approx(values.mean(axis=1) + half)


def test_columns():
    table = run_dynamic(SMALL, [build("greedy", 0.2, 40)], KeyedDraws(1))
    bands = [f"{metric}{end}" for metric in METRICS for end in ("", "_low", "_high")]
    assert list(table.columns) == ["mechanism", "step", *bands]


def test_results_do_not_depend_on_the_size_of_a_block(monkeypatch):
    whole = run_dynamic(SMALL, [build("tca", 0.2, 40)], KeyedDraws(1))
    monkeypatch.setattr(paper_dynamic, "_BLOCK_ELEMENTS", 7 * 5 * 6)
    assert len(list(report_blocks(SMALL, KeyedDraws(1)))) == 6
    pieces = run_dynamic(SMALL, [build("tca", 0.2, 40)], KeyedDraws(1))
    assert np.allclose(whole[list(METRICS)], pieces[list(METRICS)], rtol=1e-12)


def test_a_mechanism_s_numbers_do_not_depend_on_who_else_takes_part():
    both = run_dynamic(SMALL, [build(n, 0.2, 40) for n in ("rr", "tca")], KeyedDraws(1))
    alone = run_dynamic(SMALL, [build("tca", 0.2, 40)], KeyedDraws(1))
    assert both[both["mechanism"] == "tca"].reset_index(drop=True).equals(alone)


@pytest.mark.parametrize("rate_other", [0.2, 0.8])  # either way of drawing
def test_reports_are_poisson(rate_other):
    setting = DynamicSetting(n_targets=5, horizon=4_000, rate_lead=1.5, rate_other=rate_other, seeds=2)
    reports = stream(setting).reshape(-1, 5)
    for target, rate in enumerate([1.5] + [rate_other] * 4):
        seen = np.bincount(np.minimum(reports[:, target], 4), minlength=5)
        law = stats.poisson(rate)
        expected = np.append(law.pmf(range(4)), law.sf(3)) * len(reports)
        assert stats.chisquare(seen, expected).pvalue > ERROR_RATE
    # targets and successive periods are independent
    assert stats.pearsonr(reports[:, 1], reports[:, 2]).pvalue > ERROR_RATE
    assert stats.pearsonr(reports[:-2, 3], reports[2:, 3]).pvalue > ERROR_RATE


@pytest.mark.parametrize(("lead", "other"), [(0.0, 0.0), (0.0, 0.4), (3.0, 0.0)])
def test_rates_may_be_zero(lead, other):
    reports = stream(DynamicSetting(4, 50, lead, other, 3))
    assert reports.shape == (50, 3, 4)
    assert np.any(reports[:, :, 0]) == (lead > 0)
    assert np.any(reports[:, :, 1:]) == (other > 0)


def test_one_seed_has_no_interval():
    table = run_dynamic(DynamicSetting(4, 5, seeds=1), [build("uniform", 0.2, 5)], KeyedDraws(1))
    assert table["deficit"].notna().all()
    assert table["deficit_low"].isna().all()


def test_greedy_has_no_deficit():
    table = run_dynamic(SMALL, [build("greedy", 0.2, 40)], KeyedDraws(1))
    assert (table[["deficit", "normalized_deficit"]] == 0.0).all(axis=None)


@pytest.mark.slow
def test_final_mean_deficits_of_the_paper_s_setting():
    """To expect over 100 seeds: greedy 0, exponential 4.9, TCA 12.0, RR and uniform about 50."""
    table = run_dynamic(DynamicSetting(), [build(n, 0.1, 1000) for n in MECHANISMS], KeyedDraws(1))
    final = table[table["step"] == 1000].set_index("mechanism")
    assert final["deficit"]["greedy"] == 0.0
    assert final["deficit"]["exponential"] == pytest.approx(4.9, abs=0.1)
    assert final["deficit"]["tca"] == pytest.approx(12.0, abs=0.3)
    assert final["deficit"]["rr"] == pytest.approx(50.0, abs=7.0)
    assert final["deficit"]["uniform"] == pytest.approx(50.0, abs=7.0)
    # what is reported is resolved sooner or later: 10.8 reports arrive per decision
    assert ((final["resolved"] > 10.0) & (final["resolved"] < 10.8)).all()
