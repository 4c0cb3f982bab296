"""Export and import of every record, byte for byte."""

from __future__ import annotations

import io
import json
import re
import tracemalloc
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from contextkit.embedding.built_in import load_embedder
from contextkit.embedding.choice import Embedders, OneEmbedder
from contextkit.errors import RecordError
from contextkit.models.record import USER, Record
from contextkit.models.records import Records
from contextkit.store.base import RecordStore
from contextkit.store.embedded import EmbeddedStore
from contextkit.store.transfer import ImportReport, export_records, import_records

pytestmark = pytest.mark.one_python

Note = Callable[..., Record]
Calls = list[tuple[int, int | None]]


def _exported(store: RecordStore, calls: Calls | None = None) -> str:
    stream = io.StringIO()
    reported: Calls = [] if calls is None else calls
    export_records(store, stream, lambda done, total: reported.append((done, total)))
    return stream.getvalue()


def _imported(store: RecordStore, text: str, calls: Calls | None = None) -> ImportReport:
    reported: Calls = [] if calls is None else calls
    return import_records(
        store,
        io.StringIO(text),
        lambda done, total: reported.append((done, total)),
    )


def _all(store: RecordStore) -> dict[str, Record]:
    return {record.point_id: record for record in store.scan(None, None, {})}


@pytest.fixture
def other(tmp_path: Path, embedders: Embedders) -> Iterator[EmbeddedStore]:
    """A second, empty store."""
    store = EmbeddedStore(tmp_path / "other", embedders)
    yield store
    store.close()


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
records = st.builds(
    Record,
    id=texts.filter(bool),
    text=texts,
    keywords=texts,
    source=texts.filter(bool),
    project=texts,
    fields=st.dictionaries(texts, values, max_size=4),
    created_at=st.datetimes(
        datetime(1900, 1, 1),  # noqa: DTZ001
        datetime(2200, 1, 1),  # noqa: DTZ001
        timezones=st.just(UTC),
    ),
)


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[EmbeddedStore, EmbeddedStore]]:
    """Two stores that are emptied between examples."""
    path = tmp_path_factory.mktemp("pair")
    stores = tuple(EmbeddedStore(path / name, OneEmbedder(load_embedder())) for name in ("a", "b"))
    yield stores  # type: ignore[misc]
    for store in stores:
        store.close()


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(stored=st.lists(records, max_size=5))
def test_whatever_a_store_holds_goes_over_unchanged(
    pair: tuple[EmbeddedStore, EmbeddedStore], stored: list[Record]
) -> None:
    """Any text, any number, any nesting, to the last bit and in the last type."""
    first, second = pair
    for store in pair:
        store.delete(list(_all(store)))
    first.put(stored)
    written = _exported(first)
    report = _imported(second, written)
    assert (report.failed, report.errors) == (0, [])
    before, after = _all(first), _all(second)
    wanted = {record.point_id: record for record in stored}
    assert before == after == wanted
    for point, record in wanted.items():
        assert json.dumps(after[point].fields, sort_keys=True) == json.dumps(
            record.fields, sort_keys=True
        )


def test_records_go_from_any_store_to_any(
    store: RecordStore, other: EmbeddedStore, note: Note
) -> None:
    """Sources, projects, the user's own; and they are found there."""
    store.put(
        [note(str(n), f"note {n}", created_at=datetime(2026, 1, 1, tzinfo=UTC)) for n in range(300)]
    )
    store.put([note("u", "mine", project=USER), note("q", "theirs", project="q")])
    store.put([Record(id="c", text="plain words", source="plain", project="p")])
    calls: Calls = []
    text = _exported(store, calls)
    assert calls == [(256, 303), (303, 303)]
    calls.clear()
    assert _imported(other, text, calls) == ImportReport(imported=303)
    assert calls == [(256, 303), (303, 303)]
    assert _all(other) == _all(store)
    assert Records(other, "notes", "p").search_sync("note 17")[0].record.id == "17"
    [hit] = Records(other, "plain", "p").search_sync("plain words")
    assert hit.similarity is None


