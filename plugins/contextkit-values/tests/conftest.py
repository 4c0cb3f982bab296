"""What the tests of the values source share: real stores, and experiences' records by hand.

The experiences source is another plugin: its records are made here from their documented
fields, as any program may make them.
"""

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from contextkit.embedding.built_in import load_embedder
from contextkit.embedding.embedder import Embedder
from contextkit.models.record import Record
from contextkit.models.records import Records
from contextkit.testing import open_records

Lived = Callable[..., Record]
AT = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.fixture
def experiences(tmp_path: Path) -> Iterator[Records]:
    """The records of the source `experiences` on a real store."""
    with open_records(tmp_path / "store", "experiences") as records:
        yield records


@pytest.fixture
def values(experiences: Records) -> Records:
    """The records of the source `values` on the same store."""
    return evolve(experiences, source="values")


@pytest.fixture
def embedder() -> Embedder:
    """The real model."""
    return load_embedder()


@pytest.fixture
def lived() -> Lived:
    """Makes the record that a resolved experience has on an axis."""

    def made(ghap_id: str, text: str, axis: str = "root_cause", **fields: Any) -> Record:
        return Record(
            id=f"{ghap_id}/{axis}",
            text=text,
            created_at=AT,
            fields={
                "ghap_id": ghap_id,
                "axis": axis,
                "domain": "debugging",
                "strategy": "check-assumptions",
                "outcome_status": "falsified",
                "outcome_result": "It failed again",
                "lesson": None,
                **fields,
            },
        )

    return made


@pytest.fixture
def stored(experiences: Records, lived: Lived) -> Callable[..., None]:
    """Stores texts as experiences on an axis, numbered from `first`."""

    def store(
        texts: Sequence[str], first: int = 0, axis: str = "root_cause", **fields: Any
    ) -> None:
        experiences.put(
            [lived(f"ghap_{first + n:03}", text, axis, **fields) for n, text in enumerate(texts)]
        )

    return store
