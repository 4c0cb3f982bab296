"""Damage to stored records is seen: no flipped byte changes or loses one without a word."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st
from structlog.testing import capture_logs

from contextkit.embedding.built_in import load_embedder
from contextkit.embedding.choice import OneEmbedder
from contextkit.embedding.embedder import ModelEmbedder
from contextkit.errors import RecordDamagedError
from contextkit.models.record import Record, Search
from contextkit.store.base import RecordStore
from contextkit.store.embedded import EmbeddedStore
from contextkit.store.payloads import make_payload, read_payload
from contextkit.store.reembed import reembed
from contextkit.store.verify import verify
from contextkit.testing import HashingModel

pytestmark = pytest.mark.one_python

Note = Callable[..., Record]

DAMAGER = Path(__file__).with_name("damager.py")
FLIPS = 90 if os.environ.get("CONTEXTKIT_TEST_PROFILE") == "ci" else 45

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
SCALAR = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT
)
JSON = st.recursive(
    SCALAR,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)
RECORDS = st.builds(
    Record,
    id=TEXT.filter(bool),
    text=TEXT,
    keywords=TEXT,
    fields=st.dictionaries(TEXT, JSON, max_size=5),
    created_at=st.datetimes(
        min_value=datetime(1, 1, 2),  # noqa: DTZ001 - the zone is added
        max_value=datetime(9999, 12, 30),  # noqa: DTZ001 - the zone is added
        timezones=st.just(UTC),
    ),
    source=st.sampled_from(["notes", "plain"]),
    project=TEXT,
)


# -- any record ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedStore]:
    """A store for a whole property."""
    store = EmbeddedStore(tmp_path_factory.mktemp("any"), OneEmbedder(load_embedder("none")))
    yield store
    store.close()


@given(record=RECORDS)
def test_any_record_is_read_as_it_was_stored(engine: EmbeddedStore, record: Record) -> None:
    """The engine changes nothing that the checksum takes for damage."""
    engine.put([record.checked()])
    assert engine.get([record.point_id]) == [record]
    engine.delete([record.point_id])


@given(record=RECORDS, other=RECORDS)
def test_a_change_of_anything_is_damage(record: Record, other: Record) -> None:
    """Each part of a payload is verified, and so is the point that it is at."""
    payload, another = make_payload(record), make_payload(other)
    assert read_payload(record.point_id, payload) == record
    for key, value in another.items():
        # Beside `exact` the fields are for the engine's filters, and are not read.
        unread = key == "fields" and "exact" in payload
        if payload.get(key, value) != value and not unread:
            with pytest.raises(RecordDamagedError):
                read_payload(record.point_id, {**payload, key: value})
    if record.point_id != other.point_id:
        with pytest.raises(RecordDamagedError):
            read_payload(other.point_id, payload)


@pytest.mark.parametrize(
    "payload",
    [
        None,
        {},
        {"id": "a"},
        {"id": "a", "source": "notes", "text": 7},
        {**make_payload(Record(id="a", text="alpha", source="notes")), "fields": None},
        {**make_payload(Record(id="a", text="alpha", source="notes")), "created_at": "x"},
        {**make_payload(Record(id="a", text="alpha", source="notes")), "exact": "{"},
    ],
)
def test_what_is_no_record_is_damage(payload: dict[str, Any] | None) -> None:
    """It is named as far as it can be read."""
    point = Record(id="a", text="", source="notes").point_id
    with pytest.raises(RecordDamagedError) as raised:
        read_payload(point, payload)
    named = payload is not None and "source" in payload
    assert raised.value.records == ["notes record 'a'" if named else f"the record at point {point}"]


def test_a_record_without_a_checksum_is_read_and_gets_one(engine: EmbeddedStore) -> None:
    """Stores of an older version are read; a damaged name of the checksum is no older version."""
    record = Record(id="old", text="alpha", source="notes", project="p")
    payload = make_payload(record)
    checksum = payload.pop("checksum")
    assert read_payload(record.point_id, payload) == record
    with pytest.raises(RecordDamagedError):
        read_payload(record.point_id, {**payload, "chfcksum": checksum})


# -- a damaged record ------------------------------------------------------------------------


@pytest.fixture
def damaged(store: RecordStore, note: Note, monkeypatch: pytest.MonkeyPatch) -> RecordStore:
    """Each kind of store in turn, with one damaged record of three."""
    wrong = note("b").point_id

    def changed(record: Record) -> dict[str, Any]:
        payload = make_payload(record)
        return {**payload, "text": "alpha twisted"} if record.point_id == wrong else payload

    with monkeypatch.context() as patched:
        patched.setattr("contextkit.store.base.make_payload", changed)
        store.put([note("a", "alpha one"), note("b", "alpha two"), note("c", "alpha three")])
    return store


def test_a_search_leaves_a_damaged_record_out_and_names_it(damaged: RecordStore) -> None:
    """It costs that record alone, and is logged and told once."""
    with capture_logs() as logs:
        for _ in range(2):
            question = Search(query="alpha", source="notes", projects=("p",))
            assert sorted(hit.record.id for hit in damaged.search([question])[0]) == ["a", "c"]
        found = damaged.newest("notes", ["p"], {}, 10)
    assert sorted(record.id for record in found) == ["a", "c"]
    assert [log["record"] for log in logs if log["event"] == "record_damaged"] == [
        "notes record 'b'"
    ]
    assert "notes record 'b'" in str(damaged.problem)


def test_reading_a_damaged_record_is_an_error_that_names_it(
    damaged: RecordStore, note: Note
) -> None:
    """All others are read before; it can be deleted or written again, and then all is well."""
    points = [note(name).point_id for name in "abc"]
    with pytest.raises(RecordDamagedError, match="notes record 'b'"):
        damaged.get(points)
    read: list[Record] = []
    with pytest.raises(RecordDamagedError, match="notes record 'b'"):
        read.extend(damaged.scan("notes", ["p"], {}))
    assert sorted(record.id for record in read) == ["a", "c"]
    assert verify(damaged).damaged == ["notes record 'b'"]
    damaged.put([note("b", "alpha two")])
    assert damaged.problem is None
    assert len(damaged.get(points)) == 3


def test_a_store_with_a_damaged_record_is_not_embedded_anew(
    embedded: EmbeddedStore, note: Note, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The record would be lost; the old shard stays."""
    payload = {**make_payload(note("a", "alpha")), "text": "twisted"}
    with monkeypatch.context() as patched:
        patched.setattr("contextkit.store.base.make_payload", lambda _: payload)
        embedded.put([note("a", "alpha")])
    embedded.close()
    with pytest.raises(RecordDamagedError, match="notes record 'a'"):
        reembed(embedded.path, embedded.embedders, lambda *_: None)
    assert embedded.count(None, None, {}) == 1


