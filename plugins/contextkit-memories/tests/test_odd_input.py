"""Whatever a memory is said to be, it is stored as it may be or refused in words."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from contextkit import ContextKitError
from contextkit.testing import open_records, own_home
from contextkit_memories import MemoryBook
from contextkit_memories.memory import Memory

thorough = settings.get_profile("thorough")

TEXTS = st.text(max_size=30) | st.sampled_from(
    ("", " ", "\0", "\ud800", "\u202e", "x" * 3_000, "nan", "mem_", "-", "Tag", "a b", "\x1b[31m")
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS | st.just(10**400),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=4,
)
PARTS = {
    "category": st.just("facts"),
    "importance": st.floats(0, 1),
    "tags": st.lists(TEXTS, max_size=3),
    "shared": st.booleans(),
    "created_at": st.datetimes(),
    "sequence": TEXTS,
    "position": st.integers(),
    "keep_secret": st.booleans(),
}


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MemoryBook]:
    """One book for all cases: to open a store costs more than a case."""
    folder = tmp_path_factory.mktemp("store")
    with own_home(), open_records(folder, "memories", model="none") as records:
        yield MemoryBook(records)


@given(
    text=TEXTS | VALUES,
    parts=st.fixed_dictionaries({}, optional={name: of | VALUES for name, of in PARTS.items()}),
)
@thorough
def test_remembering(book: MemoryBook, text: Any, parts: dict[str, Any]) -> None:
    """What is stored is found again as it was returned."""
    with contextlib.suppress(ContextKitError):
        memory = book.remember(text, **parts)
        assert isinstance(memory, Memory)
        assert book.get(memory.id) == memory


@given(
    filters=st.fixed_dictionaries(
        {}, optional=dict.fromkeys(("category", "tag", "limit"), VALUES | st.integers(1, 5))
    ),
    ids=st.lists(VALUES, max_size=3),
)
@thorough
def test_listing_and_forgetting(book: MemoryBook, filters: dict[str, Any], ids: list[Any]) -> None:
    """A filter or an id that makes no sense is refused, and nothing is forgotten for it."""
    with contextlib.suppress(ContextKitError):
        assert all(isinstance(memory, Memory) for memory in book.list(**filters))
    with contextlib.suppress(ContextKitError):
        book.forget(*ids)
