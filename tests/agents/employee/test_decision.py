"""The decision to report: the logit of docs/odd.md, and the added exposure that a guarantee caps."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniability.agents.employee.decision import (
    EXPOSURES,
    perceived_exposure,
    report_logit,
    report_probability,
)

unit = st.floats(0, 1)
people = st.integers(1, 10**6)


@given(k=people, delta=st.floats(0.001, 0.999), trust=unit, form=st.sampled_from(sorted(EXPOSURES)))
def test_a_guarantee_never_adds_exposure_and_full_trust_caps_it(k, delta, trust, form):
    plain = perceived_exposure(k, form=form)
    guarded = perceived_exposure(k, form=form, delta=delta, trust=trust)
    assert 0.0 < guarded <= plain * (1 + 1e-12)
    assert plain <= 1.0
    assert perceived_exposure(k, form=form, delta=delta, trust=1.0) <= delta
    assert perceived_exposure(k, form=form, delta=delta, trust=0.0) == plain


@pytest.mark.parametrize(
    ("k", "delta", "trust", "expected"),
    [(8, None, 0.0, 0.125), (2, 0.1, 0.5, 0.3), (20, 0.1, 0.5, 0.05), (1, 0.1, 1.0, 0.1)],
)
def test_exposure_values(k, delta, trust, expected):
    assert perceived_exposure(k, delta=delta, trust=trust) == pytest.approx(expected, rel=1e-12)


BASE = {
    "intercept": 0.3,
    "severity": 0.5,
    "severity_weight": 2.0,
    "efficacy": 0.6,
    "efficacy_weight": 3.0,
    "fear": 0.25,
    "fear_weight": 4.0,
    "exposure": 0.5,
    "conscience": -0.7,
    "anonymity_set": 8,
    "bystander_weight": 0.2,
}


def test_the_logit_is_the_sum_of_its_terms():
    expected = 0.3 + 2 * 0.5 + 3 * 0.6 - 4 * 0.25 * 0.5 - 0.7 - 0.2 * math.log(8)
    assert report_logit(**BASE) == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize(
    ("name", "more", "sign"),
    [
        ("severity", 0.9, 1),
        ("efficacy", 0.9, 1),
        ("fear", 0.9, -1),
        ("exposure", 0.9, -1),
        ("conscience", 1.0, 1),
        ("anonymity_set", 80, -1),
    ],
)
def test_each_motive_pulls_its_way(name, more, sign):
    assert sign * (report_logit(**BASE | {name: more}) - report_logit(**BASE)) > 0


def test_no_fear_where_there_is_no_exposure():
    assert report_logit(**BASE | {"exposure": 0.0, "fear": 1.0}) == report_logit(
        **BASE | {"exposure": 0.0, "fear": 0.0}
    )


@given(x=st.floats(-1e6, 1e6))
def test_probability_is_the_logistic_function(x):
    p = report_probability(x)
    assert 0.0 <= p <= 1.0
    assert p + report_probability(-x) == pytest.approx(1.0, abs=1e-15)
    if abs(x) < 30:
        assert math.log(p) - math.log1p(-p) == pytest.approx(x, abs=1e-3)
