"""Questions about the newest commits, and those of a time or an author."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from attrs import evolve

from contextkit import ContextRequest, Hit, Record, Records
from contextkit.models.record import Search
from contextkit_commits import contextkit_query
from contextkit_commits.recent import HistoryQuestion

Index = Callable[..., Any]


@pytest.fixture
def ask(records: Records) -> Callable[..., Any]:
    """Asks the source a question; returns the subjects that it finds, best first."""

    async def asked(query: str) -> list[str]:
        items = await contextkit_query(ContextRequest(query=query, records=records))
        best_first = sorted(items, key=lambda item: -item.relevance)
        return [item.title or "" for item in best_first]

    return asked


@pytest.fixture
def history(repo: Any, index: Index) -> None:
    """Commits of November 2023, the oldest first, with an empty merge and two of routine."""
    repo.commit("Change the latest list of recent changes", a="1\n")
    repo.commit("printer: colours", "--author=Bob Smith <bob@example.org>", b="1\n")
    repo.commit("Count the jars", c="1\n")
    repo.commit("printer: fix the columns", d="1\n")
    repo.git("switch", "--quiet", "-c", "side", "HEAD~1")
    repo.commit("Label the shelf", "--author=Bob Smith <bob@example.org>", e="1\n")
    repo.git("switch", "--quiet", "main")
    when = f"{repo.next_time()} +0000"
    merge = ("merge", "--quiet", "--no-ff", "-m", "Merge branch 'side'", "side")
    repo.git(*merge, GIT_AUTHOR_DATE=when, GIT_COMMITTER_DATE=when)
    repo.commit("Bump the lamp from 1 to 2", f="1\n")
    repo.commit("shelf-1.4.0", g="1\n")
    index(repo)


@pytest.mark.parametrize(
    "question",
    ["what are the latest commits?", "What changed recently?", "show the last 3 commits"],
)
@pytest.mark.usefixtures("history")
async def test_the_newest_commits_come_first(ask: Any, question: str) -> None:
    """Not those with the words of the question; updates come behind, and merges not at all."""
    assert await ask(question) == [
        "Label the shelf",
        "printer: fix the columns",
        "Count the jars",
        "printer: colours",
        "Change the latest list of recent changes",
        "shelf-1.4.0",
        "Bump the lamp from 1 to 2",
    ]


@pytest.mark.usefixtures("history")
async def test_the_newest_commits_are_not_of_a_version_that_is_over(ask: Any) -> None:
    """The commits that name it come instead; since a version, the newest are meant."""
    assert await ask("what changed in 1.4?") == ["shelf-1.4.0"]
    assert await ask("what changed in 1.3?") == []
    assert (await ask("what changed since 1.3?"))[0] == "Label the shelf"


async def test_a_merge_does_not_repeat_its_commit(repo: Any, index: Index, ask: Any) -> None:
    """Its subject is the name of the request; one with another name says more."""
    repo.commit("Paint the wall", wall="1\n")
    for branch, subject, merged in (
        ("a", "Label the jars of the shelf", "Label the jars of the shelf (#12)"),
        ("b", "Close the door slowly; oil it", "Close the door slowly (#13)"),
        ("c", "Replace a bulb", "Light the cellar again (#14)"),
    ):
        repo.git("switch", "--quiet", "-c", branch)
        repo.commit(subject, **{branch: "1\n"})
        repo.git("switch", "--quiet", "main")
        when = f"{repo.next_time()} +0000"
        merge = ("merge", "--quiet", "--no-ff", "-m", merged, branch)
        repo.git(*merge, GIT_AUTHOR_DATE=when, GIT_COMMITTER_DATE=when)
    index(repo)
    assert await ask("What changed recently?") == [
        "Light the cellar again (#14)",
        "Replace a bulb",
        "Close the door slowly; oil it",
        "Label the jars of the shelf",
        "Paint the wall",
    ]


@pytest.mark.usefixtures("history")
async def test_of_commits_about_a_subject_the_newest_comes_first(ask: Any) -> None:
    """Though an older one matches better; those that do not match come behind."""
    found = await ask("summarize the latest changes to the printer")
    assert found[:2] == ["printer: fix the columns", "printer: colours"]


@pytest.mark.parametrize(
    "question", ["what did Bob Smith change last?", "which changes by Bob are there?"]
)
@pytest.mark.usefixtures("history")
async def test_an_author_who_is_named_made_the_commits(ask: Any, question: str) -> None:
    """In full, or by a part of the name behind `by`."""
    assert await ask(question) == ["Label the shelf", "printer: colours"]


@pytest.mark.parametrize(
    ("question", "number", "best"),
    [
        ("what was changed in November 2023?", 7, 1.0),
        ("what changed in 2023?", 7, 1.0),
        ("what changed in the last two weeks?", 7, 0.5),
        ("what changed in 1969?", 0, 0.0),
    ],
)
@pytest.mark.usefixtures("history")
async def test_the_commits_of_a_time_are_those_made_then(
    records: Records, question: str, number: int, best: float
) -> None:
    """If there are none of late, the newest are less relevant."""
    items = await contextkit_query(ContextRequest(query=question, records=records))
    assert len(items) == number
    assert 0.9 * best <= max((item.relevance for item in items), default=0.0) <= best
    assert [item.title for item in items[:1]] == ["Label the shelf"][:number]


async def test_a_hosts_search_decides_where_it_lists_no_commits(records: Records) -> None:
    """Its results are not lost."""
    record = Record(id="a" * 40, text="Count the latest jars")
    hit = Hit(record=record, relevance=0.5, keyword_score=1.0, similarity=None)

    async def search(_: Search) -> list[Hit]:
        return [hit]

    own = evolve(records, searcher=search)
    items = await contextkit_query(ContextRequest(query="the latest commits", records=own))
    assert [item.id for item in items] == ["a" * 40]


@pytest.mark.parametrize(
    ("query", "topics", "newest", "days", "about"),
    [
        ("what did I change in the last two weeks?", ["history"], False, [14], ""),
        ("which commit last changed the cache?", ["history"], True, [], "cache?"),
        ("why was the cache changed?", ["history"], False, [], "cache"),
        ("how is the last change of an item computed?", ["code"], False, [], ""),
    ],
)
def test_what_a_question_asks_of_the_history(
    query: str, topics: list[str], newest: bool, days: list[int], about: str
) -> None:
    """The newest commits, those of a time, or those about something."""
    now = datetime(2026, 11, 28, 12, tzinfo=UTC)
    asked = HistoryQuestion.of(query, topics, "shelf", now)
    assert asked.newest is newest
    assert [(span.lt - span.gte).days - 1 for span in asked.spans] == days  # type: ignore[operator,union-attr]
    assert asked.about.rstrip("?") == about.rstrip("?")
