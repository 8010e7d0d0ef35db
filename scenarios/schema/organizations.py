"""How a lab looks for the people who reported it, and what it does to them."""

from typing import Literal

from .base import Number, Probability, RegistryName, Table, Whole, parameter

__all__ = ["Organizations"]


class Organizations(Table):
    """`[organizations]`: every lab, unless `[labs.<id>.organization]` says otherwise."""

    inference: RegistryName = parameter(
        "timing", "Rule by which a lab turns the transcript into a probability for each person.", "none"
    )
    evaluate: Literal["own-audit", "every-decision"] = parameter(
        "own-audit", "When a lab looks for reporters: after its own targets are audited, or always.", "none"
    )
    prior: Number = parameter(
        0.3,
        "Probability that one person with access reported, before the transcript is read.",
        "probability",
        gt=0.0,
        lt=1.0,
    )
    threshold: Number = parameter(
        0.5, "Probability from which on a lab believes a person identified.", "probability", gt=0.0, le=1.0
    )
    criterion: Literal["threshold", "expected-gain"] = parameter(
        "threshold",
        "When a lab acts against a person: from a probability on, or when it expects to gain by it.",
        "none",
    )
    gain: Number = parameter(
        1.0, "What a lab gains by hitting a reporter, under expected-gain.", "utility", ge=0.0, le=1e9
    )
    cost: Number = parameter(
        1.0, "What it costs a lab to hit an innocent, under expected-gain.", "utility", ge=0.0, le=1e9
    )
    budget: Whole = parameter(
        3, "People whom a lab acts against per audit at most.", "people", ge=0, le=1_000_000
    )
    retaliation_probability: Probability = parameter(
        0.33, "Chance that a person believed identified is retaliated against.", "probability"
    )
    covered_share: Probability = parameter(
        0.0, "Share of the staff whom a law covers, drawn once per person.", "share"
    )
    covered_retaliation_probability: Probability = parameter(
        0.2, "Takes the place of retaliation_probability for the covered.", "probability"
    )
    retaliation_hazard: Number = parameter(
        0.35,
        "Chance per week that retaliation, once decided on, is carried out.",
        "probability",
        gt=0.0,
        lt=1.0,
    )
    leak_probability: Probability = parameter(
        0.02, "Chance that a report reaches the lab outside the guarantee.", "probability"
    )
    disclosure_probability: Probability = parameter(
        0.1, "Chance that a reporter is known to the lab by his or her own word.", "probability"
    )
    timing_window_weeks: Number = parameter(
        8.0, "How far back before an audit the timing rule looks for incidents.", "weeks", gt=0.0, le=5200.0
    )
    sanction: Number = parameter(
        1.0, "Size of the sanction when an audit finds an incident; recorded.", "sanctions", ge=0.0, le=1e9
    )
