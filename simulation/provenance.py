"""Where results come from: versions, a hash of the installed code, and identities of scenario and run."""

import hashlib
import json
import platform
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

__all__ = ["LAYERS", "code_hash", "code_path", "run_id", "versions"]

LAYERS = ("scenarios", "agents", "analysis", "simulation")
_PACKAGES = ("deniability", "mesa", "numpy", "scipy", "pandas", "networkx", "pyarrow", "numba")


def code_path() -> Path:
    """The folder in which the layer `simulation` is installed."""
    return Path(__file__).parent


@lru_cache(maxsize=1)
def code_hash() -> str:
    """SHA-256 over the sources of all four layers, by path and content."""
    import importlib

    digest = hashlib.sha256()
    for layer in LAYERS:
        package = importlib.import_module(f"deniability.{layer}")
        root = Path(str(package.__file__)).parent
        for source in sorted(root.rglob("*.py")):
            digest.update(f"{layer}/{source.relative_to(root).as_posix()}\0".encode())
            digest.update(source.read_bytes())
    return digest.hexdigest()


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that results depend on."""
    return {"python": platform.python_version()} | {name: version(name) for name in _PACKAGES}


def run_id(content_hash: str, seed: int) -> str:
    """Identity of a run: a hash of the scenario's behaviour and the seed, 16 hexadecimal digits."""
    material: Any = json.dumps([content_hash, seed])
    return hashlib.sha256(material.encode()).hexdigest()[:16]
