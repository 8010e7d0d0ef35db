"""What a twin run does differently: one report is withheld, or both twins are held to the certified conditions."""

from dataclasses import dataclass

__all__ = ["Intervention"]


@dataclass(frozen=True)
class Intervention:
    """A change of a run around one report, the focal one.

    Parameters
    ----------
    person, incident
        Whose report about which incident.
    withheld
        The report never reaches the auditor.
    certified
        Hold the run to the conditions (SPEC, section 6, "Causal retaliation effect") under which the effect
        through the transcript is at most delta:

        (a) the report acts through the auditor's count alone: it is not counted among the incident's reports;
        (b) the focal person takes no decision after it and learns nothing from the own outcome;
        (c) it neither leaks nor is its author known;
        (g) a lab with the omniscient rule judges the focal person only, and scores the report by the transcript and
        the other reports, never by whether it was filed.

        Both twins are held to them. The rest holds by construction: (d) the rules are fed from the scenario alone,
        (e) the focal report is chosen by what is known when it is filed, (f) the horizon covers all decisions.
    """

    person: int
    incident: int
    withheld: bool
    certified: bool

    def concerns(self, person: int, incident: int) -> bool:
        """Whether this is the focal report."""
        return (person, incident) == (self.person, self.incident)
