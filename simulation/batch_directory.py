"""The directory of a batch: what it is about, and whether this batch may go on in it."""

import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from ..scenarios import InputError
from ..scenarios.wording import written
from .assembly import TABLES_ASIDE
from .batch_plan import BatchPlan
from .chunks import Environment
from .foreign_code import changes
from .locks import LOCK, locked
from .manifest import manifest
from .parts import Parts, sync_directory, synced_write
from .provenance import module_hashes
from .store import MANIFEST, check_place

__all__ = ["BatchDirectory", "read_manifest"]

_MOST = 8  # differences that a message lists
_MANIFEST_ASIDE = f".{MANIFEST}"
_ABOUT = ("scenario", "evidence", "sources")
_EXTENDED = ("sweep.replicates", "sweep.precision")  # what may differ: then the batch is extended

_FORCE = "give another --out, or --force to go on here all the same (finished runs that are planned are kept)"


@dataclass(frozen=True)
class BatchDirectory:
    """Where a batch's results go.

    Attributes
    ----------
    path
        The directory; it may not exist yet.
    plan
        What the batch runs.
    environment
        What it runs on.
    events
        Whether it keeps event logs.
    """

    path: Path
    plan: BatchPlan
    environment: Environment
    events: bool

    @property
    def parts(self) -> Parts:
        """Its finished work."""
        return Parts(self.path / "parts")

    def check(self, *, force: bool) -> dict[str, Any]:
        """Refuse a directory of other content.

        Returns
        -------
        dict
            The manifest of the batch that began here, empty if none did.

        Raises
        ------
        InputError
            If it is refused: the message says what differs.
        """
        check_place(self.path)
        if not self.path.exists():
            return {}
        before = read_manifest(self.path)
        if force:
            return before if before.get("kind") == "batch" else {}
        if not before:
            if {file.name for file in self.path.iterdir()} - {LOCK, _MANIFEST_ASIDE}:
                raise InputError(
                    f"--out {self.path}: the directory is not empty and holds no results of ours; {_FORCE}"
                )
            return {}
        if before.get("kind") != "batch":
            raise InputError(
                f"--out {self.path}: the directory holds results of something else "
                f"({before.get('kind')}, not batch); {_FORCE}"
            )
        differences = list(self.differences(before))
        if differences:
            listed = [*differences[:_MOST], *(["…"] if len(differences) > _MOST else [])]
            raise InputError(
                f"--out {self.path}: the directory holds another batch.\n  "
                + "\n  ".join(listed)
                + f"\n  So {_FORCE}"
            )
        return before

    def differences(self, before: Mapping[str, Any]) -> Iterator[str]:
        """What tells the batch of a manifest from this one, in sentences; none if it is the same."""
        if before.get("identity") != self.plan.identity:
            yield from _scenario_differences(before, self.plan)
        if before.get("events", False) is not self.events:
            yield (
                f"Event logs: {'kept' if before.get('events') else 'not kept'} there, "
                f"{'kept' if self.events else 'not kept'} now."
            )
        if before.get("code_hash") != self.environment.code:
            yield from _code_differences(before.get("modules"))
        if before.get("versions") != dict(self.environment.versions):
            yield from _version_differences(before.get("versions"), dict(self.environment.versions))
        recorded = self.environment.recorded()
        if before.get("plugins", {}) != recorded["plugins"]:
            yield f"Plugins: {_plugins(before.get('plugins'))} there, {_plugins(recorded['plugins'])} now."
        yield from changes(before.get("foreign_code"), recorded["foreign_code"])

    @contextmanager
    def opened(self, tell: Callable[[str], None]) -> Iterator[None]:
        """Make the directory and hold its lock.

        Raises
        ------
        InputError
            It cannot be written, or another batch is at work in it.
        """
        with ExitStack() as stack:
            try:
                self.path.mkdir(parents=True, exist_ok=True)
                stack.enter_context(locked(self.path, tell))
            except OSError as error:
                raise InputError(
                    f"--out {self.path}: cannot write there ({error.strerror or error})"
                ) from error
            yield

    def tidy(self) -> None:
        """Remove what a killed batch was writing."""
        for left in self.path.glob(f"{TABLES_ASIDE}*"):
            shutil.rmtree(left, ignore_errors=True)
        (self.path / _MANIFEST_ASIDE).unlink(missing_ok=True)
        self.parts.tidy()

    def write_manifest(
        self,
        before: Mapping[str, Any],
        *,
        command: Sequence[str],
        started: datetime,
        ended: bool,
        **numbers: Any,
    ) -> None:
        """Write the manifest, at the start and at the end; `before` keeps the time of the first start.

        Raises
        ------
        OSError
            It cannot be written; the old one is still there then.
        """
        value = manifest(
            "batch",
            self.plan.identity,
            self.plan.scenario,
            seed=self.plan.seed,
            command=command,
            started=started,
            cells=len(self.plan.cells),
            swept=list(self.plan.keys),
            events=self.events,
            modules=module_hashes(),
            **self.environment.recorded(),
            **numbers,
        )
        value["started"] = before.get("started", value["started"])
        if not ended:
            value["ended"] = None
        # unsorted: the order of labs and of swept values is part of the scenario
        text = json.dumps(value, indent=2, allow_nan=False, ensure_ascii=False) + "\n"
        aside = self.path / _MANIFEST_ASIDE
        try:
            synced_write(aside, text.encode())
            aside.replace(self.path / MANIFEST)
        except OSError:
            aside.unlink(missing_ok=True)
            raise
        sync_directory(self.path)


