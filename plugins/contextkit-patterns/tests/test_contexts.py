"""Which patterns are found, in which order, and how they are shown."""

from __future__ import annotations

from typing import Any

import pytest

import contextkit_patterns as plugin
from contextkit import (
    ContextItem,
    ContextKit,
    ContextRequest,
    InvalidRequestError,
    Record,
    Records,
    hookimpl,
)
from contextkit_patterns import PatternBook
from contextkit_patterns.finding import Calls, called_for


async def found(records: Records, query: str, **request: Any) -> list[ContextItem]:
    """What the source answers."""
    return await plugin.contextkit_query(ContextRequest(query=query, records=records, **request))


async def called(
    records: Records, query: str, *, entity_types: tuple[str, ...] = (), **filters: Any
) -> set[str]:
    """The ids of the patterns that the query calls for; all of them are found, in full."""
    asked: dict[str, Any] = {"entity_types": entity_types, "filters": filters}
    request = ContextRequest(query=query, records=records, **asked)
    patterns = called_for(Calls.of(request), records, {})
    items = {item.id: item.relevance for item in await found(records, query, **asked)}
    assert all(items[pattern.id] == pattern.rate for pattern in patterns)
    return {pattern.id for pattern in patterns}


async def test_keywords_call_for_a_pattern(book: PatternBook, records: Records) -> None:
    """As whole words in any case, phrases in their order."""
    book.add("Tame", ["zzz"], keywords=["flaky", "time zone"])
    for query in ("a FLAKY test", "wrong time-zone", "Time  Zone?"):
        assert await called(records, query) == {"tame"}, query
    for query in ("flakiness", "zone of time", "time of a zone", ""):
        assert await called(records, query) == set(), query


class Notes:
    """A source whose item has a word of the question."""

    @hookimpl
    def contextkit_query(self, request: ContextRequest) -> list[ContextItem]:
        return [ContextItem("notes", "Prepare the tea before the release.", 0.4)]


async def test_a_keyword_is_evidence_though_it_is_not_shown(kit: ContextKit) -> None:
    """Beside a source whose items have the question's other words."""
    kit.register(Notes(), "notes")
    PatternBook.of(kit).add("Cut a version", ["Run the tests"], keywords=["hotfix"])
    context = await kit.assemble_context("prepare a hotfix")
    assert "patterns" in {item.source for item in context.items}


async def test_entity_types_call_for_a_pattern(book: PatternBook, records: Records) -> None:
    """Named by the query or by the request."""
    book.add("Split", ["zzz"], entity_types=["function", "db table"])
    assert await called(records, "shorten this function") == {"split"}
    assert await called(records, "shorten this") == set()
    assert await called(records, "shorten this", entity_types=("Function",)) == {"split"}
    assert await called(records, "shorten this", entity_types=("DB table",)) == {"split"}
    assert await called(records, "shorten this", entity_types=("class",)) == set()


async def test_intents_choose_among_patterns(book: PatternBook, records: Records) -> None:
    """With other triggers both must be met; alone they call by themselves."""
    book.add("Bisect", ["zzz"], intents=["fix"])
    book.add("Teach", ["zzz"], intents=["explain", "question"], keywords=["lanes"])
    assert await called(records, "fix the lanes") == {"bisect"}
    assert await called(records, "what is it about lanes") == {"teach"}
    assert await called(records, "what is it about roads") == set()
    assert await called(records, "lanes", intent="question") == {"teach"}
    assert await called(records, "lanes", intent=["fix", "explain"]) == {"bisect", "teach"}


async def test_what_no_trigger_calls_for_is_found_by_search(
    book: PatternBook, records: Records
) -> None:
    """By the words of its steps, behind what is called for."""
    book.add("Restart", ["Drain the queue of the worker"])
    book.add("Tame", ["Run it"], keywords=["queue"])
    items = await found(records, "the queue is full")
    assert [item.id for item in items] == ["tame", "restart"]
    assert 0 < items[1].relevance < items[0].relevance == 0.5


async def test_order_is_by_success_with_a_prior(kit: ContextKit) -> None:
    """In a whole context 1 of 1 does not beat 95 of 100, and what fails is left out."""
    book = PatternBook.of(kit)
    counts = {"lucky": (1, 1), "proven": (95, 100), "untried": (0, 0), "useless": (0, 20)}
    for name in sorted(counts):
        successes, applications = counts[name]
        book.add(
            name,
            [f"Do the {name} thing with {name}"],
            keywords=["flaky"],
            applications=applications,
            successes=successes,
        )
    context = await kit.assemble_context("a flaky test")
    assert [item.id for item in context.items] == ["proven", "lucky", "untried"]
    assert "## Applicable Patterns" in context.markdown
    (useless,) = [item for item in context.trace.items if item.id == "useless"]
    assert useless.verdict == "below_floor"


