"""contextkit against its peers on the same work, in one run.

`python -m tests.benchmarks.peers --python PATH`, where PATH is an interpreter that has the
peers; without it, what is missing is named with the line that installs it.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from tests.benchmarks.harness import Report, machine, write_json
from tests.benchmarks.peers.checker import Worth
from tests.benchmarks.peers.corpus import make_corpus
from tests.benchmarks.peers.measuring import (
    Measured,
    Setting,
    SystemFailedError,
    measure,
    write_corpus,
)
from tests.benchmarks.peers.system import BUDGET, LIMIT
from tests.benchmarks.peers.worker import SYSTEMS

__all__ = ["main"]

_MODULES = {
    "contextkit": "contextkit",
    "floor": "bm25s, Stemmer",
    "langchain": "langchain_classic, langchain_community, faiss, rank_bm25",
    "llama-index": "llama_index.retrievers.bm25, llama_index.vector_stores.faiss",
    "haystack": "haystack",
    "haystack-faiss": "haystack_integrations.document_stores.faiss",
    "txtai": "txtai, faiss, msgpack",
}
_INSTALL = """\
  python3.11 -m venv VENV
  VENV/bin/pip install -e . bm25s PyStemmer faiss-cpu rank-bm25 \\
    langchain-classic langchain-community \\
    llama-index-core llama-index-retrievers-bm25 llama-index-vector-stores-faiss \\
    haystack-ai txtai-minimal msgpack
  VENV/bin/pip install --no-deps faiss-haystack  # it asks for an older numpy than it needs
"""


def main() -> None:
    """Measure systems on corpora of so many records, and print what they took and gave."""
    given = _parser().parse_args()
    setting = Setting(given.python, given.threads, given.cold_starts)
    missing = {name: what for name in given.systems if (what := _missing(given.python, name))}
    for name, what in missing.items():
        click.echo(f"{name} is left out: {what}", err=True)
    if missing:
        click.echo(f"An interpreter that has them, to give as --python:\n{_INSTALL}", err=True)
    systems = [name for name in given.systems if name not in missing]
    tables: dict[str, Report] = {}
    steps: dict[str, Sequence[str]] = {}
    for size in given.records if systems else []:
        digest, found = _measured(size, systems, setting)
        steps |= {name: each.steps for name, each in found.items()}
        tables |= _tables(f"{size:,} records, corpus {digest}", found, setting)
    if steps:
        tables["steps"] = _steps(steps)
        tables["steps"].show()
    if given.json is not None:
        write_json(given.json, machine(threads=setting.threads), tables)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.peers", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--records", nargs="+", type=int, default=[1000], metavar="N")
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, default=list(SYSTEMS))
    parser.add_argument("--python", default=sys.executable, help="has the peers installed")
    parser.add_argument("--threads", type=int, default=1, help="processors for each; 1")
    parser.add_argument("--cold-starts", type=int, default=3, help="of each system; 3")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the tables as data")
    return parser


def _missing(interpreter: str, system: str) -> str:
    """What the interpreter cannot import of a system, in a line."""
    command = [interpreter, "-W", "ignore", "-c", f"import {_MODULES[system]}"]
    done = subprocess.run(command, capture_output=True, check=False, encoding="utf-8")
    return done.stderr.strip().rpartition("\n")[2] if done.returncode else ""


def _measured(
    size: int, systems: Sequence[str], setting: Setting
) -> tuple[str, dict[str, Measured]]:
    """Which corpus it was, and what was measured of each system that works."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        corpus = make_corpus(size)
        write_corpus(corpus, Path(folder))
        spent = time.perf_counter() - started
        click.echo(f"{size:,} records, corpus {corpus.digest}, made in {spent:.0f} s", err=True)
        for name in systems:
            try:
                found[name] = measure(name, corpus, Path(folder), setting)
            except SystemFailedError as error:
                click.echo(str(error), err=True)
            else:
                click.echo(f"  {name}: {found[name].median:.1f} ms", err=True)
    return corpus.digest, found


def _tables(of: str, found: Mapping[str, Measured], setting: Setting) -> dict[str, Report]:
    if not found:
        return {}
    tables = {
        f"{of}: time and room": Report(
            title=f"{of}: time and room",
            rows=[_cost(name, measured) for name, measured in found.items()],
            note=(
                f"5 sources, at most {LIMIT} items of each, {BUDGET:,} tokens; {setting.threads} "
                f"thread(s); medians of {setting.cold_starts} cold starts and of the questions."
            ),
        ),
        f"{of}: what the contexts hold": Report(
            title=f"{of}: what the contexts hold",
            rows=[_worth(name, measured.worth) for name, measured in found.items()],
            note=(
                "Copies: pairs of planted near copies that are both shown, all contexts "
                "together. Alike: other pairs of a ratio of 90 or more, nearly all of them "
                "functions that differ in a name."
            ),
        ),
    }
    for table in tables.values():
        table.show()
    return tables


def _cost(name: str, measured: Measured) -> dict[str, Any]:
    return {
        "system": name,
        "build, s": measured.build,
        "cold, s": measured.cold,
        "median, ms": measured.median,
        "95%, ms": measured.slow,
        "processor, ms": measured.processor,
        "peak, MB": measured.peak_mb,
        "building, MB": measured.build_mb,
        "disk, MB": measured.disk_mb,
        "load": measured.load,
    }


def _worth(name: str, worth: Worth) -> dict[str, Any]:
    return {
        "system": name,
        "questions": worth.questions,
        "gold, %": 100 * worth.gold,
        "copies": worth.planted,
        "alike": worth.natural,
        "contradictions": worth.contradicted,
        "items": worth.items,
        "tokens": worth.tokens,
        "over budget": worth.over,
    }


def _steps(steps: Mapping[str, Sequence[str]]) -> Report:
    """Which steps are whose."""
    rows = [
        {"system": name, "its own": own, "by hand": by_hand, "made of": packages}
        for name, (own, by_hand, packages) in steps.items()
    ]
    return Report(title="Which steps are the system's own components", rows=rows)


if __name__ == "__main__":
    main()