def test_importing_twice_changes_nothing(
    embedded: EmbeddedStore, other: EmbeddedStore, note: Note
) -> None:
    """Records that are there are replaced by themselves."""
    embedded.put([note("a", "alpha"), note("b", "beta")])
    text = _exported(embedded)
    for _ in range(2):
        assert _imported(other, text).imported == 2
        assert _all(other) == _all(embedded)
    assert _imported(embedded, text).imported == 2
    assert embedded.count(None, None, {}) == 2


def test_an_export_is_one_json_object_a_line(embedded: EmbeddedStore, note: Note) -> None:
    """Also where a text has line ends of every kind in it."""
    embedded.put([note("a", "one\ntwo\r\nthree\u2028four\u0085five")])
    lines = _exported(embedded).split("\n")
    assert len(lines) == 3
    assert json.loads(lines[0]) == {
        "format": "contextkit-records",
        "version": 1,
        "models": {"notes": "wordllama-256"},
        "records": 1,
    }
    assert json.loads(lines[1])["text"] == "one\ntwo\r\nthree\u2028four\u0085five"


def test_an_empty_store_exports_and_imports(embedded: EmbeddedStore, other: EmbeddedStore) -> None:
    """No records is a number of records too."""
    calls: Calls = []
    assert _imported(other, _exported(embedded, calls)) == ImportReport()
    assert calls == [(0, 0)]


HEADER = '{"format":"contextkit-records","version":1}\n'
GOOD: dict[str, Any] = {
    "source": "notes",
    "project": "p",
    "id": "a",
    "created_at": "2026-01-01T00:00:00+00:00",
    "text": "alpha",
    "keywords": "",
    "fields": {},
}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "not an export"),
        ("\n", "not an export"),
        ("hello\n", "not an export"),
        ("[]\n", "not an export"),
        ("{}\n", "not an export"),
        ('{"format":"other","version":1}\n', "not an export"),
        ('{"format":"contextkit-records"}\n', "not an export"),
        ("[" * 100_000, "not an export"),
        ('{"format":"contextkit-records","version":2}\n', "format version 2"),
        (json.dumps(GOOD) + "\n", "not an export"),
    ],
)
def test_what_is_no_export_is_refused_whole(embedded: EmbeddedStore, text: str, says: str) -> None:
    """The error says what was expected, and nothing is stored."""
    with pytest.raises(RecordError, match=says) as raised:
        _imported(embedded, text + json.dumps(GOOD) + "\n")
    assert "nothing was imported" in str(raised.value)
    assert embedded.count(None, None, {}) == 0


BAD_LINES = [
    ("not json", "not JSON"),
    ('{"id": ', "not JSON"),
    ("[" * 100_000, "not JSON"),
    ("[]", "expected an object, got a list"),
    ("null", "expected an object, got a NoneType"),
    (json.dumps({**GOOD, "text": 1}), "'text': expected a string, got 1"),
    (json.dumps({key: value for key, value in GOOD.items() if key != "id"}), "'id': expected"),
    (json.dumps({**GOOD, "fields": []}), "'fields': expected an object"),
    (json.dumps({**GOOD, "fields": {"n": 2**63}}), "does not fit in 64 bits"),
    (json.dumps({**GOOD, "fields": {"n": float("nan")}}), "is not a finite number"),
    (
        json.dumps({**GOOD, "fields": {"n": "deep"}}).replace('"deep"', "[" * 900 + "]" * 900),
        "deeper",
    ),
    (json.dumps({**GOOD, "id": ""}), "needs an id and a source"),
    (json.dumps({**GOOD, "source": ""}), "needs an id and a source"),
    (json.dumps({**GOOD, "created_at": "yesterday"}), "'created_at': expected a date"),
    (json.dumps({**GOOD, "created_at": "2026-01-01"}), "must carry a time zone"),
    (json.dumps({**GOOD, "created_at": "0001-01-01T00:00:00+10:00"}), "'created_at': expected"),
    (json.dumps({**GOOD, "text": "\ud800"}), "half a surrogate pair"),
    (json.dumps(GOOD)[:-1] + ', "n": ' + "9" * 5000 + "}", "not JSON"),
]


