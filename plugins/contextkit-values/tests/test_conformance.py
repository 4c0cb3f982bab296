"""The values source does what contextkit expects of every source."""

from __future__ import annotations

from typing import Any

from attrs import evolve

import contextkit_values
from contextkit import ContextKit
from contextkit.embedding.built_in import load_embedder
from contextkit.models.record import Record
from contextkit.testing import SourceConformance
from contextkit_values import refresh

ROOT_CAUSES = (
    "A lock was held across a network retry",
    "The mutex was held while waiting for the database",
    "A lock was held during slow I/O and blocked all workers",
    "The file lock was held and never released after an exception",
)
SURPRISES = (
    "The cache returned a stale value after the update",
    "A stale cache entry survived the deploy",
    "The cached value was stale as the cache key ignored the user",
)


class TestValues(SourceConformance):
    """Values on two axes, made of experiences' records."""

    source = contextkit_values
    query = "which value was held, a lock or a stale cache"
    timeout = 60.0
    embedding = "wordllama"

    def prepare(self, kit: ContextKit) -> None:
        """Make the values as a user would, of records that are there."""
        values = kit.records("values")
        experiences = evolve(values, source="experiences")
        experiences.put([_lived(n, "root_cause", text) for n, text in enumerate(ROOT_CAUSES)])
        experiences.put([_lived(n, "surprise", text) for n, text in enumerate(SURPRISES)])
        refresh(experiences, values, load_embedder())


def _lived(number: int, axis: str, text: str) -> Record:
    fields: dict[str, Any] = {
        "ghap_id": f"ghap_{axis}_{number}",
        "axis": axis,
        "domain": "debugging",
        "strategy": "check-assumptions",
        "outcome_status": "falsified",
        "outcome_result": "It failed again",
        "lesson": None,
    }
    return Record(id=f"ghap_{axis}_{number}/{axis}", text=text, fields=fields)
