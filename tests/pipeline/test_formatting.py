"""Items' texts: what their sources make of them, and how they are shortened."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from attrs import evolve

from contextkit import ContextItem, Provenance
from contextkit.budget.pieces import Piece
from contextkit.models.items import STYLES, Style
from contextkit.pipeline.format import pieces_for, shortened_line
from contextkit.pipeline.looks import Look
from contextkit.plugin.manager import SourceRegistry
from contextkit.text.passages import Excerpt
from contextkit.text.styles import style_of
from contextkit.text.tokens import counter_for
from tests.making import make_candidate, make_plugin, make_registry

COUNT = counter_for("default")
LONG = ContextItem("tide", "High water comes at noon. " * 20, 0.5, id="1", location="tide.txt:3")


class Told(list[tuple[str, str, str]]):
    """The failures that were told."""

    def __call__(self, source: str, hook: str, reason: str) -> None:
        self.append((source, hook, reason))


def pieces(
    registry: SourceRegistry,
    items: Sequence[ContextItem],
    style: Style = "markdown",
    told: Told | None = None,
) -> list[Piece]:
    """The items' pieces."""
    candidates = [make_candidate(item) for item in items]
    return pieces_for(registry, candidates, Look(style), COUNT, Told() if told is None else told)


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize(
    ("result", "reason"),
    [
        ("text", "expected a sequence of str, got a str"),
        (["one"], "returned 1 results for 2 items"),
        (["one", 2], "entry 1 is an int, expected str"),
        (3, "expected a sequence of str, got an int"),
    ],
)
def test_a_wrong_format_gives_the_default(result: Any, reason: str, style: Style) -> None:
    """And the failure is told with source and hook."""
    wrong = make_plugin([], contextkit_format=lambda items, style: result)
    told = Told()
    items = [ContextItem("tide", "ebb", 0.5, id="1"), ContextItem("tide", "flow", 0.5, id="2")]
    found = pieces(make_registry({"tide": wrong}), items, style, told)
    plain = pieces(make_registry({"tide": make_plugin([])}), items, style)
    assert [piece.text for piece in found] == [piece.text for piece in plain]
    assert told == [("tide", "contextkit_format", reason)]


@pytest.mark.parametrize(
    ("style", "note"),
    [
        ("markdown", "*(truncated, see full at `tide.txt:3`)*"),
        ("xml", "(truncated, see full at tide.txt:3)\n</entity>"),
    ],
)
def test_a_shortened_item_says_where_the_rest_is(style: Style, note: str) -> None:
    """Within the tokens it was given; without a place to name, `...` is enough."""
    registry = make_registry({"tide": make_plugin([])})
    (piece,) = pieces(registry, [LONG], style)
    text = piece.shorten(50)
    assert text.endswith(note)
    assert 25 <= COUNT(text) <= 50
    (nowhere,) = pieces(registry, [evolve(LONG, location=None)], style)
    assert "truncated" not in nowhere.shorten(50)
    assert "..." in nowhere.shorten(50)


def test_a_passage_of_a_document_says_something() -> None:
    """A few words of a page mislead; a short memory may be all there is."""
    page = evolve(LONG, content="Noon.\n\n" + "w" * 900, kind="documentation")
    registry = make_registry({"tide": make_plugin([])})
    (piece,) = pieces(registry, [page])
    assert piece.shorten(40) == ""
    (other,) = pieces(registry, [evolve(page, kind="memory")])
    assert other.shorten(40).startswith("Noon.")
    (whole,) = pieces(registry, [evolve(page, content=LONG.content)])
    assert whole.shorten(60).startswith("High water comes at noon.")


def test_a_page_is_not_shown_as_its_heading_alone() -> None:
    """Scrapy's page on optimization was shown as the names of three headings and `...`."""
    heading = f"**Page**: {' > '.join(['Reading the tables of high water'] * 3)} (`tide.rst:33`)"
    page = evolve(LONG, content="w" * 900, kind="documentation", location=None)
    plugin = make_plugin(
        [],
        contextkit_format=lambda items, style: [
            f"{heading}\n```rst\n{item.content}\n```" for item in items
        ],
    )
    (piece,) = pieces(make_registry({"tide": plugin}), [page])
    assert piece.shorten(COUNT(heading) + 8) == ""


def test_code_below_its_name_is_cut_and_not_dropped() -> None:
    """A block that does not fit whole is shown in part where its introduction is all else."""
    lines = "".join(f"    height = height + rise({hour})\n" for hour in range(40))
    item = evolve(LONG, content=f"tide.py: high_water\n{lines}", kind="note", location=None)
    (piece,) = pieces(make_registry({"tide": make_plugin([])}), [item])
    short = piece.shorten(100)
    assert "rise(3)" in short
    assert 60 <= COUNT(short) <= 100


def test_a_place_in_the_heading_is_not_repeated_in_a_note() -> None:
    """Plain text has it there; seed 1 names it once more behind what is cut."""
    (piece,) = pieces(make_registry({"tide": make_plugin([])}), [LONG], "plain")
    short = piece.shorten(50)
    assert short.startswith("1 [tide.txt:3]\n")
    assert short.endswith("noon. ...")
    assert isinstance(short, Excerpt)


