"""Sentences from estimates: every number with its interval, silence where an interval straddles."""

import re

import pandas as pd
import pytest

from deniability.analysis.findings import batch_findings
from deniability.analysis.results import Results
from deniability.analysis.sentences import difference, said

from .made_up_batch import SCENARIO, make_groups, make_runs


def results(runs, kind="batch", groups=None):
    tables = {"runs": runs} | ({} if groups is None else {"groups": groups})
    return Results(kind, "made-up", {"resolved_scenario": SCENARIO}, tables)


def of_topic(found, topic):
    return [one for one in found if one.topic == topic]


@pytest.fixture(scope="module")
def found():
    runs = make_runs(12)
    return batch_findings(results(runs, groups=make_groups(runs)))


def test_levels_are_told_for_every_mechanism_at_the_scenarios_own_delta(found):
    told = of_topic(found, "Who is found out")
    starts = [one.sentence.split(",")[0] for one in told]
    assert starts == [
        "Under greedy",
        "Under uniform",
        "Under randomized response",
        "Under Toeplitz (TCA)",
        "Under reset-aware exponential",
    ]
    runs = make_runs(12)
    mine = runs[(runs["auditor.mechanism"] == "tca") & (runs["auditor.delta"] == 0.1)]
    hit = int(mine["retaliation_rate_numerator"].sum())
    assert f"{hit} of 480 in 12 runs" in told[3].sentence
    assert f"{100 * hit / 480:.1f} %" in told[3].sentence


def test_every_estimate_has_its_interval_in_the_sentence(found):
    for one in found:
        numbers = re.findall(
            r"[−+]?\d[\d,.]* (?:%|points|weeks|severity-weeks|reports per audit)", one.sentence
        )
        intervals = re.findall(r"\((?:95 % interval )?[−+]?\d[\d,.e]* to [−+]?\d", one.sentence)
        # "95 %" of "95 % interval" is no estimate, nor is the limit of waits
        estimates = [n for n in numbers if n not in ("95 %", "26 weeks")]
        assert len(estimates) <= len(intervals), one.sentence


def test_only_differences_whose_interval_excludes_zero_are_told(found):
    differences = [row for one in found for row in one.rows if "second" in row]
    assert len(differences) > 20
    assert all(row["low"] > 0 or row["high"] < 0 for row in differences)


def test_the_direction_in_words_is_that_of_the_estimate(found):
    for one in of_topic(found, "What differs between mechanisms"):
        for row, part in zip(one.rows, one.parts, strict=True):
            if row["metric"] == "restricted_weeks_to_audit":
                assert ("longer" in part) == (row["value"] > 0)
            if row["metric"] == "retaliation_rate":
                assert part.startswith("more" if row["value"] > 0 else "fewer")
            assert ("+" in part) == (row["value"] > 0)


def test_mechanisms_that_do_the_same_are_not_told_apart():
    """Negative control: five names for one mechanism give no difference at all."""
    one = make_runs(12, ["tca"])
    same = pd.concat(
        [
            one.assign(**{"auditor.mechanism": name, "run_id": name + one["run_id"]})
            for name in ("greedy", "rr", "tca")
        ]
    )
    found = batch_findings(results(same.reset_index(drop=True)))
    told = of_topic(found, "What differs between mechanisms")
    assert len(told) == 1
    assert told[0].sentence.startswith("36 of 36 comparisons have an interval that includes zero")
    assert "by chance" not in told[0].sentence
    assert not of_topic(found, "In short")


def test_what_a_mechanism_gains_and_costs_comes_first(found):
    assert [found[0].topic, found[1].topic] == ["Where", "In short"]
    assert found[0].sentence == "Unless it says otherwise, a finding is about δ (per report) = 0.1."
    told = [one.sentence for one in of_topic(found, "In short")]
    assert [text.split(" audits")[0] for text in told] == [
        "With randomized response",
        "With Toeplitz (TCA)",
        "With reset-aware exponential",
    ]
    assert all("; but incidents waited longer for an audit" in text for text in told)


