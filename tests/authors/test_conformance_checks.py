"""Each check of the conformance suite, on a source that keeps it and on sources that break it."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from datetime import UTC, datetime
from types import ModuleType
from typing import Any

import pytest
from attrs import evolve

from contextkit import (
    ContextItem,
    IndexReport,
    QuerySignals,
    RecipeTemplate,
    Record,
    SourceInfo,
    Tool,
    hookimpl,
)
from contextkit.errors import SourceError
from contextkit.testing import (
    filter_checks,
    hook_checks,
    listening_checks,
    query_checks,
    record_checks,
    summary_checks,
    text_checks,
)
from contextkit.testing.subject import NotConformingError, Subject
from tests.authors.sources import answering, counting, giving, item, plugin

SubjectOf = Callable[..., Subject]
Check = Callable[[Subject], None]
Case = tuple[Check, object, str]


def check_recipes(subject: Subject) -> None:
    """The check of recipes, with what this one is built from."""
    hook_checks.check_recipes(subject, {"outlook": {"place": "Oslo"}})


CHECKS: tuple[Check, ...] = (
    hook_checks.check_info,
    hook_checks.check_settings,
    hook_checks.check_weight,
    hook_checks.check_signals,
    hook_checks.check_promptness,
    hook_checks.check_tools,
    query_checks.check_items,
    query_checks.check_order,
    query_checks.check_limits,
    query_checks.check_time,
    query_checks.check_cancellation,
    query_checks.check_any_query,
    query_checks.check_concurrency,
    filter_checks.check_filters,
    listening_checks.check_agent_events,
    listening_checks.check_commands,
    summary_checks.check_must_keep,
    summary_checks.check_summaries,
    text_checks.check_formats,
    text_checks.check_hostile_text,
    text_checks.check_truncation,
    text_checks.check_contexts,
    record_checks.check_dedup_keys,
    record_checks.check_index,
)


def test_a_good_source_keeps_every_check(tide: type, subject_of: SubjectOf) -> None:
    """Nothing is found where nothing is wrong, with every hook that there is."""
    hook_checks.check_hooks(tide, "tide")
    subject = subject_of(tide)
    for check in (*CHECKS, check_recipes):
        check(subject)


@pytest.mark.parametrize(
    "source",
    [
        answering(item("a")),
        giving("contextkit_dedup_keys", lambda items: None),
        plugin(
            contextkit_query=lambda request: [
                item("a", metadata={"short": request.max_tokens < 1000})
            ]
        ),
    ],
)
def test_what_a_source_leaves_to_the_core_is_not_asked_of_it(
    subject_of: SubjectOf, source: ModuleType
) -> None:
    """One hook is enough, None is as good as no hook; the budget counts where nothing is cached."""
    subject = subject_of(source)
    for check in CHECKS:
        check(subject)


def misspelt() -> ModuleType:
    """A hook that would never be called, and nobody would know."""
    module = answering()
    module.contextkit_formt = hookimpl(lambda items: [])  # type: ignore[attr-defined]
    return module


async def _awaited_weight(request: Any) -> float:
    return 1.0


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (misspelt(), "no hook 'contextkit_formt'; did you mean"),
        (giving("contextkit_weight", lambda request, mood: 1.0), r"contextkit_weight.*mood"),
        (ModuleType("nothing"), "no contextkit_query"),
        (giving("contextkit_weight", _awaited_weight), r"contextkit_weight is async.*plain func"),
    ],
)
def test_hooks_that_cannot_be_registered_are_named(source: ModuleType, message: str) -> None:
    """A name, an argument, a source that is none, and a hook that nobody awaits."""
    with pytest.raises(NotConformingError, match=message):
        hook_checks.check_hooks(source, "tide")


# -- hooks -----------------------------------------------------------------------------------


def _build_nothing() -> Any:
    return None


def recipe(description: str, build: Callable[..., Any]) -> Callable[[], Any]:
    """Recipes of a source: one."""
    return lambda: [RecipeTemplate(name="a", description=description, build=build)]


def tool(name: str, run: Callable[..., Any]) -> Callable[[], Any]:
    """Tools of a source: one."""
    return lambda: [Tool(name=name, description="x", run=run)]


CHANGING = counting()
KNOWS_NO_SETTING = answering(
    contextkit_check_settings=lambda settings: [f"{key}: no" for key in settings],
    contextkit_source=lambda: SourceInfo(settings={"station": "Oslo"}),
)
OF_HOOKS: list[tuple[Check, str, list[tuple[Callable[..., Any], str]]]] = [
    (
        hook_checks.check_info,
        "contextkit_source",
        [
            (lambda: SourceInfo(description="a\nb"), "several lines"),
            (lambda: SourceInfo(priority=1 + CHANGING() % 99), "something else at the second call"),
        ],
    ),
    (
        hook_checks.check_settings,
        "contextkit_check_settings",
        [
            (lambda settings: ["x: bad"], "in the defaults {}"),
            (lambda settings: ["bad: " + k for k in settings], "begin with its name and a colon"),
        ],
    ),
    (
        hook_checks.check_weight,
        "contextkit_weight",
        [
            (lambda request: math.nan, "a number over 0, got nan"),
            (lambda request: "much", "expected a number, got a str"),
            (lambda request: len(request.query) / 0, "ZeroDivision"),
            (lambda request: 1 + CHANGING(), "something else of .* the second time"),
        ],
    ),
    (
        hook_checks.check_signals,
        "contextkit_signals",
        [
            (lambda query: ["storm"], "expected QuerySignals, got"),
            (lambda: QuerySignals(kinds=[str(CHANGING())]), "says something else of"),
        ],
    ),
    (
        check_recipes,
        "contextkit_recipes",
        [
            (recipe("", _build_nothing), "'a' has no description"),
            (recipe("b", _build_nothing), "build returned None"),
            (recipe("b", lambda place: _build_nothing()), "set `recipe_arguments`"),
            (lambda: "outlook", "expected a sequence"),
        ],
    ),
    (
        hook_checks.check_tools,
        "contextkit_tools",
        [
            (tool("Bad Name", lambda kit: {}), "expected a name of up to 64 lower-case letters"),
            (tool("a", lambda kit, place: {}), "parameter 'place' has no type"),
            (lambda: [1], "expected Tool"),
        ],
    ),
]

# -- answers ---------------------------------------------------------------------------------


def asked(query: Callable[..., Any], **hooks: Callable[..., Any]) -> ModuleType:
    """A source with this query."""
    return plugin(contextkit_query=query, **hooks)


def _cacheable(query: Callable[..., Any]) -> ModuleType:
    return asked(query, contextkit_source=lambda: SourceInfo(cacheable=True))


def _turning(request: Any) -> list[ContextItem]:
    items = [item("a"), item("b")]
    return items if CHANGING() % 2 else items[::-1]


async def _ascii(request: Any) -> list[ContextItem]:
    await asyncio.sleep(0)
    return [item(request.query.encode("ascii").decode())]


SHARED: dict[str, str] = {}


async def _sharing(request: Any) -> list[ContextItem]:
    SHARED["query"] = request.query
    await asyncio.sleep(0)
    return [item(f"about {SHARED['query'][:20]}")]


ONE_AND_ONLY = object()
TWO = [item("a"), item("b")]
OF_ANSWERS: list[Case] = [
    *(
        (query_checks.check_items, source, message)
        for source, message in (
            (answering(), "finds nothing for query"),
            (answering(item("a"), item("a", content="b")), "two items of one answer have the id"),
            (answering(item("a", content=" \n")), "item 'a' has no content"),
            (answering(item("a", 0.2), item("b", 0.9)), "come best first"),
            (answering(item(metadata={"at": datetime(2026, 1, 1, tzinfo=UTC)})), "no JSON values"),
            (answering(evolve(item("a"), source="river")), "says it is of source 'river'"),
            (answering(item(" ")), "an item has the id ' '"),
            (answering(item(content="tide " * 50_000)), "has 250,000 characters"),
            (asked(lambda request: "tides"), "expected a sequence"),
            (asked(lambda request: [{"id": "a"}]), "entry 0 is a dict"),
        )
    ),
    *(
        (query_checks.check_order, source, message)
        for source, message in (
            (asked(_turning), r"another order: \['\w', '\w'\], then \['\w', '\w'\]"),
            (asked(lambda request: [item(metadata={"n": CHANGING()})]), "'a' with other fields"),
            (
                _cacheable(lambda request: [item(metadata={"n": request.max_tokens})]),
                "asked with another budget, style or time limit",
            ),
            (
                _cacheable(lambda request: [item(metadata={"thing": ONE_AND_ONLY})]),
                "cannot be kept: cannot cache a value of type object",
            ),
        )
    ),
    (query_checks.check_limits, asked(lambda request: TWO), "2 items for request.limit = 1"),
    (
        query_checks.check_limits,
        asked(lambda request: TWO[: request.limit - 1]),
        "finds nothing for request.limit = 1",
    ),
    *(
        (query_checks.check_any_query, asked(query), message)
        for query, message in (
            (
                lambda request: [item(request.query.split()[0])],
                r"fails for no text \(''\): .*return no items",
            ),
            (_ascii, r"fails for accents .*: UnicodeEncodeError: "),
            (
                lambda request: [item("a")] if request.query else "nothing",
                r"for no text .*expected a sequence",
            ),
        )
    ),
    (
        query_checks.check_concurrency,
        asked(_sharing),
        "asked at once with others, gives other items",
    ),
]

# -- texts, keys and records -----------------------------------------------------------------


def _dating(indexer: Any) -> IndexReport:
    indexer.records.put([Record(id="a", text="tide")])
    return IndexReport(unchanged=1)


def _adding(indexer: Any) -> IndexReport:
    return evolve(_dating(indexer), added=1)


def _writing(indexer: Any) -> IndexReport:
    indexer.records.put([Record(id="a", text="tide", created_at=datetime(2026, 1, 1, tzinfo=UTC))])
    return IndexReport(unchanged=1)


def _failing(indexer: Any) -> IndexReport:
    raise OSError("no such harbour")


OF_ITEMS: list[tuple[Check, str, list[tuple[Callable[..., Any], str]]]] = [
    (
        text_checks.check_formats,
        "contextkit_format",
        [
            (lambda items: ["one for all"], "returned 1 results for 2 items"),
            (lambda items: "a text", "expected a sequence"),
            (lambda items: [None for _ in items], "entry 0 is None, expected str"),
            (lambda items: [each.id for each in items] or ["none"], "returned 1 results for 0 it"),
            (lambda items: [f"{each.id} {CHANGING()}" for each in items], "other texts at the sec"),
            (lambda items: [" " for each in items], "gives item 'a' no text"),
            (lambda items: [f"{each.id}\nbelow" for each in items], "2 lines .*detail compact"),
            (lambda items: [f"{each.id} <b" for each in items], "not well-formed"),
            (lambda items: [f"```{each.id}" for each in items], "takes in the text that stands be"),
            (lambda items: [each.id / 2 for each in items], "TypeError"),
        ],
    ),
    (
        text_checks.check_truncation,
        "contextkit_truncate",
        [
            (lambda item, max_tokens: item.content, r"takes \d+ tokens: count with `count`"),
            (lambda item, max_tokens: 3, "expected a text, got an int"),
            (lambda item, max_tokens, style: "```" if max_tokens > 5 else None, "takes in the te"),
            (lambda item, max_tokens: item.content[1000], "IndexError"),
        ],
    ),
    (
        text_checks.check_contexts,
        "contextkit_weight",
        [(lambda request: -1.0, r"in a context .*contextkit_weight failed")],
    ),
    (
        record_checks.check_dedup_keys,
        "contextkit_dedup_keys",
        [
            (lambda items: [["one for all"]], "returned 1 results for 2 items"),
            (lambda items: ["ab" for _ in items], "expected a sequence of str, got a str"),
            (lambda items: [[1] for _ in items], "entry 0 is an int, expected str"),
            (lambda items: [[""] for _ in items], "item 'a' has an empty key"),
            (lambda items: [[f"{CHANGING()}"] for _ in items], "other keys for the same items"),
            (lambda items: [[f"tide:{len(items)}"] for _ in items], "other keys when it is alone"),
            (lambda items: [[each.id] for each in items] or [["x"]], "returned 1 results for 0 it"),
        ],
    ),
    (
        record_checks.check_index,
        "contextkit_index",
        [
            (_adding, "reports 1 added in a second run"),
            (_dating, "changes records in a second run"),
            (_writing, "writes the same records again in a second run"),
            (_failing, "contextkit_index fails: OSError: no such harbour"),
            (lambda indexer: 3, "fails: expected an IndexReport"),
        ],
    ),
]


BROKEN: list[Case] = [
    (hook_checks.check_settings, KNOWS_NO_SETTING, r"the defaults {'station': 'Oslo'}: station"),
    *OF_ANSWERS,
    *(
        (check, giving(hook, function), said)
        for check, hook, cases in (*OF_HOOKS, *OF_ITEMS)
        for function, said in cases
    ),
]


@pytest.mark.parametrize(
    ("check", "source", "message"), BROKEN, ids=[f"{case[0].__name__}-{case[2]}" for case in BROKEN]
)
def test_what_is_wrong_is_said_in_one_line(
    subject_of: SubjectOf, check: Check, source: object, message: str
) -> None:
    """With what would be right: of hooks, answers, texts, keys, index runs and contexts."""
    with pytest.raises((NotConformingError, SourceError), match=message) as raised:
        check(subject_of(source))
    assert "\n" not in str(raised.value)
