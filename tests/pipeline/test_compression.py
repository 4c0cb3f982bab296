"""Compression: what does not fit whole is summarised, the weakest first."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given, settings, strategies as st
from markdown_it import MarkdownIt

from contextkit import (
    ContextItem,
    FormattedContext,
    hookimpl,
)
from contextkit.models.items import DETAILS, STYLES, Style
from contextkit.models.trace import ItemTrace
from contextkit.text.passages import keeps
from contextkit.text.tokens import counter_for
from tests.making import make_assembler, make_plugin, make_source

counted = counter_for("default")


QUERY = "when is the harbour gate closed"
FILLER = [
    "The moon stood over the eastern wall.",
    "A lamp was lit on the signal tower.",
    "Nobody spoke of the solstice table.",
    "The pier was painted green in spring.",
    "Two boats waited for the tide.",
]


def story(number: int, sentences: int = 12) -> str:
    """A text of sentences, one of which answers the query."""
    lines = [f"{FILLER[(number + n) % len(FILLER)][:-1]} {number}-{n}." for n in range(sentences)]
    lines[sentences // 2] = f"The harbour gate {number} is closed at {number} o'clock."
    return " ".join(lines)


def tales(number: int = 4, **more: Any) -> list[ContextItem]:
    """Different long items, best first."""
    return [
        ContextItem("tales", story(n), 0.9 - n / 50, id=str(n), location=f"tales/{n}.md", **more)
        for n in range(number)
    ]


def asked(plugins: Mapping[str, object], max_tokens: int = 560, **more: Any) -> FormattedContext:
    """A context with compression."""
    options = {"compress": True, "max_tokens": max_tokens, **more}
    return make_assembler(plugins).assemble_context_sync(QUERY, **options)


def rows_of(context: FormattedContext) -> dict[str, ItemTrace]:
    """The trace by item."""
    return {row.id: row for row in context.trace.items}


# -- the stage ------------------------------------------------------------------------------


def test_the_weakest_is_summarised_until_the_budget_holds() -> None:
    """What matches best stays whole; the others are a third, marked, counted and in the trace."""
    context = asked({"tales": make_source(tales(6))})
    rows = rows_of(context)
    verdicts = [row.verdict for row in rows.values()]
    assert verdicts == [*["kept"] * 2, *["compressed"] * 4]
    for last in (rows["3"], rows["4"], rows["5"]):
        assert last.tokens <= last.whole_tokens / 3
    assert context.token_count > 0.9 * 560
    assert last.reason == (
        f"summarised from {last.whole_tokens} to {last.tokens} tokens by its own sentences"
    )
    for number in rows:
        assert f"The harbour gate {number} is closed at {number} o'clock." in context.markdown
    assert "*(summarised, see full at `tales/3.md`)*" in context.markdown
    assert context.truncated_items == ["2", "3", "4", "5"]
    assert context.truncated
    assert context.summary == "to hold the budget: 4 summarised"
    assert context.token_count == counted(context.markdown) <= 560


def test_nobody_summarises_what_nobody_sees() -> None:
    """Of a hundred items that cannot all get in, those at the end are left as they are."""
    seen: list[str] = []

    def contextkit_compress(items: Sequence[ContextItem]) -> None:
        seen.extend(item.id for item in items)

    model = make_plugin(contextkit_compress=contextkit_compress)
    context = asked({"tales": make_source(tales(18)), "model": model}, max_tokens=900)
    assert 0 < len(set(seen)) < 12
    assert rows_of(context)["17"].verdict == "over_budget"


@pytest.mark.parametrize(
    ("kind", "more"),
    [
        ("", {"compress": None}),
        ("", {"overflow": "soft"}),
        ("", {"detail": "compact"}),
        ("function", {}),
    ],
)
def test_what_is_not_summarised(kind: str, more: dict[str, Any]) -> None:
    """Nothing unless it is asked for, under a soft limit and in single lines; and no code."""
    context = asked({"tales": make_source(tales(6, kind=kind))}, max_tokens=300, **more)
    assert not [row for row in context.trace.items if row.verdict == "compressed"]


def test_what_must_stay_is_in_the_summary() -> None:
    """A sentence that the source marks is kept though it has nothing to do with the query."""
    items = tales()
    marked = "A lamp was lit on the signal tower 3-3."
    items[3] = evolve(items[3], must_keep=(marked,))
    context = asked({"tales": make_source(items)})
    assert rows_of(context)["3"].verdict == "compressed"
    assert marked in context.markdown


def test_where_what_must_stay_is_too_long_the_item_is_not_summarised() -> None:
    """It is shortened as without compression; the next weakest is summarised in its place."""
    items = tales()
    items[3] = evolve(items[3], must_keep=(items[3].content,))
    rows = rows_of(asked({"tales": make_source(items)}))
    assert rows["3"].verdict != "compressed"
    assert rows["2"].verdict == "compressed"


def test_an_update_does_not_ask_again_for_a_summary() -> None:
    """A model's summary is kept as long as its item is in the context."""
    calls: list[list[str]] = []

    def contextkit_compress(items: Sequence[ContextItem]) -> list[str]:
        calls.append([item.id for item in items])
        return [f"In short {item.id}." for item in items]

    model = make_plugin(contextkit_compress=contextkit_compress)
    assembler = make_assembler({"tales": make_source(tales()), "model": model})
    context = assembler.assemble_context_sync(QUERY, compress=True, max_tokens=560)
    assert calls == [["3"]]
    news = ContextItem("tales", "The gate was closed just now.", 1.0, id="news")
    updated = assembler.update_context_sync(context, news)
    assert "In short 3." in updated.markdown
    assert [ids for ids in calls if "3" in ids] == [["3"]]


