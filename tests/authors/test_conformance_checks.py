"""Each check of the conformance suite, on a source that keeps it and on sources that break it."""

from __future__ import annotations

import asyncio
import itertools
import math
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
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

SubjectOf = Callable[..., Subject]
Check = Callable[[Subject], None]
Break = Callable[[type], type]

RECIPE = {"outlook": {"place": "Oslo"}}


def check_recipes(subject: Subject) -> None:
    """The check of recipes, with what this one is built from."""
    hook_checks.check_recipes(subject, RECIPE)


CHECKS: tuple[Check, ...] = (
    hook_checks.check_info,
    hook_checks.check_settings,
    hook_checks.check_weight,
    hook_checks.check_signals,
    hook_checks.check_promptness,
    check_recipes,
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


@pytest.mark.parametrize("check", CHECKS)
def test_a_good_source_keeps_every_check(tide: type, subject_of: SubjectOf, check: Check) -> None:
    """Nothing is found where nothing is wrong."""
    check(subject_of(tide))


@pytest.mark.parametrize("check", [c for c in CHECKS if c is not check_recipes])
def test_a_source_of_one_hook_keeps_every_check(subject_of: SubjectOf, check: Check) -> None:
    """What a source leaves to the core is not asked of it."""
    check(subject_of(plugin(lambda request: [item("a")])))


def item(item_id: str, relevance: float = 0.5, **fields: Any) -> ContextItem:
    """An item of the source."""
    return ContextItem("tide", fields.pop("content", item_id), relevance, id=item_id, **fields)


def plugin(query: Callable[..., Any], **hooks: Callable[..., Any]) -> ModuleType:
    """A plugin of these hooks."""
    module = ModuleType("tides")
    for name, function in {"contextkit_query": query, **hooks}.items():
        setattr(module, name, hookimpl(function))
    return module


def answering(*items: ContextItem) -> ModuleType:
    """A source that always finds the same."""
    return plugin(lambda request: list(items)[: request.limit])


def giving(hook: str, function: Callable[..., Any]) -> ModuleType:
    """A source that finds two items and has one more hook."""
    return plugin(lambda request: [item("a"), item("b")][: request.limit], **{hook: function})


# -- hooks -----------------------------------------------------------------------------------


def test_a_misspelt_hook_is_named_with_the_nearest() -> None:
    """It would never be called, and nobody would know."""
    module = plugin(lambda request: [])
    module.contextkit_formt = hookimpl(lambda items: [])  # type: ignore[attr-defined]
    with pytest.raises(NotConformingError, match="no hook 'contextkit_formt'; did you mean"):
        hook_checks.check_hooks(module, "tide")


def test_an_argument_that_a_hook_has_not_is_named() -> None:
    """The message says which hook and which argument."""
    module = giving("contextkit_weight", lambda request, mood: 1.0)
    with pytest.raises(NotConformingError, match=r"contextkit_weight.*mood"):
        hook_checks.check_hooks(module, "tide")


def test_a_plugin_without_a_query_is_no_source() -> None:
    """What the suite tests are sources."""
    with pytest.raises(NotConformingError, match="no contextkit_query"):
        hook_checks.check_hooks(ModuleType("nothing"), "tide")


def test_only_the_query_is_async() -> None:
    """The core awaits no other hook."""

    async def weight(request: Any) -> float:
        return 1.0

    with pytest.raises(NotConformingError, match=r"contextkit_weight is async.*plain function"):
        hook_checks.check_hooks(giving("contextkit_weight", weight), "tide")


def test_defaults_that_are_no_settings_are_found(subject_of: SubjectOf) -> None:
    """What a source says it has must be what it takes."""
    source = giving(
        "contextkit_check_settings", lambda settings: [f"{key}: no" for key in settings]
    )
    source.contextkit_source = hookimpl(lambda: SourceInfo(settings={"station": "Oslo"}))  # type: ignore[attr-defined]
    with pytest.raises(NotConformingError, match=r"in the defaults {'station': 'Oslo'}: station"):
        hook_checks.check_settings(subject_of(source))


def test_a_good_sources_hooks_are_in_order(tide: type) -> None:
    """Every hook that there is may be there."""
    hook_checks.check_hooks(tide, "tide")


def _counting() -> Callable[[], int]:
    numbers = itertools.count(1)
    return lambda: next(numbers)


def _build_nothing() -> Any:
    return None


CHANGING = _counting()
_NUMBERS = itertools.count()

HOOKS = [
    ("check_info", "contextkit_source", lambda: SourceInfo(description="a\nb"), "several lines"),
    (
        "check_info",
        "contextkit_source",
        lambda: SourceInfo(priority=1 + CHANGING() % 99),
        "something else at the second call",
    ),
    (
        "check_settings",
        "contextkit_check_settings",
        lambda settings: ["x: bad"],
        "in the defaults {}",
    ),
    (
        "check_settings",
        "contextkit_check_settings",
        lambda settings: ["bad: " + k for k in settings],
        "begin with its name and a colon",
    ),
    ("check_weight", "contextkit_weight", lambda request: math.nan, "a number over 0, got nan"),
    ("check_weight", "contextkit_weight", lambda request: -1, "a number over 0, got -1"),
    ("check_weight", "contextkit_weight", lambda request: math.inf, "a number over 0, got inf"),
    ("check_weight", "contextkit_weight", lambda request: "much", "expected a number, got a str"),
    ("check_weight", "contextkit_weight", lambda request: len(request.query) / 0, "ZeroDivision"),
    ("check_signals", "contextkit_signals", lambda query: ["storm"], "expected QuerySignals, got"),
    (
        "check_signals",
        "contextkit_signals",
        lambda: QuerySignals(kinds=[str(next(_NUMBERS))]),
        "says something else of",
    ),
    (
        "check_weight",
        "contextkit_weight",
        lambda request: 1 + CHANGING(),
        "something else of .* the second time",
    ),
    (
        "check_recipes",
        "contextkit_recipes",
        lambda: [RecipeTemplate(name="a", description="", build=_build_nothing)],
        "'a' has no description",
    ),
    (
        "check_recipes",
        "contextkit_recipes",
        lambda: [RecipeTemplate(name="a", description="b", build=_build_nothing)],
        "build returned None",
    ),
    (
        "check_recipes",
        "contextkit_recipes",
        lambda: [RecipeTemplate(name="a", description="b", build=lambda place: _build_nothing())],
        "set `recipe_arguments`",
    ),
    ("check_recipes", "contextkit_recipes", lambda: "outlook", "expected a sequence"),
    (
        "check_tools",
        "contextkit_tools",
        lambda: [Tool(name="Bad Name", description="x", run=lambda kit: {})],
        "expected a name of up to 64 lower-case letters",
    ),
    (
        "check_tools",
        "contextkit_tools",
        lambda: [Tool(name="a", description="x", run=lambda kit, place: {})],
        "parameter 'place' has no type",
    ),
    ("check_tools", "contextkit_tools", lambda: [1], "expected Tool"),
]


@pytest.mark.parametrize(("check", "hook", "function", "message"), HOOKS)
def test_what_is_wrong_with_a_hook_is_said(
    subject_of: SubjectOf, check: str, hook: str, function: Callable[..., Any], message: str
) -> None:
    """One line, with what would be right."""
    known = {c.__name__: c for c in CHECKS}
    with pytest.raises((NotConformingError, SourceError), match=message) as raised:
        known[check](subject_of(giving(hook, function)))
    assert "\n" not in str(raised.value)


# -- answers ---------------------------------------------------------------------------------


ITEMS = [
    (answering(), "finds nothing for query"),
    (answering(item("a"), item("a", content="b")), "two items of one answer have the id 'a'"),
    (answering(item("a", content=" \n")), "item 'a' has no content"),
    (answering(item("a", 0.2), item("b", 0.9)), "come best first"),
    (answering(item("a", metadata={"at": datetime(2026, 1, 1, tzinfo=UTC)})), "no JSON values"),
    (answering(evolve(item("a"), source="river")), "says it is of source 'river'"),
    (plugin(lambda request: "tides"), "expected a sequence"),
    (plugin(lambda request: [{"id": "a"}]), "entry 0 is a dict"),
]


@pytest.mark.parametrize(("source", "message"), ITEMS)
def test_items_that_are_not_what_they_must_be(
    subject_of: SubjectOf, source: object, message: str
) -> None:
    """Ids, contents, order, metadata, names."""
    with pytest.raises((NotConformingError, SourceError), match=message):
        query_checks.check_items(subject_of(source))


def test_an_order_that_changes_is_found(subject_of: SubjectOf) -> None:
    """The message shows both orders."""
    calls = _counting()

    def query(request: Any) -> list[ContextItem]:
        items = [item("a"), item("b")]
        return items if calls() % 2 else items[::-1]

    with pytest.raises(NotConformingError, match=r"another order: \['a', 'b'\], then \['b', 'a'\]"):
        query_checks.check_order(subject_of(plugin(query)))


def test_a_field_that_changes_is_found(subject_of: SubjectOf) -> None:
    """Items that only look equal are not."""
    calls = _counting()
    source = plugin(lambda request: [item("a", metadata={"asked": calls()})])
    with pytest.raises(NotConformingError, match="item 'a' with other fields"):
        query_checks.check_order(subject_of(source))


def looks_at_the_budget(request: Any) -> list[ContextItem]:
    """An item that depends on how much room there is."""
    return [item("a", metadata={"short": request.max_tokens < 1000})]


def test_a_source_may_look_at_the_budget(subject_of: SubjectOf) -> None:
    """Where it does not say that it may be cached."""
    query_checks.check_order(subject_of(plugin(looks_at_the_budget)))


def test_a_cacheable_source_that_looks_at_the_budget_is_found(subject_of: SubjectOf) -> None:
    """A cache would give its answer to other requests."""
    cacheable = plugin(looks_at_the_budget, contextkit_source=lambda: SourceInfo(cacheable=True))
    with pytest.raises(NotConformingError, match="asked with another budget, style or time limit"):
        query_checks.check_order(subject_of(cacheable))


def test_a_cacheable_source_whose_items_cannot_be_kept_is_found(subject_of: SubjectOf) -> None:
    """An object would not come back as it was."""
    thing = object()
    cacheable = plugin(
        lambda request: [item("a", metadata={"thing": thing})],
        contextkit_source=lambda: SourceInfo(cacheable=True),
    )
    with pytest.raises(NotConformingError, match="cannot be kept: a object does not come back"):
        query_checks.check_order(subject_of(cacheable))


def test_a_limit_that_is_not_kept_is_found(subject_of: SubjectOf) -> None:
    """The core would cut it, but the work was done in vain."""
    source = plugin(lambda request: [item("a"), item("b")])
    with pytest.raises(NotConformingError, match=r"returns 2 items for request.limit = 1"):
        query_checks.check_limits(subject_of(source))


def test_a_limit_that_leaves_nothing_is_found(subject_of: SubjectOf) -> None:
    """A limit counts from 1."""
    source = plugin(lambda request: [item("a"), item("b")][: request.limit - 1])
    with pytest.raises(NotConformingError, match=r"finds nothing for request.limit = 1"):
        query_checks.check_limits(subject_of(source))


async def _forever(request: Any) -> list[ContextItem]:
    await asyncio.Event().wait()
    return []


def _blocking(request: Any) -> list[ContextItem]:
    threading.Event().wait(600)
    return [item("a")]


async def _holding_the_loop(request: Any) -> list[ContextItem]:
    threading.Event().wait(1.3)
    return [item("a")]


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (_forever, "no answer within 1 s"),
        (_blocking, "no answer within 1 s"),
        (_holding_the_loop, "holds the event loop for .* plain function"),
    ],
)
def test_a_query_that_takes_too_long_is_found(
    subject_of: SubjectOf, query: Callable[..., Any], message: str
) -> None:
    """Slow is told from in the way."""
    with pytest.raises(NotConformingError, match=message):
        query_checks.check_time(subject_of(plugin(query), timeout=1.0))


