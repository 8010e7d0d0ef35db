"""What a report says besides its figures: the scenario and its evidence, the limits, how to make it again."""

import json
import shlex
from collections.abc import Iterator, Mapping
from pathlib import PurePath, PurePosixPath, PureWindowsPath
from typing import Any

from ...scenarios.merging import GIVES_NO_SOURCE
from ..results import Results, swept_keys

__all__ = ["LIMITS", "Setting", "command_line", "provenance", "reproduction", "settings"]

LIMITS = (
    "The guarantee holds for ideal real-valued noise and a trusted auditor. It covers only what the audit transcript "
    "reveals: not leaks from access logs, not channels in which the reporter is known, not audit scopes that the "
    "reports steer, not side information.",
    "δ bounds the effect of one report on what the transcript shows, in two worlds that differ in that report alone. "
    "Rates of retaliation are not bounded by δ, and the difference between reporters and non-reporters is "
    "confounded: who reports differs from who does not. The causal effect is what `deniability twin` estimates.",
    "The worst-case adversary knows everything but whether one report was filed. No real lab knows so much; what it "
    "would identify is a ceiling, not a forecast.",
    "Survey figures on retaliation are mostly about named, internal reports: they calibrate the sum of the channels, "
    "not the transcript channel alone.",
    "Many values of the scenario are assumptions, marked as such. The intervals tell how far other runs of the same "
    "scenario would differ; they say nothing about whether the scenario is right.",
    "Every interval stands by itself at 95 %. None is widened for the number of comparisons, so of many differences "
    "that are not there, one in twenty will seem to be.",
    "The reset-aware exponential mechanism is this project's own; its guarantee is proved in the documentation, and "
    "we know of no earlier statement of it.",
    "Seeds make runs reproducible and the noise predictable: this is a simulator, not an auditor to deploy.",
)
"""What every report says of itself."""

_NOT_SETTINGS = ("scenario", "evidence", "sources", "sweep")
_NAME = "title"
"""Last part of the path of a name, which needs no evidence."""


_KINDS_OF_EVIDENCE = {"assumption": "assumption", "tuned": "tuned"}


class Setting(tuple[str, str, str, str]):
    """A value of the scenario: path, value, kind of evidence, what it rests on.

    Kinds are "source", "assumption", "tuned" and "none".
    """

    __slots__ = ()

    @property
    def kind(self) -> str:
        """Kind of evidence."""
        return self[2]


def settings(results: Results) -> list[Setting]:
    """Every value of the scenario with its evidence; one entry of a table speaks for all its values."""
    tree = results.scenario
    evidence = tree.get("evidence", {})
    sources = tree.get("sources", {})
    found = []
    for path, value in _leaves({k: v for k, v in tree.items() if k not in _NOT_SETTINGS}):
        if path.rpartition(".")[2] == _NAME:
            continue
        why = _nearest(evidence, path)
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        if why is None:
            found.append(Setting((path, text, "none", "no evidence given")))
            continue
        key, _, reason = why.partition(":")
        if key.strip() in sources:
            found.append(Setting((path, text, "source", f"{reason.strip() or key} [{sources[key.strip()]}]")))
        else:
            kind = _KINDS_OF_EVIDENCE.get(key.strip(), "none" if why.endswith(GIVES_NO_SOURCE) else "source")
            found.append(Setting((path, text, kind, reason.strip() if kind == "assumption" else why)))
    return found


def _leaves(tree: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in tree.items():
        if isinstance(value, Mapping) and value:
            yield from _leaves(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _nearest(evidence: Mapping[str, Any], path: str) -> str | None:
    while path:
        if path in evidence:
            return str(evidence[path])
        path = path.rpartition(".")[0]
    return None


def command_line(results: Results) -> str | None:
    """The command that made these results, without the paths of the machine where it ran."""
    command = results.manifest.get("command")
    if not isinstance(command, list) or not command:
        return None
    return shlex.join(["deniability", *[_local(str(word)) for word in command[1:]]])


def _local(word: str) -> str:
    option, equals, value = word.partition("=") if word.startswith("--") else ("", "", word)
    for kind in (PurePosixPath, PureWindowsPath):
        path: PurePath = kind(value)
        if path.is_absolute():
            return f"{option}{equals}{path.name}"
    return word


def provenance(results: Results) -> dict[str, Any]:
    """What goes into every figure: scenario, hashes, seed. No date and no path."""
    keys = ("scenario", "content_hash", "code_hash", "seed", "identity")
    return {key: results.manifest[key] for key in keys if key in results.manifest} | {"kind": results.kind}


def reproduction(results: Results) -> list[tuple[str, str]]:
    """Rows on how to make these results again."""
    manifest = results.manifest
    rows = []
    if command := command_line(results):
        rows.append(("Command", command))
    guarantee = manifest.get("guarantee")
    if isinstance(guarantee, Mapping) and guarantee.get("text"):
        rows.append(
            ("Guarantee of the scenario as its file stands, before any sweep", str(guarantee["text"]))
        )
    if "seed" in manifest:
        rows.append(("Root seed", str(manifest["seed"])))
    for key, label in (
        ("content_hash", "Hash of the scenario's behaviour"),
        ("code_hash", "Hash of the installed code"),
        ("identity", "Identity"),
        ("started", "Started"),
        ("ended", "Ended"),
    ):
        if manifest.get(key):
            rows.append((label, str(manifest[key])))
    versions = manifest.get("versions")
    if isinstance(versions, Mapping):
        rows.append(("Versions", ", ".join(f"{name} {version}" for name, version in versions.items())))
    runs = results.runs
    keys = swept_keys(runs) if len(runs) else []
    return rows + [(f"Values of {key}", ", ".join(str(v) for v in dict.fromkeys(runs[key]))) for key in keys]
