"""What a twin run does differently: one report is withheld, or both twins are held to the certified conditions."""

from dataclasses import dataclass

__all__ = ["CONDITIONS", "Intervention"]

CONDITIONS = frozenset("abcg")
"""The certified conditions that a run is held to; (d), (e) and (f) hold by construction."""


@dataclass(frozen=True)
class Intervention:
    """A change of a run around one report, the focal one: a person's first about an incident.

    Parameters
    ----------
    person, incident
        Whose report about which incident.
    withheld
        The report never reaches the auditor; nor do further reports by the person about the incident.
    certified
        Hold the run to the conditions (docs/adversary.md, "Twin runs") under which the effect
        through the transcript is at most delta:

        (a) the report acts through the auditor's count alone: it is not counted among the incident's reports;
        (b) the focal person takes no decision and files no report after it, and learns nothing from the own outcome;
        (c) it neither leaks nor is its author known;
        (g) from its time on a lab with the omniscient rule judges this person over this incident only, for the scores
        of all others read whether it was filed; and its own score is a function of the transcript and of the other
        reports.

        Both twins are held to them. The rest holds by construction: (d) the rules are fed from the scenario alone,
        (e) the focal report is chosen by what is known when it is filed, (f) the horizons cover all decisions.
    waived
        Conditions of a certified run that it is not held to, by letter, to see what each of them is for. Nothing is
        certified of the effect that is left. Without (a) the report stands among its incident's reports, so under a
        counter mechanism the scores know of it too, and the second half of (g) is waived with it.
    """

    person: int
    incident: int
    withheld: bool
    certified: bool
    waived: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if unknown := self.waived - CONDITIONS:
            raise ValueError(f"no such condition: {', '.join(sorted(unknown))}")

    def concerns(self, person: int, incident: int) -> bool:
        """Whether this is the focal report, or a further one by the same person about the same incident."""
        return (person, incident) == (self.person, self.incident)

    def holds(self, condition: str) -> bool:
        """Whether the run is held to a condition, by its letter."""
        return self.certified and condition not in self.waived
