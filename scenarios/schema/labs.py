"""The labs, who may know what in them, and who sees whom."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, Field, PlainSerializer, Strict
from pydantic_core import PydanticCustomError

from .base import (
    FILE_UNIT,
    FilePath,
    Number,
    Probability,
    RegistryName,
    Table,
    Text,
    Whole,
    each_once,
    parameter,
)
from .organizations import Organizations
from .overrides import OverridesOf

__all__ = ["Access", "Colleagues", "Lab"]


class Access(Table):
    """`[access]`: the bipartite graph of people and compartments."""

    generator: RegistryName = parameter("need-to-know", "How the access graph is made.", "none")
    median_access: Number = parameter(
        20.0,
        "People with access to a compartment: median of a log-normal (need-to-know, team-based).",
        "people",
        ge=1.0,
        le=1e7,
    )
    access_sigma: Number = parameter(
        0.8, "Standard deviation of the logarithm of that number.", "log people", ge=0.0, le=5.0
    )
    cross_team: Probability = parameter(
        0.2,
        "Share of those with access who are picked from the whole lab; the rest are from the teams of those "
        "(need-to-know). 1: nobody's team matters.",
        "probability",
    )
    compartments_per_target: Whole = parameter(
        1,
        "Bodies of restricted information per audit target; from a file, they are as many as it has.",
        "compartments",
        ge=1,
        le=100_000,
    )
    file: FilePath = parameter(
        "",
        "Network of people and compartments, .csv or .graphml, that is imported or fitted; relative to this file.",
        FILE_UNIT,
    )
    nodes_file: FilePath = parameter(
        "", "Attributes of the people and compartments of a .csv network, as .csv; may be absent.", FILE_UNIT
    )


class Colleagues(Table):
    """`[colleagues]`: who sees whose fate."""

    generator: RegistryName = parameter("teams", "How the graph of colleagues is made.", "none")
    team_size: Whole = parameter(8, "People in a team.", "people", ge=1, le=1_000_000)
    teams_per_department: Whole = parameter(10, "Teams in a department.", "teams", ge=1, le=1_000_000)
    team_density: Probability = parameter(
        1.0, "Chance that two people of a team see each other's fate (stochastic-block).", "probability"
    )
    department_density: Probability = parameter(
        0.05,
        "Chance that two people of different teams of a department see each other's fate (stochastic-block).",
        "probability",
    )
    file: FilePath = parameter(
        "",
        "Network of people that is imported, .csv or .graphml; relative to this file.",
        FILE_UNIT,
    )


def _named(name: str) -> str:
    if not name.strip() or name != name.strip() or not name.isprintable():
        raise PydanticCustomError(
            "target_name", "a name without spaces around it and without control characters"
        )
    return name


type TargetName = Annotated[str, Strict(), Field(max_length=80), AfterValidator(_named)]


class Lab(Table):
    """`[labs.<id>]`: one organization and its audit targets."""

    title: Text = parameter("", "What reports call the lab; its id where it is absent.", "none")
    employees: Whole = parameter(
        ...,
        "Headcount before [employees] scale; with 0 there is nobody to do wrong or to report it but [reports].",
        "people",
        ge=0,
        le=100_000_000,
    )
    targets: Annotated[tuple[TargetName, ...], AfterValidator(each_once), PlainSerializer(list)] = parameter(
        ("whole-lab",),
        "Names of the lab's audit targets, each once.",
        "none",
        min_length=1,
        max_length=100_000,
    )
    access: Annotated[Mapping[str, Any], OverridesOf(Access)] = parameter(
        {}, "Keys of [access] that differ in this lab.", "none"
    )
    organization: Annotated[Mapping[str, Any], OverridesOf(Organizations)] = parameter(
        {}, "Keys of [organizations] that differ in this lab.", "none"
    )