def test_a_query_that_never_ends_is_left_behind(subject_of: SubjectOf) -> None:
    """No check waits longer than it says."""
    with pytest.raises(NotConformingError, match=r"has not ended after 0.2 s"):
        query_checks.check_items(subject_of(plugin(_forever), timeout=0.2))


async def _deaf(request: Any) -> list[ContextItem]:
    with_luck = [item("a")]
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        return with_luck
    return []


async def _clinging(request: Any) -> list[ContextItem]:
    while True:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            if asyncio.current_task().cancelling() > 1:  # type: ignore[union-attr]
                raise


async def _failing_at_the_end(request: Any) -> list[ContextItem]:
    try:
        await asyncio.Event().wait()
    finally:
        raise OSError("connection lost")


_KEPT: set[asyncio.Task[Any]] = set()


async def _leaving_a_task(request: Any) -> list[ContextItem]:
    task = asyncio.create_task(asyncio.Event().wait())
    _KEPT.add(task)
    task.add_done_callback(_KEPT.discard)
    await asyncio.shield(task)
    return []


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (_deaf, "returns items after it was cancelled"),
        (_clinging, "still runs 2 s after it was cancelled"),
        (_failing_at_the_end, "raises OSError: connection lost after it was cancelled"),
        (_leaving_a_task, "leaves Event.wait running: .*TaskGroup"),
    ],
)
def test_a_query_that_does_not_end_when_cancelled_is_found(
    subject_of: SubjectOf, query: Callable[..., Any], message: str
) -> None:
    """Who is given up must let go."""
    with pytest.raises(NotConformingError, match=message):
        query_checks.check_cancellation(subject_of(plugin(query), timeout=2.0))


