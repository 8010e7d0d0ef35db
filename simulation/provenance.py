"""Where results come from: versions, a hash of the installed code, and identities of scenario and run."""

import hashlib
import json
import platform
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

__all__ = ["LAYERS", "PACKAGES", "code_hash", "code_path", "module_hashes", "run_id", "versions"]

LAYERS = ("scenarios", "agents", "analysis", "simulation")
PACKAGES = ("deniability", "mesa", "numpy", "scipy", "pandas", "networkx", "pyarrow", "numba")
"""Distributions whose versions are noted, each called as what it brings."""


def code_path() -> Path:
    """The folder in which the layer `simulation` is installed."""
    return Path(__file__).parent


@lru_cache(maxsize=1)
def module_hashes() -> dict[str, str]:
    """SHA-256 of every source of all four layers, by `layer/path`."""
    import importlib

    hashes: dict[str, str] = {}
    for layer in LAYERS:
        package = importlib.import_module(f"deniability.{layer}")
        root = Path(str(package.__file__)).parent
        for source in sorted(root.rglob("*.py")):
            name = f"{layer}/{source.relative_to(root).as_posix()}"
            hashes[name] = hashlib.sha256(source.read_bytes()).hexdigest()
    return hashes


@lru_cache(maxsize=1)
def code_hash() -> str:
    """SHA-256 over the sources of all four layers, by path and content."""
    return hashlib.sha256(json.dumps(module_hashes()).encode()).hexdigest()


@lru_cache(maxsize=1)
def versions() -> dict[str, str]:
    """Versions of Python and of the packages that results depend on."""
    return {"python": platform.python_version()} | {name: version(name) for name in PACKAGES}


def run_id(content_hash: str, seed: int) -> str:
    """Identity of a run: a hash of the scenario's behaviour and the seed, 16 hexadecimal digits."""
    material: Any = json.dumps([content_hash, seed])
    return hashlib.sha256(material.encode()).hexdigest()[:16]
