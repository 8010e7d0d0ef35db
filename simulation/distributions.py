"""Which installed distribution a module belongs to."""

import site
from functools import cache
from importlib.metadata import Distribution, distributions
from pathlib import Path

__all__ = ["distributions_of"]


def distributions_of(module: str, folder: Path) -> tuple[tuple[str, str], ...]:
    """Names and versions of the distributions that brought a module, in alphabetical order.

    None, where its source may change without a new version: it was installed to be edited, or not installed at all.

    Parameters
    ----------
    module
        Its full name; the first part of it counts.
    folder
        Where it was found: the entry of the search path.
    """
    top = module.partition(".")[0]
    named = [one for one in distributions(name=top, path=[str(folder)]) if top in _brings(one)]
    # reading what every distribution brings takes a while, and most are called as what they bring
    found = named or _by_top(str(folder)).get(top, [])
    return tuple(sorted({(one.name, one.version) for one in found if _is_installed(one, folder)}))


@cache
def _by_top(folder: str) -> dict[str, list[Distribution]]:
    found: dict[str, list[Distribution]] = {}
    for one in distributions(path=[folder]):
        for top in _brings(one):
            found.setdefault(top, []).append(one)
    return found


def _brings(one: Distribution) -> set[str]:
    """Top-level names of what it brings."""
    record = one.read_text("RECORD") or ""
    files = {line.partition(",")[0].partition("/")[0] for line in record.splitlines()}
    declared = (one.read_text("top_level.txt") or "").split()
    return {name.partition(".")[0] for name in files} | set(declared)


def _is_installed(one: Distribution, folder: Path) -> bool:
    """Whether it was installed there; a folder of sources may have metadata beside it too."""
    places = {*site.getsitepackages(), site.getusersitepackages()}
    return str(folder) in places or one.read_text("WHEEL") is not None
