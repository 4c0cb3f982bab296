"""Questions in other languages than English about what is written in English."""

from __future__ import annotations

import pytest

from contextkit.budget.evidence import words_in, words_of
from contextkit.models.items import ContextItem
from contextkit.text.languages.read import in_english, language_of, terms_in
from contextkit.text.questions import signals_of
from tests.growing import assert_linear

ENGLISH = (
    "",
    "where is the session cookie signed?",
    "HTTPAdapter",
    "die on error",
    "pin Werkzeug",
    "remove the red tag of the art file",
    "locale de es fr",
    "Why don't we cap the items of a lane? 数 is one",
    "protection suggestion",
)


@pytest.mark.parametrize("query", ENGLISH)
def test_a_question_in_english_stays_as_it_is(query: str) -> None:
    """Words that other languages have too change nothing."""
    assert language_of(query) is None
    assert in_english(query) == query


@pytest.mark.parametrize(
    ("query", "language", "english"),
    [
        ("Wie wird der Server heruntergefahren?", "german", "server shutdown"),
        ("Warteschlange", "german", "queue"),
        ("Wo werden die Sitzungscookies gelesen?", "german", "session cookie read"),
        ("Welche Umgebungsvariablen gibt es?", "german", "environment variable"),
        ("Wie stelle ich das Zeitlimit ein?", "german", "configure time limit"),
        ("Où est la file d'attente des requêtes ?", "french", "queue request"),
        ("¿Dónde se guardan las contraseñas?", "spanish", "store password"),
        ("怎样优雅关闭服务器？", "chinese", "graceful shutdown server"),
        ("请求体的大小有限制吗？", "chinese", "request body size limit"),
        ("リクエストのタイムアウトはどこで設定しますか？", "japanese", "request timeout"),
    ],
)
def test_words_of_programming_have_their_english_ones(
    query: str, language: str, english: str
) -> None:
    """Inflected, in a compound, apart from their particle, in a phrase, or without spaces."""
    found = language_of(query)
    assert found is not None
    assert found.name == language
    assert set(english.split()) <= set(in_english(query).lower().split())
    assert set(english.split()) <= set(signals_of(query).keywords)


def test_words_that_a_question_is_made_with_are_not_searched_for() -> None:
    """`die` finds what dies; names and unknown words stay."""
    query = "Wie kann ich die `max_tokens` für einen Kranz setzen?"
    assert in_english(query).split() == ["`max_tokens`", "Kranz"]
    assert in_english("wie ist das so?") == "wie ist das so?"


def test_a_script_without_spaces_is_cut_into_words() -> None:
    """At the longest words that are known; what is not known by pairs of characters."""
    chinese = language_of("鳄梨酱的超时时间")
    assert chinese is not None
    found = [term.text for term in terms_in("鳄梨酱的连接池超时", chinese)]
    assert found == ["鳄梨", "梨酱", "连接池", "超时"]


def test_a_word_counts_once_with_all_that_stands_for_it() -> None:
    """An item has a word where it has it in either language."""
    words = words_of("Wo wird die Verbindung geschlossen?")
    texts = ["close the connection", "def connect(): ...", "Die Verbindung wird", "unknown"]
    items = [ContextItem("tide", text, 0.5, id=text) for text in texts]
    assert len(words) == 2
    assert [words_in(words, item) for item in items] == [2, 1, 1, 0]


def test_german_nouns_are_no_names() -> None:
    """German writes every noun with a capital."""
    assert signals_of("Wo ist die Warteschlange für HTTPAdapter?").entities == ("HTTPAdapter",)


@pytest.mark.parametrize(
    "part", ["verbindungs", "Wie kann ich die Datei ", "请求体鳄梨", "ge", "un "]
)
def test_they_are_read_in_linear_time(part: str) -> None:
    """A question may be a pasted file."""
    assert_linear(in_english, lambda size: "wie ist das " + part * (size // len(part)), 100_000)
