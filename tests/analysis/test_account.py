"""The account says what the metrics say, in words, and nothing about what is undefined."""

import io
import re
from pathlib import Path

import pytest
from rich.console import Console

from deniability.analysis.account import account, setting, story
from deniability.analysis.intervals import wilson
from deniability.analysis.metrics import METRICS, run_metrics
from deniability.scenarios import ScenarioConfig


def config(**auditor):
    return ScenarioConfig.model_validate(
        {
            "scenario": {
                "name": "three-labs",
                "title": "Three [bold] labs",
                "question": "Who gets found out?",
            },
            "time": {"periods": 52, "period_weeks": 1.0},
            "auditor": auditor,
            "labs": {
                "lab-a": {"employees": 60, "targets": ["training", "deployment"]},
                "lab-b": {"employees": 60, "targets": ["training", "safeguards", "security"]},
                "lab-c": {"employees": 60, "targets": ["evaluations"]},
            },
        }
    )


def printed(renderable, width=100):
    out = io.StringIO()
    Console(file=out, width=width, force_terminal=False).print(renderable)
    return out.getvalue()


def flat(text):
    return re.sub(r"\s+", " ", text)


def test_the_whole_account_of_a_run(run_tables):
    metrics = run_metrics(run_tables(1), 1.0)
    text = printed(account(metrics, config(), seed=7, directory=Path("results/three-labs-7")))
    assert text.startswith("Three [bold] labs\nWho gets found out?\n")  # brackets are no markup
    told = flat(text)
    assert "Toeplitz (TCA), delta = 0.1 per report; 52 periods, 3 labs, 6 audit targets; seed 7." in told
    assert "Written to results/three-labs-7: figures/timeline.pdf" in told
    assert "`deniability twin`" in told
    for sentence in story(metrics):
        assert sentence in told


def test_numbers_in_the_table_are_those_of_the_metrics(run_tables):
    metrics = run_metrics(run_tables(1), 1.0)
    told = flat(printed(account(metrics, config(), seed=7)))
    for one in METRICS:
        if one.kind == "rate" and metrics[one.key] is not None:
            above, below = metrics[f"{one.key}_numerator"], metrics[f"{one.key}_denominator"]
            interval = wilson(above, below)
            ends = f"{100 * interval.low:.1f} – {100 * interval.high:.1f} %"
            assert f"{above} / {below} {100 * above / below:.1f} % {ends}" in told, one.key
    assert "Written to" not in told


def test_worked_sentences():
    metrics = {
        key: None for one in METRICS for key in (one.key, f"{one.key}_numerator", f"{one.key}_denominator")
    }
    metrics |= {
        "incidents": 3,
        "observers": 2,
        "reports": 2,
        "incidents_never_audited": 1,
        "mean_deficit": 0.5,
    }

    def rate(key, above, below):
        metrics.update({key: above / below, f"{key}_numerator": above, f"{key}_denominator": below})

    rate("reporting_rate", 2, 4)
    rate("silent_incident_rate", 1, 3)
    rate("productive_audit_rate", 1, 8)
    rate("misselection_rate", 1, 8)
    rate("weeks_to_audit", 5.0, 2)
    rate("restricted_weeks_to_audit", 15.0, 3)
    rate("retaliation_rate", 1, 2)
    rate("retaliation_rate_self_disclosure", 1, 2)
    rate("false_retaliation_rate", 2, 40)
    assert story(metrics) == [
        "3 incidents of misconduct happened. 2 people noticed something, 4 times in all, and decided 2 times to "
        "report (50.0 %). Nothing was ever reported about 1 incident.",
        "The auditor received 2 reports and made 8 audits; 1 of them brought an open incident to light. 1 audit "
        "(12.5 %) went to a target with fewer reports than another had, and over all audits the gap was 0.5 reports "
        "on average. From an incident to the next audit of its target it took 5.0 weeks on average, counting at "
        "most 26. 1 incident saw no audit of the target any more.",
        "Of 2 people who reported, 1 was retaliated against afterwards: 1 known to have reported. Of 40 people with "
        "access to an incident who never reported, 2 (5.0 %) were hit as well.",
    ]


def test_silent_about_what_is_undefined(empty_tables):
    metrics = run_metrics(empty_tables, 1.0)
    assert story(metrics) == ["No incident of misconduct happened.", "Nobody reported."]
    text = printed(account(metrics, config(), seed=1))
    assert "%" not in text
    assert "None" not in text
    assert "nan" not in text


@pytest.mark.parametrize("seed", range(6))
def test_no_undefined_value_slips_into_words(run_tables, seed):
    tables = {name: frame.head(seed) for name, frame in run_tables(seed, periods=10).items()}
    text = printed(account(run_metrics(tables, 1.0), config(), seed=seed), width=60)
    assert not re.search(r"\b(None|nan|inf)\b", text)
    assert max(len(line) for line in text.splitlines()) <= 60


@pytest.mark.parametrize(
    ("auditor", "start"),
    [
        ({"mechanism": "greedy"}, "Greedy, no guarantee;"),
        ({"mechanism": "uniform"}, "Uniform, audits ignore reports;"),
        ({"mechanism": "exponential", "delta": 0.05}, "Reset-aware exponential, delta = 0.05 per report;"),
        ({"mechanism": "tca", "counter": "blt"}, "TCA, buffered Toeplitz, delta = 0.1 per report;"),
        ({"mechanism": "mine"}, "mine, delta = 0.1 per report;"),
    ],
)
def test_setting_names_mechanism_and_guarantee(auditor, start):
    """`greedy` and `uniform` ignore delta, so it is not named as theirs."""
    assert setting(config(**auditor), 1).startswith(start)


def test_setting_translates_periods_that_are_no_weeks():
    monthly = config()
    monthly = monthly.model_copy(update={"time": monthly.time.model_copy(update={"period_weeks": 4.345})})
    assert "52 periods (226 weeks)" in setting(monthly, 1)
