"""Hybrid search, alike on every store."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from attrs import evolve

from contextkit.models.record import USER, Range, Record, Search
from contextkit.models.records import Records
from contextkit.store.base import RecordStore
from contextkit.store.hybrid import fuse

Note = Callable[..., Record]

TEXTS = {
    "deploy": "We deploy to production every Friday afternoon with the release script",
    "budget": "The token budget is split over the sources by weight",
    "cat": "My cat sleeps on the warm keyboard",
    "parse": "def parse_config_file(path): reads TOML",
    "中": "我们决定使用令牌预算来限制上下文的长度",
}


@pytest.fixture(scope="module")
def records(shared_store: RecordStore) -> Records:
    """The project's notes, with five very different texts."""
    notes = Records(shared_store, "notes", "p")
    notes.put([Record(id=name, text=text, fields={"n": len(text)}) for name, text in TEXTS.items()])
    return notes


def _found(records: Records, query: str, **options: object) -> list[str]:
    return [hit.record.id for hit in records.search_sync(query, **options)]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("how is the token budget divided?", "budget"),
        ("release on friday", "deploy"),
        ("parseConfigFile", "parse"),
        ("parse_config_file", "parse"),
        ("令牌预算", "中"),
        ("kitten asleep on my laptop keys", "cat"),
    ],
)
def test_the_best_match_comes_first(records: Records, query: str, expected: str) -> None:
    """By words, by parts of identifiers, in Chinese, by meaning."""
    hits = records.search_sync(query)
    assert hits[0].record.id == expected
    assert all(0 <= hit.relevance <= 1 for hit in hits)
    assert [h.relevance for h in hits] == sorted((h.relevance for h in hits), reverse=True)


@pytest.mark.parametrize("query", ["", "   \n", "?!", "\x00", "\U0001f600"])
def test_a_query_without_words_finds_nothing_by_keywords(records: Records, query: str) -> None:
    """It is no error."""
    plain = evolve(records, source="plain")
    plain.put([Record(id=name, text=text) for name, text in TEXTS.items()])
    assert plain.search_sync(query) == []


def test_keywords_only_has_no_similarity(store: RecordStore, note: Note) -> None:
    """A source without dense vectors is searched by words alone."""
    plain = Records(store, "plain", "p")
    plain.put([Record(id=name, text=text) for name, text in TEXTS.items()])
    [hit] = plain.search_sync("keyboard")
    assert (hit.record.id, hit.similarity) == ("cat", None)
    assert hit.keyword_score > 0
    assert hit.relevance == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("which pets does Bela have?", "I adopted a puppy."),
        ("who teaches them?", "Bela taught the class."),
        ("which database do we use?", "We moved everything to Postgres."),
        ("how are units converted?", "Conversion takes two steps."),
    ],
)
def test_related_words_find_what_the_words_of_a_query_do_not(
    store: RecordStore, query: str, text: str
) -> None:
    """Where a source asks for it: things of a kind, and irregular forms; the word itself wins."""
    plain = Records(store, "plain", "p")
    plain.put([Record(id="related", text=text), Record(id="other", text="The tram is late.")])
    assert plain.search_sync(query) == []
    [hit] = plain.search_sync(query, related=True)
    assert hit.record.id == "related"
    assert 0 < hit.relevance < 0.5
    plain.put([Record(id="same", text=query)])
    assert plain.search_sync(query, related=True)[0].record.id == "same"


@pytest.mark.parametrize("query", ["Wie lange wartet eine Anfrage?", "请求的超时时间是多少？"])
def test_a_question_in_another_language_finds_what_is_written_in_english(
    store: RecordStore, query: str
) -> None:
    """By the English words for its own; what is written in its own language comes first."""
    notes = Records(store, "plain", "p")
    notes.put([Record(id="en", text="A request waits 30 seconds."), Record(id="x", text="A tram.")])
    assert [hit.record.id for hit in notes.search_sync(query)] == ["en"]
    notes.put([Record(id="own", text=query)])
    assert notes.search_sync(query)[0].record.id == "own"


