"""How a lab infers who reported. One inference rule a file.

>>> "timing" in INFERENCES
True
"""

from ...registry import Registry
from .base import Case, Inference, Knowledge, KnownIncidents

__all__ = ["INFERENCES", "Case", "Inference", "Knowledge", "KnownIncidents", "inference"]

INFERENCES: Registry[Inference] = Registry("inference rule", Inference, __name__, "deniability.inference")
"""Every inference rule by its id, those of plugins included."""


def inference(name: str) -> type[Inference]:
    """Class of the inference rule called `name`; InputError if there is none."""
    return INFERENCES[name]