@pytest.mark.parametrize("style", STYLES)
def test_a_source_shortens_its_own(style: Style) -> None:
    """It gets the formatted item, its style and a counter; what it leaves has the default."""
    calls = []

    def contextkit_truncate(
        item: ContextItem, style: Style, max_tokens: int, count: Callable[[str], int]
    ) -> str | None:
        calls.append((item.content, style, max_tokens, count("some words")))
        return "short" if max_tokens < 30 else None

    plugin = make_plugin(
        [],
        contextkit_format=lambda items, style: [f"**Tide** {item.content}" for item in items],
        contextkit_truncate=contextkit_truncate,
    )
    (piece,) = pieces(make_registry({"tide": plugin}), [LONG], style)
    assert piece.shorten(20) == "short"
    assert piece.shorten(40) != "short"
    shown = f"**Tide** {LONG.content}"
    assert calls == [(shown, style, limit, COUNT("some words")) for limit in (20, 40)]


@pytest.mark.parametrize(
    ("result", "told_reason"),
    [
        ("long " * 100, None),
        (b"bytes", "expected a text, got a bytes"),
        (7, "expected a text, got an int"),
        (ZeroDivisionError, "ZeroDivisionError"),
    ],
)
def test_a_wrong_truncation_gives_the_default(result: Any, told_reason: str | None) -> None:
    """What is too long is not used; what is wrong is told as well."""

    def contextkit_truncate(item: ContextItem, max_tokens: int, count: Callable[[str], int]) -> Any:
        if result is ZeroDivisionError:
            raise ZeroDivisionError
        return result

    told = Told()
    plugin = make_plugin([], contextkit_truncate=contextkit_truncate)
    (piece,) = pieces(make_registry({"tide": plugin}), [LONG], told=told)
    assert piece.shorten(40).endswith("*(truncated, see full at `tide.txt:3`)*")
    assert told == ([("tide", "contextkit_truncate", told_reason)] if told_reason else [])


@pytest.mark.parametrize(
    ("style", "credit"),
    [
        ("markdown", "\n\n*Also in: `a.py:1`, `b.md`*"),
        ("plain", "\n(also in: a.py:1, b.md)"),
        ("xml", "\n<also-in>a.py:1, b.md</also-in>"),
    ],
)
def test_a_winner_says_where_else_it_was_found(style: Style, credit: str) -> None:
    """Whole or shortened; by what can be opened: no commit, and no id alone."""
    also_in = (
        Provenance("code", "x", "a.py:1"),
        Provenance("commits", "abc", "commit abc"),
        Provenance("documents", "b", "b.md"),
        Provenance("values", "value_1"),
    )
    registry = make_registry({"tide": make_plugin([])})
    (piece,) = pieces(registry, [evolve(LONG, also_in=also_in)], style)
    assert piece.text.endswith(credit)
    short = piece.shorten(70)
    assert short.endswith(credit)
    assert "..." in short
    assert COUNT(short) <= 70
    assert piece.shorten(COUNT(credit)) == ""


def test_a_line_is_cut_before_a_code_span_that_does_not_fit() -> None:
    """Behind its first backtick, what was code would be markup."""
    line = "- the tide `</entity> is here and there and everywhere` turns"
    assert shortened_line(line, 12, COUNT, style_of("markdown")) == "- the tide ..."
    assert shortened_line(line[2:], 12, COUNT, style_of("plain")).startswith("the tide `</entity>")
    assert shortened_line(f"- {line[11:]}", 9, COUNT, style_of("markdown")) == ""


def test_an_element_without_a_body_cannot_be_shortened() -> None:
    """Whatever a source calls XML."""
    text = "<p>" + "word " * 100 + "</p>"
    plugin = make_plugin([], contextkit_format=lambda items, style: [text])
    (piece,) = pieces(make_registry({"tide": plugin}), [LONG], "xml")
    assert (piece.text, piece.shorten(50)) == (text, "")


def test_a_place_is_named_once() -> None:
    """Also where several records of it were found."""
    places = [Provenance("log", id=str(n), location="tide.txt") for n in range(3)]
    item = evolve(LONG, also_in=(*places, Provenance("sea", id="7")))
    (piece,) = pieces(make_registry({"tide": make_plugin([])}), [item])
    assert piece.text.endswith("\n\n*Also in: `tide.txt`*")


@pytest.mark.parametrize("tokens", ["default", "openai", "claude"])
@pytest.mark.parametrize("style", ["markdown", "plain"])
def test_a_line_that_fits_into_some_room_fits_into_more(tokens: str, style: Style) -> None:
    """The tokens of its mark and of its words do not add up to the line's."""
    count = counter_for(tokens)
    line = "- 上面有一句话。下面也有一句话。 - ```sh ls -l rm it ``` > ```` > quoted code > ````"
    rooms = range(1, count(line) + 1)
    lines = [shortened_line(line, room, count, style_of(style)) for room in rooms]
    shown = [bool(short) for short in lines]
    assert shown == sorted(shown)
    assert all(count(short) <= room for room, short in enumerate(lines, 1))
    assert shown.index(True) < 12
    assert lines[-1] == line
