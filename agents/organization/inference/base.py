"""The interface of inference: from the public transcript and what a lab may know to a posterior per suspect."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from ...ports import FloatArray, IntArray

__all__ = ["Case", "Inference"]


@dataclass(frozen=True)
class Case:
    """What a lab looks at when it judges: its open incidents and everyone with access to them.

    A suspect is a row: one person and one incident. Arrays have one element per suspect.
    """

    now_weeks: float
    """Time of the judgement, in weeks."""
    person: IntArray
    incident: IntArray
    incident_weeks: FloatArray
    """When the incident happened, in weeks."""
    anonymity_set: IntArray
    """Number of people with access to the suspect's incident."""
    log_likelihood_ratio: Callable[[], FloatArray]
    """The worst-case adversary's log likelihood ratio of each suspect. Only rules that declare `omniscient`
    may call it: an ordinary lab does not know the others' reports."""


class Inference(ABC):
    """Computes, for each suspect, the probability that this person reported this incident.

    Parameters
    ----------
    prior
        Probability that a person with access reported, before any look at the transcript.
    window_weeks
        How far back the `timing` reflex looks, in weeks.
    """

    id: ClassVar[str]
    """Name in scenario files and columns."""
    omniscient: ClassVar[bool] = False
    """True for the paper's adversary, who knows every report but the suspect's own. Such a posterior uses the
    truth about the others and so is no joint posterior: it is judged by threshold alone, without a budget."""

    def __init__(self, prior: float, window_weeks: float) -> None:
        self.prior = prior
        self.window_weeks = window_weeks

    @abstractmethod
    def posteriors(self, case: Case) -> FloatArray:
        """Probability that each suspect reported, shape (suspects,)."""
