"""What a process that is forked while its threads are busy finds locked: nothing."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

FORKS = """
import os, signal, sys, threading

from contextkit.concurrency import ForkLock

lock = ForkLock()
held, go_on = threading.Event(), threading.Event()

def hold():
    with lock:
        held.set()
        go_on.wait()

threading.Thread(target=hold, daemon=True).start()
held.wait()
child = os.fork()
if child == 0:
    # Should it hang, it ends all the same.
    signal.alarm(60)
    with lock:
        os._exit(0)
_, status = os.waitpid(child, 0)
go_on.set()
with lock:
    sys.exit(status)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing is forked there")
def test_a_forked_process_waits_for_no_thread_of_its_parent() -> None:
    """Its locks are free, and its loop is its own; the parent's stay as they are."""
    ran = subprocess.run([sys.executable, "-c", FORKS], capture_output=True, check=False)
    assert ran.returncode == 0, ran.stderr
