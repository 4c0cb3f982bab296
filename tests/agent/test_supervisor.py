"""The end of a hook's process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import os, sys, time
from contextkit.agent import supervisor

def held_up(arguments, environment, message):
    # Opening a pipe waits for the test.
    with open("go") as go, open("started", "w") as started:
        started.write(go.read() + message.decode())

supervisor.start_detached = held_up
ending = supervisor.Ending(lambda event, answer: "high water", os.environ, time.monotonic(), 60.0)
ending.message = "a prompt"
ending.finish()
"""


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="only where a process can fork")
def test_an_agent_does_not_wait_for_the_program_that_a_hook_starts(tmp_path: Path) -> None:
    """It has the answer, and the hook's process has ended, before the program is started."""
    for name in ("go", "started"):
        os.mkfifo(tmp_path / name)
    ran = subprocess.run(
        [sys.executable, "-c", SCRIPT], cwd=tmp_path, capture_output=True, check=True, timeout=60
    )
    assert (ran.stdout, ran.stderr) == (b"high water", b"")
    (tmp_path / "go").write_text("started for ")
    assert (tmp_path / "started").read_text() == "started for a prompt"
