"""The base of every actor: a Mesa agent that can ask to be called later.

Mesa holds callbacks weakly and passes no arguments, so an unreferenced callback would be lost in silence. A
`Task` is a callable that its agent keeps until it has run, and that is cancelled when the agent is removed.
"""

from collections.abc import Callable
from math import inf, isfinite
from typing import Any

import mesa
from mesa.time import Priority

__all__ = ["Actor", "Task"]


class Task:
    """A method call that waits for its time.

    Parameters
    ----------
    pending
        The owner's set of waiting tasks, which this one leaves when it has run.
    method, args
        What to call.
    """

    __slots__ = ("__weakref__", "args", "event", "method", "pending")

    def __init__(self, pending: set["Task"], method: Callable[..., None], args: tuple[Any, ...]) -> None:
        self.pending = pending
        self.method = method
        self.args = args
        self.event: Any = None

    def __call__(self) -> None:
        """Run the call, once."""
        self.pending.discard(self)
        self.method(*self.args)

    def cancel(self) -> None:
        """Drop the call without running it."""
        self.pending.discard(self)
        self.event.cancel()


class Actor(mesa.Agent):
    """A Mesa agent with a set of pending tasks."""

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        self._pending: set[Task] = set()

    def call_at(
        self, at: float, method: Callable[..., None], *args: Any, priority: Priority = Priority.DEFAULT
    ) -> Task:
        """Call `method(*args)` at time `at` (in audit periods) unless this agent has been removed by then.

        Raises
        ------
        ValueError
            If `at` is not finite (a NaN time would silently eat other events) or lies in the past.
        """
        model = self.model
        if not model.time <= at < inf:
            if isfinite(at):
                raise ValueError(f"an event's time must not lie in the past: {at} < {model.time}")
            raise ValueError(f"an event's time must be finite, got {at}")
        task = Task(self._pending, method, args)
        task.event = model.schedule_event(task, at=at, priority=priority)
        self._pending.add(task)
        return task

    @property
    def n_pending(self) -> int:
        """Number of calls that wait for their time."""
        return len(self._pending)

    def remove(self) -> None:
        """Leave the model, and cancel what was still to come."""
        for task in tuple(self._pending):
            task.cancel()
        super().remove()
