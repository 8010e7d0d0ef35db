"""Studies with workers end when they are asked to: at once, with one word, and with all their processes."""

import os
import signal
import sys
import time

import pytest

from .processes import started

COMMAND = [sys.executable, "-c", "from deniability.simulation.command_line import main; main()"]
STUDIES = {
    "twin": ["twin", "five-labs", "--pairs", "2000", "--jobs", "2"],
    "validation": ["validation", "five-labs", "--replicates", "500", "--jobs", "2"],
}


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT], ids=["SIGTERM", "SIGINT"])
@pytest.mark.parametrize("study", STUDIES)
def test_a_study_ends_at_once_when_asked_to(tmp_path, study, how):
    process = started([*COMMAND, *STUDIES[study], "--quiet", "--out", "out"], tmp_path)
    time.sleep(6.0)  # by now its workers are at work, or about to be
    assert process.poll() is None
    # Ctrl-C reaches the whole group, as from a terminal; SIGTERM the process that was started
    (os.killpg if how == signal.SIGINT else os.kill)(process.pid, how)
    out, err = process.communicate(timeout=20)  # not before its workers, too, have closed their streams
    assert (process.returncode, out, err) == (1, "", "Interrupted.\n")
    assert list(tmp_path.iterdir()) == []
