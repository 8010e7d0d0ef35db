"""The interface of inference: from the public transcript and what a lab may know to a posterior per suspect."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from ...ports import FloatArray, IntArray
from .hazards import HazardTable

__all__ = ["Case", "Inference", "Knowledge", "KnownIncidents"]


@dataclass(frozen=True)
class Knowledge:
    """What a lab knows before anything happens: public rates and the mechanism; nothing of a realised run."""

    prior: float
    """Probability that a person with access to an incident reports it, before any look at the transcript."""
    window_weeks: float
    """How far back the `timing` reflex looks."""
    period_weeks: float
    notice_delay_weeks: float
    """Mean time from an incident to being noticed."""
    report_delay_weeks: float
    """Mean time from being noticed to a report."""
    hazards: Callable[[int], Sequence[tuple[int, HazardTable]]]
    """The chance of an audit given active count and run length, for each mechanism that has been started up to a
    decision: its first decision and its table, in order of time, from decision 1 on. Estimated on first use."""
    outside_reports: Callable[[int], float] = lambda _target: 0.0
    """Expected reports about a target in a period by people who do not work at a lab."""


@dataclass(frozen=True)
class KnownIncidents:
    """A lab's own incidents so far, open or found; one element each, times in periods."""

    incident: IntArray
    target: IntArray
    time: FloatArray
    anonymity_set: IntArray


@dataclass(frozen=True)
class Case:
    """What a lab looks at when it judges: its open incidents and everyone with access to them.

    A suspect is a row: one person and one incident. Arrays have one element per suspect; times in periods.
    """

    decision: int
    """Number of the decision that has just been published."""
    person: IntArray
    incident: IntArray
    target: IntArray
    incident_time: FloatArray
    anonymity_set: IntArray
    """Number of people with access to the suspect's incident."""
    known: KnownIncidents
    audits_of: Callable[[int], IntArray]
    """Decisions at which a target was audited, the newest included: the public transcript."""
    log_likelihood_ratio: Callable[[], FloatArray]
    """The worst-case adversary's log likelihood ratio of each suspect. Only rules that declare `omniscient`
    may call it: an ordinary lab does not know the others' reports."""


class Inference(ABC):
    """Computes, for each suspect, the probability that this person reported this incident."""

    id: ClassVar[str]
    """Name in scenario files and columns."""
    omniscient: ClassVar[bool] = False
    """True for the paper's adversary, who knows every report but the suspect's own. Such a posterior uses the
    truth about the others and so is no joint posterior: it is judged by threshold alone, without a budget."""

    def __init__(self, knowledge: Knowledge) -> None:
        self.knowledge = knowledge

    @abstractmethod
    def posteriors(self, case: Case) -> FloatArray:
        """Probability that each suspect reported, shape (suspects,)."""
