"""A command in a process of its own, which tests may interrupt or kill."""

import signal
import subprocess
from collections.abc import Sequence
from functools import partial
from pathlib import Path


def started(command: Sequence[str], cwd: Path) -> subprocess.Popen[str]:
    """Start a command in a group of its own, its streams caught."""
    return subprocess.Popen(
        command,
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # somebody may have told this process to ignore the keyboard, and children inherit that
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    )
