"""What a worker gets, what it does with it, and what it gives back.

A chunk is tens of runs. It carries the configurations that its runs share, each once, and comes back as the bytes of
a part file, so that whoever planned the batch has nothing left to do but to put them on disk.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from ..agents.registry import load_plugin, loaded_plugins
from ..analysis.metrics import run_groups
from ..scenarios import InputError, ScenarioConfig
from .batch_errors import EnvironmentDiffersError
from .batch_plan import Cell, PlannedRun
from .provenance import code_hash, versions
from .run_records import EVENTS, RunRecord, encoded
from .runs import simulated

__all__ = ["Chunk", "ChunkResult", "Environment", "failed_chunk", "run_chunk", "run_one"]


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
    """

    code: str
    versions: tuple[tuple[str, str], ...]
    plugins: tuple[tuple[str, str], ...]

    @classmethod
    def here(cls) -> "Environment":
        """That of this process."""
        files = tuple((str(file), sha256(file.read_bytes()).hexdigest()) for file in loaded_plugins())
        return cls(code_hash(), tuple(versions().items()), files)

    def enter(self) -> None:
        """Make this process like it.

        Raises
        ------
        EnvironmentDiffersError
            That is not possible: code, versions or the content of a plugin differ.
        """
        try:
            for file, _ in self.plugins:
                load_plugin(Path(file))
        except InputError as error:
            raise EnvironmentDiffersError(f"a worker cannot load a plugin: {error}") from None
        here = Environment.here()
        if here.code != self.code:
            raise EnvironmentDiffersError(
                f"a worker has other code (hash {here.code[:12]}, here {self.code[:12]}): has it been edited "
                "meanwhile, or is another version installed there?"
            )
        differing = [
            f"{name} {there} (here {ours})"
            for (name, ours), (_, there) in zip(self.versions, here.versions, strict=True)
            if ours != there
        ]
        if differing:
            raise EnvironmentDiffersError(f"a worker has other versions: {', '.join(differing)}")
        if not set(self.plugins) <= set(here.plugins):
            raise EnvironmentDiffersError("a worker has a plugin of other content")


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
    errors = {record.run.run_id: record.error for record in records if record.error}
    return ChunkResult(encoded(records, values, about), errors, tuple(seconds))
