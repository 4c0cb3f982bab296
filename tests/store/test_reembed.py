"""Another embedding model for an embedded store, and what a kill in the middle leaves."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from contextkit.embedding.built_in import load_embedder
from contextkit.embedding.choice import Embedders, OneEmbedder
from contextkit.errors import StoreBusyError, StoreDamagedError, StoreError, StoreModelMismatchError
from contextkit.models.record import Record
from contextkit.models.records import Records
from contextkit.store.embedded import EmbeddedStore
from contextkit.store.reembed import reembed

pytestmark = [pytest.mark.one_python, pytest.mark.disk]

Note = Callable[..., Record]
Calls = list[tuple[int, int | None]]
Choose = Callable[..., Embedders]


@pytest.fixture
def path(tmp_path: Path, note: Note) -> Path:
    """The folder of a closed store without dense vectors."""
    path = tmp_path / "store"
    store = EmbeddedStore(path, OneEmbedder(load_embedder("none")))
    store.put([note(str(n), f"note {n}") for n in range(300)])
    store.put([note("cat", "my kitten sleeps on the laptop")])
    store.put([Record(id="c", text="plain words", source="plain", project="p")])
    store.close()
    return path


def _reembed(path: Path, embedders: Embedders, **options: Any) -> Calls:
    calls: Calls = []
    made = reembed(path, embedders, lambda done, total: calls.append((done, total)), **options)
    assert made.records == 302
    return calls


def _identity(path: Path, embedders: Embedders) -> tuple[str, str | None, int]:
    store = EmbeddedStore(path, embedders)
    identity, count = store.identity, store.count(None, None, {})
    store.close()
    return identity.id, identity.sources.get("notes"), count


def test_reembed_gives_a_store_the_vectors_of_another_model(path: Path, choose: Choose) -> None:
    """The id stays, the records stay, search by meaning works, but for plain sources."""
    before = _identity(path, choose("none"))
    assert _reembed(path, choose()) == [(256, 302), (302, 302)]
    assert {e.name for e in path.iterdir() if e.is_dir()} == {"revisions", "shard"}
    assert _identity(path, choose("wordllama")) == (before[0], "wordllama-256", 302)
    store = EmbeddedStore(path, choose())
    [hit, *_] = Records(store, "notes", "p").search_sync("a cat naps on the computer", limit=3)
    assert hit.record.id == "cat"
    assert hit.similarity
    [plain] = Records(store, "plain", "p").search_sync("plain words")
    assert plain.similarity is None
    store.close()
    with pytest.raises(StoreModelMismatchError):
        _identity(path, choose("none"))
    _reembed(path, choose("none"))
    assert _identity(path, choose("none")) == before


def test_reembed_waits_for_an_idle_store_of_this_process(path: Path, choose: Choose) -> None:
    """The command line has the store itself when it runs this."""
    store = EmbeddedStore(path, OneEmbedder(load_embedder("none")))
    store.prepare()
    _reembed(path, choose())
    with pytest.raises(StoreModelMismatchError):
        store.prepare()


def test_reembed_of_a_busy_store_is_an_error(path: Path, choose: Choose) -> None:
    """Nothing was changed."""
    store = EmbeddedStore(path, OneEmbedder(load_embedder("none")))
    with store.hold(), pytest.raises(StoreBusyError):
        _reembed(path, choose(), lock_timeout=0.1)
    assert store.count(None, None, {}) == 302
    store.close()


def test_reembed_of_nothing_is_an_error(tmp_path: Path, choose: Choose) -> None:
    """It makes no store."""
    (tmp_path / "empty").mkdir()
    for path in (tmp_path / "none", tmp_path / "empty"):
        with pytest.raises(StoreError, match="there is no store at"):
            _reembed(path, choose())
    assert not (tmp_path / "none").exists()


def test_reembed_of_a_damaged_store_is_an_error(path: Path, choose: Choose) -> None:
    """It is left as it is."""
    (path / "shard/meta.json").write_text("{")
    with pytest.raises(StoreDamagedError):
        _reembed(path, choose())
    assert not (path / "shard.new").exists()


def test_an_interrupted_reembed_leaves_the_old_store(path: Path, choose: Choose) -> None:
    """Ctrl-C in the middle changes nothing."""
    before = _identity(path, choose("none"))

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        reembed(path, OneEmbedder(load_embedder()), interrupt)
    assert not (path / "shard.new").exists()
    assert _identity(path, choose("none")) == before


# -- what a kill leaves ---------------------------------------------------------------------


@pytest.fixture
def shards(path: Path, tmp_path: Path, choose: Choose) -> tuple[Path, Path]:
    """The shard before and after re-embedding, both put aside; the store has none."""
    before, after = tmp_path / "before", tmp_path / "after"
    shutil.copytree(path / "shard", before)
    _reembed(path, choose())
    (path / "shard").rename(after)
    return before, after


@pytest.mark.parametrize(
    ("old", "new", "unfinished", "model"),
    [
        # The new shard was being made: the old one is the store's.
        ("shard", "shard.new", "shard.new", "none"),
        # Between the two renames the new one is whole, and becomes the store's.
        ("shard.old", "shard.new", None, "wordllama"),
        # The old one was being deleted.
        ("shard.old", "shard", "shard.old", "wordllama"),
        # Somebody deleted the new one: the old one is better than none.
        ("shard.old", None, None, "none"),
    ],
)
def test_what_a_kill_leaves_is_brought_in_order(
    path: Path,
    shards: tuple[Path, Path],
    choose: Choose,
    old: str,
    new: str | None,
    unfinished: str | None,
    model: str,
) -> None:
    """One whole shard is the store's, with all its records, and the rest goes."""
    before, after = shards
    before.rename(path / old)
    if new:
        after.rename(path / new)
    if unfinished:
        (path / unfinished / "meta.json").unlink()
    name = "none" if model == "none" else "wordllama-256"
    assert _identity(path, choose(model))[1:] == (name, 302)
    assert [each.name for each in path.glob("shard*") if each.is_dir()] == ["shard"]
