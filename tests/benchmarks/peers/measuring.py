"""Measuring one system on one corpus, each figure in a process of its own."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from attrs import frozen

from contextkit.embedding.built_in import load_embedder
from tests.benchmarks.harness import percentile
from tests.benchmarks.peers.checker import Worth, share_found, worth
from tests.benchmarks.peers.corpus import Corpus
from tests.benchmarks.peers.system import Answer
from tests.benchmarks.peers.texts import ROOT

__all__ = ["Measured", "Setting", "SystemFailedError", "measure", "write_corpus"]

_QUIET = {
    "HAYSTACK_TELEMETRY_ENABLED": "False",
    "HF_HUB_OFFLINE": "1",
    "PYTHONHASHSEED": "0",
    "TOKENIZERS_PARALLELISM": "false",
}
_THREADS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "RAYON_NUM_THREADS",
)


class SystemFailedError(Exception):
    """A system's process ended with an error; its last words are the message."""


@frozen
class Setting:
    """How systems are measured.

    Attributes:
        python: the interpreter that has them.
        threads: processors that a process may use, and threads of its libraries.
        cold_starts: processes that answer one question; the last one goes on.
        budgets: tokens of further contexts, which are not timed.
    """

    python: str
    threads: int = 1
    cold_starts: int = 3
    budgets: Sequence[int] = ()


@frozen
class Measured:
    """What was measured of a system; seconds, and bytes as megabytes (2**20).

    Attributes:
        build: from records and vectors in memory to a store on the disk.
        cold: from starting a process to its first context, the median.
        warm: each question's.
        worked: each question's time of the processor, all threads together, which other
            processes' load hardly changes.
        peak_mb: the most memory of the process that answered all questions.
        build_mb: the most memory of the process that built, the corpus included.
        disk_mb: the store.
        worth: what the contexts hold.
        gold: tokens -> the share of answers found within them.
        load: the machine's, over the last minute, when all was done.
        steps: what its own components do, what was written by hand, and its packages.
    """

    build: float
    cold: float
    warm: Sequence[float]
    worked: Sequence[float]
    peak_mb: float
    build_mb: float
    disk_mb: float
    worth: Worth
    gold: Mapping[int, float]
    load: float
    steps: Sequence[str]

    @property
    def median(self) -> float:
        """A warm answer, in milliseconds."""
        return 1000 * statistics.median(self.warm)

    @property
    def processor(self) -> float:
        """The processor's time for a warm answer, in milliseconds."""
        return 1000 * statistics.median(self.worked)

    @property
    def slow(self) -> float:
        """The 95th percentile of warm answers, in milliseconds."""
        return 1000 * percentile(self.warm, 95)


def write_corpus(corpus: Corpus, folder: Path) -> None:
    """Write a corpus and its vectors for the systems' processes."""
    corpus.write(folder)
    vectors = load_embedder().dense([record.text for record in corpus.records])
    if vectors is None:
        raise SystemFailedError("the default model makes no vectors here")
    np.save(folder / "vectors.npy", vectors)


def measure(system: str, corpus: Corpus, folder: Path, setting: Setting) -> Measured:
    """Build, open several times, answer all questions.

    Args:
        system: one of `worker.SYSTEMS`.
        corpus: the corpus.
        folder: where it was written.
        setting: how.

    Raises:
        SystemFailedError: where one of its processes fails.
    """
    with tempfile.TemporaryDirectory(dir=folder) as store:
        built = _run("build", system, folder, store, setting)
        disk = sum(512 * file.stat().st_blocks for file in Path(store).rglob("*") if file.is_file())
        runs = [
            _run("first", system, folder, store, setting) for _ in range(setting.cold_starts - 1)
        ]
        answered = _run("all", system, folder, store, setting)
    return Measured(
        build=built["seconds"],
        cold=statistics.median(run["cold"] for run in [*runs, answered]),
        warm=answered["seconds"],
        worked=answered["worked"],
        peak_mb=answered["peak_mb"],
        build_mb=built["peak_mb"],
        disk_mb=disk / 2**20,
        worth=worth(corpus, [Answer(*each) for each in answered["answers"]]),
        gold={
            int(budget): share_found(corpus, contexts)
            for budget, contexts in answered["by_budget"].items()
        },
        load=os.getloadavg()[0],
        steps=built["steps"],
    )


def _run(do: str, system: str, corpus: Path, store: str, setting: Setting) -> dict[str, Any]:
    outcome = corpus / "outcome.json"
    environment = {
        **os.environ,
        **_QUIET,
        **dict.fromkeys(_THREADS, str(setting.threads)),
        "CONTEXTKIT_HOME": str(corpus / "home"),
    }
    task = {
        "do": do,
        "system": system,
        "corpus": str(corpus),
        "store": store,
        "outcome": str(outcome),
        "threads": setting.threads,
        "budgets": setting.budgets,
        "started": time.monotonic(),
    }
    command = [setting.python, "-m", "tests.benchmarks.peers.worker", json.dumps(task)]
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, check=False, encoding="utf-8"
    )
    if done.returncode:
        raise SystemFailedError(f"{system}, {do}: {done.stderr.strip()[-2000:]}")
    found: dict[str, Any] = json.loads(outcome.read_text(encoding="utf-8"))
    return found