def test_keywords_find_a_record_and_are_not_shown(store: RecordStore) -> None:
    """What stands in `keywords` is searched beside the text."""
    notes = Records(store, "plain", "p")
    notes.put([Record(id="a", text="nothing", keywords="src/models/user.py")])
    [hit] = notes.search_sync("user models")
    assert hit.record.text == "nothing"


def test_records_without_words_are_found_by_filters_alone(store: RecordStore) -> None:
    """An empty text is a record like any other."""
    notes = Records(store, "plain", "p")
    texts = {"a": "", "b": "!?", "c": " "}
    notes.put([Record(id=name, text=text) for name, text in texts.items()])
    assert notes.count() == 3
    assert _found(notes, "anything at all") == []


def test_filters_and_limits_apply_to_a_search(records: Records) -> None:
    """Only what matches is searched."""
    assert len(_found(records, "the", limit=2)) <= 2
    assert _found(records, "token budget", limit=0) == []
    assert "budget" not in _found(records, "token budget", filters={"n": Range(lt=40)})
    now = datetime(2020, 1, 1, tzinfo=UTC)
    assert _found(records, "token budget", filters={"created_at": Range(lt=now)}) == []


def test_many_searches_travel_together(records: Records) -> None:
    """Each has its own answer, in its place."""
    store = records._store
    evolve(records, source="plain").put([Record(id=name, text=TEXTS[name]) for name in TEXTS])
    queries = ["token budget", "", "keyboard", "zzzz unknown"]
    answers = store.search([Search(query=q, source="plain", projects=("p", USER)) for q in queries])
    assert [[hit.record.id for hit in hits] for hits in answers] == [["budget"], [], ["cat"], []]
    assert store.search([]) == []


def test_word_frequencies_are_the_sources_own(store: RecordStore) -> None:
    """A word that is rare here counts, however common it is in another source."""
    notes, code = Records(store, "notes", "p"), Records(store, "code", "p")
    code.put([Record(id=str(n), text=f"return value {n}") for n in range(60)])
    notes.put([Record(id=str(n), text=f"meeting about plan {n}") for n in range(20)])
    notes.put([Record(id="rare", text="meeting about return")])
    score = notes.search_sync("return")[0].keyword_score
    lone = Records(store, "lone", "p")
    lone.put([Record(id=str(n), text=f"meeting about plan {n}") for n in range(20)])
    lone.put([Record(id="rare", text="meeting about return")])
    assert lone.search_sync("return")[0].keyword_score == pytest.approx(score, rel=1e-3)


def test_the_order_is_the_same_every_time(store: RecordStore) -> None:
    """Equal records keep one order."""
    notes = Records(store, "notes", "p")
    notes.put([Record(id=str(n), text="the same words in all of them") for n in range(15)])
    first = _found(notes, "same words", limit=10)
    assert all(_found(notes, "same words", limit=10) == first for _ in range(3))


def test_ties_do_not_depend_on_the_project(store: RecordStore) -> None:
    """Equal notes are found in the order of their ids, whatever the folder of a fresh store."""
    at, names = datetime(2026, 5, 1, tzinfo=UTC), [f"n{number}" for number in range(9)]
    for project in "abcd":
        notes = Records(store, "ties", project)
        same = [Record(id=name, text=TEXTS["budget"], created_at=at) for name in reversed(names)]
        notes.put(same)
        assert _found(notes, "token budget", limit=4) == names[:4]
        assert [record.id for record in notes.newest(20)] == names


def test_a_long_query_is_searched_by_its_first_part(records: Records) -> None:
    """A hundred kilobytes are no error."""
    assert _found(records, "token budget " + "x " * 50_000)[0] == "budget"


def test_a_huge_limit_is_no_error(records: Records) -> None:
    """It only means all."""
    assert len(_found(records, "the token", limit=10**15)) >= 2


def test_a_relevance_is_within_1() -> None:
    """A cosine of two equal vectors may be a little over 1."""
    assert fuse({1: 7.0}, {1: 1.0000001}, best_coverage=1.0, limit=1) == [(-1.0, 1)]
