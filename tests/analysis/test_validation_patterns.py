"""Verdicts follow from intervals, and estimates from the sums of runs."""

from io import StringIO

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from deniability.analysis.intervals import Estimate
from deniability.analysis.validation import PATTERNS, VARIANTS, judge, pattern_table
from deniability.analysis.validation_account import range_text, validation_account, value_text
from deniability.analysis.validation_figure import patterns_figure

QUANTITIES = (
    "reporting",
    "late_reporting",
    "retaliation",
    "swift",
    "fear_of_silent",
    "volume",
    "again_if_hit",
    "again_if_spared",
)


def estimate(low: float | None, high: float | None) -> Estimate:
    value = None if low is None or high is None else (low + high) / 2
    return Estimate(value, low, high, None, 10, "made up")


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (0.2, 0.4, "holds"),
        (0.1, 0.5, "holds"),  # the limits belong to the range
        (0.05, 0.2, "undecided"),
        (0.4, 0.6, "undecided"),
        (0.0, 0.9, "undecided"),
        (0.0, 0.09, "fails"),
        (0.51, 0.6, "fails"),
        (None, None, "undefined"),
    ],
)
def test_a_verdict_is_about_the_whole_interval(low: float | None, high: float | None, verdict: str) -> None:
    assert judge(estimate(low, high), 0.1, 0.5) == verdict


def test_a_range_may_be_open() -> None:
    assert judge(estimate(0.1, 5.0), 0.0, None) == "holds"
    assert judge(estimate(-0.1, 5.0), 0.0, None) == "undecided"
    assert judge(estimate(-0.2, -0.1), 0.0, None) == "fails"
    assert judge(estimate(-9.0, 0.0), None, 0.0) == "holds"


def made_up(n_runs: int = 20, **default: tuple[float, float]) -> pd.DataFrame:
    """Runs of every variant whose sums differ a little from run to run; 40 of 100 where nothing is said."""
    generator = np.random.default_rng(5)
    rows = []
    for variant in VARIANTS:
        for seed in range(n_runs):
            row: dict[str, object] = {"variant": variant, "seed": str(seed)}
            for name in QUANTITIES:
                above, below = default.get(f"{variant}_{name}", default.get(name, (40.0, 100.0)))
                row[f"{name}_numerator"] = above + (generator.integers(-1, 2) if below else 0.0)
                row[f"{name}_denominator"] = below
            rows.append(row)
    return pd.DataFrame(rows)


def test_a_world_made_to_show_all_patterns_shows_them() -> None:
    runs = made_up(
        reporting=(66.0, 100.0),
        greedy_reporting=(50.0, 100.0),
        retaliation=(20.0, 100.0),
        swift=(75.0, 100.0),
        fear_of_silent=(36.0, 100.0),
        volume=(150.0, 100.0),
        again_if_spared=(95.0, 100.0),
        again_if_hit=(86.0, 100.0),
        outspoken_late_reporting=(80.0, 100.0),
        silenced_late_reporting=(20.0, 100.0),
    )
    table = pattern_table(runs).set_index("number")
    assert (table["verdict"] == "holds").all()
    assert table["value"].round(2).to_dict() == {
        1: 0.66, 2: 0.2, 3: 0.75, 4: 0.16, 5: 0.09, 6: 1.5, 7: 0.6, 8: 0.16
    }  # fmt: skip
    assert (table["runs"] == 20).all()


def test_a_world_made_to_show_none_shows_none() -> None:
    runs = made_up(
        reporting=(30.0, 100.0),
        greedy_reporting=(60.0, 100.0),
        retaliation=(60.0, 100.0),
        swift=(20.0, 100.0),
        fear_of_silent=(20.0, 100.0),
        volume=(500.0, 100.0),
    )
    assert (pattern_table(runs)["verdict"] == "fails").all()


def test_rows_of_seeds_are_paired_whatever_their_order() -> None:
    runs = made_up()
    shuffled = runs.sample(frac=1.0, random_state=3)
    pd.testing.assert_frame_equal(pattern_table(runs), pattern_table(shuffled))


def test_nothing_to_divide_by_is_undefined_and_not_a_failure() -> None:
    table = pattern_table(made_up(swift=(0.0, 0.0), again_if_hit=(0.0, 0.0))).set_index("number")
    assert table.loc[[3, 5], "verdict"].tolist() == ["undefined", "undefined"]
    assert table.loc[[3, 5], "value"].isna().all()


def test_two_patterns_were_tuned_for_and_five_held_out() -> None:
    roles = {pattern.number: pattern.role for pattern in PATTERNS}
    assert [number for number, role in roles.items() if role == "tuned"] == [1, 2]
    assert [number for number, role in roles.items() if role == "held out"] == [3, 4, 5, 7, 8]


def test_figure_and_account_tell_every_pattern() -> None:
    table = pattern_table(made_up(swift=(0.0, 0.0)))
    drawing = patterns_figure(table, "A world")
    assert len(drawing.figure.axes) == len(PATTERNS)
    assert "n = 20 runs" in drawing.caption
    pd.testing.assert_frame_equal(drawing.data, table)
    rows = [{k: None if v != v else v for k, v in row.items()} for row in table.to_dict("records")]
    console = Console(width=160, file=StringIO())
    console.print(validation_account({"scenario": "x", "replicates": 20, "patterns": rows}))
    text = console.file.getvalue()
    assert all(pattern.name in text for pattern in PATTERNS)
    assert "Not defined (nothing to divide by)" in text
    assert value_text(0.155, "share") == "15.5 %"
    assert value_text(None, "share") == "–"
    assert range_text({"range_low": 0.0, "range_high": None, "unit": "points"}) == "above +0.0"
