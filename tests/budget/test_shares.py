"""The split of the budget: by evidence and weight, by weight alone, and where a context ends."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from attrs import evolve

from contextkit import ContextItem, ContextKit, FormattedContext, SourceInfo
from contextkit.models.trace import SourceTrace
from tests.making import KEYWORDS, OpenKit, make_plugin

Open = Callable[..., ContextKit]

QUERY = "how does the harbour gate lock the lantern winch?"
ANSWER = "The harbour gate locks the lantern winch with a pin"
BUDGET = 400
CODE = SourceInfo(scale="calibrated", answers={"code": 1})
PAGES = SourceInfo(scale="calibrated", answers={"usage": 1, "code": 0.05})


def items(source: str, text: str, number: int, match: float) -> list[ContextItem]:
    """Items of about 40 tokens that begin alike, no two the same."""
    return [
        ContextItem(
            source,
            f"{text} " + " ".join(f"{source}{chr(97 + n)}{word:03}" for word in range(6)),
            match - n / 100,
            id=f"{source}-{n}",
        )
        for n in range(number)
    ]


@pytest.fixture
def open_sources(open_kit: OpenKit) -> Callable[..., ContextKit]:
    """Open a kit whose calibrated sources find so many items: name -> text, number, match."""

    def opened(found: Mapping[str, tuple[str, int, float]], **infos: SourceInfo) -> ContextKit:
        plugins = {
            name: make_plugin(
                items(name, *given),
                contextkit_source=infos.get(name, SourceInfo(scale="calibrated")),
            )
            for name, given in found.items()
        }
        return open_kit(plugins, settings=KEYWORDS)

    return opened


def sources(context: FormattedContext) -> dict[str, SourceTrace]:
    """Section -> what the trace says of it."""
    return {source.section: source for source in context.trace.sources}


async def ask(kit: ContextKit, max_tokens: int = BUDGET, **options: Any) -> FormattedContext:
    """A context that cannot hold all that is found."""
    return await kit.assemble_context(QUERY, max_tokens=max_tokens, **options)


async def test_a_source_that_answers_gets_the_room(open_sources: Open) -> None:
    """One that matches as well by its own account, but has one word of five, gets little."""
    kit = open_sources({"words": ("A lantern", 12, 0.9), "answer": (ANSWER, 12, 0.8)})
    found = sources(await ask(kit, 1000))
    assert found["answer"].share > 3 * found["words"].share
    assert (found["answer"].fixed_share or 0) == pytest.approx(found["words"].fixed_share, abs=1)
    assert found["answer"].evidence == 1.0
    assert (found["words"].evidence or 0) < 0.6
    assert "cover 0.45 of the question" in (found["words"].reason or "")
    assert sum(row.share for row in found.values()) > 0.9 * 1000
    assert all(row.fixed_share is None for row in sources(await ask(kit, shares="fixed")).values())


async def test_with_the_same_evidence_the_weights_split_the_budget(open_sources: Open) -> None:
    """The heavier of two that answer alike gets as many times as much."""
    kit = open_sources({"light": (ANSWER, 12, 0.8), "heavy": (ANSWER, 12, 0.8)})
    found = sources(await ask(kit, weights={"heavy": 3.0}))
    assert found["heavy"].share == pytest.approx(3 * found["light"].share, abs=4)


@pytest.mark.parametrize("number", [12, 50])
async def test_a_heavier_source_never_shows_less(open_sources: Open, number: int) -> None:
    """Among many sources with the same evidence, too many for each to show something."""
    found = {f"light-{n}": (ANSWER, 4, 0.8) for n in range(number - 1)}
    kit = open_sources({**found, "heavy": (ANSWER, 12, 0.7)})
    context = await ask(kit, 500, weights={"heavy": 10.0})
    used = {name: row.used for name, row in sources(context).items()}
    assert used["heavy"] == max(used.values()) > 200
    assert context.token_count <= 500


async def test_what_a_source_answers_counts(open_sources: Open) -> None:
    """By what it says of itself, and by what the question asks about."""
    about = {
        "past": SourceInfo(scale="calibrated", answers={"history": 1}),
        "now": SourceInfo(scale="calibrated", answers={"code": 1, "history": 0.2}),
    }
    kit = open_sources(dict.fromkeys(about, (ANSWER, 12, 0.8)), **about)
    found = sources(await kit.assemble_context(QUERY, max_tokens=400))
    assert found["now"].used > 5 * found["past"].used
    asked = f"when was it that {QUERY}"
    found = sources(await kit.assemble_context(asked, max_tokens=1000))
    assert found["past"].share > 3 * found["now"].share


@pytest.mark.parametrize(
    ("title", "asked", "explains"),
    [
        ("The gate > Locking the winch", QUERY, True),
        ("The harbour", QUERY, False),
        ("The gate > Locking the winch", "where is the lantern winch of the gate locked?", False),
    ],
)
async def test_a_page_about_the_subject_explains_it(
    open_kit: OpenKit, title: str, asked: str, explains: bool
) -> None:
    """Not where a question asks for a place in the code, which no page answers better."""
    pages = [evolve(each, title=title) for each in items("pages", ANSWER, 12, 0.8)]
    plugins = {
        "code": make_plugin(items("code", ANSWER, 12, 0.8), contextkit_source=CODE),
        "pages": make_plugin(pages, contextkit_source=PAGES),
    }
    kit = open_kit(plugins, settings=KEYWORDS)
    context = await kit.assemble_context(asked, max_tokens=BUDGET)
    assert (context.sources_used["pages"] > 1) == explains


async def test_a_page_that_asks_the_same_has_as_much_room_as_code(open_kit: OpenKit) -> None:
    """As an entry of a FAQ; a page about the subject has less."""
    shares = {}
    for title in ("FAQ > Why is the harbour gate's winch locked?", "Locking the gate's winch"):
        pages = [evolve(each, title=title) for each in items("pages", ANSWER, 12, 0.8)]
        plugins = {
            "code": make_plugin(items("code", ANSWER, 12, 0.8), contextkit_source=CODE),
            "pages": make_plugin(pages, contextkit_source=PAGES),
        }
        kit = open_kit(plugins, settings=KEYWORDS)
        asked = "why is the winch of the harbour gate locked?"
        found = sources(await kit.assemble_context(asked, max_tokens=BUDGET))
        shares[title] = found["pages"].share / found["code"].share
    same, about = shares.values()
    assert same == pytest.approx(1.0, abs=0.1)
    assert about < 0.7


async def test_a_note_that_matches_is_shown_whole(open_sources: Open) -> None:
    """However little of the question it has, and however much else there is."""
    infos = {"notes": SourceInfo(scale="calibrated", notes=True)}
    kit = open_sources({"notes": ("Oil the winch", 1, 0.4), "code": (ANSWER, 40, 0.9)}, **infos)
    context = await ask(kit)
    assert {row.verdict for row in context.trace.items if row.source == "notes"} == {"kept"}


async def test_a_context_ends_where_the_rest_is_not_worth_its_tokens(open_sources: Open) -> None:
    """What matches far worse than the best is left out, and the trace says so; unless filled."""
    kit = open_sources({"sea": (ANSWER, 3, 0.9), "sky": ("The winch", 12, 0.3)})
    context = await ask(kit, 2000)
    assert context.sources_used == {"sea": 3}
    assert {row.verdict for row in context.trace.items if row.source == "sky"} == {"weak"}
    filled = await ask(kit, 2000, fill=True)
    assert filled.sources_used == {"sea": 3, "sky": 12}


async def test_notes_stand_first_only_where_they_answer(open_sources: Open) -> None:
    """One that has a word of the question stands behind what has them all, and does not lead."""
    infos = {"notes": SourceInfo(scale="calibrated", notes=True)}
    found = {"notes": ("Oil the winch", 1, 0.4), "code": (ANSWER, 4, 0.9)}
    context = await ask(open_sources(found, **infos))
    assert [item.source for item in context.items] == [*["code"] * 4, "notes"]
    found = {"notes": (ANSWER, 1, 0.5), "code": ("Oil the winch", 4, 0.5)}
    assert (await ask(open_sources(found, **infos))).items[0].source == "notes"


async def test_beside_a_note_that_answers_there_is_no_noise(open_sources: Open) -> None:
    """What matches badly is left out where a note has the answer; a good match is not."""
    infos = {
        "notes": SourceInfo(scale="calibrated", notes=True),
        "code": SourceInfo(scale="calibrated", answers={"code": 0.9}),
        "docs": SourceInfo(scale="calibrated", answers={"code": 0.9}),
    }
    found = {"notes": (ANSWER, 1, 0.7), "code": (ANSWER, 4, 0.38), "docs": (ANSWER, 2, 0.8)}
    assert (await ask(open_sources(found, **infos), 2000)).sources_used == {"notes": 1, "docs": 2}


async def test_a_source_made_for_the_question_shows_weak_matches_unless_another_matches_better(
    open_sources: Open,
) -> None:
    """Beside code that tells how to use a library, pages that hardly match are noise."""
    infos = {
        "docs": SourceInfo(scale="calibrated", answers={"usage": 1}),
        "code": SourceInfo(scale="calibrated", answers={"usage": 0.8}),
    }
    asked = "how do I lock the winch of the harbour gate?"
    for match, shown in ((0.7, {"docs": 1, "code": 2}), (0.25, {"code": 2})):
        kit = open_sources({"docs": (ANSWER, 1, match), "code": (ANSWER, 2, 0.8)}, **infos)
        context = await kit.assemble_context(asked, max_tokens=2000)
        assert context.sources_used == shown
    kit = open_sources({"docs": (ANSWER, 1, 0.25), "code": (ANSWER, 2, 0.28)}, **infos)
    context = await kit.assemble_context(asked, max_tokens=2000)
    assert context.sources_used == {"docs": 1, "code": 2}


async def test_a_note_says_what_was_decided_in_its_own_words(open_sources: Open) -> None:
    """A question about a rule shows notes that match, though they have few of its words."""
    infos = {"notes": SourceInfo(scale="calibrated", notes=True)}
    kit = open_sources({"notes": ("Tar it twice", 1, 0.16), "code": (ANSWER, 60, 0.9)}, **infos)
    assert "notes" not in (await ask(kit)).sources_used
    asked = f"what are our rules for {QUERY}"
    assert "notes" in (await kit.assemble_context(asked, max_tokens=BUDGET)).sources_used


async def test_items_of_one_file_stand_together(open_kit: OpenKit) -> None:
    """The best of a file with its section, then the others; what answers less is last."""
    found = [
        ("b.py:40", 0.9, "Winch"),
        ("a.py:7", 0.86, None),
        ("b.py:90", 0.8, None),
        ("b.py:3", 0.75, None),
        ("b.py:20", 0.74, "Winch"),
        ("b.py:2", 0.4, "Winch"),
    ]
    items = [
        ContextItem("sea", f"{ANSWER} {place}", match, id=place, location=place, title=title)
        for place, match, title in found
    ]
    info = SourceInfo(scale="calibrated")
    kit = open_kit({"sea": make_plugin(items, contextkit_source=info)}, settings=KEYWORDS)
    context = await kit.assemble_context(QUERY, max_tokens=2000)
    places = [item.location for item in context.items]
    assert places == ["b.py:20", "b.py:40", "b.py:3", "b.py:90", "a.py:7", "b.py:2"]


async def test_good_matches_of_a_weak_section_use_spare_room(open_sources: Open) -> None:
    """Half of the budget is not left empty while something matches well."""
    about = {
        "past": SourceInfo(scale="calibrated", answers={"history": 1}),
        "now": SourceInfo(scale="calibrated", answers={"code": 1}),
    }
    kit = open_sources({"past": (ANSWER, 4, 0.8), "now": (ANSWER, 4, 0.8)}, **about)
    context = await kit.assemble_context(QUERY, max_tokens=2000)
    assert context.sources_used == {"now": 4, "past": 4}
