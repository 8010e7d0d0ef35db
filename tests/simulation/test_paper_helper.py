"""The second process of the paper's experiments: what it knows, how it ends, and what it leaves alone.

It is a copy of a process that has nothing loaded yet, which this one is not: so each test starts one of its own.
"""

import os
import signal
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path

import pytest

from deniability.simulation.paper_helper import helper

PREAMBLE = """
import os, sys, threading, time, types
from deniability.simulation.batch_errors import WorkerDiedError
from deniability.simulation.paper_helper import helper
sys.modules["made_here"] = types.ModuleType("made_here")
KNOWS = "'made_here' in __import__('sys').modules"
"""
linux = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the helper is no copy")


def start(script):
    return subprocess.Popen(
        [sys.executable, "-c", PREAMBLE + script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def told(script):
    """What a script prints, by lines."""
    process = start(script)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")
    return out.splitlines()


def gone(pid):
    """Whether a process ends within a few seconds."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except OSError:
            return True
        time.sleep(0.02)
    return False


@linux
def test_a_copy_has_everything_loaded_and_works_beside_this_process():
    knows, other, value, order, failure, after = told(
        """
with helper() as executor:
    print(executor.submit(eval, KNOWS).result())
    print(executor.submit(os.getpid).result() != os.getpid())
    print(executor.submit(pow, 2, exp=5).result())
    print([f.result() for f in [executor.submit(abs, -i) for i in range(9)]])
    try:
        executor.submit(int, "x").result()
    except ValueError as error:
        print(error)
    print(executor.submit(abs, -1).result())
"""
    )
    assert (knows, other, value, after) == ("True", "True", "32", "1")
    assert order == str(list(range(9)))
    assert failure == "invalid literal for int() with base 10: 'x'"


def test_a_process_with_other_threads_is_not_copied():
    # whatever locks they hold at that moment would be locked for good in the copy
    (knows,) = told(
        """
threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
with helper() as executor:
    print(executor.submit(eval, KNOWS).result())
"""
    )
    assert knows == "False"


def test_nothing_is_set_where_libraries_are_loaded_already():
    import_module("numpy")
    before = dict(os.environ)
    with helper() as executor:
        assert executor.submit(abs, -1).result() == 1
    assert dict(os.environ) == before


@linux
def test_a_copy_that_dies_is_told():
    message, knows = told(
        """
with helper() as executor:
    try:
        executor.submit(os._exit, 3).result()
    except WorkerDiedError as error:
        print(error)
    print(executor.submit(eval, KNOWS).result())
"""
    )
    assert message == "a worker process ended with exit code 3"
    assert knows == "False"  # by now there is a second thread here, so its successor is no copy


@linux
def test_a_block_left_by_an_exception_does_not_wait():
    started = time.monotonic()
    (pid,) = told(
        """
try:
    with helper() as executor:
        print(executor.submit(os.getpid).result())
        executor.submit(time.sleep, 600)
        raise KeyError
except KeyError:
    pass
"""
    )
    assert gone(int(pid))
    assert time.monotonic() - started < 60


@linux
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_copy_ends_with_the_process_that_made_it(number):
    process = start(
        """
with helper() as executor:
    print(executor.submit(os.getpid).result(), flush=True)
    executor.submit(time.sleep, 600)  # it must not work on for nobody
    time.sleep(600)
"""
    )
    pid = int(process.stdout.readline())
    process.send_signal(number)
    process.communicate(timeout=30)
    assert gone(pid)


@linux
def test_an_interrupt_from_the_keyboard_is_for_the_process_that_made_the_copy():
    (survived,) = told(
        """
import signal
with helper() as executor:
    executor.submit(os.kill, executor.submit(os.getpid).result(), signal.SIGINT).result()
    print(executor.submit(abs, -1).result())
"""
    )
    assert survived == "1"
