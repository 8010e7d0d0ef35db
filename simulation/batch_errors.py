"""What can end a batch before its time; what is done by then is on disk."""

__all__ = ["BatchError", "BatchInterruptedError", "EnvironmentDiffersError", "WorkerDiedError"]


class BatchError(Exception):
    """A batch cannot go on; the same command takes it up again once the cause is gone."""


class BatchInterruptedError(BatchError):
    """A batch was asked to stop."""


class WorkerDiedError(RuntimeError):
    """A worker process ended without giving an answer.

    Attributes
    ----------
    started
        Whether it had come so far as to take work.
    killed
        Whether something else ended it; otherwise it ended by itself, and another one would do the same.
    """

    def __init__(self, message: str, *, started: bool = True, killed: bool = True) -> None:
        super().__init__(message, started, killed)
        self.started = started
        self.killed = killed

    def __str__(self) -> str:
        return str(self.args[0])


class EnvironmentDiffersError(RuntimeError):
    """A worker has other code, or other versions of it, than the process that plans."""
