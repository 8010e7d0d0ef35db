"""Workers that die are replaced, their runs made again or, where they kill every worker, recorded as failed."""

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import suppress
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import pytest

from deniability.simulation import dispatch
from deniability.simulation.batch_errors import (
    BatchError,
    BatchInterruptedError,
    EnvironmentDiffersError,
    WorkerDiedError,
)
from deniability.simulation.batches import batch
from deniability.simulation.chunks import run_chunk
from deniability.simulation.executors import SerialExecutor
from deniability.simulation.workers import LocalPool

from .batch_makers import STUDY, contents, make, study
from .processes import started


class FatefulExecutor(SerialExecutor):
    """Works in this process; `fate` may raise instead, as if the worker had died over the chunk."""

    def __init__(self, fate):
        self.fate, self.n_calls = fate, 0

    def submit(self, fn, /, *args):
        self.n_calls += 1

        def call(chunk):
            self.fate(chunk)
            return fn(chunk)

        return super().submit(call, *args)


def test_a_pool_outlives_its_workers():
    with LocalPool(2) as pool:
        assert pool.submit(pow, 2, 5).result() == 32
        with pytest.raises(ZeroDivisionError):
            pool.submit(divmod, 1, 0).result()
        with pytest.raises(WorkerDiedError, match="with exit code 3") as ended:
            pool.submit(os._exit, 3).result()
        assert (ended.value.started, ended.value.killed) == (True, False)
        calls = [pool.submit(time.sleep, 60) for _ in range(2)]
        while sum(call.running() for call in calls) < 2 or len(pool.pids()) < 2:
            time.sleep(0.01)
        time.sleep(0.1)
        os.kill(pool.pids()[0], signal.SIGKILL)
        while not any(call.done() for call in calls):
            time.sleep(0.01)
        assert sum(call.done() for call in calls) == 1  # the other one goes on
        assert pool.submit(pow, 2, 6).result() == 64
        pool.kill()
        errors = [call.exception() for call in calls]
    assert [type(error) for error in errors] == [WorkerDiedError] * 2
    assert "by signal 9" in str(errors[0])
    assert pool.pids() == []
    with pytest.raises(RuntimeError, match="closed"):
        pool.submit(pow, 1, 1)


def test_calls_that_wait_are_cancelled_when_a_pool_is_killed():
    pool = LocalPool(1)
    calls = [pool.submit(time.sleep, 60) for _ in range(3)]
    while not calls[0].running():
        time.sleep(0.01)
    pool.kill()
    assert [call.cancelled() for call in calls] == [False, True, True]


