"""What a request finds, and in which order."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from contextkit import ContextItem, ContextRequest, Range, Records
from contextkit.models.record import Hit, Record
from contextkit_commits import contextkit_query
from contextkit_commits.search import relevance_of, shas_in, words_of

Index = Callable[..., Any]


@pytest.fixture
def ask(records: Records) -> Callable[..., Any]:
    """Asks the source a question through its hook."""

    async def asked(query: str, **request: Any) -> list[ContextItem]:
        return list(await contextkit_query(ContextRequest(query=query, records=records, **request)))

    return asked


async def test_an_item_is_the_commit(repo: Any, index: Index, ask: Any) -> None:
    """Every attribute of an item, and exactly its metadata."""
    sha = repo.commit("Cap items\n\nA quarter of the budget each.", src__cap_dot_py="a\nb\n")
    index(repo)
    (item,) = await ask("cap items")
    assert (item.source, item.kind, item.id) == ("commits", "commit", sha)
    assert item.content == item.text == "Cap items\n\nA quarter of the budget each."
    assert (item.title, item.location) == ("Cap items", f"commit {sha[:7]}")
    assert item.created_at is not None
    assert item.metadata == {
        "sha": sha,
        "author": "Ada",
        "timestamp": item.created_at.isoformat(),
        "files_changed": ["src/cap.py"],
        "insertions": 2,
        "deletions": 0,
        "subject": "Cap items",
        "is_merge": False,
        "file_count": 1,
    }


async def test_a_question_about_code_gets_few_commits(repo: Any, index: Index, ask: Any) -> None:
    """Behind five the others of its words count little, unless it is about the history."""
    for number in range(8):
        repo.commit(f"Retry the call of worker {number}", a=f"{number}\n")
    index(repo)
    for query, is_low in (
        ("why does the call of a worker hang", True),
        ("which commits changed the call of a worker", False),
    ):
        relevances = [item.relevance for item in await ask(query)]
        assert len(relevances) == 8
        assert relevances == sorted(relevances, reverse=True)
        assert (relevances[5] < relevances[4] / 2) is is_low


async def test_routine_ranks_behind_unless_it_is_asked_for(
    repo: Any, index: Index, ask: Any
) -> None:
    """Updates by programs match much and tell little."""
    repo.commit(
        "Bump retry action from 1 to 2", "--author=dependabot[bot] <bot@example.org>", a="1\n"
    )
    repo.commit("The action that publishes does not wait\n\nNo retry is needed.", b="1\n")
    index(repo)
    assert (await ask("which retry action"))[0].title.startswith("The action that publishes")
    assert (await ask("who did bump the retry action"))[0].title.startswith("Bump retry")


async def test_words_of_message_path_and_author_find_a_commit(
    repo: Any, index: Index, ask: Any
) -> None:
    """A commit is found by what it says, by parts of its paths, and by who wrote it."""
    repo.commit("Retry when the socket closes", net__wire_dot_py="1\n")
    repo.commit("Another change", src__rateLimiter_dot_py="1\n")
    repo.commit("Third", "--author=Grace Hopper <grace@example.org>", z="1\n")
    index(repo)
    for query, subject in {
        "socket closes": "Retry when the socket closes",
        "rate limiter": "Another change",
        "src/rateLimiter.py": "Another change",
        "commits by Grace Hopper": "Third",
    }.items():
        assert (await ask(query))[0].title == subject


async def test_the_limit_is_kept(repo: Any, index: Index, ask: Any) -> None:
    """No more items than were asked for, named ones included."""
    shas = [repo.commit(f"parser change {number}") for number in range(3)]
    index(repo)
    named = await ask(f"parser {shas[0]} {shas[1][:8]}", limit=1)
    assert [item.id for item in named] == [shas[0]]


async def test_a_sha_in_the_query_comes_first(repo: Any, index: Index, ask: Any) -> None:
    """A full sha, a short one and one in capitals find their commit, whatever the words."""
    wanted = repo.commit("zebra")
    repo.commit("What was the reason for the parser change?")
    index(repo)
    for sha in (wanted, wanted[:7], wanted[:12].upper()):
        items = await ask(f"What was the reason for the parser change {sha}?")
        assert [item.title for item in items[:2]] == [
            "zebra",
            "What was the reason for the parser change?",
        ]
        assert items[0].relevance == 1.0
        assert len({item.id for item in items}) == len(items)


async def test_several_shas_come_in_the_order_of_the_query(
    repo: Any, index: Index, ask: Any
) -> None:
    """Each is found once; ten digits of which only nine match are another commit's."""
    first, second = repo.commit("one"), repo.commit("two")
    index(repo)
    items = await ask(f"{second[:9]}..{first[:9]} {second}")
    assert [item.id for item in items] == [second, first]
    wrong = first[:9] + ("0" if first[9] != "0" else "1")
    assert all(item.relevance < 1.0 for item in await ask(wrong))


@pytest.mark.parametrize(
    ("query", "shas"),
    [
        ("see deadbee", ["deadbee"]),
        ("(ABCDEF12)", ["abcdef12"]),
        ("deadbee deadbee", ["deadbee"]),
        ("abc123", []),
        ("xdeadbee deadbeex dead_deadbee", []),
        ("f" * 65, []),
        ("a" * 64, ["a" * 64]),
        (" ".join(f"{number:07x}" for number in range(50)), [f"{n:07x}" for n in range(20)]),
    ],
)
def test_what_may_be_a_sha(query: str, shas: list[str]) -> None:
    """Seven to 64 hex digits by themselves, each once, twenty at most."""
    assert shas_in(query) == shas


