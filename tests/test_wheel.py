"""The wheel holds every tracked module and data file: setuptools drops an unlisted package in silence."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LAYERS = ("scenarios", "agents", "analysis", "simulation")


def sources():
    """What should be in the wheel: tracked files of the layers, or all of them outside a git checkout."""
    git = subprocess.run(["git", "ls-files", *LAYERS], cwd=ROOT, capture_output=True, text=True, check=False)
    if git.returncode == 0 and git.stdout:
        return set(git.stdout.split())
    files = (f for layer in LAYERS for f in (ROOT / layer).rglob("*") if f.is_file())
    return {f.relative_to(ROOT).as_posix() for f in files if "__pycache__" not in f.parts}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """A wheel built from a copy of the sources, so that no old build/ adds deleted modules."""
    copy, out = tmp_path_factory.mktemp("sources"), tmp_path_factory.mktemp("wheel")
    for name in sources() | {"pyproject.toml", "README.md", "LICENSE"}:
        if (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            (copy / name).write_bytes((ROOT / name).read_bytes())
    build = "import sys; from setuptools.build_meta import build_wheel; print(build_wheel(sys.argv[1]))"
    subprocess.run([sys.executable, "-c", build, str(out)], cwd=copy, check=True, capture_output=True)
    return next(out.glob("*.whl"))


def test_every_tracked_file_is_in_the_wheel(wheel):
    inside = set(zipfile.ZipFile(wheel).namelist())
    expected = {f"deniability/{name}" for name in sources() if (ROOT / name).is_file()}
    assert expected - inside == set()


def test_the_wheel_holds_nothing_else(wheel):
    inside = {n for n in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in n}
    assert inside - {f"deniability/{name}" for name in sources()} == set()


def test_the_wheel_is_typed_and_has_the_command(wheel):
    archive = zipfile.ZipFile(wheel)
    assert {f"deniability/{layer}/py.typed" for layer in LAYERS} <= set(archive.namelist())
    entry = next(n for n in archive.namelist() if n.endswith("entry_points.txt"))
    assert b"deniability = deniability.simulation.command_line:main" in archive.read(entry)
