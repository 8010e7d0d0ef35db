"""The one error that a user's input can cause, whichever layer finds it."""

from collections.abc import Sequence

__all__ = ["InputError"]


class InputError(Exception):
    """Bad input or usage: the command line prints each message and exits with code 2.

    Parameters
    ----------
    messages
        One complete, self-contained message per problem (file, key path, what was given, what is allowed).
    """

    def __init__(self, messages: str | Sequence[str]) -> None:
        self.messages: tuple[str, ...] = (messages,) if isinstance(messages, str) else tuple(messages)
        super().__init__("\n".join(self.messages))
