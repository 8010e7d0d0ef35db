"""The model's clock: Mesa's, but quick to read.

Mesa's `time` is an observable whose every reading and setting runs through its signals, which costs more than most of
what an event here does. This one is read directly, and signals are sent only where somebody has subscribed.
"""

from operator import attrgetter
from typing import Any

import mesa

__all__ = ["clock"]

_observable = vars(mesa.Model)["time"]
_kept_as: str = _observable.private_name


def _set(model: Any, time: float) -> None:
    if model.subscribers:
        _observable.__set__(model, time)
    else:
        setattr(model, _kept_as, time)


clock = property(attrgetter(_kept_as), _set, doc="The time, in audit periods.")
"""Takes the place of Mesa's `time` in a model."""