def test_a_query_that_fails_for_some_text_is_found(subject_of: SubjectOf) -> None:
    """The message says for which, and what to do instead."""
    source = plugin(lambda request: [item(request.query.split()[0])])
    with pytest.raises(NotConformingError, match=r"fails for no text \(''\): .*return no items"):
        query_checks.check_any_query(subject_of(source))


def test_an_async_query_that_fails_for_some_text_is_found(subject_of: SubjectOf) -> None:
    """What is raised later is found, too."""

    async def query(request: Any) -> list[ContextItem]:
        await asyncio.sleep(0)
        return [item(request.query.encode("ascii").decode())]

    with pytest.raises(NotConformingError, match=r"fails for accents .*: UnicodeEncodeError: "):
        query_checks.check_any_query(subject_of(plugin(query)))


def test_a_query_that_gives_something_else_for_some_text_is_found(subject_of: SubjectOf) -> None:
    """None is no items; a text is not."""
    source = plugin(lambda request: [item("a")] if request.query else "nothing")
    with pytest.raises(NotConformingError, match=r"for no text .*expected a sequence"):
        query_checks.check_any_query(subject_of(source))


def test_queries_that_share_what_they_should_not_are_found(subject_of: SubjectOf) -> None:
    """One query's state is overwritten by another's."""
    shared: dict[str, str] = {}

    async def query(request: Any) -> list[ContextItem]:
        shared["query"] = request.query
        await asyncio.sleep(0)
        return [item(f"about {shared['query'][:20]}")]

    with pytest.raises(NotConformingError, match="asked at once with others, gives other items"):
        query_checks.check_concurrency(subject_of(plugin(query)))


