"""A source without records is answered without a look at the store."""

from __future__ import annotations

from collections.abc import Callable

from contextkit.models.record import Record
from contextkit.models.records import Records
from contextkit.store.embedded import EmbeddedStore

Note = Callable[..., Record]


def test_only_an_open_store_knows_what_it_lacks(embedded: EmbeddedStore, note: Note) -> None:
    """While it is closed, another process may write."""
    notes, others = Records(embedded, "notes", "p"), Records(embedded, "others", "p")
    assert not others.known_empty
    with embedded.hold():
        assert others.known_empty
        assert notes.known_empty
        embedded.put([note("a", "the winch is red")])
        assert not notes.known_empty
        assert others.known_empty
        assert Records(embedded, "notes", "q").known_empty
    embedded.close()
    assert not others.known_empty


async def test_a_search_of_nothing_does_not_reach_the_store(
    embedded: EmbeddedStore, note: Note
) -> None:
    """A search and a look-up of a source without records are not passed on."""
    asked: list[str] = []

    async def searcher(search: object) -> list[object]:
        asked.append(str(search))
        return []

    with embedded.hold():
        records = Records(embedded, "notes", "p", searcher)  # type: ignore[arg-type]
        assert await records.search("winch") == []
        assert records.get("a") == []
        assert not asked
        embedded.put([note("a", "the winch is red")])
        await records.search("winch")
        assert asked
        assert [record.id for record in records.get("a")] == ["a"]