async def test_filters_hold_for_named_commits_too(repo: Any, index: Index, ask: Any) -> None:
    """A commit that the filters leave out is not found by its sha either."""
    sha = repo.commit("one", a="1\n")
    repo.commit("two", "--author=Grace Hopper <grace@example.org>", b="1\n")
    index(repo)
    grace = await ask(f"one two {sha}", filters={"author": "Grace Hopper"})
    assert [item.title for item in grace] == ["two"]
    by_path = await ask("one two", filters={"files_changed": "a"})
    assert [item.title for item in by_path] == ["one"]
    later = Range(gte=datetime(2099, 1, 1, tzinfo=UTC))
    assert await ask("one two", filters={"created_at": later}) == []


@pytest.mark.parametrize(
    "message",
    [
        "",
        "Merge branch 'side'",
        "Merge pull request #7 from grace/limiter",
        "Merge branch 'side'\n\n# Conflicts:\n#\tlimiter.py",
        "Merge branch 'side'\n\nConflicts:\n\tlimiter.py\n\nSigned-off-by: Ada <a@b>",
    ],
)
async def test_a_merge_that_says_nothing_is_found_by_its_sha_alone(
    repo: Any, index: Index, ask: Any, message: str
) -> None:
    """The commit that did the work is there, the merge that git described is not."""
    repo.commit("base")
    repo.git("checkout", "-qb", "side")
    repo.commit("Make the limiter fair", limiter_dot_py="1\n")
    repo.git("checkout", "-q", "main")
    repo.commit("elsewhere", other="1\n")
    repo.git("merge", "-q", "--no-ff", "--no-commit", "side")
    merge = repo.commit(message)
    index(repo)
    items = await ask("why is the limiter unfair")
    assert items[0].title == "Make the limiter fair"
    assert merge not in {item.id for item in items}
    assert (await ask(f"what is {merge[:7]}?"))[0].id == merge


@pytest.mark.parametrize(
    "message", ["Merge branch 'one'\n\nAdd the fair limiter to the gateway", "A fair limiter"]
)
async def test_a_merge_with_words_of_its_own_keeps_its_place(
    repo: Any, index: Index, ask: Any, message: str
) -> None:
    """A merge whose author wrote what it brings is a commit like any other."""
    repo.commit("base")
    for name, text in {"one": message, "two": "Merge branch 'two'"}.items():
        repo.git("checkout", "-qb", name)
        repo.commit("wip", **{name: "1\n"})
        repo.git("checkout", "-q", "main")
        repo.git("merge", "-q", "--no-ff", "--no-commit", name)
        repo.commit(text)
    index(repo)
    first = (await ask("fair limiter of the gateway"))[0]
    assert (first.content, first.metadata["is_merge"]) == (message, True)


async def test_the_subject_counts_more_than_the_body(
    repo: Any, index: Index, ask: Any, records: Records
) -> None:
    """Of two commits the one that says it in its summary comes first, also as the only one."""
    repo.commit("Various things today\n\n" + "socket timeout retry " * 3)
    repo.commit("Socket timeout retry\n\nVarious things today, and some more of them")
    index(repo)
    query = "retry after socket timeout"
    assert records.search_sync(query)[0].record.fields["subject"] == "Various things today"
    assert [item.title for item in await ask(query, limit=1)] == ["Socket timeout retry"]


async def test_the_better_of_two_very_good_matches_keeps_its_place(
    repo: Any, index: Index, ask: Any
) -> None:
    """Relevance that would be over 1 is brought down for all, so that no two become equal."""
    repo.commit("Retry the upload after a socket timeout")
    repo.commit("Retry the upload after a socket timeout of the gateway")
    repo.commit("Something else")
    index(repo)
    query = "the gateway: retry the upload after a socket timeout"
    best, second = (await ask(query))[:2]
    assert best.title == "Retry the upload after a socket timeout of the gateway"
    assert best.relevance == 1.0 > second.relevance


def test_what_a_query_says_beside_a_subject_costs_that_nothing() -> None:
    """The entry of a changelog is longer than a subject: the subject's share of words counts."""
    record = Record(id="0" * 40, text="Bound the queue of the writer")
    hit = Hit(record=record, relevance=0.5, keyword_score=1.0, similarity=None)
    short = relevance_of(hit, words_of("bound the writer"))
    long = relevance_of(hit, words_of("bound the writer, whose memory would otherwise be full"))
    assert short == long > 0.5


def test_a_stop_word_makes_no_subject_alike() -> None:
    """A commit that says "get" tells nothing of why something gets large."""
    asked = words_of("why does the database get so large?")
    assert asked == {"databa", "large"}
    assert not asked & words_of("Get the linter to be so happy")


async def test_a_long_subject_makes_a_short_title(repo: Any, index: Index, ask: Any) -> None:
    """A title is a short name, an empty message has one too."""
    repo.commit("word " * 60, a="1\n")
    index(repo)
    (long,) = await ask("word")
    assert len(long.title) <= 120
    assert long.title.endswith("…")
    repo.commit("", "--amend", b="1\n")
    index(repo)
    (empty,) = await ask("ada")
    assert (empty.title, empty.content) == ("(no message)", "")
