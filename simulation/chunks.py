"""What a worker gets, what it does with it, and what it gives back.

A chunk is tens of runs. It carries the configurations that its runs share, each once, and comes back as the bytes of
a part file, so that whoever planned the batch has nothing left to do but to put them on disk.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..agents.registry import load_plugin, plugin_hashes
from ..analysis.metrics import run_groups
from ..scenarios import InputError, ScenarioConfig
from .batch_errors import EnvironmentDiffersError
from .batch_plan import Cell, PlannedRun
from .foreign_code import ForeignCode, foreign_code, recorded
from .provenance import code_hash, versions
from .run_records import EVENTS, RunRecord, encoded
from .runs import simulated

__all__ = ["Chunk", "ChunkResult", "Environment", "failed_chunk", "run_chunk", "run_one"]

_EDITED = "; if it has been edited meanwhile, start the worker again."


@dataclass(frozen=True)
class Environment:
    """What results depend on beside scenario and seed: the same wherever a run of a batch is made.

    Attributes
    ----------
    code
        Hash of the installed modules.
    versions
        Of Python and of the packages.
    plugins
        Files that were loaded, each with the hash of its content.
    foreign
        What they import, and entry points that take part.
    """

    code: str
    versions: tuple[tuple[str, str], ...]
    plugins: tuple[tuple[str, str], ...]
    foreign: tuple[ForeignCode, ...] = ()

    @classmethod
    def here(cls, configs: Iterable[ScenarioConfig] = ()) -> "Environment":
        """That of this process, for runs of these scenarios.

        Raises
        ------
        InputError
            An entry point cannot be loaded.
        """
        files = tuple((str(file), digest) for file, digest in plugin_hashes().items())
        return cls(code_hash(), tuple(versions().items()), files, foreign_code(configs))

    def recorded(self) -> dict[str, dict[str, Any]]:
        """What a manifest says of foreign code (`foreign_code.recorded`)."""
        return recorded({Path(file): digest for file, digest in self.plugins}, self.foreign)

    def enter(self) -> None:
        """Make this process like it.

        Raises
        ------
        EnvironmentDiffersError
            That is not possible: code, versions, the content of a plugin or other foreign code differ.
        """
        try:
            for file, _ in self.plugins:
                load_plugin(Path(file))
        except InputError as error:
            raise EnvironmentDiffersError(f"a worker cannot load a plugin: {error}") from None
        if (code := code_hash()) != self.code:
            raise EnvironmentDiffersError(
                f"a worker has other code (hash {code[:12]}, here {self.code[:12]}): has it been edited "
                "meanwhile, or is another version installed there?"
            )
        there = versions()
        differing = [
            f"{name} {there[name]} (here {ours})" for name, ours in self.versions if there[name] != ours
        ]
        if differing:
            raise EnvironmentDiffersError(f"a worker has other versions: {', '.join(differing)}")
        loaded = plugin_hashes()
        if any(loaded[Path(file).resolve()] != digest for file, digest in self.plugins):
            raise EnvironmentDiffersError(f"a worker has a plugin of other content{_EDITED}")
        for one in self.foreign:
            _refuse_other(one)


def _refuse_other(foreign: ForeignCode) -> None:
    try:
        there = foreign.here()
    except InputError as error:
        raise EnvironmentDiffersError(f"a worker cannot load foreign code: {error}") from None
    if there is None:
        raise EnvironmentDiffersError(f"a worker lacks the {foreign.label}: is it installed there?")
    if differing := foreign.told_differences(there):
        raise EnvironmentDiffersError(
            f"a worker has other foreign code, {foreign.label}: {differing}{_EDITED}"
        )


@dataclass(frozen=True)
class Chunk:
    """Work for one worker.

    Attributes
    ----------
    environment
        What the worker has to be like.
    cells
        The cells of the runs, each once, by number.
    runs
        What to run.
    events
        Whether to keep the event logs.
    """

    environment: Environment
    cells: Mapping[int, Cell]
    runs: tuple[PlannedRun, ...]
    events: bool

    def of(self, runs: Sequence[PlannedRun]) -> "Chunk":
        """A chunk of some of these runs."""
        return Chunk(self.environment, {r.cell: self.cells[r.cell] for r in runs}, tuple(runs), self.events)


@dataclass(frozen=True)
class ChunkResult:
    """What came of a chunk.

    Attributes
    ----------
    content
        The part file.
    errors
        Id of each failed run to what was raised.
    seconds
        Time of each run.
    """

    content: bytes
    errors: Mapping[str, str] = field(default_factory=dict)
    seconds: tuple[float, ...] = ()


def run_chunk(chunk: Chunk) -> ChunkResult:
    """Make the runs of a chunk. A run that raises is recorded with its error and stops nothing.

    Raises
    ------
    EnvironmentDiffersError
        This process has other code than the one that planned.
    """
    chunk.environment.enter()
    records, seconds = [], []
    for run in chunk.runs:
        started = time.perf_counter()
        records.append(run_one(chunk.cells[run.cell].config, run, events=chunk.events))
        seconds.append(time.perf_counter() - started)
    return _result(chunk, records, seconds)


def failed_chunk(chunk: Chunk, reason: str) -> ChunkResult:
    """The result of a chunk whose runs cannot be made at all."""
    return _result(chunk, [RunRecord.of_failure(run, reason) for run in chunk.runs], [])


def run_one(config: ScenarioConfig, run: PlannedRun, *, events: bool) -> RunRecord:
    """Make one run, and keep what a batch keeps of it."""
    try:
        tables, metrics = simulated(config, run.seed)
        groups = run_groups(tables, config.time.period_weeks)
    except Exception as error:  # noqa: BLE001  # whatever a scenario, a mechanism or a plugin raises
        return RunRecord.of_failure(run, error)
    kept = {"groups": groups, "series": tables["series"]}
    if events:
        kept |= {EVENTS + name: table for name, table in tables.items() if name != "series"}
    return RunRecord(run, metrics, kept)


def _result(chunk: Chunk, records: Sequence[RunRecord], seconds: Sequence[float]) -> ChunkResult:
    about: dict[str, Any] = {"code_hash": chunk.environment.code, "events": "yes" if chunk.events else "no"}
    values = {number: cell.values for number, cell in chunk.cells.items()}
    try:
        content = encoded(records, values, about)
    except Exception:  # noqa: BLE001  # what foreign code left in tables and metrics may be anything
        records = _storable(records, values)
        content = encoded(records, values, about)
    errors = {record.run.run_id: record.error for record in records if record.error}
    return ChunkResult(content, errors, tuple(seconds))


def _storable(records: Sequence[RunRecord], values: Mapping[int, Mapping[str, Any]]) -> list[RunRecord]:
    """The records, with a failure in place of each that cannot be stored together with those before it."""
    kept: list[RunRecord] = []
    for record in records:
        try:
            encoded([*kept, record], values, {})
            kept.append(record)
        except Exception as error:  # noqa: BLE001
            kept.append(RunRecord.of_failure(record.run, error))
    return kept
