"""Reports from outside: filed by nobody who works at a lab."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, Strict

from .base import Number, Probability, Table, Text, Whole, each_once, parameter

__all__ = ["Burst", "Reports"]

type Rate = Annotated[float, Strict(), Field(allow_inf_nan=False, ge=0.0, le=1e6)]


class Burst(Table):
    """One of `reports.bursts`: many reports within a short time."""

    targets: Annotated[tuple[Text, ...], AfterValidator(each_once)] = parameter(
        ..., 'Whom the burst is about, each once, as "lab/target".', "none", min_length=1, strict=False
    )
    at: Number = parameter(..., "When it begins.", "periods", ge=0.0, le=1e6)
    size: Whole = parameter(..., "Reports about each of these targets.", "reports", ge=0, le=1_000_000)
    spread_weeks: Number = parameter(
        0.0,
        "The reports come at even chances within this time; 0 is all at once.",
        "weeks",
        ge=0.0,
        le=5200.0,
    )


class Reports(Table):
    """`[reports]`: a stream from outside, instead of employees or on top of them.

    It counts for the auditor like any other report. Nobody who works at a lab files it, so nobody can be retaliated
    against for it; the strongest adversary knows it, as all reports but the one in question.
    """

    rate: Rate = parameter(0.0, "Outside reports about each target (Poisson).", "1/year")
    lead: Text = parameter(
        "", 'A target ("lab/target") with a rate of its own; none where it is empty.', "none"
    )
    lead_rate: Rate = parameter(0.0, "Outside reports about the lead target.", "1/year")
    rates: Annotated[dict[Annotated[str, Strict()], Rate], Strict()] = parameter(
        {}, 'Targets ("lab/target") with rates of their own, and these rates.', "1/year"
    )
    rates_per: Literal["year", "period"] = parameter(
        "year", "Whether the rates of this table are per year or per audit period.", "none"
    )
    people: Whole = parameter(
        1, "Number of people who file `people_share` of the outside reports.", "people", ge=1, le=1_000_000
    )
    people_share: Probability = parameter(
        0.0,
        "Share of the outside reports that those people file; all others come from one person each.",
        "share",
    )
    bursts: tuple[Burst, ...] = parameter((), "Surges of outside reports.", "none", strict=False)

    def named_targets(self) -> list[tuple[tuple[str | int, ...], str]]:
        """Every target that this table names, with its place."""
        named: list[tuple[tuple[str | int, ...], str]] = [
            (("rates", target), target) for target in self.rates
        ]
        if self.lead:
            named.append((("lead",), self.lead))
        for number, burst in enumerate(self.bursts):
            named += [(("bursts", number, "targets", i), target) for i, target in enumerate(burst.targets)]
        return named
