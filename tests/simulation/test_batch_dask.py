"""A batch on a Dask cluster: a real scheduler and two workers on this machine."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from importlib.util import find_spec

import pytest

from deniability.agents import registry
from deniability.scenarios import InputError
from deniability.simulation import foreign_code, import_walk
from deniability.simulation.batch_errors import BatchError

from .batch_makers import STUDY, contents, make, study

pytestmark = [
    pytest.mark.dask,
    pytest.mark.slow,
    pytest.mark.skipif(
        find_spec("distributed") is None, reason="needs the extra dask: distributed is not installed"
    ),
]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Address of a scheduler with two workers, each with a nanny that replaces it when it dies."""
    folder = tmp_path_factory.mktemp("dask")
    file = folder / "scheduler.json"
    common = ["--no-dashboard", "--host", "127.0.0.1"]
    commands = [
        ["distributed.cli.dask_scheduler", *common, "--port", "0", "--scheduler-file", str(file)],
        *[
            ["distributed.cli.dask_worker", *common, "--scheduler-file", str(file), "--nthreads", "1",
             "--local-directory", str(folder)]
        ] * 2,
    ]  # fmt: skip
    with (folder / "log.txt").open("wb") as log:
        processes = [
            subprocess.Popen([sys.executable, "-m", *command], stdout=log, stderr=log) for command in commands
        ]
        try:
            while not file.exists():
                time.sleep(0.05)
            address = json.loads(file.read_text())["address"]
            from distributed import Client

            with Client(address, set_as_default=False) as client:
                client.wait_for_workers(2, timeout=120)
            yield address
        finally:
            for process in processes:
                process.terminate()
            for process in processes:
                try:
                    process.wait(20)
                except subprocess.TimeoutExpired:
                    process.kill()


def test_a_cluster_gives_the_same_bytes(cluster, tmp_path):
    scenario = study(tmp_path)
    make(scenario, tmp_path / "here", events=True)
    result = make(scenario, tmp_path / "there", events=True, executor="dask", scheduler=cluster)
    assert (result.n_made, result.n_done, result.errors) == (12, 12, {})
    assert contents(tmp_path / "there") == contents(tmp_path / "here")


def test_a_cluster_that_loses_a_worker_gives_the_same_bytes(cluster, tmp_path):
    from distributed import Client

    scenario = study(tmp_path)
    make(scenario, tmp_path / "here", replicates=20)
    with Client(cluster, set_as_default=False) as client:
        victim = next(iter(client.run(os.getpid).values()))

    def kill():
        parts = tmp_path / "there" / "parts"
        while len(list(parts.glob("0*"))) < 2:
            time.sleep(0.02)
        os.kill(victim, signal.SIGKILL)

    thread = threading.Thread(target=kill)
    thread.start()
    result = make(scenario, tmp_path / "there", replicates=20, executor="dask", scheduler=cluster)
    thread.join()
    assert (result.n_done, result.errors) == (80, {})
    assert contents(tmp_path / "there") == contents(tmp_path / "here")


PLUGIN = """
import os, sys

sys.path.insert(0, os.path.dirname(__file__))

from dask_helper import FACTOR
from deniability.agents.auditor.mechanisms.uniform import Uniform


class Helped(Uniform):
    id = "helped"
"""


def test_a_cluster_agrees_on_foreign_code_and_keeps_it_as_it_was_loaded(cluster, tmp_path, monkeypatch):
    """Its workers outlive a batch: what they have imported does not change with the file, so they say so."""
    monkeypatch.setattr(registry, "_plugins", {})
    monkeypatch.setattr(sys, "path", [*sys.path])
    plugin, helper = tmp_path / "mine.py", tmp_path / "dask_helper.py"
    plugin.write_text(PLUGIN, encoding="utf-8")
    text = STUDY.replace('["greedy", "exponential"]', '["greedy", "helped"]')

    def made(out, factor):
        helper.write_text(f"FACTOR = {factor}\n", encoding="utf-8")
        # as in a process of its own
        registry._plugins.clear()
        import_walk._sources.clear()
        foreign_code._imports_of.cache_clear()
        registry.load_plugin(plugin)
        return make(study(tmp_path, text), tmp_path / out, executor="dask", scheduler=cluster)

    assert made("out", 1).n_done == 12
    with pytest.raises(
        BatchError, match=r"foreign code, plugin mine.py: dask_helper .* start the worker again"
    ):
        made("other", 2)


def test_a_scheduler_that_is_not_there_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr("deniability.simulation.executors._CONNECT_SECONDS", 1)
    with pytest.raises(InputError, match=r"--scheduler tcp://127.0.0.1:9: no Dask scheduler answers"):
        make(study(tmp_path), tmp_path / "out", executor="dask", scheduler="tcp://127.0.0.1:9")


def test_a_missing_extra_is_told(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(
        InputError, match=r"needs the extra `dask`; install it with: pip install 'deniability\[dask\]'"
    ):
        make(study(tmp_path), tmp_path / "out", executor="dask", scheduler="tcp://127.0.0.1:9")