async def test_a_name_in_both_scopes_is_shown_once(book: PatternBook, records: Records) -> None:
    """The project's stands for both."""
    names = [f"Tame {number}" for number in range(6)]
    for name in names:
        book.add(name, ["project"], keywords=["flaky"])
        book.add(name, ["user"], keywords=["flaky"], shared=True)
    for query in ("flaky project", "flaky user"):
        items = await found(records, query)
        assert [item.metadata["steps"] for item in items] == [["project"]] * len(names)


async def test_other_filters_choose_among_records(book: PatternBook, records: Records) -> None:
    """They hold for triggers and for search."""
    book.add("Tame", ["a"], keywords=["flaky"])
    book.add("Other", ["flaky"], keywords=["flaky"])
    items = await found(records, "flaky", filters={"name": "Tame"})
    assert [item.id for item in items] == ["tame"]


@pytest.mark.parametrize(
    ("filters", "message"),
    [
        ({"intent": "mend"}, "filter intent: 'mend' is not one of question, action"),
        ({"intent": 5}, "filter intent: expected texts, got 5"),
        ({"intent": ["fix", 5]}, "filter intent: expected texts, got 5"),
    ],
)
async def test_filters_that_make_no_sense_are_named(
    records: Records, filters: dict[str, Any], message: str
) -> None:
    """They are the request's error."""
    with pytest.raises(InvalidRequestError, match=message):
        await found(records, "x", filters=filters)


async def test_imported_triggers_do_no_harm(records: Records) -> None:
    """A record that says it has a trigger, and has none."""
    fields = {"trigger_words": ["flaky"], "keywords": 5}
    records.put([Record(id="odd", text="Odd\nstep", fields=fields)])
    assert await called(records, "flaky") == set()


def item(**metadata: Any) -> ContextItem:
    """An item as the source makes them."""
    data = {
        "name": "Tame a test",
        "steps": ["Run *it* alone", "# Look at a < b"],
        "keywords": ["flaky", "time zone"],
        "intents": ["fix"],
        "entity_types": ["test"],
        "applications": 100,
        "successes": 95,
        **metadata,
    }
    return ContextItem("patterns", "content", 0.5, id="tame-a-test", metadata=data)


WHEN = "flaky, time zone; test; fix"


@pytest.mark.parametrize(
    ("style", "detail", "expected"),
    [
        (
            "markdown",
            "full",
            f"**Pattern**: Tame a test\nWorked: 95 of 100 times\nWhen: {WHEN}\n\n"
            "1. Run *it* alone\n2. \\# Look at a < b",
        ),
        (
            "markdown",
            "summary",
            "**Pattern**: Tame a test\nWorked: 95 of 100 times\n\n"
            "1. Run *it* alone\n2. \\# Look at a < b",
        ),
        (
            "markdown",
            "compact",
            "- Tame a test (worked 95 of 100 times): Run *it* alone; # Look at a < b",
        ),
        (
            "xml",
            "full",
            f'<entity name="Tame a test" type="pattern" worked="worked 95 of 100 times" '
            f'when="{WHEN}">\n1. Run *it* alone\n2. # Look at a &lt; b\n</entity>',
        ),
        (
            "xml",
            "compact",
            '<pattern name="Tame a test" worked="worked 95 of 100 times">'
            "Run *it* alone; # Look at a &lt; b</pattern>",
        ),
        (
            "plain",
            "full",
            f"Tame a test [pattern, worked 95 of 100 times]\n  when: {WHEN}\n"
            "  1. Run *it* alone\n  2. # Look at a < b",
        ),
        (
            "plain",
            "summary",
            "Tame a test [pattern, worked 95 of 100 times]\n"
            "  1. Run *it* alone\n  2. # Look at a < b",
        ),
        (
            "plain",
            "compact",
            "Tame a test (worked 95 of 100 times): Run *it* alone; # Look at a < b",
        ),
    ],
)
def test_formats(style: Any, detail: Any, expected: str) -> None:
    """Name, how often it worked, what calls for it, steps."""
    (shown,) = plugin.contextkit_format([item()], style, detail)
    if detail == "compact" and style == "markdown":
        shown = shown.replace("\\", "")
    assert shown == expected


def test_what_was_never_applied_says_so() -> None:
    """Instead of 0 of 0; without triggers there is no line of them."""
    bare = item(applications=0, keywords=(), intents=(), entity_types=())
    (shown,) = plugin.contextkit_format([bare], "plain", "full")
    assert shown.splitlines()[:2] == ["Tame a test [pattern, never applied]", "  1. Run *it* alone"]
    (line,) = plugin.contextkit_format([item(steps=["word " * 200])], "markdown", "compact")
    assert len(line) < 300


def test_settings_that_there_are_none_of_are_named() -> None:
    """The source has no settings."""
    assert list(plugin.contextkit_source().setting_problems("patterns", {"depth": 1})) == [
        "depth: the source patterns has no such setting"
    ]