def read_manifest(directory: Path) -> dict[str, Any]:
    """The manifest of a directory; empty if there is none that can be read."""
    try:
        value = json.loads((directory / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def _scenario_differences(before: Mapping[str, Any], plan: BatchPlan) -> Iterator[str]:
    there, here = _flat(before.get("resolved_scenario", {})), _flat(plan.scenario.tree)
    found = False
    for path in dict.fromkeys([*here, *there]):
        if path.startswith(_EXTENDED) or there.get(path) == here.get(path):
            continue
        found = True
        yield f"{path}: {_value(there, path)} there, {_value(here, path)} now."
    if before.get("seed") != plan.seed:
        found = True
        yield f"Root seed: {before.get('seed')} there, {plan.seed} now."
    if not found:
        yield "A file that the scenario names has other content now, or a default has changed."


def _flat(tree: Any, at: str = "") -> dict[str, Any]:
    if not isinstance(tree, Mapping):
        return {at: tree}
    if at in _ABOUT:
        return {}
    result: dict[str, Any] = {}
    for key, value in tree.items():
        result |= _flat(value, f"{at}.{key}" if at else str(key))
    return result


def _value(flat: Mapping[str, Any], path: str) -> str:
    return written(flat[path]) if path in flat else "not set"


def _code_differences(modules: Any) -> Iterator[str]:
    there, here = modules if isinstance(modules, Mapping) else {}, module_hashes()
    changed = sorted(name for name in {*there, *here} if there.get(name) != here.get(name))
    listed = ", ".join(changed[:_MOST]) + (", …" if len(changed) > _MOST else "")
    yield f"The installed code is not the same: {listed or 'the hash differs'}."


def _version_differences(before: Any, now: Mapping[str, str]) -> Iterator[str]:
    there = before if isinstance(before, Mapping) else {}
    changed = [name for name in {**there, **now} if there.get(name) != now.get(name)]
    listed = ", ".join(f"{name} {there.get(name, '?')} there, {now.get(name, '?')} now" for name in changed)
    yield f"Versions: {listed}."


def _plugins(plugins: Any) -> str:
    if not isinstance(plugins, Mapping) or not plugins:
        return "none"
    return ", ".join(f"{name} ({str(digest)[:8]})" for name, digest in plugins.items())
