"""Text that every file of ours can hold, whatever it was made from."""

__all__ = ["storable", "told"]


def storable(text: str) -> str:
    r"""The text with what UTF-8 cannot encode, such as parts of foreign file names, written as `\udce9`."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def told(error: BaseException) -> str:
    """What was raised, in one storable line; its type alone, if it fails to say more."""
    name = type(error).__name__
    try:
        text = f"{name}: {error}"
    except Exception as own:  # noqa: BLE001  # an exception may be somebody else's code
        text = f"{name} (it cannot be told: {type(own).__name__})"
    return storable(" ".join(text.split()))
