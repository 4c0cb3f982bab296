"""Run several processes at the same moment."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Sequence
from subprocess import PIPE


def run_together(script: str, *arguments: Sequence[str]) -> None:
    """Run a script in several processes that start together.

    There is one process for each list of arguments. When the script is ready, it prints `ready`,
    flushed, and waits for a line. Then it does the work that is to run at the same moment:

    ```python
    print("ready", flush=True)
    sys.stdin.readline()
    ```

    Args:
        script: Python.
        arguments: of each process.

    Raises `AssertionError` where a process ends before it is ready, or with an error.
    """
    with contextlib.ExitStack() as stack:
        running = [
            stack.enter_context(
                subprocess.Popen(
                    [sys.executable, "-c", script, *own], stdin=PIPE, stdout=PIPE, text=True
                )
            )
            for own in arguments
        ]
        for process in running:
            if process.stdout is None or process.stdout.readline() != "ready\n":
                raise AssertionError("a process ended before it was ready")
        for process in running:
            if process.stdin is not None:
                process.stdin.write("go\n")
                process.stdin.flush()
    codes = [process.returncode for process in running]
    if any(codes):
        raise AssertionError(f"processes ended with {codes}")
