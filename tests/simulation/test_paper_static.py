"""Experiment 1: the exact probabilities are the known ones, and the trials agree with them.

Statistical tests fail a correct program with probability 1e-6 each (`ERROR_RATE`).
"""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from deniability.agents.auditor.mechanisms import build
from deniability.simulation.draws import KeyedDraws
from deniability.simulation.paper import PaperResult, contenders
from deniability.simulation.paper_setting import PaperSetting, StaticSetting
from deniability.simulation.paper_static import (
    exact_crossing,
    exact_curves,
    exact_misselection,
    run_static,
)

ERROR_RATE = 1e-6
SMALL = StaticSetting(
    n_targets=(5, 20), run_lengths=(1, 10), deltas=(0.1, 0.4), gaps=(0, 3, 10, 30), trials=400
)
COLUMNS = [
    "n_targets",
    "run_length",
    "delta",
    "gap",
    "mechanism",
    "trials",
    "misselections",
    "misselection",
    "exact",
]


@pytest.fixture(scope="module")
def points():
    return run_static(SMALL, contenders(), KeyedDraws(1))


def test_every_mechanism_and_counter_takes_part_best_first():
    assert contenders() == [
        ("greedy", "toeplitz"),
        ("exponential", "toeplitz"),
        ("tca", "toeplitz"),
        ("tca", "blt"),
        ("tca", "binary_tree"),
        ("tca", "independent"),
        ("rr", "toeplitz"),
        ("uniform", "toeplitz"),
    ]


def test_the_grid_of_the_paper():
    assert len(list(StaticSetting().cells())) == 4 * 3 * 3
    assert StaticSetting().gaps == (0, 2, 5, 10, 15, 20, 30, 40, 50, 60, 80, 100)
    assert StaticSetting().trials == 1000


@pytest.mark.parametrize(
    ("n_targets", "run_length", "gap", "exact"),
    [
        (10, 100, 10, 0.6613),
        (10, 100, 20, 0.3308),
        (10, 100, 50, 0.0018),
        (50, 1000, 20, 0.7366),
        (50, 1000, 50, 0.0735),
    ],
)
def test_exact_reference_values_of_tca(n_targets, run_length, gap, exact):
    (value,) = exact_misselection(build("tca", 0.1, run_length), [gap], run_length, n_targets)
    assert value == pytest.approx(exact, abs=5e-5)


def test_exact_values_of_the_others():
    gaps = [0, 10]
    assert exact_misselection(build("greedy", 0.1, 9), gaps, 9, 10) == pytest.approx([0.9, 0.0])
    assert exact_misselection(build("uniform", 0.1, 9), gaps, 9, 10) == pytest.approx([0.9, 0.9])
    rr = build("rr", 0.1, 9)
    assert exact_misselection(rr, gaps, 9, 10) == pytest.approx([0.9, 0.9 * 0.9 ** (1.0 / 9.0)])
    odds = np.exp(10 * 0.2726700105)
    assert exact_misselection(build("exponential", 0.1, 9), gaps, 9, 50)[1] == pytest.approx(49 / (odds + 49))


def test_columns_and_rows(points):
    assert list(points.columns) == COLUMNS
    assert len(points) == 2 * 2 * 2 * 4 * 8
    assert not points.isna().any(axis=None)
    assert np.array_equal(points["misselection"], points["misselections"] / points["trials"])


def test_trials_agree_with_the_exact_probabilities(points):
    for name, row in PaperResult(PaperSetting(static=SMALL), points, points).agreement().items():
        assert row["points"] >= 4, name
        assert row["p_value"] > ERROR_RATE, name
    certain = points[(points["exact"] < 1e-12)]
    assert len(certain)
    assert (certain["misselections"] == 0).all()


def test_disagreement_would_be_seen(points):
    """Negative control: probabilities a twentieth off."""
    wrong = points.assign(exact=points["exact"] * 0.95)
    result = PaperResult(PaperSetting(static=SMALL), wrong, wrong).agreement()
    assert result["uniform"]["p_value"] < ERROR_RATE


def test_points_are_independent(points):
    """Deviations of neighbouring gaps do not move together, within the error rate."""
    rows = points[(points["mechanism"] == "uniform")]
    deviation = (rows["misselection"] - rows["exact"]).to_numpy().reshape(-1, 4)
    assert stats.pearsonr(deviation[:, 0], deviation[:, 1]).pvalue > ERROR_RATE


def test_a_point_does_not_depend_on_the_rest_of_the_grid(points):
    alone = run_static(replace(SMALL, n_targets=(20,), deltas=(0.4,)), contenders()[1:3], KeyedDraws(1))
    joined = alone.merge(points, on=COLUMNS, how="left", indicator=True)
    assert (joined["_merge"] == "both").all()


def test_no_private_mechanism_is_below_the_bound():
    curves = exact_curves(SMALL, contenders())
    key = ["n_targets", "run_length", "delta", "gap"]
    bound = curves[curves["mechanism"] == "lower_bound"].set_index(key)["exact"]
    for name, rows in curves.groupby("mechanism"):
        excess = rows.set_index(key)["exact"] - bound
        if name == "greedy":
            assert excess.min() < -0.5  # the bound is not empty
        else:
            assert excess.min() > -1e-12, name


def test_curves_pass_through_the_exact_points(points):
    key = COLUMNS[:5]
    joined = points.merge(exact_curves(SMALL, contenders()), on=key, suffixes=("", "_curve"))
    assert len(joined) == len(points)
    assert np.allclose(joined["exact"], joined["exact_curve"])


def test_curves_look_smooth():
    """Between the gaps drawn no curve is further from its chord than 0.003, a third of its width on paper."""
    setting = StaticSetting(n_targets=(10, 200), run_lengths=(10, 1000))
    curves = exact_curves(setting, contenders())
    every = list(range(101))

    def furthest(step):
        distance = 0.0
        for (n_targets, length, delta, label), rows in curves.groupby(COLUMNS[:3] + COLUMNS[4:5]):
            if label == "lower_bound":
                continue
            name, _, counter = str(label).partition("-")
            exact = exact_misselection(
                build(name, delta, length, counter or "toeplitz"), every, length, n_targets
            )
            drawn = rows if step is None else rows[(rows["gap"] <= 20) | (rows["gap"] % step == 0)]
            distance = max(distance, np.abs(np.interp(every, drawn["gap"], drawn["exact"]) - exact).max())
        return distance

    assert furthest(None) < 0.003
    assert furthest(4) > 0.01  # control: kinks that can be seen


def test_where_the_counter_and_the_exponential_mechanism_cross():
    table = exact_crossing(50, 0.1, (10, 15), (1, 5, 100)).set_index(["run_length", "gap", "mechanism"])[
        "exact"
    ]
    assert table[1, 10, "tca"] == pytest.approx(0.400, abs=5e-4)
    assert table[1, 10, "exponential"] == pytest.approx(0.762, abs=5e-4)
    assert table[5, 15, "tca"] == pytest.approx(0.436, abs=5e-4)
    assert table[5, 15, "exponential"] == pytest.approx(0.451, abs=5e-4)
    assert table[100, 15, "tca"] > table[100, 15, "exponential"]
