"""The corpus of the mixed set: a clone at one commit, and the fixture's records beside it."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from attrs import frozen

from contextkit import ContextKit
from contextkit.pipeline.pipeline import Pipeline
from contextkit_experiences import ExperienceBook, from_json
from contextkit_memories import MemoryBook
from contextkit_values import refresh
from tests.benchmarks.quality.mixed_set import MixedSet
from tests.benchmarks.quality.surroundings import clone_at, home_in
from tests.benchmarks.texts import SOURCES

__all__ = ["Corpus", "opened_corpus"]

_NOW = datetime(2026, 11, 23, tzinfo=UTC)
_PATIENCE_SECONDS = 60.0


@frozen(eq=False)
class Corpus:
    """A kit over everything that the questions are about.

    Attributes:
        kit: with the five sources that are asked, indexed, and no other.
        ids: `memory:KEY` and `experience:KEY` -> the record's id.
        themes: theme -> the ids of the values that are mostly made of its experiences.
    """

    kit: ContextKit
    ids: Mapping[str, str]
    themes: Mapping[str, frozenset[str]]


@contextlib.contextmanager
def opened_corpus(
    mixed: MixedSet, settings: Mapping[str, Any], folder: Path | None = None
) -> Iterator[Corpus]:
    """The set's corpus, in a temporary folder.

    Args:
        mixed: the set.
        settings: dotted key -> value, for the kit.
        folder: the workspace; default: a clone of this repository at the set's commit.
    """
    with tempfile.TemporaryDirectory() as made:
        workspace = folder or clone_at(mixed.commit, Path(made) / "repository")
        own = {
            "project": "mixed",
            "store.path": Path(made) / "store",
            "assemble.source_timeout": _PATIENCE_SECONDS,
            "assemble.deadline": _PATIENCE_SECONDS,
            **settings,
        }
        with home_in(Path(made)), ContextKit.open(workspace, settings=own, environment={}) as kit:
            # Other records would only cost time, and files that others own are not the code's.
            for other in set(kit.registry.sources) - set(SOURCES):
                kit.registry.disable(other)
            kit.pipeline = Pipeline(kit.registry, kit.store, clock=lambda: _NOW)
            ids = _furnish(kit, mixed)
            yield Corpus(kit, ids, _themes(kit, mixed))


def _furnish(kit: ContextKit, mixed: MixedSet) -> dict[str, str]:
    kit.index()
    book = MemoryBook(kit.records("memories"))
    ids = {}
    for row in mixed.memories:
        memory = book.remember(
            row["text"],
            category=row["category"],
            importance=row["importance"],
            tags=row["tags"],
            created_at=datetime.fromisoformat(row["created_at"]),
        )
        ids[f"memory:{row['key']}"] = memory.id
    experiences = kit.records("experiences")
    ExperienceBook(experiences).add([from_json(one.values) for one in mixed.experiences])
    ids.update({f"experience:{one.key}": one.values["id"] for one in mixed.experiences})
    refresh(experiences, kit.records("values"), kit.embedder("values"), now=_NOW)
    return ids


def _themes(kit: ContextKit, mixed: MixedSet) -> dict[str, frozenset[str]]:
    values = {
        record.id: frozenset(record.fields["ghap_ids"]) for record in kit.records("values").scan()
    }
    return {
        theme: frozenset(value for value, of in values.items() if 2 * len(of & members) > len(of))
        for theme, members in mixed.themes.items()
    }