def test_an_interrupt_from_the_keyboard_is_not_for_workers_not_even_while_they_start():
    # in a process of its own, for only the first pool of a process starts the tracker of resources as well
    script = (
        "import os, signal, time\n"
        "from deniability.simulation.workers import LocalPool\n"
        "if __name__ == '__main__':\n"
        "    with LocalPool(1) as pool:\n"
        "        answer = pool.submit(pow, 2, 2)\n"
        "        while not pool.pids():\n"
        "            time.sleep(0.001)\n"
        "        for _ in range(20):\n"
        "            os.kill(pool.pids()[0], signal.SIGINT)\n"
        "            time.sleep(0.01)\n"
        "        print(answer.result(), pool.submit(pow, 2, 3).result())\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("4 8\n", "")


def test_a_run_that_kills_every_worker_is_given_up_and_the_others_are_kept(tmp_path, monkeypatch):
    scenario = study(tmp_path)
    monkeypatch.setattr(dispatch, "_SHARE", 1)  # chunks of several runs
    deadly = "set below"

    def fate(chunk):
        if any(run.run_id == deadly for run in chunk.runs):
            raise WorkerDiedError("a worker process ended by signal 11")

    executor = FatefulExecutor(fate)
    whole = make(scenario, tmp_path / "whole")
    deadly = whole.plan.run(1, 2).run_id
    result = make(scenario, tmp_path / "out", executor=executor, jobs=1)
    why = "WorkerDiedError: a worker process ended by signal 11, each time that it was tried"
    assert result.errors == {deadly: why}
    assert (result.n_done, result.n_runs) == (11, 12)
    assert executor.n_calls < 30
    runs = list(result.plan.runs(3))
    for row, expected in zip(result.rows(runs), whole.rows(runs), strict=True):
        assert row == expected if row["run_id"] != deadly else row["status"] == "failed"


def test_workers_that_cannot_start_end_the_batch(tmp_path):
    def fate(_chunk):
        raise WorkerDiedError("a worker process ended with exit code 1", started=False, killed=False)

    executor = FatefulExecutor(fate)
    with pytest.raises(BatchError, match=r"cannot be started .*__main__.* 0 of 12 runs are done"):
        make(study(tmp_path), tmp_path / "out", executor=executor)
    assert executor.n_calls < 10


def test_starts_that_were_cut_short_are_tried_again(tmp_path):
    left = 9

    def fate(_chunk):
        nonlocal left
        left -= 1
        if left >= 0:
            raise WorkerDiedError("a worker process ended by signal 9", started=False)

    assert make(study(tmp_path), tmp_path / "out", executor=FatefulExecutor(fate)).n_done == 12


def test_a_worker_with_other_code_ends_the_batch_and_what_is_done_is_kept(tmp_path):
    n_calls = 0

    def fate(_chunk):
        nonlocal n_calls
        n_calls += 1
        if n_calls == 3:
            raise EnvironmentDiffersError("a worker has other code")

    scenario = study(tmp_path)
    with pytest.raises(BatchError, match=r"a worker has other code .* of 12 runs are done and kept"):
        make(scenario, tmp_path / "out", executor=FatefulExecutor(fate))
    make(scenario, tmp_path / "whole")
    assert 0 < make(scenario, tmp_path / "out").n_made < 12
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


def test_chunks_know_whether_the_code_is_theirs(tmp_path):
    from dataclasses import replace

    from deniability.simulation.batch_plan import BatchPlan
    from deniability.simulation.chunks import Chunk, Environment

    plan = BatchPlan.of(study(tmp_path), 1)
    here = Environment.here()
    chunk = Chunk(here, {0: plan.cells[0]}, (plan.run(0, 0),), False)
    assert run_chunk(chunk).errors == {}
    numpy = tuple((name, "1.0" if name == "numpy" else version) for name, version in here.versions)
    for other, message in (
        (replace(here, code="0" * 64), "other code"),
        (replace(here, versions=numpy), r"other versions: numpy .* \(here 1.0\)"),
        (replace(here, plugins=(("/nowhere/plugin.py", "0" * 64),)), "cannot load a plugin"),
    ):
        with pytest.raises(EnvironmentDiffersError, match=message):
            run_chunk(replace(chunk, environment=other))


def test_ctrl_c_keeps_what_is_done(tmp_path):
    scenario = study(tmp_path)
    n_calls = 0

    def fate(_chunk):
        nonlocal n_calls
        n_calls += 1
        if n_calls == 4:
            raise KeyboardInterrupt

    with pytest.raises(BatchInterruptedError) as ended:
        make(scenario, tmp_path / "out", executor=FatefulExecutor(fate))
    told = str(ended.value)
    assert told.startswith("Interrupted. ")
    assert told.endswith(
        f"of 12 runs are done and kept in {tmp_path / 'out'}; the same command goes on from there."
    )
    make(scenario, tmp_path / "whole")
    made = make(scenario, tmp_path / "out").n_made
    assert f" {12 - made} of 12" in told
    assert 0 < made < 12
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


def test_results_that_are_finished_but_not_yet_stored_survive_an_interrupt(tmp_path):
    class Quick(Executor):
        """Three calls are answered before anybody looks, and then the keyboard is quicker."""

        n_calls = 0

        def submit(self, fn, /, *args) -> Future:
            self.n_calls += 1
            if self.n_calls == 4:
                raise KeyboardInterrupt
            return SerialExecutor().submit(fn, *args)

    with pytest.raises(BatchInterruptedError, match=r" 3 of 12 runs are done"):
        make(study(tmp_path), tmp_path / "out", executor=Quick(), jobs=2)


def test_somebody_elses_broken_pool_is_told(tmp_path):
    pool = ProcessPoolExecutor(1, mp_context=get_context("spawn"))
    with pytest.raises(Exception, match="terminated abruptly"):
        pool.submit(os._exit, 1).result()
    with pytest.raises(BatchError, match="0 of 12 runs are done"):
        make(study(tmp_path), tmp_path / "out", executor=pool)


INSTANTS = 10
N_RUNS = 100


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """A study of a hundred runs, its text, and the tables of a batch that nobody disturbed."""
    folder = tmp_path_factory.mktemp("many")
    scenario = study(folder, STUDY.replace("replicates = 3", "replicates = 25"))
    begun = time.monotonic()
    make(scenario, folder / "whole")
    return scenario, contents(folder / "whole"), time.monotonic() - begun


@pytest.mark.slow
def test_killing_the_batch_at_random_instants_loses_and_doubles_nothing(many, tmp_path):
    # the process is a ready-made one, so that the kills fall into the work and not into imports
    scenario, expected, seconds = many
    context = get_context("forkserver")
    context.set_forkserver_preload(["deniability.simulation.chunks", "deniability.simulation.batches"])
    moments = random.Random(6)
    alive = True
    for _ in range(INSTANTS):
        process = context.Process(
            target=partial(batch, scenario, tmp_path / "out", executor=SerialExecutor())
        )
        process.start()
        process.join(moments.uniform(0.05, 0.15) * seconds)
        alive = process.is_alive()
        process.kill()
        process.join()
        if not alive:
            break
    result = make(scenario, tmp_path / "out", tell=lambda _sentence: None)
    assert alive or result.n_made == 0
    assert result.n_done == N_RUNS
    assert contents(tmp_path / "out") == expected
    # a kill damages nothing: a part is there whole, or not at all
    assert not list((tmp_path / "out" / "parts").glob("*.corrupt"))


@pytest.mark.slow
def test_killing_workers_at_random_instants_changes_nothing(many, tmp_path):
    scenario, expected, seconds = many
    pool = LocalPool(2, imports="deniability.simulation.chunks")
    moments = random.Random(7)
    killed: list[int] = []
    over = threading.Event()

    def assassin():
        while len(killed) < INSTANTS and not over.wait(moments.uniform(0.04, 0.2) * seconds):
            if pids := pool.pids():
                killed.append(moments.choice(pids))
                with suppress(ProcessLookupError):
                    os.kill(killed[-1], signal.SIGKILL)

    thread = threading.Thread(target=assassin)
    thread.start()
    try:
        result = make(scenario, tmp_path / "out", executor=pool, jobs=2)
    finally:
        over.set()
        thread.join()
        pool.kill()
    assert len(killed) >= INSTANTS // 2
    assert (result.n_done, result.errors) == (N_RUNS, {})
    assert contents(tmp_path / "out") == expected


def running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


COMMAND = [sys.executable, "-c", "from deniability.simulation.command_line import main; main()"]


@pytest.mark.slow
def test_the_command_and_its_workers_killed_at_ten_random_instants(many, tmp_path):
    scenario, expected, _ = many
    command = [*COMMAND, "batch", str(scenario.source), "--out", "out", "--jobs", "2", "--quiet"]
    parts, moments = tmp_path / "out" / "parts", random.Random(11)
    first_part = 0.0  # seconds that it takes to get there, so that about half of the kills fall before it
    for number in range(INSTANTS):
        begun = time.monotonic()
        process = started(command, tmp_path)
        if number == 0:
            while process.poll() is None and not list(parts.glob("0*")):
                time.sleep(0.02)
            first_part = time.monotonic() - begun
        else:
            with suppress(subprocess.TimeoutExpired):
                process.wait(moments.uniform(0.5, 1.4) * first_part)
        ended = process.poll()
        process.kill()
        _, err = process.communicate(timeout=60)
        assert "Traceback" not in err
        if ended is not None:
            break
    result = make(scenario, tmp_path / "out")
    assert result.n_done == N_RUNS
    assert contents(tmp_path / "out") == expected


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_the_command_can_be_killed_or_interrupted_and_leaves_no_worker(many, tmp_path, how):
    scenario, expected, _ = many
    command = [*COMMAND, "batch", str(scenario.source), "--out", "out", "--jobs", "2"]
    process = started(command, tmp_path)
    parts = tmp_path / "out" / "parts"
    while process.poll() is None and len(list(parts.glob("0*"))) < 3:
        time.sleep(0.05)
    children = Path(f"/proc/{process.pid}/task").glob("*/children")
    workers = [int(pid) for file in children for pid in file.read_text().split()]
    # Ctrl-C goes to everybody in the terminal's foreground
    (os.killpg if how == signal.SIGINT else os.kill)(process.pid, how)
    try:
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    if how == signal.SIGINT:
        assert process.returncode == 1
        assert "Traceback" not in err
        assert "Interrupted. " in err
        assert "of 100 runs are done and kept in out; the same command goes on from there." in err
    for _ in range(600):
        if not any(map(running, workers)):
            break
        time.sleep(0.1)
    assert not any(map(running, workers))
    assert out == ""
    result = make(scenario, tmp_path / "out")
    assert 0 < result.n_made < N_RUNS
    assert json.loads((tmp_path / "out" / "manifest.json").read_text())["done_runs"] == N_RUNS
    assert contents(tmp_path / "out") == expected