# -- plugins that summarise -----------------------------------------------------------------


class Model:
    """A plugin for all sources that calls a model of this machine."""

    def __init__(self, summarise: Callable[[ContextItem, int], Any]) -> None:
        self.summarise = summarise
        self.asked: list[tuple[str, list[str], list[int], str]] = []

    @hookimpl
    def contextkit_compress(
        self, query: str, items: Sequence[ContextItem], targets: Sequence[int]
    ) -> list[Any]:
        name = threading.current_thread().name
        self.asked.append((query, [item.id for item in items], list(targets), name))
        return [self.summarise(*pair) for pair in zip(items, targets, strict=True)]


def test_a_plugin_summarises_for_every_source() -> None:
    """It is asked once, in a thread, with the query, the texts and what each may take."""
    model = Model(lambda item, _: f"Gate {item.id}: see the clock.")
    context = asked({"tales": make_source(tales(6)), "model": model})
    ((query, ids, targets, thread),) = model.asked
    assert query == QUERY
    assert thread != threading.current_thread().name
    rows = rows_of(context)
    for number, target in zip(ids, targets, strict=True):
        assert target < rows[number].whole_tokens
        assert rows[number].reason.endswith("tokens by model")
        assert f"Gate {number}: see the clock." in context.markdown


def test_a_source_comes_before_other_plugins_and_those_before_the_default() -> None:
    """Whom a source leaves an item to, and so on; nobody is asked for what has its summary."""

    def contextkit_compress(items: Sequence[ContextItem]) -> list[str | None]:
        return ["The teller's words." if item.id == "5" else None for item in items]

    teller = make_source(tales(6), contextkit_compress=contextkit_compress)
    model = Model(lambda item, _: "The model's words." if item.id == "4" else None)
    context = asked({"tales": teller, "model": model}, max_tokens=600)
    by = {
        row.id: row.reason.rpartition(" by ")[2]
        for row in context.trace.items
        if row.verdict == "compressed"
    }
    assert by["5"] == "tales"
    assert by["4"] == "model"
    assert by["3"] == "its own sentences"
    assert "5" not in {number for _, ids, _, _ in model.asked for number in ids}


def test_a_model_sees_what_is_shown_and_no_more() -> None:
    """What a plugin takes out of the formatted texts reaches no model."""

    @hookimpl(wrapper=True)
    def contextkit_format(items: Sequence[ContextItem]) -> Any:
        yield
        return [item.content.replace("harbour", "[hidden]") for item in items]

    redactor = make_plugin(contextkit_format=contextkit_format)
    seen: list[str] = []

    def summary(item: ContextItem, _: int) -> str:
        seen.append(item.content + (item.text or ""))
        return item.content[:40]

    context = asked({"tales": make_source(tales()), "model": Model(summary), "redactor": redactor})
    assert seen
    assert not any("harbour" in text for text in seen)
    assert "harbour" not in context.markdown


class Unreadable(list[str]):
    """A sequence that cannot be read."""

    def __iter__(self) -> Iterator[str]:
        raise OSError("no more of it")


def each(say: Callable[[ContextItem], Any]) -> Callable[[Sequence[ContextItem]], Any]:
    """The answer of one text for each item."""
    return lambda items: [say(item) for item in items]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (each(lambda item: " \n"), "empty"),
        (each(lambda item: item.content), "asked for were"),
        (each(lambda item: 7), "expected str"),
        (each(lambda item: "All is well."), 'lacks what must stay: "o\'clock"'),
        (each(lambda item: 1 / 0), "division by zero"),
        # Few tokens may be many characters.
        (each(lambda item: "o'clock" + "=" * 1000), "no shorter than the item"),
        (lambda items: "a text", "expected a sequence, got a str"),
        (lambda items: 7, "expected a sequence, got an int"),
        (lambda items: ["one"] * (len(items) + 1), "results for "),
        (lambda items: {"3": "x"}, "got a dict"),
        (lambda items: Unreadable(["a"] * len(items)), "no more of it"),
    ],
)
def test_a_bad_answer_costs_only_itself(answer: Callable[..., Any], reason: str) -> None:
    """The default is used, and a note says why."""
    items = [evolve(item, must_keep=("o'clock",)) for item in tales()]
    plugin = make_plugin(contextkit_compress=answer)
    context = asked({"tales": make_source(items), "model": plugin})
    assert rows_of(context)["3"].reason.endswith("by its own sentences")
    note = context.trace.notes[0]
    assert note.startswith("model: contextkit_compress failed, its default is used: ")
    assert reason in note