@pytest.mark.parametrize(("line", "says"), BAD_LINES, ids=[says for _, says in BAD_LINES])
def test_a_bad_line_costs_only_itself(embedded: EmbeddedStore, line: str, says: str) -> None:
    """It is counted and named with its number; the lines around it are stored."""
    lines = [json.dumps({**GOOD, "id": "first"}), "", line, json.dumps({**GOOD, "id": "last"})]
    report = _imported(embedded, HEADER + "\n".join(lines) + "\n")
    assert (report.imported, report.failed) == (2, 1)
    [(number, reason)] = report.errors
    assert number == 4
    assert says in reason
    assert {record.id for record in embedded.scan(None, None, {})} == {"first", "last"}


@pytest.mark.parametrize(
    ("old", "new"), [("alpha", "alphb"), ('"p"', '"q"'), ('"n":1', '"n":3'), ("2026", "2027")]
)
def test_a_changed_line_of_an_export_is_refused(
    embedded: EmbeddedStore, other: EmbeddedStore, note: Note, old: str, new: str
) -> None:
    """Its checksum tells; without one a line that a person wrote is imported."""
    when = datetime(2026, 1, 1, tzinfo=UTC)
    embedded.put([note("a", "alpha", fields={"n": 1}, created_at=when), note("b", "beta")])
    header, *lines = _exported(embedded).splitlines()
    changed = [line.replace(old, new) if '"id":"a"' in line else line for line in lines]
    report = _imported(other, "\n".join([header, *changed]) + "\n")
    assert (report.imported, report.failed) == (1, 1)
    assert "wrong checksum" in report.errors[0][1]
    without = [re.sub(r',"checksum":\d+', "", line) for line in changed]
    assert _imported(other, "\n".join([header, *without]) + "\n").imported == 2


def test_an_export_that_ends_too_early_is_told(
    embedded: EmbeddedStore, other: EmbeddedStore, note: Note
) -> None:
    """The first line says how many records there were."""
    embedded.put([note(str(n)) for n in range(5)])
    half = "".join(_exported(embedded).splitlines(keepends=True)[:3])
    report = _imported(other, half)
    assert (report.imported, report.failed, report.missing) == (2, 0, 3)


def test_only_the_first_errors_are_kept(embedded: EmbeddedStore) -> None:
    """A file of nothing but errors does not fill the memory with them."""
    report = _imported(embedded, HEADER + "bad\n" * 500)
    assert (report.imported, report.failed, len(report.errors)) == (0, 500, 100)


def test_a_byte_order_mark_is_no_error(embedded: EmbeddedStore) -> None:
    """Some editors put one at the start of a file."""
    assert _imported(embedded, "\ufeff" + HEADER + json.dumps(GOOD) + "\n").imported == 1


@pytest.mark.uncounted
def test_import_needs_no_more_memory_for_more_records(tmp_path: Path) -> None:
    """Two thousand records of four kilobytes go through a few megabytes."""
    store = EmbeddedStore(tmp_path / "store", OneEmbedder(load_embedder("none")))

    def lines() -> Iterator[str]:
        yield HEADER
        for n in range(2_000):
            yield json.dumps({**GOOD, "id": str(n), "text": f"{n} " * 900}) + "\n"

    tracemalloc.start()
    report = import_records(store, lines(), lambda *_: None)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert report.imported == store.count(None, None, {}) == 2_000
    assert peak < 5 * 2**20
    store.close()
