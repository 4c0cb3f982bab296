"""No search ever shows a record of another project, whichever store wrote it."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from contextkit.embedding.choice import OneEmbedder
from contextkit.embedding.embedder import ModelEmbedder
from contextkit.models.record import USER, Record, Search
from contextkit.store.embedded import EmbeddedStore
from contextkit.testing import HashingModel

_SOURCES = ("notes", "code", "code-2")
_PROJECTS = (USER, "user:ana", "user:bo", "p", "p/q", "q")
_STEPS = 30

_Key = tuple[str, str, str]


@pytest.fixture
def stores(tmp_path: Path) -> Iterator[list[EmbeddedStore]]:
    """Two stores on one folder, as two processes have them."""
    model = ModelEmbedder("hash", lambda: HashingModel(32), timeout=None)
    both = [EmbeddedStore(tmp_path / "store", OneEmbedder(model)) for _ in range(2)]
    yield both
    for store in both:
        store.close()


def _record(key: _Key) -> Record:
    source, project, name = key
    return Record(id=name, text=f"harbour {name}", source=source, project=project)


def _write(store: EmbeddedStore, known: set[_Key], chance: random.Random) -> None:
    source, project = chance.choice(_SOURCES), chance.choice(_PROJECTS)
    there = [key for key in sorted(known) if key[:2] == (source, project)]
    match chance.choice(("put", "put", "put", "delete", "clear", "optimize")):
        case "put":
            keys = {
                (source, project, str(chance.randrange(30))) for _ in range(chance.randrange(6))
            }
            store.put([_record(key) for key in sorted(keys)])
            known |= keys
        case "delete":
            gone = set(chance.sample(there, len(there) // 2))
            store.delete([_record(key).point_id for key in gone])
            known -= gone
        case "clear":
            store.delete_where(source, [project], {})
            known -= set(there)
        case _:
            store.optimize()


@pytest.mark.parametrize("seed", range(2))
def test_a_search_finds_exactly_the_records_of_its_projects(
    stores: list[EmbeddedStore], seed: int
) -> None:
    """Random writes by two stores in turns; every search is compared with what was written."""
    chance, known = random.Random(seed), set[_Key]()
    for _ in range(_STEPS):
        _write(chance.choice(stores), known, chance)
        store = chance.choice(stores)
        searches = [
            Search(query="harbour", source=source, projects=projects, limit=500)
            for source in _SOURCES
            for projects in (_PROJECTS, *(tuple(chance.sample(_PROJECTS, n)) for n in (1, 2)))
        ]
        for search, hits in zip(searches, store.search(searches), strict=True):
            found = {(hit.record.source, hit.record.project, hit.record.id) for hit in hits}
            assert found == {
                key for key in known if key[0] == search.source and key[1] in search.projects
            }
        if chance.random() < 0.2:
            store.close()


def test_a_project_that_the_store_did_not_count_shows_nothing_to_others(
    stores: list[EmbeddedStore],
) -> None:
    """As while another thread writes the first record of a project."""
    store = stores[0]
    store.put([_record(("notes", "p", "mine")), _record(("notes", "q", "theirs"))])
    with store.hold():
        store._projects["notes"] = {"p"}
        [hits] = store.search([Search(query="harbour", source="notes", projects=("p",))])
    assert [hit.record.id for hit in hits] == ["mine"]


def test_words_are_weighed_by_the_projects_that_are_searched(
    stores: list[EmbeddedStore],
) -> None:
    """Other projects' records change no score."""
    store = stores[0]
    texts = {"a": "harbour", "b": "harbour lamp", "c": "lamp winter"}
    store.put([Record(id=i, text=t, source="notes", project="p") for i, t in texts.items()])
    search = Search(query="harbour winter lamp", source="notes", projects=("p",))
    alone = [(hit.record.id, hit.keyword_score) for hit in store.search([search])[0]]
    store.put(
        [Record(id=str(n), text="winter", source="notes", project="q") for n in range(50)]
        + [Record(id=str(n), text="lamp", source="code", project="p") for n in range(50)]
    )
    again = [(hit.record.id, hit.keyword_score) for hit in store.search([search])[0]]
    assert [name for name, _ in again] == [name for name, _ in alone]
    assert dict(again) == pytest.approx(dict(alone), rel=1e-3)
