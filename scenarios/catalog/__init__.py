"""The scenarios that come with the package, one TOML file each."""

from pathlib import Path

__all__ = ["shipped_names", "shipped_path"]

_FOLDER = Path(__file__).parent


def shipped_names() -> list[str]:
    """Names of the shipped scenarios, in alphabetical order."""
    return sorted(path.stem for path in _FOLDER.glob("*.toml"))


def shipped_path(name: str) -> Path:
    """Return where the shipped scenario `name` is, whether or not there is one."""
    return _FOLDER / f"{name}.toml"
