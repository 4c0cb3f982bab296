"""contextkit against its peers on the same work, in one run.

`python -m tests.benchmarks.peers --python PATH`, where PATH is an interpreter that has the
peers; without it, what is missing is named with the line that installs it.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import attrs
import click

from tests.benchmarks.harness import machine
from tests.benchmarks.peers.corpus import Corpus, make_corpus
from tests.benchmarks.peers.measuring import Setting, SystemFailedError, measure, write_corpus
from tests.benchmarks.peers.results import Results
from tests.benchmarks.peers.system import BUDGETS
from tests.benchmarks.peers.texts import ROOT
from tests.benchmarks.peers.worker import SYSTEMS

__all__ = ["main"]

_MOST_BY_TOKENS = 10_000
"""The largest corpus whose questions are asked with several budgets."""

_MODULES = {
    "contextkit": "contextkit",
    "floor": "bm25s, Stemmer",
    "langchain": "langchain_classic, langchain_community, faiss, rank_bm25",
    "llama-index": "llama_index.retrievers.bm25, llama_index.vector_stores.faiss",
    "haystack": "haystack",
    "haystack-faiss": "haystack_integrations.document_stores.faiss",
    "txtai": "txtai, faiss, msgpack, regex",
}
_INSTALL = """\
  python3.11 -m venv VENV
  VENV/bin/pip install -e . bm25s PyStemmer faiss-cpu rank-bm25 \\
    langchain-classic langchain-community \\
    llama-index-core llama-index-retrievers-bm25 llama-index-vector-stores-faiss \\
    haystack-ai txtai-minimal msgpack regex
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
    results = Results.read(given.json, machine(threads=setting.threads, commit=_commit()))
    for size in given.records if systems else []:
        _measure(make_corpus(size, given.seed), systems, setting, results)
    for table in results.tables():
        table.show()
    if given.json is not None and results.rows:
        for name, picture in results.pictures().items():
            file = given.json.with_name(f"{given.json.stem}-{name}.svg")
            file.write_text(picture, encoding="utf-8")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.peers", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--records", nargs="+", type=int, default=[1000], metavar="N")
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, default=list(SYSTEMS))
    parser.add_argument("--python", default=sys.executable, help="has the peers installed")
    parser.add_argument("--threads", type=int, default=1, help="processors for each; 1")
    parser.add_argument("--cold-starts", type=int, default=3, help="of each system; 3")
    parser.add_argument("--seed", type=int, default=0, help="chooses the texts; 0")
    parser.add_argument(
        "--json",
        type=Path,
        metavar="FILE",
        help="write figures as data, and pictures beside it; what it has of this commit is kept",
    )
    return parser


def _missing(interpreter: str, system: str) -> str:
    """What the interpreter cannot import of a system, in a line."""
    command = [interpreter, "-W", "ignore", "-c", f"import {_MODULES[system]}"]
    done = subprocess.run(command, capture_output=True, check=False, encoding="utf-8")
    return done.stderr.strip().rpartition("\n")[2] if done.returncode else ""


def _commit() -> str:
    """This repository's commit; nothing where there is no history."""
    command = ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"]
    done = subprocess.run(command, capture_output=True, check=False, encoding="utf-8")
    return done.stdout.strip()


def _measure(corpus: Corpus, systems: Sequence[str], setting: Setting, results: Results) -> None:
    """Add what is missing of these systems to the results."""
    size = len(corpus.records)
    if size <= _MOST_BY_TOKENS:
        setting = attrs.evolve(setting, budgets=BUDGETS)
    left = [name for name in systems if not results.has(corpus, name)]
    click.echo(f"{size:,} records, corpus {corpus.digest}: {', '.join(left) or 'done'}", err=True)
    with tempfile.TemporaryDirectory() as folder:
        if left:
            write_corpus(corpus, Path(folder))
        for name in left:
            try:
                measured = measure(name, corpus, Path(folder), setting)
            except SystemFailedError as error:
                click.echo(str(error), err=True)
            else:
                results.add(corpus, name, measured)
                click.echo(f"  {name}: {measured.processor:.1f} ms", err=True)


if __name__ == "__main__":
    main()
