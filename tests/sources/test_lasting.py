"""Entries that stop being true, in a source of a plugin's own."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

from contextkit import ContextItem, ContextKit, hookimpl
from contextkit.sources import InvalidEntryError, LastingBook, LastingEntry, line, part
from contextkit.testing import open_kit

JANUARY = datetime(2026, 1, 1, tzinfo=UTC)
MARCH = datetime(2026, 3, 1, tzinfo=UTC)


@frozen(kw_only=True)
class Keeper(LastingEntry):
    """Who keeps a lighthouse."""

    noun = "keeper"

    name: str = part(line("a name", 80), about="the keeper")

    @property
    def text(self) -> str:
        """What is searched."""
        return f"The lighthouse keeper is {self.name}"


class KeeperBook(LastingBook[Keeper]):
    """Keepers."""

    source, entry = "keepers", Keeper


class Plugin:
    """The source `keepers`."""

    @hookimpl
    async def contextkit_query(self, request: Any) -> list[ContextItem]:
        """What matches."""
        return await KeeperBook.items_for(request)


@pytest.fixture
def kit(tmp_path: Path) -> Iterator[ContextKit]:
    """A kit with the source."""
    with open_kit(tmp_path, {"keepers": Plugin()}) as opened:
        yield opened


async def test_adding_one_ends_those_that_it_replaces(kit: ContextKit) -> None:
    """Contexts show it; the past is shown on request, with what replaced it."""
    book = KeeperBook.of(kit)
    old = book.add("Ada", valid_from=JANUARY)
    new = book.add("Ben", valid_from=MARCH, replaces=[old.id])
    assert [entry.id for entry in book.list()] == [new.id]
    assert [entry.id for entry in book.history(new.id)] == [old.id, new.id]

    async def shown(question: str, **options: Any) -> list[ContextItem]:
        context = await kit.assemble_context(question, ["keepers"], **options)
        return list(context.items)

    assert [item.id for item in await shown("the lighthouse keeper")] == [new.id]
    before = {item.id: item for item in await shown("Who was the lighthouse keeper before?")}
    assert before.keys() == {old.id, new.id}
    by = before[old.id].superseded_by
    assert by is not None
    assert (by.id, by.created_at, by.title) == (new.id, MARCH, "The lighthouse keeper is Ben")
    then = await shown("the lighthouse keeper", as_of=datetime(2026, 2, 1, tzinfo=UTC))
    assert [item.id for item in then] == [old.id]


def test_what_cannot_be_replaced_changes_nothing(kit: ContextKit) -> None:
    """An entry that has ended already."""
    book = KeeperBook.of(kit)
    old = book.add("Ada")
    book.end(old.id)
    with pytest.raises(InvalidEntryError, match="it ended on"):
        book.add("Ben", replaces=[old.id])
    assert (book.count(), book.count(ended=True)) == (0, 1)
