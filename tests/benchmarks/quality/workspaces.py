"""A folder of code, indexed in a store of its own."""

from __future__ import annotations

import contextlib
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import click
from attrs import evolve, frozen

from contextkit import ContextKit
from contextkit.config.load import load_config
from contextkit.models.records import Records
from contextkit.plugin.manager import SourceRegistry
from contextkit.store.hold import BatchSearcher
from contextkit.workspace.find import Workspace

__all__ = ["IndexedCode", "indexed_code"]

_PATIENCE_SECONDS = 30.0


@frozen
class IndexedCode:
    """A workspace with its code indexed.

    Attributes:
        kit: opened on it.
        units: how many code units it has.
        seconds: what indexing them took.
        again_seconds: what the next run took, in which nothing had changed.
    """

    kit: ContextKit
    units: int
    seconds: float
    again_seconds: float

    def records(self) -> Records:
        """The code's records, with searches that travel together as those of an assembly do."""
        return evolve(self.kit.records("code"), searcher=BatchSearcher(self.kit.store))


@contextlib.contextmanager
def indexed_code(folder: Path) -> Iterator[IndexedCode]:
    """Index a folder's code; what is above it, and whatever is configured, does not matter."""
    with tempfile.TemporaryDirectory() as made:
        settings = {
            "project": "benchmark",
            "store.path": Path(made) / "store",
            "assemble.source_timeout": _PATIENCE_SECONDS,
            "assemble.deadline": _PATIENCE_SECONDS,
        }
        workspace = Workspace(folder.resolve())
        config = load_config(workspace, environment={}, flags=settings)
        with ContextKit.over(workspace, config, SourceRegistry(config, True)) as kit:
            seconds = []
            for _ in range(2):
                started = time.perf_counter()
                outcome = kit.index(["code"])["code"]
                seconds.append(time.perf_counter() - started)
                if outcome.problem:
                    raise click.ClickException(f"{folder}: {outcome.problem}")
            count = kit.records("code").count(kit.registry.info("code").count_filters)
            yield IndexedCode(kit, count, *seconds)
