"""Memory of a kit that is kept open while its store is closed again and again.

`python -m tests.benchmarks.reopening --contexts 5000`

The store closes whenever another process waits for it, and opens with the next context.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

from contextkit import ContextKit
from tests.benchmarks.growth.records import batches, made
from tests.benchmarks.harness import Report
from tests.benchmarks.residents import memory_of

__all__ = ["main"]

_SECONDS = 60.0
_ROWS = 10


def reopening(records: int, contexts: int, each: int) -> Report:
    """Assemble many contexts with one kit.

    Args:
        records: the records of the store.
        contexts: how many contexts.
        each: contexts until the store is closed.
    """
    rows: list[dict[str, Any]] = []
    corpus = made(records)
    queries = [question.query for question in corpus.questions]
    with _new_kit() as kit:
        for _, batch in batches(corpus, records):
            kit.records("memories").put(batch)
        kit.store.optimize()
        for number in range(1, contexts + 1):
            query = queries[number % len(queries)]
            kit.assemble_context_sync(
                query, source_timeout=_SECONDS, deadline=_SECONDS, cache=False
            )
            if number % max(1, contexts // _ROWS) == 0:
                rows.append({"contexts": number, **memory_of(os.getpid())})
            if number % each == 0:
                kit.store.close()
    note = f"{records:,} records; the store is closed after {each} contexts"
    return Report(title="Memory of a kit, MB", rows=rows, note=note)


@contextlib.contextmanager
def _new_kit() -> Iterator[ContextKit]:
    with tempfile.TemporaryDirectory(prefix="ck-", dir="/tmp") as folder:
        workspace = Path(folder) / "project"
        workspace.mkdir()
        home = {"CONTEXTKIT_HOME": f"{folder}/home"}
        with mock.patch.dict(os.environ, home), ContextKit.open(workspace) as kit:
            yield kit


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    for name, number in (("records", 5000), ("contexts", 5000), ("each", 1)):
        parser.add_argument(f"--{name}", type=int, default=number, help=f"default: {number}")
    given = parser.parse_args(arguments)
    reopening(given.records, given.contexts, given.each).show()


if __name__ == "__main__":
    main()
