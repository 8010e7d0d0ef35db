"""What the study asks, and how long it looks."""

from .base import Identifier, Number, Table, Text, Whole, parameter

__all__ = ["Study", "Time"]


class Study(Table):
    """`[scenario]`: what the file is for. Nothing in it changes a result, and none of it is inherited."""

    name: Identifier = parameter(
        "scenario", "Names the study in results and folders; the name of the file where it is absent.", "none"
    )
    title: Text = parameter("", "Heads reports; the name where it is absent.", "none")
    question: Text = parameter("", "What the study is meant to answer, in one sentence.", "none")
    description: Text = parameter("", "What the world is like and what it leaves out.", "none")
    headline: Text = parameter(
        "", "Name of the figure that a report shows first; empty for the usual order.", "none"
    )
    extends: tuple[Text, ...] = parameter(
        (),
        "Scenarios that this one builds on (shipped names, or paths relative to this file); later ones win, the "
        "file itself last.",
        "none",
        strict=False,
    )


class Time(Table):
    """`[time]`: audits happen at whole periods; all else happens when it happens."""

    periods: Whole = parameter(104, "Number of audit periods in a run.", "periods", ge=1, le=1_000_000)
    period_weeks: Number = parameter(
        1.0, "Length of an audit period: 1 is weekly, 4.345 monthly.", "weeks", gt=0.0, le=520.0
    )