# -- texts -----------------------------------------------------------------------------------


NUMBERS = _counting()

FORMATS = [
    (lambda items: ["one for all"], "returned 1 results for 2 items"),
    (lambda items: "a text", "expected a sequence"),
    (lambda items: [None for _ in items], "entry 0 is None, expected str"),
    (lambda items: [each.id for each in items] or ["none"], "returned 1 results for 0 items"),
    (lambda items: [f"{each.id} {NUMBERS()}" for each in items], "other texts at the second call"),
    (lambda items: [" " for each in items], "gives item 'a' no text"),
    (lambda items: [f"{each.id}\nbelow" for each in items], "2 lines .*detail compact"),
    (lambda items: [f"{each.id} <b" for each in items], "not well-formed"),
    (lambda items: [f"```{each.id}" for each in items], "takes in the text that stands behind"),
    (lambda items: [each.id / 2 for each in items], "TypeError"),
]


@pytest.mark.parametrize(("function", "message"), FORMATS)
def test_texts_that_are_not_what_they_must_be(
    subject_of: SubjectOf, function: Callable[..., Any], message: str
) -> None:
    """Number, type, lines, markup that ends."""
    with pytest.raises((NotConformingError, SourceError), match=message):
        text_checks.check_formats(subject_of(giving("contextkit_format", function)))


def _unescaped(careless: str) -> Callable[..., Any]:
    """A format that is careful but in one style."""
    from contextkit.pipeline.looks import Look, default_text

    def shown(items: Any, **look: str) -> list[str]:
        return [default_text(each, Look(look["style"], look["detail"])) for each in items]  # type: ignore[arg-type]

    def format_all(items: Any, style: str, detail: str) -> list[str]:
        if style != careless or detail == "compact":
            return shown(items, style=style, detail=detail)
        if style == "xml":
            return [f"<tide>{each.content}</tide>" for each in items]
        return [f"**Tide** {each.content}" for each in items]

    return format_all


HOSTILE = [
    ("markdown", "`content` .style markdown.*: (it becomes|it takes in)"),
    ("xml", "`content` .style xml.*not well-formed"),
]