def test_a_late_answer_is_not_waited_for() -> None:
    """The default is used; the thread that hangs holds nobody up."""
    never = threading.Event()
    model = Model(lambda _, __: never.wait(60) and "late")
    assembler = make_assembler(
        {"tales": make_source(tales()), "model": model}, compress_timeout=0.2
    )
    context = assembler.assemble_context_sync(QUERY, compress=True, max_tokens=560)
    never.set()
    assert rows_of(context)["3"].reason.endswith("by its own sentences")
    assert "no answer within 0.2 s" in context.trace.notes[0]


HOSTILE = "# Title\n\n```\n</entity>\n=== x\n<b> & \ud800 | a |\n|--|\n| b |"


@pytest.mark.parametrize("style", STYLES)
def test_an_answer_cannot_break_out_of_its_place(style: Style) -> None:
    """What a model says is words, whatever it looks like."""
    context = asked(
        {"tales": make_source(tales()), "model": Model(lambda *_: HOSTILE)}, style=style
    )
    assert rows_of(context)["3"].reason.endswith("by model")
    context.markdown.encode("utf-8")
    if style == "markdown":
        kinds = [token.type for token in MarkdownIt().enable("table").parse(context.markdown)]
        assert "fence" not in kinds
        assert "table_open" not in kinds
        assert kinds.count("heading_open") == 2
    elif style == "xml":
        import xml.etree.ElementTree as ET

        assert len(ET.fromstring(context.markdown).findall(".//entity")) == 4  # noqa: S314
    else:
        assert "\n=== x" not in context.markdown


# -- whatever the items ----------------------------------------------------------------------

sentence = st.text(st.sampled_from("abc gate\n*`#|<&>- é潮。門"), max_size=40).map(
    lambda t: f"{t}."
)
bodies = st.lists(st.one_of(sentence, st.sampled_from(FILLER)), min_size=1, max_size=40)


@st.composite
def items(draw: st.DrawFn) -> list[ContextItem]:
    """What the source finds."""
    found = []
    for number in range(draw(st.integers(1, 8))):
        parts = draw(bodies)
        kept = draw(st.sampled_from([(), (parts[0],), (parts[-1], parts[0])]))
        found.append(
            ContextItem(
                "tales",
                draw(st.sampled_from([" ", "\n", "\n\n"])).join(parts),
                draw(st.sampled_from([0.3, 0.6, 0.9])),
                id=str(number),
                kind=draw(st.sampled_from(["tale", "function"])),
                must_keep=kept,
            )
        )
    return found


@given(
    found=items(),
    max_tokens=st.integers(1, 900),
    style=st.sampled_from(STYLES),
    detail=st.sampled_from(DETAILS),
    guard=st.booleans(),
    model=st.sampled_from(["none", "echo", "long", "first"]),
)
@settings(settings.get_profile("costly"))
def test_the_budget_holds_and_what_must_stay_stays(
    found: list[ContextItem],
    max_tokens: int,
    style: Style,
    detail: Any,
    guard: bool,
    model: str,
) -> None:
    """In every style and detail, whoever summarises; and no summary is longer than its item."""
    says: Mapping[str, Callable[[ContextItem, int], Any]] = {
        "none": lambda *_: None,
        "echo": lambda item, _: item.content,
        "long": lambda *_: "word " * 2000,
        "first": lambda item, target: item.content[:target],
    }
    context = asked(
        {"tales": make_source(found), "model": Model(says[model])},
        max_tokens,
        style=style,
        detail=detail,
        guard=guard,
    )
    assert context.token_count == counted(context.markdown) <= max_tokens
    rows, by_id = rows_of(context), {item.id: item for item in found}
    for item in context.items:
        row = rows[item.id]
        if row.verdict == "compressed":
            assert row.tokens < row.whole_tokens
            assert "(summarised)" in item.content
            assert all(keeps(item.content, words) for words in by_id[item.id].must_keep)
    assert set(context.truncated_items) == {
        row.id
        for row in context.trace.items
        if row.verdict in {"truncated", "excerpt", "compressed"}
    }


def test_nothing_found_is_nothing_to_summarise() -> None:
    """An empty context, and no complaint."""
    context = asked({"tales": make_source([])})
    assert (context.markdown, context.trace.notes) == ("", ())
