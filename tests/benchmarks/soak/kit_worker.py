"""A process that keeps a `ContextKit` open: `python kit_worker.py WORKSPACE NAME`.

It imports nothing of the tests, so that another environment's interpreter can run it. It does
one round of calls, goes on until its standard input ends, and prints a JSON line for each call.
"""

from __future__ import annotations

import itertools
import json
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from contextkit import ContextKit
from contextkit_memories import MemoryBook

_FORGOTTEN_EVERY = 4
_FAILED = {"failed", "timed_out", "cut_off", "breaker_open"}


def main(workspace: str, name: str) -> None:
    """Work for one round at least, and until the standard input ends."""
    over = threading.Event()
    threading.Thread(target=_await_end, args=(over,), daemon=True).start()
    with ContextKit.open(workspace) as kit:
        calls = _Calls(kit, Path(workspace), name)
        for number in itertools.count():
            # A short soak may be over before this process has begun.
            for call in (calls.remember, calls.assemble, calls.index, calls.forget, calls.prune):
                _tell(call, number)
            if over.is_set():
                return


def _await_end(over: threading.Event) -> None:
    sys.stdin.read()
    over.set()


class _Calls:
    def __init__(self, kit: ContextKit, workspace: Path, name: str) -> None:
        self.kit, self.workspace, self.name = kit, workspace, name
        self.last = ""

    def remember(self, number: int) -> dict[str, Any]:
        text = f"{self.name} noted {number}: the cache of shard {number * 7919 % 1000} is cold"
        memory = MemoryBook.of(self.kit).remember(text)
        self.last = memory.id
        return {"stored": memory.id, "text": text}

    def forget(self, number: int) -> dict[str, Any] | None:
        if number % _FORGOTTEN_EVERY:
            return None
        MemoryBook.of(self.kit).forget(self.last)
        return {"forgotten": self.last}

    def assemble(self, number: int) -> dict[str, Any]:
        query = f"why is the cache of shard {number} cold?"
        found = self.kit.assemble_context_sync(query, source_timeout=60.0, deadline=60.0)
        failed = [row.source for row in found.trace.sources if row.state in _FAILED]
        if failed:
            raise RuntimeError(f"sources without an answer: {failed}")
        return {"items": len(found.items)}

    def index(self, number: int) -> dict[str, Any] | None:
        if number % 5:
            return None
        outcomes = self.kit.index(["code", "documents"])
        problems = {name: it.problem for name, it in outcomes.items() if it.problem}
        if problems:
            raise RuntimeError(str(problems))
        return {}

    def prune(self, number: int) -> dict[str, Any] | None:
        if number % 10:
            return None
        self.kit.prune()
        return {}


def _tell(call: Callable[[int], dict[str, Any] | None], number: int) -> None:
    began = time.monotonic()
    try:
        done = call(number)
    except Exception as error:  # noqa: BLE001 - told to the benchmark, which counts it
        done = {"failed": f"{type(error).__name__}: {error}"}
    if done is not None:
        seconds = time.monotonic() - began
        sys.stdout.write(json.dumps({"call": call.__name__, "seconds": seconds, **done}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