@pytest.mark.parametrize(("style", "message"), HOSTILE)
def test_text_that_breaks_out_of_a_style_is_found(
    subject_of: SubjectOf, style: str, message: str
) -> None:
    """What was put in as it is becomes markup."""
    with pytest.raises(NotConformingError, match=message):
        text_checks.check_hostile_text(subject_of(giving("contextkit_format", _unescaped(style))))


def _with(shown: Callable[[ContextItem], str], only: str) -> Callable[..., Any]:
    def format_all(items: Any, style: str, detail: str) -> list[str]:
        return [shown(each) if f"{style} {detail}" == only else "tide" for each in items]

    return format_all


LEAKS = [
    ("plain full", lambda i: i.content, "content", "a line that looks like a title"),
    (
        "markdown full",
        lambda i: f"By {i.metadata['by'][0].partition('***')[0]}",
        "metadata['by'][0]",
        "it becomes a heading, a quote;",
    ),
    (
        "xml full",
        lambda i: f"<t>{i.content.translate({0: None, 7: None, 27: None, 38: None})}</t>",
        "content",
        "it becomes <injected a>, <injected>, <script>",
    ),
    ("markdown compact", lambda i: i.title, "title", "line ends break out of its one line"),
    ("markdown summary", lambda i: f"| {i.location} |", "location", "it takes in the text"),
]


@pytest.mark.parametrize(("look", "shown", "where", "message"), LEAKS)
def test_every_text_of_an_item_is_tried(
    subject_of: SubjectOf,
    look: str,
    shown: Callable[[ContextItem], str],
    where: str,
    message: str,
) -> None:
    """The message says which one leaks, in which style and detail, and what it becomes."""
    full = item("a", title="Tide", location="harbour", metadata={"by": ["Ada"], "n": 1})
    source = plugin(lambda request: [full], contextkit_format=_with(shown, look))
    with pytest.raises(NotConformingError) as raised:
        text_checks.check_hostile_text(subject_of(source))
    style, detail = look.split()
    assert f"hostile text in `{where}` (style {style}, detail {detail})" in str(raised.value)
    assert message in str(raised.value)


def test_an_element_that_is_closed_early_is_found(subject_of: SubjectOf) -> None:
    """Well-formed is not enough: the tags are tried that the source itself writes."""

    def shown(each: ContextItem) -> str:
        start = each.content.find("</tide>")
        return f"<tide>{each.content[start : each.content.find('words behind')]}</tide>"

    source = plugin(lambda request: [item("a")], contextkit_format=_with(shown, "xml full"))
    with pytest.raises(NotConformingError, match="it becomes <injected>"):
        text_checks.check_hostile_text(subject_of(source))


def test_a_field_of_a_fixed_form_is_passed_over(subject_of: SubjectOf) -> None:
    """What no record can hold is not held against the source."""
    known = item("a", metadata={"at": "2026-03-01T00:00:00+00:00"})

    def shown(each: ContextItem) -> str:
        return f"{datetime.fromisoformat(each.metadata['at']):%A}"

    source = plugin(lambda request: [known], contextkit_format=_with(shown, "plain full"))
    text_checks.check_hostile_text(subject_of(source))


def test_a_format_that_fails_on_hostile_text_alone_is_found(subject_of: SubjectOf) -> None:
    """Ordinary words would have hidden it."""

    def shown(each: ContextItem) -> str:
        if "<" in each.content:
            raise ValueError("no tags, please")
        return "tide"

    source = plugin(lambda request: [item("a")], contextkit_format=_with(shown, "plain full"))
    with pytest.raises(NotConformingError, match=r"fails for hostile text in `content`.*no tags"):
        text_checks.check_hostile_text(subject_of(source))


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda item, max_tokens: item.content, r"takes \d+ tokens: count with `count`"),
        (lambda item, max_tokens: 3, "expected a text, got an int"),
        (lambda item, max_tokens, style: "```" if max_tokens > 5 else None, "takes in the text"),
        (lambda item, max_tokens: item.content[1000], "IndexError"),
    ],
)
def test_a_shortened_text_that_is_not_right_is_found(
    subject_of: SubjectOf, function: Callable[..., Any], message: str
) -> None:
    """Its tokens, its type, what it leaves open."""
    with pytest.raises((NotConformingError, SourceError), match=message):
        text_checks.check_truncation(subject_of(giving("contextkit_truncate", function)))


def test_a_context_shows_what_the_hooks_do_wrong(subject_of: SubjectOf) -> None:
    """A hook whose default is used is no success."""
    source = giving("contextkit_weight", lambda request: -1.0)
    with pytest.raises(NotConformingError, match=r"in a context .*contextkit_weight failed"):
        text_checks.check_contexts(subject_of(source))


