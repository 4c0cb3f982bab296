"""Which names a query mentions."""

from __future__ import annotations

import pytest

from contextkit_entities.mentions import mentions_in
from contextkit_entities.words import identifier_words, key_of, name_keys


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("is BILLING down?", "Billing"),
        ("the card-processor fails", "Card Processor"),
        ("(contextkit/tokens.py) is slow", "contextkit/tokens.py"),
        ("look at contextkit.tokens.py", "contextkit/tokens.py"),
        ("call count_tokens() twice", "count_tokens"),
        ("what counts in CountTokens?", "count tokens"),
        ("Größe ändern", "größe"),
        ("ｂｉｌｌｉｎｇ", "billing"),
    ],
)
def test_a_name_is_mentioned_however_it_is_written(query: str, name: str) -> None:
    """In any case, with any punctuation, with the words of an identifier apart."""
    assert key_of(name) in mentions_in(query).keys


@pytest.mark.parametrize(
    ("query", "name"),
    [("rebilling", "billing"), ("card the processor", "card processor"), ("", "a"), ("?!", "?")],
)
def test_parts_of_words_are_no_mention(query: str, name: str) -> None:
    """Nor are words in another order, or none."""
    assert key_of(name) not in mentions_in(query).keys


def test_identifiers_are_looked_up_by_their_words() -> None:
    """Where these tell something: two of three letters at least."""
    assert identifier_words("TokenCounter") == identifier_words("token_counter") == "token counter"
    assert identifier_words("HTTPServer2") == "http server 2"
    for name in ("tokens", "is_a", "X", "a b", "tóken_counter", ""):
        assert identifier_words(name) == "", name
    assert name_keys(["TokenCounter", "?", " ".join("abcdefghi")]) == (
        "tokencounter",
        "token counter",
    )


def test_a_name_within_a_longer_one_is_not_meant() -> None:
    """Unless it also stands by itself."""
    keys = ["contextkit tokens py", "tokens py", "tokens"]
    inside = mentions_in("open contextkit/tokens.py")
    assert inside.longest(keys) == {"contextkit tokens py"}
    beside = mentions_in("open contextkit/tokens.py, count tokens")
    assert beside.longest([*keys, "gone"]) == {"contextkit tokens py", "tokens"}


@pytest.mark.parametrize(
    ("query", "as_code"),
    [
        ("why does `run` hang", {"run"}),
        ("why does run() hang", {"run"}),
        ("how is a Store opened. Store it", {"Store"}),
        ("Store it. Run it: Go", set()),
        ("store and run", set()),
    ],
)
def test_what_is_written_as_code(query: str, as_code: set[str]) -> None:
    """In backticks, called, or with a capital where no sentence begins."""
    assert mentions_in(query).as_code == as_code


def test_a_long_query_costs_no_more_than_its_beginning() -> None:
    """Of 120 words, runs of eight."""
    mentions = mentions_in("word " * 200_000)
    assert len(mentions.keys) == 8
    assert len(mentions_in(" ".join(map(str, range(5_000)))).keys) <= 120 * 8
