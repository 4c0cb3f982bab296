"""Words that name nothing in the project: mistyped, of another language, about the question."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from contextkit import ContextItem
from contextkit_code.ranking.words import near_names

Ask = Callable[..., list[ContextItem]]
Project = Callable[[dict[str, str]], Any]


@pytest.fixture(autouse=True)
def _shop(project: Project) -> None:
    """An indexed workspace of a few functions."""
    names = {"web.py": ["jsonify", "sign_cookie"], "other.py": ["strict_implement", "route"]}
    project(
        {
            path: "\n\n".join(f"def {name}(value):\n    return value\n" for name in found)
            for path, found in names.items()
        }
    )


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("jsonfy", "jsonify"),
        ("what does jsonfy do", "jsonify"),
        ("Wo wird das Sitzungscookie signiert?", "sign_cookie"),
        ("会话cookie在哪里签名", "sign_cookie"),
        ("jsonify はどこで定義されていますか", "jsonify"),
    ],
)
def test_the_nearest_name_is_found_where_no_word_hits(ask: Ask, query: str, expected: str) -> None:
    """A mistyped identifier, a German compound, a name within Chinese or Japanese."""
    found = ask(query)

    assert found[0].title == expected
    assert found[0].relevance >= 0.5


@pytest.mark.parametrize(
    "query", ["Wie wird etwas unterschrieben oder signiert?", "签名在哪里实现？"]
)
def test_words_of_another_language_find_code_by_the_english_ones(ask: Ask, query: str) -> None:
    """A name is ranked by them too."""
    assert [item.title for item in ask(query)] == ["sign_cookie"]


@pytest.mark.parametrize(
    "query",
    [
        "wonderful weather",
        "what do you think, is it better now?",
        "which roads lead to the old mill?",
        "漢字",
    ],
)
def test_words_that_are_near_to_nothing_find_nothing(ask: Ask, query: str) -> None:
    """Rather than whatever is least unlike."""
    assert ask(query) == []


def test_a_question_about_where_a_thing_is_implemented_is_about_the_thing(ask: Ask) -> None:
    """`strict_implement` is not what it asks for; a query of a name alone is taken as it is."""
    assert [item.title for item in ask("where is the route implemented")] == ["route"]
    assert ask("implement")[0].title == "strict_implement"


def test_a_short_word_may_have_one_wrong_letter() -> None:
    """And a long one two; what is shorter than five letters has no near name."""
    names = ["route", "session", "render_template"]

    assert near_names(["rote", "roote", "sesion", "rendr_tmplate"], names) == [
        "route",
        "session",
        "render_template",
    ]
    assert near_names(["reuta", "rnde_tmplte"], names) == []