def test_verifying_finds_vectors_that_are_not_those_of_the_text(
    embedded: EmbeddedStore, note: Note, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The records are sound, and `contextkit reembed` is what helps."""
    embedded.put([note("a", "alpha"), note("empty")])
    assert verify(embedded).other_vectors == []
    with monkeypatch.context() as patched:
        patched.setattr("contextkit.store.base.embed_keywords", lambda _: _keywords("beta"))
        embedded.put([note("b", "gamma")])
    found = verify(embedded)
    assert (found.records, found.damaged) == (3, ())
    assert found.other_vectors == ["notes record 'b'"]


def test_others_use_the_store_while_it_is_verified(
    embedded: EmbeddedStore, note: Note, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What they change meanwhile is no mistake."""
    embedded.put([note(str(n), f"alpha {n}") for n in range(3)])
    other = EmbeddedStore(embedded.path, embedded.embedders, lock_timeout=60.0)
    changes = iter([note("0", "beta"), note("3", "delta")])

    def compare(text: str) -> Any:
        for changed in changes:
            other.put([changed])
        return _keywords(text)

    monkeypatch.setattr("contextkit.store.verify.embed_keywords", compare)
    found = verify(embedded)
    assert (found.records, found.miscounted, found.other_vectors) == (4, [], [])
    other.close()


def _keywords(text: str) -> Any:
    from contextkit.text.keywords import embed_keywords

    return embed_keywords(text)


# -- flipped bytes ---------------------------------------------------------------------------


def _records(first: int, last: int) -> list[Record]:
    return [
        Record(
            id=str(n),
            text=f"note {n} of many about the tide, größer 潮 {n * n}",
            keywords=f"word{n}" if n % 3 else "",
            fields={"n": n, "part": n / 7, "list": [1, "a", None, True], "deep": {"x": f"v{n}"}},
            source="notes",
            project="p",
        )
        for n in range(first, last)
    ]


def _as_stored(record: Record) -> list[Any]:
    when = record.created_at.isoformat()
    named = [record.source, record.project, record.id]
    return [*named, record.text, record.keywords, when, dict(record.fields)]


@pytest.mark.uncounted
@pytest.mark.skipif(not hasattr(os, "fork"), reason="each store is read by a forked process")
@pytest.mark.parametrize("end", ["closed", "killed"])
def test_no_flipped_byte_changes_or_loses_a_record_unnoticed(
    tmp_path_factory: pytest.TempPathFactory, end: str
) -> None:
    """Whatever file it is in: what is read is what was stored, or there is an error."""
    # Not on the disk: each flip is of a fresh copy.
    folder = tmp_path_factory.mktemp("flips")
    model = ModelEmbedder("hash", lambda: HashingModel(256), timeout=None)
    store = EmbeddedStore(folder / "store", OneEmbedder(model), idle_seconds=3600.0)
    records = _records(0, 24)
    store.put(records[:16])
    store.close()
    store.put(records[16:])
    if end == "killed":
        shutil.copytree(folder / "store", folder / "left")
    store.close()
    place = folder / ("left" if end == "killed" else "store")
    ran = subprocess.run(
        [sys.executable, str(DAMAGER), str(place), str(FLIPS), "8"],
        input=json.dumps([record.point_id for record in records]) + "\n",
        env={**os.environ, "RUST_BACKTRACE": "0"},
        capture_output=True,
        text=True,
        check=True,
    )
    outcomes = [json.loads(line) for line in ran.stdout.splitlines()]
    assert len(outcomes) == FLIPS
    wanted = sorted(map(_as_stored, records))
    noticed = [outcome for outcome in outcomes if outcome["errors"]]
    assert [outcome for outcome in outcomes if _changed(outcome, wanted)] == []
    silent = [outcome for outcome in outcomes if not outcome["errors"]]
    lost = [o for o in silent for way in ("scanned", "got", "newest") if sorted(o[way]) != wanted]
    assert lost == []
    assert len(noticed) > FLIPS / 10


def _changed(outcome: dict[str, Any], wanted: list[list[Any]]) -> list[Any]:
    """What was read and never stored."""
    ways = ("scanned", "got", "searched", "newest")
    return [read for way in ways for read in outcome.get(way, ()) if read not in wanted]


@pytest.mark.disk
def test_a_log_without_its_end_is_told_until_a_person_has_seen_to_it(tmp_path: Path) -> None:
    """The store opens with what is left, and says at each use what may be missing."""
    path, left = tmp_path / "store", tmp_path / "left"
    store = EmbeddedStore(path, OneEmbedder(load_embedder("none")), idle_seconds=3600.0)
    store.put(_records(0, 3))
    store.close()
    for record in _records(3, 6):
        store.put([record])
    shutil.copytree(path, left)
    store.close()
    log = max((left / "shard/wal").glob("open-*"), key=lambda file: b"note 4" in file.read_bytes())
    content = bytearray(log.read_bytes())
    content[content.index(b"note 4")] ^= 1
    log.write_bytes(content)
    for _ in range(2):
        found = EmbeddedStore(left, OneEmbedder(load_embedder("none")))
        assert len(list(found.scan(None, None, {}))) < 6
        assert "may have lost records" in str(found.problem)
        found.close()
    (left / "shard/lost-records").unlink()
    assert EmbeddedStore(left, OneEmbedder(load_embedder("none"))).problem is None


@pytest.mark.disk
def test_a_list_of_records_that_was_changed_is_told(tmp_path: Path) -> None:
    """Also where the store was only read since it was written."""
    store = EmbeddedStore(tmp_path / "store", OneEmbedder(load_embedder("none")))
    store.put(_records(0, 40))
    store.close()
    store.prepare()
    store.leave()
    copy = tmp_path / "copy"
    shutil.copytree(store.path, copy)
    store.close()
    [file] = (copy / "shard/segments").glob("*/*id_tracker.mappings")
    content = bytearray(file.read_bytes())
    content[-3] ^= 0xFF
    file.write_bytes(content)
    found = EmbeddedStore(copy, OneEmbedder(load_embedder("none")))
    assert found.count(None, None, {}) <= 40
    assert "differs from what was written" in str(found.problem)
    found.close()
