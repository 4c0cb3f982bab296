"""One measured process: builds one system's store, or opens it and answers.

`python -m tests.benchmarks.peers.worker TASK` with a task as JSON on the command line,
which `measuring` writes; the outcome is written as JSON to the file that it names.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.metadata
import json
import os
import resource
import sys
import time
from pathlib import Path
from typing import Any, cast

import numpy as np

from tests.benchmarks.peers.corpus import SOURCES, read_corpus
from tests.benchmarks.peers.system import BUDGET, Material, System

__all__ = ["SYSTEMS", "load_system", "main"]

SYSTEMS = {
    "contextkit": "contextkit_store:ContextKitSystem",
    "floor": "floor:Floor",
    "langchain": "langchain_faiss:LangChain",
    "llama-index": "llama_index:LlamaIndex",
    "haystack": "haystack_memory:Haystack",
    "haystack-faiss": "haystack_memory:HaystackFaiss",
    "txtai": "txtai_hybrid:Txtai",
}
"""Name -> module in `systems` and class; a module imports what it measures when it is used."""


def load_system(name: str) -> System:
    """A system that has not imported anything of its own yet."""
    module, _, attribute = SYSTEMS[name].partition(":")
    found = importlib.import_module(f"tests.benchmarks.peers.systems.{module}")
    return cast("System", getattr(found, attribute)())


def main() -> None:
    """Do the task."""
    task = json.loads(sys.argv[1])
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-task["threads"] :])
    system = load_system(task["system"])
    do = _build if task["do"] == "build" else _answer
    outcome = do(system, task)
    packages = ", ".join(f"{n} {importlib.metadata.version(n)}" for n in system.packages)
    outcome["peak_mb"] = _peak() / 2**20
    outcome["steps"] = [system.own, system.by_hand, packages]
    Path(task["outcome"]).write_text(json.dumps(outcome), encoding="utf-8")


def _build(system: System, task: dict[str, Any]) -> dict[str, Any]:
    corpus = read_corpus(Path(task["corpus"]))
    vectors = np.load(Path(task["corpus"]) / "vectors.npy")
    rows = {
        source: [row for row, record in enumerate(corpus.records) if record.source == source]
        for source in SOURCES
    }
    material = Material(
        records={source: corpus.of(source) for source in SOURCES},
        vectors={source: vectors[rows[source]] for source in SOURCES},
    )
    started = time.perf_counter()
    system.build(material, Path(task["store"]))
    return {"seconds": time.perf_counter() - started}


def _answer(system: System, task: dict[str, Any]) -> dict[str, Any]:
    counted, warming = json.loads((Path(task["corpus"]) / "questions.json").read_text())
    system.open(Path(task["store"]))
    system.answer(warming[0]["query"], BUDGET)
    # The clock is the machine's, and the runner read it before it started this process.
    outcome: dict[str, Any] = {"cold": time.monotonic() - task["started"]}
    if task["do"] == "all":
        for question in warming[1:]:
            system.answer(question["query"], BUDGET)
        seconds, worked, answers = [], [], []
        for question in counted:
            started, busy = time.perf_counter(), time.process_time()
            answer = system.answer(question["query"], BUDGET)
            worked.append(time.process_time() - busy)
            seconds.append(time.perf_counter() - started)
            answers.append([answer.text, list(answer.shown)])
        outcome |= {"seconds": seconds, "worked": worked, "answers": answers}
        outcome["by_budget"] = {
            budget: [system.answer(question["query"], budget).text for question in counted]
            for budget in task["budgets"]
        }
    system.close()
    return outcome


def _peak() -> int:
    """The most memory that this process had resident, in bytes.

    Linux's own figure for `ru_maxrss` begins with that of the process that started this one.
    """
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
            if line.startswith("VmHWM:"):
                return 1024 * int(line.split()[1])
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else 1024 * most


if __name__ == "__main__":
    main()