def test_items_below_the_floor_are_said_to_be(subject_of: SubjectOf) -> None:
    """A relevance that is next to nothing shows nothing."""
    with pytest.raises(NotConformingError, match=r"state is below_floor: .*none relevant enough"):
        text_checks.check_contexts(subject_of(answering(item("a", 0.01))))


def test_items_that_cannot_be_shown_are_said_to_be(subject_of: SubjectOf) -> None:
    """One long line of XML cannot be shortened."""
    long = f"<tide>{'tide ' * 5000}</tide>"
    source = plugin(
        lambda request: [item("a")],
        contextkit_format=lambda items, style: [long if style == "xml" else "a" for _ in items],
    )
    with pytest.raises(NotConformingError, match="not one of its items is shown: "):
        text_checks.check_contexts(subject_of(source))


def test_a_source_that_fails_in_a_context_alone_is_found(subject_of: SubjectOf) -> None:
    """Contexts ask with a budget and a style of their own."""

    def query(request: Any) -> list[ContextItem]:
        if request.style == "xml":
            raise ValueError("no XML, please")
        return [item("a")]

    with pytest.raises(NotConformingError, match=r"its state is failed: .*no XML"):
        text_checks.check_contexts(subject_of(plugin(query)))


# -- keys and records ------------------------------------------------------------------------


KEYS = [
    (lambda items: [["one for all"]], "returned 1 results for 2 items"),
    (lambda items: ["ab" for _ in items], "expected a sequence of str, got a str"),
    (lambda items: [[1] for _ in items], "entry 0 is an int, expected str"),
    (lambda items: [[""] for _ in items], "item 'a' has an empty key"),
    (lambda items: [[f"{NUMBERS()}"] for _ in items], "other keys for the same items"),
    (lambda items: [[f"tide:{len(items)}"] for _ in items], "other keys when it is alone"),
    (lambda items: [[each.id] for each in items] or [["x"]], "returned 1 results for 0 items"),
]


@pytest.mark.parametrize(("function", "message"), KEYS)
def test_keys_that_are_not_what_they_must_be(
    subject_of: SubjectOf, function: Callable[..., Any], message: str
) -> None:
    """Number, type, and that they name the thing."""
    with pytest.raises((NotConformingError, SourceError), match=message):
        record_checks.check_dedup_keys(subject_of(giving("contextkit_dedup_keys", function)))


def test_no_keys_are_as_good_as_no_hook(subject_of: SubjectOf) -> None:
    """None leaves it to the core."""
    record_checks.check_dedup_keys(subject_of(giving("contextkit_dedup_keys", lambda items: None)))


def _adding(indexer: Any) -> IndexReport:
    indexer.records.put([Record(id="a", text="tide")])
    return IndexReport(added=1)


def _dating(indexer: Any) -> IndexReport:
    indexer.records.put([Record(id="a", text="tide")])
    return IndexReport(unchanged=1)


def _writing(indexer: Any) -> IndexReport:
    indexer.records.put([Record(id="a", text="tide", created_at=datetime(2026, 1, 1, tzinfo=UTC))])
    return IndexReport(unchanged=1)


def _failing(indexer: Any) -> IndexReport:
    raise OSError("no such harbour")


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (_adding, "reports 1 added in a second run"),
        (_dating, "changes records in a second run"),
        (_writing, "writes the same records again in a second run"),
        (_failing, "contextkit_index fails: OSError: no such harbour"),
        (lambda indexer: 3, "fails: expected an IndexReport"),
    ],
)
def test_an_index_run_that_is_not_right_is_found(
    subject_of: SubjectOf, function: Callable[..., Any], message: str
) -> None:
    """What it says, what it does, and that it ends well."""
    with pytest.raises(NotConformingError, match=message):
        record_checks.check_index(subject_of(giving("contextkit_index", function)))


def test_nobodys_configuration_is_read(
    tide: type, subject_of: SubjectOf, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The author's own settings do not decide whether the tests pass."""
    (home / "config.toml").write_text("[sources.tide]\nenabled = false\n")
    monkeypatch.setenv("CONTEXTKIT_SOURCES_TIDE_ENABLED", "false")
    subject = subject_of(tide, settings={"station": "Oslo"})
    assert subject.kit.registry.sources == ["tide"]
    assert subject.request().settings == {"station": "Oslo"}
