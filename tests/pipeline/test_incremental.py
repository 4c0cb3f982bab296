"""Something new joins a context that was assembled: the same as if its source had found it."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from contextkit import (
    ContextAssembler,
    ContextItem,
    ContextRequest,
    FormattedContext,
    InvalidContextTypeError,
    InvalidRequestError,
    Record,
    SourceInfo,
    hookimpl,
)
from contextkit.models.items import DETAILS, GROUPINGS, SHARES, STYLES
from contextkit.text.tokens import counter_for
from tests.making import OpenKit, make_assembler, make_plugin

counted = counter_for("default")


NOW = datetime(2026, 7, 1, tzinfo=UTC)
WORDS = [
    "harbour",
    "gate",
    "tide",
    "moon",
    "basin",
    "wall",
    "lamp",
    "tower",
    "table",
    "solstice",
    "storm",
    "pier",
]


def text(number: int, length: int = 12) -> str:
    """A text that is like no other of another number."""
    words = [WORDS[(number * 7 + n * n) % len(WORDS)] for n in range(length)]
    return f"Note {number}: {' '.join(words)} {number}."


class Found:
    """A source that finds what it is given; it counts how often it was asked."""

    def __init__(self, items: Sequence[ContextItem], info: SourceInfo) -> None:
        self.items = items
        self.info = info
        self.asked = 0
        self.formatted: list[str] = []

    @hookimpl
    def contextkit_source(self) -> SourceInfo:
        return self.info

    @hookimpl
    async def contextkit_query(self, request: ContextRequest) -> Sequence[ContextItem]:
        self.asked += 1
        return self.items

    @hookimpl
    def contextkit_format(self, items: Sequence[ContextItem]) -> None:
        self.formatted += [item.id for item in items]

    @hookimpl
    def contextkit_dedup_keys(self, items: Sequence[ContextItem]) -> list[Sequence[str]]:
        return [item.metadata.get("keys", ()) for item in items]


def assembler_of(
    found: Mapping[str, Sequence[ContextItem]], infos: Mapping[str, SourceInfo] | None = None
) -> tuple[ContextAssembler, dict[str, Found]]:
    """An assembler of sources that find this, and the sources."""
    infos = infos or {}
    sources = {
        name: Found(items, infos.get(name, SourceInfo(scale="calibrated")))
        for name, items in found.items()
    }
    assembler = make_assembler(sources)
    assembler.pipeline.clock = lambda: NOW
    return assembler, sources


def notes(source: str, numbers: Sequence[int], relevance: float = 0.8) -> list[ContextItem]:
    """Different items of a source, best first."""
    return [
        ContextItem(source, text(n), max(0.2, relevance - place / 50), id=str(n), location=f"{n}")
        for place, n in enumerate(numbers)
    ]


EVENT = ContextItem("log", "The gate of the inner basin was opened just now.", 1.0, id="event")


def test_a_new_item_joins_without_asking_anybody() -> None:
    """It is in the text, in its source's section, and no source is asked or formats again."""
    assembler, sources = assembler_of({"log": notes("log", [1, 2]), "sea": notes("sea", [3])})
    context = assembler.assemble_context_sync("gate")
    updated = assembler.update_context_sync(context, EVENT)
    assert EVENT.content in updated.markdown
    assert [item.id for item in updated.items if item.source == "log"] == ["event", "1", "2"]
    assert [source.asked for source in sources.values()] == [1, 1]
    assert sources["log"].formatted == ["1", "2", "event"]
    assert sources["sea"].formatted == ["3"]
    assert EVENT.content not in context.markdown
    assert "updated with log event; added: log event" in updated.trace.notes


def test_the_weakest_leaves_and_the_trace_says_for_whom() -> None:
    """Where the budget is full, what matched least gives way."""
    assembler, _ = assembler_of({"log": notes("log", range(6))})
    context = assembler.assemble_context_sync("gate", max_tokens=96)
    shown = [item.id for item in context.items]
    updated = assembler.update_context_sync(context, EVENT)
    now = [item.id for item in updated.items]
    assert updated.token_count == counted(updated.markdown) <= 96
    assert now[0] == "event"
    left = set(shown) - set(now)
    assert left
    assert left == {i for i in shown if int(i) >= min(map(int, left))}
    rows = {row.id: row for row in updated.trace.items}
    for gone in left:
        assert rows[gone].verdict == "over_budget"
        assert rows[gone].reason.startswith("replaced by log event: ")
    (note,) = [note for note in updated.trace.notes if "; removed: " in note]
    assert all(f"log {gone}" in note for gone in left)


def test_an_updated_context_can_be_updated_again() -> None:
    """Event after event joins, the newest of one relevance included, within the budget."""
    assembler, _ = assembler_of({"log": notes("log", range(6))})
    context = assembler.assemble_context_sync("gate", max_tokens=200)
    for number in range(20, 26):
        event = ContextItem("log", text(number), 1.0, id=f"event {number}", created_at=NOW)
        context = assembler.update_context_sync(context, event)
        assert event.content in context.markdown
        assert counted(context.markdown) <= 200