def test_how_many_would_be_told_by_chance_is_said(found):
    """36 differences or so in 44 looked at: one in twenty is 2."""
    told = of_topic(found, "What differs between mechanisms")
    n_told = sum(len(one.rows) for one in told)
    (last,) = [one.sentence for one in told if not one.rows]
    looked_at = int(last.split(" of ")[1].split()[0])
    assert int(last.split()[0]) == looked_at - n_told
    assert f"about {0.05 * looked_at:.0f} of {looked_at} would be told by chance" in last


def test_few_pairs_tell_no_difference():
    """Nine replicates of a batch in which twelve tell many differences: levels are told, no difference is."""
    found = batch_findings(results(make_runs(9)))
    assert of_topic(found, "Who is found out")
    assert not of_topic(found, "In short")
    (told,) = of_topic(found, "What differs between mechanisms")
    assert "fewer than 10 pairs of runs: run more replicates" in told.sentence


def test_topics_come_together(found):
    topics = [one.topic for one in found]
    assert topics == sorted(topics, key=list(dict.fromkeys(topics)).index)


def test_small_circles_are_told_where_they_differ(found):
    told = [one.sentence for one in of_topic(found, "Small circles") if one.rows]
    assert any("Under greedy, more reporters were retaliated against where 2–3" in text for text in told)
    assert all("10 pairs" not in text for text in told)


def test_a_world_without_retaliation_is_asked_for_and_not_imagined(found):
    (told,) = of_topic(found, "What retaliation does to reporting")
    assert "no cell of the same world without retaliation" in told.sentence
    key = "organizations.retaliation_probability"
    runs = make_runs(12, ["tca"], [0.1])
    spared = runs.assign(
        run_id=runs["run_id"] + "-spared",
        reporting_rate_numerator=runs["reporting_rate_denominator"],
        **{key: 0.0},
    )
    both = pd.concat([runs.assign(**{key: 0.33}), spared], ignore_index=True)
    (told, *_) = of_topic(batch_findings(results(both)), "What retaliation does to reporting")
    assert "a retaliation probability of 0.33 against none: fewer notices led to a report" in told.sentence


def test_a_single_run_says_nothing_of_differences_or_of_other_worlds():
    found = batch_findings(results(make_runs(1, ["tca"], [0.1]), kind="run"))
    assert {one.topic for one in found} == {"Who is found out", "What the audits achieve", "Who speaks up"}
    assert "no interval" in of_topic(found, "What the audits achieve")[0].sentence


def test_nobody_reported_is_said():
    runs = make_runs(4, ["tca"], [0.1])
    for name in runs.columns:
        if name.startswith("retaliation_rate"):
            runs[name] = 0
    (told,) = of_topic(batch_findings(results(runs)), "Who is found out")
    assert told.sentence == "Nobody reported in any of these runs, so no reporter could be found out."


def test_no_runs_no_findings():
    assert batch_findings(results(make_runs(2).iloc[:0])) == []


def test_an_end_of_an_interval_never_reads_as_zero():
    row = {"metric": "final_fear", "value": -0.00053, "low": -0.0007, "high": -0.00002, "n_runs": 9}
    assert said(row, signed=True, pairs=True) == "−0.00053 (95 % interval −0.00070 to −0.000020; 9 pairs)"
    row |= {"metric": "retaliation_rate", "value": 0.004, "low": 0.0001, "high": 0.01}
    assert (
        difference(row, brief=True) == "more reporters were retaliated against, +0.4 points (+0.01 to +1.0)"
    )


def test_a_difference_in_fear_that_cannot_matter_is_counted_and_not_told():
    """Mean fear of all staff moves by a thousandth: told apart in thousands of runs, and of no weight."""
    runs = make_runs(12)
    greedy = runs["auditor.mechanism"] == "greedy"
    runs["final_fear"] = 0.275 + 0.001 * greedy
    told = of_topic(batch_findings(results(runs)), "What differs between mechanisms")
    assert not any("fear ended" in one.sentence for one in told)
    assert "(or, 4 of them, a difference of mean fear over all staff below 0.005)" in told[-1].sentence


def test_small_circles_need_ten_runs_too():
    assert not of_topic(batch_findings(results(make_runs(9))), "Small circles")
