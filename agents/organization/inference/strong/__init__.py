"""The strongest adversary (docs/adversary.md): it knows every report but whether one given report was filed."""

from .base import StrongScorer
from .factory import strong_scorer

__all__ = ["StrongScorer", "strong_scorer"]
