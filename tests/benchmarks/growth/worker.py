"""One measured process: puts records, or opens the store and answers.

`python -m tests.benchmarks.growth.worker TASK` with a task as JSON on the command line, which
`sizes` writes; the outcome is printed as JSON on the last line.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.benchmarks.growth.records import GrowingSystem, batches, made
from tests.benchmarks.growth.resident import resident_bytes
from tests.benchmarks.peers.system import BUDGET

__all__ = ["main"]


def main() -> None:
    """Do the task."""
    task = json.loads(sys.argv[1])
    folder = Path(task["folder"])
    if task["do"] == "put":
        outcome = _put(task["records"], folder)
    else:
        outcome = _answer(folder, task["started"])
    sys.stdout.write(f"{json.dumps(outcome)}\n")


def _put(number: int, folder: Path) -> dict[str, Any]:
    corpus = made(number)
    asked = [[each.query for each in some] for some in (corpus.warming, corpus.questions)]
    (folder / "queries.json").write_text(json.dumps(asked), encoding="utf-8")
    wall = worked = 0.0
    with GrowingSystem().filling(folder) as kit:
        for source, batch in batches(corpus, number):
            records = kit.records(source)
            started, busy = time.perf_counter(), time.process_time()
            records.put(batch)
            wall += time.perf_counter() - started
            worked += time.process_time() - busy
        started = time.perf_counter()
        kit.store.optimize()
        optimizing = time.perf_counter() - started
    return {"put": wall, "worked": worked, "optimizing": optimizing}


def _answer(folder: Path, begun: float) -> dict[str, Any]:
    warming, queries = json.loads((folder / "queries.json").read_text(encoding="utf-8"))
    system = GrowingSystem()
    system.open(folder)
    started = time.perf_counter()
    system.identify()
    opened = time.perf_counter() - started
    system.answer(warming[0], BUDGET)
    # The clock is the machine's, and the runner read it before it started this process.
    cold = time.monotonic() - begun
    for query in warming[1:]:
        system.answer(query, BUDGET)
    seconds, worked = _timed(system, queries)
    resident = resident_bytes()
    system.close()
    return {
        "opened": opened,
        "cold": cold,
        "seconds": seconds,
        "worked": worked,
        "resident": resident,
    }


def _timed(system: GrowingSystem, queries: Sequence[str]) -> tuple[list[float], list[float]]:
    seconds, worked = [], []
    for query in queries:
        started, busy = time.perf_counter(), time.process_time()
        system.answer(query, BUDGET)
        worked.append(time.process_time() - busy)
        seconds.append(time.perf_counter() - started)
    return seconds, worked


if __name__ == "__main__":
    main()