def test_a_section_keeps_no_more_than_its_limit() -> None:
    """A conversation of a hundred events does not make the context's memory grow."""
    assembler, _ = assembler_of({"log": notes("log", range(4))})
    context = assembler.assemble_context_sync("gate", limit=5)
    for number in range(20, 32):
        event = ContextItem("log", text(number), 1.0, id=f"event {number}")
        context = assembler.update_context_sync(context, event)
    assert len(context.trace.items) == 5


def test_what_is_excluded_takes_nobodys_place() -> None:
    """It is asked for in addition, and it stays so."""
    assembler, _ = assembler_of({"log": notes("log", range(4))})
    context = assembler.assemble_context_sync("gate", limit=2, exclude=["log:0"])
    assert [item.id for item in context.items] == ["1", "2"]
    updated = assembler.update_context_sync(context, EVENT)
    assert [item.id for item in updated.items] == ["event", "1"]


@pytest.mark.parametrize(
    ("new", "verdict"),
    [
        (ContextItem("log", "Of no interest.", 0.01, id="e"), "below_floor"),
        (ContextItem("log", f"{text(1)} {'word ' * 90}", 0.2, id="e"), "over_budget"),
    ],
)
def test_what_is_new_and_does_not_get_in_is_named(new: ContextItem, verdict: str) -> None:
    """An item that says itself that it hardly matters is treated so."""
    assembler, _ = assembler_of({"log": notes("log", range(9))})
    context = assembler.assemble_context_sync("gate", max_tokens=100)
    updated = assembler.update_context_sync(context, new)
    assert {row.id: row.verdict for row in updated.trace.items}["e"] == verdict
    assert updated.trace.notes == ("updated with log e; did not fit: log e",)


def test_a_source_without_a_section_gets_one_in_its_place() -> None:
    """By priority, as in an assembly; a name that nobody has stands in the middle."""
    infos = {"high": SourceInfo(priority=90), "low": SourceInfo(priority=10)}
    assembler, _ = assembler_of(
        {"high": notes("high", [1]), "low": notes("low", [2]), "mid": []}, infos
    )
    context = assembler.assemble_context_sync("gate", ["high", "low"])
    events = [
        ContextItem("mid", text(7), 1.0, id="7"),
        ContextItem("chat-turns", text(8), 1.0, id="8"),
    ]
    updated = assembler.update_context_sync(context, events)
    headings = [line for line in updated.markdown.splitlines() if line.startswith("## ")]
    assert headings == ["## High", "## Chat turns", "## Mid", "## Low"]
    assert len(updated.items) == 4


def test_a_smaller_budget_may_come_with_it() -> None:
    """Seed 3 hands the budget in with the event."""
    assembler, _ = assembler_of({"log": notes("log", range(6))})
    context = assembler.assemble_context_sync("gate")
    updated = assembler.update_context_sync(context, EVENT, max_tokens=80)
    assert EVENT.content in updated.markdown
    assert counted(updated.markdown) <= 80 < context.token_count
    assert updated.trace.max_tokens == 80


def test_a_record_becomes_its_sources_item(open_kit: OpenKit) -> None:
    """The source makes of it what it makes of a hit; a name that nobody has shows its text."""

    async def found(request: ContextRequest) -> list[ContextItem]:
        hits = await request.records.search(request.query, limit=request.limit)
        return [
            ContextItem("tide", f"Tide: {h.record.text}", h.relevance / 2, id=h.record.id)
            for h in hits
        ]

    kit = open_kit(
        {"tide": make_plugin(contextkit_query=found)}, settings={"embedding.model": "none"}
    )
    kit.records("tide").put([Record(id="old", text="the gate was shut")])
    context = kit.assemble_context_sync("gate", source_timeout=20.0, deadline=20.0)
    new = Record(id="new", text="high water at noon", source="tide")
    other = Record(id="e", text="a bell rang", source="bells", fields={"times": 3})
    updated = kit.update_context_sync(context, [new, other])
    assert {(item.source, item.content) for item in updated.items} >= {
        ("tide", "Tide: high water at noon"),
        ("tide", "Tide: the gate was shut"),
        ("bells", "a bell rang"),
    }
    assert {item.relevance for item in updated.items if item.id in {"new", "e"}} == {1.0}


@pytest.mark.parametrize(
    ("new", "message"),
    [
        ([], "at least one item"),
        (["a text"], "got a str"),
        (None, "got a NoneType"),
        (ContextItem("No Name", "x", 1.0), "not a source's name"),
        (Record(id="r", text="x"), "the record 'r' has no source: give it one"),
        (ContextItem("log", 7, 1.0, id="7"), "content is an int"),  # type: ignore[arg-type]
    ],
)
def test_what_is_no_item_is_refused(new: Any, message: str) -> None:
    """The error says what was wrong."""
    assembler, _ = assembler_of({"log": notes("log", [1])})
    context = assembler.assemble_context_sync("gate")
    with pytest.raises(InvalidRequestError, match=message):
        assembler.update_context_sync(context, new)


