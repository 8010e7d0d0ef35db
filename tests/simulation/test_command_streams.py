"""Where the command's output goes may end early, be full or be closed: no traceback, and a status that says so."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = [sys.executable, "-c", "from deniability.simulation.command_line import main; main()"]
FULL = Path("/dev/full")


@pytest.mark.parametrize(
    "words", [["list"], ["show", "five-labs"], ["schema"], ["show", "five-labs", "--json"]], ids=" ".join
)
@pytest.mark.parametrize("lines", [0, 1])
def test_a_reader_that_leaves_early_ends_it_quietly(tmp_path, words, lines):
    process = subprocess.Popen(
        [*COMMAND, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path
    )
    for _ in range(lines):  # as `head -1` does
        assert process.stdout.readline()
    process.stdout.close()
    err = process.stderr.read()
    process.stderr.close()
    assert err == ""
    # what fits into the pipe at once has been read by nobody, and that is no failure either
    assert process.wait() in ((1,) if lines == 0 else (0, 1))


@pytest.mark.skipif(not FULL.exists(), reason="needs /dev/full, a device without room")
@pytest.mark.parametrize("words", [["list"], ["schema"], ["--help"]], ids=" ".join)
def test_a_full_disk_is_one_message(tmp_path, words):
    with FULL.open("w") as full:
        done = subprocess.run(
            [*COMMAND, *words], stdout=full, stderr=subprocess.PIPE, text=True, cwd=tmp_path, check=False
        )
    assert (done.returncode, done.stderr) == (1, "Writing failed: No space left on device\n")


def ended(words, cwd):
    """Run the command through a shell, which closes streams as `words` tell."""
    script = f'"$0" -c "$1" {words}'
    return subprocess.run(
        ["sh", "-c", script, COMMAND[0], COMMAND[2]], capture_output=True, text=True, cwd=cwd, check=False
    )


def test_without_stdout_it_works_all_the_same(tmp_path):
    done = ended("list >&-", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


def test_without_stderr_progress_goes_nowhere_and_the_work_is_done(tmp_path):
    done = ended("run single-lab-narrow --json 2>&-", tmp_path)
    assert done.returncode == 0
    assert json.loads(done.stdout)["scenario"] == "single-lab-narrow"
