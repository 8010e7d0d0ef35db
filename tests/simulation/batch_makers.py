"""A study small enough to run many times, and what the tests of batches do with it."""

import random
import threading
import time
from concurrent.futures import Executor, Future
from pathlib import Path

import pytest

from deniability.simulation import dispatch, load_scenario
from deniability.simulation.batches import BatchResult, batch
from deniability.simulation.executors import SerialExecutor

STUDY = """
[time]
periods = 5
[labs.lab-a]
employees = 40
targets = ["x", "y"]
[labs.lab-b]
employees = 30
targets = ["x"]
[access]
median_access = 8.0
[incidents]
rate = 30.0
[sweep]
replicates = 3
[sweep.grid]
"auditor.mechanism" = ["greedy", "exponential"]
"auditor.delta" = [0.1, 0.4]
"""

BRITTLE = '''
"""A uniform audit that breaks down before the first decision in about one run of four."""

from deniability.agents.auditor.mechanisms.uniform import Uniform


class Brittle(Uniform):
    id = "brittle"

    def reset(self, n_replicates, n_targets, generator):
        super().reset(n_replicates, n_targets, generator)
        if generator.random() < 0.25:
            raise RuntimeError("it broke:\\n  twice")
'''

TABLES = ("runs", "groups", "series")


def study(folder: Path, text: str = STUDY, *settings: str):
    """The study, resolved."""
    path = folder / "study.toml"
    path.write_text(text, encoding="utf-8")
    return load_scenario(path, overrides=settings)


def make(scenario, out: Path, **options) -> BatchResult:
    """Make a batch in this process, in many small parts."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(dispatch, "LEAST_SECONDS", 0.0)
        return batch(scenario, out, **{"executor": SerialExecutor(), **options})


def contents(directory: Path) -> dict[str, bytes]:
    """The bytes of the final tables, event logs included."""
    return {
        path.relative_to(directory).as_posix(): path.read_bytes()
        for path in sorted(directory.rglob("*.parquet"))
        if "parts" not in path.relative_to(directory).parts
    }


class ScrambledExecutor(Executor):
    """Collects calls for a moment, then makes them in an order of its own."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._waiting: list[tuple] = []
        self._lock = threading.Lock()
        threading.Thread(target=self._serve, daemon=True).start()
        self.order: list[int] = []
        """Numbers of the calls in the order in which they were made."""

    def submit(self, fn, /, *args):
        future: Future = Future()
        with self._lock:
            number = len(self.order) + len(self._waiting)
            self._waiting.append((number, future, fn, args))
        return future

    def _serve(self) -> None:
        while True:
            time.sleep(0.02)
            with self._lock:
                waiting, self._waiting = self._waiting, []
                self._random.shuffle(waiting)
                self.order += [number for number, *_ in waiting]
            for _, future, fn, args in waiting:
                future.set_result(fn(*args))
