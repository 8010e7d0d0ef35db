from collections.abc import Callable
from pathlib import Path

import pytest

from deniability.scenarios import InputError, resolve

KNOWN = {
    "auditor.mechanism": ["exponential", "greedy", "rr", "tca", "uniform"],
    "organizations.inference": ["bayes", "strong", "timing"],
    "access.generator": ["need-to-know", "open"],
}

LAB = "[labs.lab-a]\nemployees = 10\n"


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Write a scenario file into an empty working directory; its name stays relative, as a user would give it."""
    monkeypatch.chdir(tmp_path)

    def written(text: str, name: str = "study.toml") -> Path:
        Path(name).write_text(text, encoding="utf-8")
        return Path(name)

    return written


@pytest.fixture
def problems(write: Callable[..., Path]) -> Callable[..., tuple[str, ...]]:
    """All messages about a scenario with this text; none if it is right."""

    def found(text: str, *settings: str) -> tuple[str, ...]:
        try:
            resolve(write(text), overrides=settings, known_names=KNOWN)
        except InputError as error:
            return error.messages
        return ()

    return found
