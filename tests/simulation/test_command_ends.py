"""Studies with workers end when they are asked to: at once, quietly, and with all their processes."""

import os
import signal
import subprocess
import sys
import time
from functools import partial

import pytest

COMMAND = [sys.executable, "-c", "from deniability.simulation.command_line import main; main()"]
STUDIES = {
    "twin": ["twin", "five-labs", "--pairs", "2000", "--jobs", "2"],
    "validation": ["validation", "five-labs", "--replicates", "500", "--jobs", "2"],
}


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT], ids=["SIGTERM", "SIGINT"])
@pytest.mark.parametrize("study", STUDIES)
def test_a_study_ends_at_once_when_asked_to(tmp_path, study, how):
    process = subprocess.Popen(
        [*COMMAND, *STUDIES[study], "--quiet", "--out", "out"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    )
    time.sleep(6.0)  # by now its workers are at work, or about to be
    assert process.poll() is None
    # Ctrl-C reaches the whole group, as from a terminal; SIGTERM the process that was started
    (os.killpg if how == signal.SIGINT else os.kill)(process.pid, how)
    out, err = process.communicate(timeout=20)  # not before its workers, too, have closed their streams
    assert (out, err) == ("", "")
    assert process.returncode not in (0, 2)
    assert list(tmp_path.iterdir()) == []