def test_a_plugin_that_is_no_source_has_no_items() -> None:
    """Its name cannot stand over a section."""
    assembler, _ = assembler_of({"log": notes("log", [1])})
    assembler.registry.register(make_plugin(), "observer")
    context = assembler.assemble_context_sync("gate")
    with pytest.raises(InvalidContextTypeError, match="observer"):
        assembler.update_context_sync(context, ContextItem("observer", "x", 1.0))


def test_copies_can_be_updated_and_what_was_sent_elsewhere_says_why_not() -> None:
    """A context is copied and pickled as before; what it keeps is in no JSON and no repr."""
    assembler, _ = assembler_of({"log": notes("log", [1, 2])})
    context = assembler.assemble_context_sync("gate")
    for twin in (copy.copy(context), copy.deepcopy(context)):
        assert twin == context
        assert EVENT.content in assembler.update_context_sync(twin, EVENT).markdown
    sent = pickle.loads(pickle.dumps(context))  # noqa: S301 - our own
    assert sent == context
    with pytest.raises(InvalidRequestError, match="cannot be updated"):
        assembler.update_context_sync(sent, EVENT)
    with pytest.raises(InvalidRequestError, match="made by hand"):
        assembler.update_context_sync(FormattedContext("", [], 0, {}), EVENT)
    with pytest.raises(InvalidRequestError, match="only a context is updated, got a str"):
        assembler.update_context_sync("x", EVENT)  # type: ignore[arg-type]
    assert not [key for key in context.as_dict() if "ongoing" in key]
    assert "ngoing" not in repr(context)


@st.composite
def worlds(draw: st.DrawFn) -> tuple[dict[str, list[ContextItem]], ContextItem]:
    """What some sources find, and what is new."""
    names = ["log", "sea", "sky"]
    found = {}
    for name in names:
        numbers = draw(st.lists(st.integers(0, 30), max_size=6, unique=True))
        found[name] = [
            ContextItem(
                name,
                text(n, draw(st.integers(3, 60))),
                draw(st.sampled_from([0.05, 0.3, 0.5, 0.5, 0.9, 1.0])),
                id=str(n),
                location=draw(st.sampled_from([None, f"{n}.md"])),
                metadata={"keys": draw(st.sampled_from([(), ("a:1",), ("a:2",)]))},
            )
            for n in numbers
        ]
        found[name].sort(key=lambda item: -item.relevance)
    new = ContextItem(
        draw(st.sampled_from(names)),
        text(draw(st.integers(0, 35)), draw(st.integers(3, 80))),
        1.0,
        id=draw(st.sampled_from(["event", "3"])),
        metadata={"keys": draw(st.sampled_from([(), ("a:1",)]))},
    )
    return found, new


@given(
    world=worlds(),
    max_tokens=st.integers(20, 600),
    options=st.fixed_dictionaries(
        {
            "style": st.sampled_from(STYLES),
            "detail": st.sampled_from(DETAILS),
            "group_by": st.sampled_from(GROUPINGS),
            "shares": st.sampled_from(SHARES),
            "diversity": st.sampled_from([0.0, 0.5]),
            "include_sources": st.booleans(),
            "compress": st.booleans(),
            "overflow": st.sampled_from(["hard", "soft"]),
        }
    ),
    scale=st.sampled_from(["ranked", "calibrated"]),
)
@settings(settings.get_profile("costly"))
def test_an_update_is_the_assembly_of_a_kit_whose_source_finds_it_too(
    world: tuple[dict[str, list[ContextItem]], ContextItem],
    max_tokens: int,
    options: dict[str, Any],
    scale: Any,
) -> None:
    """Text, items, verdicts, tokens and the sections' books are the same; so is a second one."""
    found, new = world
    info = SourceInfo(scale=scale)
    before, _ = assembler_of(found, dict.fromkeys(found, info))
    with_it = [new, *(item for item in found[new.source] if item.id != new.id)]
    anew, _ = assembler_of({**found, new.source: with_it}, dict.fromkeys(found, info))
    context = before.assemble_context_sync("gate", max_tokens=max_tokens, **options)
    expected = anew.assemble_context_sync("gate", max_tokens=max_tokens, **options)
    for _ in range(2):
        context = before.update_context_sync(context, new)
        assert context.markdown == expected.markdown
        assert context == expected
        assert _books(context) == _books(expected)


def _books(context: FormattedContext) -> list[tuple[Any, ...]]:
    """What the trace says, without times and without what an update adds."""
    rows: list[tuple[Any, ...]] = [
        (row.id, row.source, row.verdict, row.tokens, row.scores, row.also_in)
        for row in context.trace.items
    ]
    rows += [
        (source.section, source.state, source.share, source.used, source.candidates)
        for source in context.trace.sources
    ]
    return rows
