"""The rules by which labs infer: closed forms, limits, and who may know what."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniability.agents.organization.inference import INFERENCES, Case, Knowledge, KnownIncidents, inference
from deniability.agents.organization.inference.scope import ScopeEvidence


def no_hazards():
    raise AssertionError("this rule does not need to know the mechanism")


KNOWLEDGE = Knowledge(
    prior=0.3,
    window_weeks=8.0,
    period_weeks=1.0,
    notice_delay_weeks=2.0,
    report_delay_weeks=1.0,
    hazards=no_hazards,
)


def case(anonymity_sets, ages_weeks, log_likelihood_ratio=None, now=100, targets=None, audits=None):
    """One incident per entry, everybody with access a suspect; by default all on target 0, audited just now."""
    incident = np.repeat(np.arange(len(anonymity_sets)), np.asarray(anonymity_sets, dtype=np.int64))
    sizes = np.asarray(anonymity_sets, dtype=np.int64)

    target = np.zeros(len(sizes), dtype=np.int64) if targets is None else np.asarray(targets)
    audits = {0: [now]} if audits is None else audits

    def forbidden():
        raise AssertionError("an ordinary lab does not know the others' reports")

    return Case(
        decision=now,
        person=np.arange(len(incident)),
        incident=incident,
        target=target[incident],
        incident_time=(now - np.asarray(ages_weeks, dtype=float))[incident],
        anonymity_set=sizes[incident],
        known=KnownIncidents(
            np.arange(len(sizes)),
            target,
            now - np.asarray(ages_weeks, dtype=float),
            sizes,
        ),
        audits_of=lambda target: np.array(audits.get(target, []), dtype=np.int64),
        log_likelihood_ratio=forbidden if log_likelihood_ratio is None else lambda: log_likelihood_ratio,
    )


def test_the_registry_knows_the_rules():
    assert {"timing", "strong"} <= set(INFERENCES)
    assert [name for name in INFERENCES if inference(name).omniscient] == ["strong"]


@pytest.mark.parametrize(("k", "expected"), [(1, 1.0), (2, 0.3 / 0.51), (3, 0.3 / 0.657)])
def test_timing_takes_an_audit_as_proof_of_one_report(k, expected):
    # given that at least one of k independent people reported: prior / (1 - (1 - prior)^k)
    rule = inference("timing")(KNOWLEDGE)
    assert rule.posteriors(case([k], [2.0])) == pytest.approx([expected] * k)


def test_timing_sees_only_the_window():
    rule = inference("timing")(KNOWLEDGE)
    old_and_new = rule.posteriors(case([1, 1], [9.0, 1.0]))
    assert old_and_new == pytest.approx([0.3, 1.0])
    two_recent = rule.posteriors(case([1, 1], [2.0, 1.0]))
    assert two_recent == pytest.approx([0.65, 0.65])
    assert rule.posteriors(case([2], [9.0])) == pytest.approx([0.3, 0.3])


@pytest.mark.parametrize(
    ("audits", "expected"),
    [
        ([], 0.3),  # no audit, nothing to explain
        ([97], 0.3),  # before the incident at 98
        ([98], 1.0),
        ([99], 1.0),  # the belief outlasts the decision at which it arose
        ([97, 99], 1.0),
        ([99, 107], 0.3),  # the newest audit is the one in question, and it is 9 weeks after the incident
    ],
)
def test_timing_needs_an_audit_after_the_incident(audits, expected):
    rule = inference("timing")(KNOWLEDGE)
    now = max([100, *audits])
    assert rule.posteriors(case([1], [now - 98], now=now, audits={0: audits})) == pytest.approx([expected])


def test_timing_asks_of_each_audit_only_what_happened_at_its_target():
    rule = inference("timing")(KNOWLEDGE)
    # two incidents on target 0, one on 1, one on 2; 0 and 1 were audited, each for a reason of its own
    world = case([1, 1, 1, 1], [3.0, 2.0, 3.0, 3.0], targets=[0, 0, 1, 2], audits={0: [99], 1: [98]})
    assert rule.posteriors(world) == pytest.approx([0.65, 0.65, 1.0, 0.3])


def test_nobody_to_judge():
    for name in INFERENCES:
        rule = inference(name)(KNOWLEDGE)
        assert rule.posteriors(case([], [], np.zeros(0))).shape == (0,)


def test_strong_is_bayes_rule_on_the_worst_case_ratio():
    rule = inference("strong")(KNOWLEDGE)
    ratios = np.array([1.0, 2.0, 0.0, np.inf])
    with np.errstate(divide="ignore"):
        posterior = rule.posteriors(case([4], [1.0], np.log(ratios)))
    assert posterior == pytest.approx([0.3, 0.6 / 1.3, 0.0, 1.0])


@given(
    k=st.integers(1, 50),
    prior=st.floats(0.01, 0.99),
    discovery=st.floats(0.01, 0.99),
    factor=st.floats(0.0, 1.0, allow_subnormal=False),
)
def test_findings_cannot_move_the_expected_posterior(k, prior, discovery, factor):
    # the evidence of one finding, averaged over found and missed in the world without the report, has ratio 1
    scope = ScopeEvidence(discovery, factor, prior)
    found, missed = np.exp(scope.log_likelihood_ratios(np.array([1, 0]), np.array([k, k])))
    others = 1 - (1 - prior) ** (k - 1)
    without = discovery * (others + (1 - others) * factor)
    if without > 0:
        assert without * found + (1 - without) * missed == pytest.approx(1.0)
        assert found >= 1.0 - 1e-12
        assert missed <= 1.0 + 1e-12


def test_a_scope_that_ignores_reports_says_nothing():
    ratios = ScopeEvidence(0.8, 1.0, 0.3).log_likelihood_ratios(np.array([1, 0]), np.array([5, 5]))
    assert ratios == pytest.approx([0.0, 0.0], abs=1e-12)
