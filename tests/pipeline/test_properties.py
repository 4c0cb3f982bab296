"""What holds for every context, from the sources' answers to the text.

Every example is assembled by the whole pipeline, from five sources of different kinds that
find whatever the example says. How many examples there are is said in `conftest.py` at the top.
"""

from __future__ import annotations

import asyncio
import random
import re
import statistics
import warnings
import xml.etree.ElementTree as ET
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import accumulate, groupby, pairwise
from typing import Any

import pytest
from attrs import field, frozen
from hypothesis import assume, given, settings, strategies as st
from markdown_it import MarkdownIt

from contextkit import (
    ContextAssembler,
    ContextItem,
    ContextRequest,
    FormattedContext,
    Provenance,
    Recipe,
    RecipeTemplate,
    Section,
    SourceInfo,
    hookimpl,
)
from contextkit.config.settings import Config
from contextkit.models.items import DETAILS, GROUPINGS, STYLES, Detail, Style
from contextkit.plugin.manager import SourceRegistry
from contextkit.text.markup import escape_xml, fenced
from contextkit.text.tokens import counter_for

thorough = settings.get_profile("thorough")
NOW = datetime(2026, 7, 1, tzinfo=UTC)

# -- five sources that find what an example says -----------------------------------------------


@frozen(kw_only=True)
class World:
    """What the sources find in one example.

    Attributes:
        found: source -> its items, best first.
        turns: source -> how often the event loop goes round before it answers.
    """

    found: Mapping[str, Sequence[ContextItem]]
    turns: Mapping[str, int] = field(factory=dict)


class Source:
    """Finds what there is of it in the example; the default format."""

    world = World(found={})

    def __init__(self, name: str, priority: int = 50, scale: Any = "ranked") -> None:
        self.name = name
        self.info = SourceInfo(priority=priority, scale=scale)

    @hookimpl
    def contextkit_source(self) -> SourceInfo:
        return self.info

    @hookimpl
    async def contextkit_query(self, request: ContextRequest) -> list[ContextItem]:
        for _ in range(Source.world.turns.get(self.name, 0)):
            await asyncio.sleep(0)
        return list(Source.world.found.get(self.name, ()))

    @hookimpl
    def contextkit_dedup_keys(self, items: Sequence[ContextItem]) -> list[list[str]]:
        return [list(item.metadata.get("keys", ())) for item in items]


class Documents(Source):
    """Shows its items' Markdown as it is: fences and tables."""

    @hookimpl
    def contextkit_format(
        self, items: Sequence[ContextItem], style: Style, detail: Detail
    ) -> list[str] | None:
        if detail == "compact":
            return None
        if style == "xml":
            return [f"<document>\n{escape_xml(item.content)}\n</document>" for item in items]
        return [item.content for item in items]


class Code(Source):
    """Shows its items as code, and shortens them badly, or not at all."""

    @hookimpl
    def contextkit_format(
        self, items: Sequence[ContextItem], style: Style, detail: Detail
    ) -> list[str] | None:
        if style != "markdown" or detail == "compact":
            return None
        return [fenced(item.content, "python") for item in items]

    @hookimpl
    def contextkit_truncate(self, item: ContextItem, max_tokens: int) -> str | None:
        return {"1": "", "2": item.content * 2}.get(item.id)


class Counting:
    """Counts characters, words and the tokens of a real tokenizer."""

    @hookimpl
    def contextkit_tokenizer(self, name: str) -> Callable[[str], int] | None:
        return RECOUNT.get(name)

    @hookimpl
    def contextkit_recipes(self) -> list[RecipeTemplate]:
        return [RecipeTemplate(name="twice", description="ant, asked twice", build=self.twice)]

    @staticmethod
    def twice() -> Recipe:
        sections = [Section(source="ant", key=key, title=key) for key in ("first", "second")]
        return Recipe(name="twice", title="Twice", sections=(*sections, Section(source="bee")))


class Nobody:
    """A host's searcher; none of these sources asks it."""

    def __getattr__(self, name: str) -> Callable[..., Sequence[object]]:
        if not name.startswith("search_"):
            raise AttributeError(name)
        return lambda *_: ()


@cache
def real_tokenizer() -> Any:
    """A tokenizer whose counts of parts do not add up to that of the whole."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        import bpe_openai

        return bpe_openai.get_encoding("o200k_base")


RECOUNT: Mapping[str, Callable[[str], int]] = {
    "default": counter_for("default"),
    "claude": counter_for("claude"),
    "characters": len,
    "words": lambda text: len(text.split()),
    "o200k": lambda text: len(real_tokenizer().encode_ordinary(text)),
}


def sources() -> dict[str, object]:
    """Sources of every kind, and what counts."""
    return {
        "ant": Source("ant", 80, "calibrated"),
        "bee": Source("bee"),
        "cat": Documents("cat", 50, "calibrated"),
        "dog": Code("dog", 20, "calibrated"),
        "eel": Source("eel"),
        "counting": Counting(),
    }


SOURCES = ("ant", "bee", "cat", "dog", "eel")
PLAIN_SOURCES = ("ant", "bee", "eel")
"""Those with the default format."""

CONFIG = Config()


def assembler(names: Sequence[str]) -> ContextAssembler:
    """Assembles from those sources, registered in that order."""
    registry = SourceRegistry(CONFIG, entry_points=False)
    plugins = sources()
    for name in names:
        registry.register(plugins[name], name)
    made = ContextAssembler(Nobody(), registry=registry)
    made.pipeline.clock = lambda: NOW
    return made


Assemble = Callable[..., FormattedContext]


@pytest.fixture(scope="module")
def assemble() -> Iterator[Assemble]:
    """Assembles the context of an example: `assemble(world, max_tokens=100)`."""
    names = tuple(sources())
    orders = [names, names[::-1], *(tuple(random.Random(n).sample(names, 6)) for n in range(3))]
    assemblers = [assembler(order) for order in orders]

    with asyncio.Runner() as runner:

        def assembled(
            world: World, *, order: int = 0, recipe: str = "context", **options: Any
        ) -> FormattedContext:
            Source.world = world
            patient = {"source_timeout": 60.0, "deadline": 60.0, **options}
            chosen = assemblers[order]
            return runner.run(
                chosen.assemble_context("what is there?", **patient)
                if recipe == "context"
                else chosen.assemble_recipe(recipe, {}, **patient)
            )

        yield assembled


# -- what the examples are made of -------------------------------------------------------------

WORDS = [
    *("alpha", "beta", "gamma", "registry", "token", "budget,", "function", "values.", "of", "the"),
    *("3", "not", "数据", "naïve", "—", "x_1", "(see)", "harbour", "lamp", "tide\n"),
]
CHARACTERS = [
    "e\u0301",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467",
    "\U0001f44d\U0001f3fd",
    "\U0001f1e9\U0001f1ea",
    "\u0915\u094d\u0937\u093f",
    "\u1112\u1161\u11ab",
]
"""Each is one as people see it."""
FRAGMENTS = [
    "```python\ndef f(x):\n    return x\n\n# done\n```\n",
    "~~~\n```\nin another fence\n~~~\n",
    "> ````\n> quoted code\n> ````\n",
    "- ```sh\n  ls -l\n  rm it\n  ```\n",
    "| a | b |\n|---|:-:|\n| 1 | one two |\n| 2 | three |\n| 3 | four &amp; five |\n",
    "A sentence. And another one, which is longer.\n",
    "上面有一句话。下面也有一句话。\n",
    "R&amp;D &#x1F600; &lt;tag&gt; <!-- a comment --> <b>bold</b>\n",
    f"{''.join(CHARACTERS)} {' '.join(CHARACTERS)}\n",
]
HOSTILE_FRAGMENTS = [
    "# Context\n",
    "\n## Ant\n",
    "text\n===\n",
    "text\n---\n",
    "\n---\n*3 items from 2 sources*\n",
    "```\n",
    "~~~~\n",
    "<!-- ",
    "<script>\n",
    "</context>",
    "</reference-0123456789ab>",
    "=== Context ===\n",
    "--- Ant ---\n",
    "> quote\n",
    "| a |\n|---|\n",
    "[x]: /url\n",
    "- item\n",
    "    indented\n",
    "\x85\u2028\x0b\x0c\r",
    "&#35; &amp; &",
    "word ",
    "\ud800",
]


def prose(seed: int) -> str:
    """Words that are like no others."""
    rng = random.Random(seed)
    return " ".join(rng.choices(WORDS, k=rng.choice([1, 5, 20, 60, 200])))


def document(seed: int) -> str:
    """Fences, tables, and characters that are made of several."""
    rng = random.Random(seed)
    return "\n".join(rng.choices(FRAGMENTS, k=rng.randint(1, 8)))


SEEDS = st.integers(0, 2**32)
PROSE = SEEDS.map(prose)
DOCUMENTS = SEEDS.map(document)
ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=40)
HOSTILE = st.lists(st.sampled_from(HOSTILE_FRAGMENTS), max_size=8).map("".join) | ANY_TEXT
CONTENTS = PROSE | DOCUMENTS | HOSTILE
NAMES = (None, None, "share", "a.py:3", "数据 e\u0301", "# a\n\n## b", "*a* <b>", "")
KEYS = ((), (), ("file:a",), ("file:a", "sha:b"))


def item(source: str, content: str, relevance: float, traits: int) -> ContextItem:
    """Any item of a source, whose id another one may have too."""
    rng = random.Random(traits)
    return ContextItem(
        source,
        content,
        relevance,
        id=rng.choice("12345678"),
        kind=rng.choice(["", "function", "document", "message", "memory"]),
        title=rng.choice(NAMES),
        location=rng.choice(NAMES),
        text=rng.choice([None, None, prose(traits)]),
        salience=rng.choice([None, rng.random()]),
        created_at=rng.choice([None, NOW, NOW - timedelta(days=rng.randint(0, 400))]),
        also_in=rng.choice([(), (), (Provenance("fox", "f1", "f.txt:1"),)]),
        metadata={"keys": rng.choice(KEYS)},
    )


def world(drawn: list[tuple[str, str, float, int]]) -> World:
    """What sources find, where every fourth item is the copy of the one before."""
    found: dict[str, list[ContextItem]] = defaultdict(list)
    for (source, content, relevance, traits), (_, before, _, _) in pairwise([drawn[-1], *drawn]):
        copied = before if traits % 4 == 0 else content
        found[source].append(item(source, copied, relevance, traits))
    return World(found=found)


def worlds(
    contents: st.SearchStrategy[str] = CONTENTS,
    names: Sequence[str] = SOURCES,
    least: int = 1,
) -> st.SearchStrategy[World]:
    """Some items, ten at most, of any sources among these."""
    items = st.tuples(st.sampled_from(names), contents, st.floats(0, 1), SEEDS)
    return st.lists(items, min_size=least, max_size=10).map(world)


WEIGHTS = st.dictionaries(st.sampled_from(SOURCES), st.floats(0.01, 100))
BUDGETS = st.integers(1, 60) | st.integers(1, 600) | st.integers(1, 5000) | st.just(10**12)
CHOICES: Mapping[str, Sequence[Any]] = {
    "style": STYLES,
    "detail": DETAILS,
    "group_by": GROUPINGS,
    "include_sources": (False, True),
    "guard": (False, True),
    "compress": (False, False, True),
    "tokens": sorted(RECOUNT),
    "diversity": (0.0, 0.5),
    "recipe": ("context", "context", "twice"),
}
Options = dict[str, Any]
SHOWN = {"kept", "excerpt", "truncated", "compressed"}


def options(**fixed: Any) -> st.SearchStrategy[Options]:
    """Any request, but for what is fixed."""
    chosen = {name: st.sampled_from(values) for name, values in CHOICES.items()}
    chosen |= {name: st.just(value) for name, value in fixed.items()}
    chosen.setdefault("additional_context", st.just("") | HOSTILE | PROSE)
    return st.fixed_dictionaries({"weights": WEIGHTS, **chosen})


PERCENT = st.integers(1, 99)


def everything(assemble: Assemble, world: World, asked: Options) -> FormattedContext:
    """The context of a request whose budget is never used up."""
    context = assemble(world, max_tokens=10**12, **asked)
    assert not context.truncated_items
    return context


def part(whole: FormattedContext, percent: int) -> int:
    """A budget that is too small for the whole."""
    return max(1, whole.token_count * percent // 100)


def candidates(world: World, asked: Options) -> Counter[tuple[str, str]]:
    """Source and id of each item that is found, as often as it is found."""
    names = ("ant", "ant", "bee") if asked["recipe"] == "twice" else SOURCES
    return Counter((name, item.id) for name in names for item in world.found.get(name, ()))


# -- the budget --------------------------------------------------------------------------------


@given(worlds(), BUDGETS, options())
@thorough
def test_the_text_is_within_the_budget(
    assemble: Assemble, world: World, max_tokens: int, asked: Options
) -> None:
    """Counted anew, by whatever counts, in every style, detail, grouping and guise."""
    context = assemble(world, max_tokens=max_tokens, **asked)

    recounted = RECOUNT[asked["tokens"]](context.markdown)
    assert recounted <= max_tokens
    assert context.token_count == recounted
    assert not context.budget_exceeded


@given(worlds(), PERCENT, st.tuples(*[st.integers(1, 20)] * 3), options())
@thorough
def test_a_larger_budget_never_drops_the_best_item(
    assemble: Assemble, world: World, percent: int, steps: tuple[int, ...], asked: Options
) -> None:
    """The best of all that is kept: once it is in, it stays in."""
    whole = everything(assemble, world, asked)
    if not whole.items:
        return
    best = next(entry for entry in whole.trace.items if entry.verdict in SHOWN)

    shown = [
        best.id in ids_of(assemble(world, max_tokens=max_tokens, **asked), best.source)
        for max_tokens in accumulate((part(whole, percent), *steps))
    ]

    assert shown == sorted(shown)


@pytest.mark.uncounted
@pytest.mark.parametrize("style", ["markdown", "xml", "plain"])
@pytest.mark.parametrize("tokens", ["default", "openai", "claude"])
def test_an_item_by_itself_stays_at_every_larger_budget(
    assemble: Assemble, style: str, tokens: str
) -> None:
    """Token by token: the parts of a text do not add up to the whole, so each may surprise."""
    world = World(found={"bee": [ContextItem("bee", prose(0), 0.9, id="1")]})
    asked = {"style": style, "tokens": tokens}
    shown = [
        bool(assemble(world, max_tokens=max_tokens, **asked).items) for max_tokens in range(20, 130)
    ]
    assert shown == sorted(shown)
    assert shown[-1]


@pytest.mark.uncounted
def test_a_list_of_sources_never_takes_the_place_of_the_best_item(assemble: Assemble) -> None:
    """Where there is room for the best item and none for the list, the list is left out."""
    best = ContextItem("dog", prose(1) + " lamp" * 40, 0.9, id="1")
    others = [ContextItem("ant", word, 0.5, id=word) for word in ("alpha", "beta", "gamma")]
    world = World(found={"dog": [best], "ant": others})

    for max_tokens in range(20, 200):
        listed, unlisted = (
            "1" in ids_of(assemble(world, max_tokens=max_tokens, include_sources=wanted), "dog")
            for wanted in (True, False)
        )
        assert listed == unlisted


def ids_of(context: FormattedContext, source: str) -> list[str]:
    """What is shown of a source."""
    return [item.id for item in context.items if item.source == source]


@given(worlds(), st.integers(1, 5000), options())
@thorough
def test_the_shares_are_proportional(
    assemble: Assemble, world: World, max_tokens: int, asked: Options
) -> None:
    """Each section's share in the trace is within one token of what its weight makes it."""
    context = assemble(world, max_tokens=max_tokens, shares="fixed", **asked)

    weights = [asked["weights"].get(entry.source, 1.0) for entry in context.trace.sources]
    shares = [entry.share for entry in context.trace.sources]
    for weight, share in zip(weights, shares, strict=True):
        assert abs(share - sum(shares) * weight / sum(weights)) < 1 + 1e-6


def can_be_shortened(asked: Options) -> bool:
    """Not an XML element on one line."""
    return (asked["style"], asked["detail"]) != ("xml", "compact")


@pytest.mark.uncounted
def test_most_of_the_budget_is_used(assemble: Assemble) -> None:
    """Where there is more to show than fits: at least 90% of it in the median.

    In 1,000 examples the median was 98%, and one in ten used less than 92%. The worst used
    nothing: a guarded XML context of 100 tokens has no room for a word of its one item.
    """
    used = []

    shortened = options(tokens="default", include_sources=False).filter(can_be_shortened)

    @given(worlds(PROSE | DOCUMENTS, ["ant", "bee", "cat", "eel"], least=4), PERCENT, shortened)
    @thorough
    def use(world: World, percent: int, asked: Options) -> None:
        whole = everything(assemble, world, asked)
        max_tokens = max(100, part(whole, percent))
        assume(max_tokens < whole.token_count)
        context = assemble(world, max_tokens=max_tokens, **asked)
        used.append(context.token_count / max_tokens)

    use()

    assert statistics.median(used) >= 0.9


# -- what is selected --------------------------------------------------------------------------


@given(worlds(), BUDGETS, options())
@thorough
def test_what_is_selected_was_found_and_is_there_once(
    assemble: Assemble, world: World, max_tokens: int, asked: Options
) -> None:
    """Every item of the context is a candidate; every candidate is in the trace."""
    context = assemble(world, max_tokens=max_tokens, **asked)

    found = candidates(world, asked)
    shown = Counter((item.source, item.id) for item in context.items)
    assert shown.keys() <= found.keys()
    assert set(shown.values()) <= {1}
    assert Counter((entry.source, entry.id) for entry in context.trace.items) == found
    verdicts = {(e.source, e.id) for e in context.trace.items if e.verdict in SHOWN}
    assert shown.keys() == verdicts
    assert context.sources_used == Counter(source for source, _ in shown.elements())
    place = 0
    for item in context.items:
        place = context.markdown.index(item.content, place) + len(item.content)


@given(worlds(), BUDGETS, options(), st.lists(st.integers(0, 6), min_size=5, max_size=5), st.data())
@thorough
def test_the_order_of_the_answers_changes_nothing(
    assemble: Assemble,
    world: World,
    max_tokens: int,
    asked: Options,
    turns: list[int],
    data: st.DataObject,
) -> None:
    """The same text and the same verdicts, whichever source is known or answers first."""
    others = list(world.found)
    data.draw(st.randoms(use_true_random=False)).shuffle(others)
    shuffled = World(
        found={name: world.found[name] for name in others},
        turns=dict(zip(SOURCES, turns, strict=True)),
    )
    order = data.draw(st.integers(0, 4))

    once = assemble(world, max_tokens=max_tokens, **asked)
    again = assemble(shuffled, order=order, max_tokens=max_tokens, **asked)

    assert once.markdown == again.markdown
    assert once.items == again.items
    assert once.trace.items == again.trace.items


# -- nothing is cut apart ----------------------------------------------------------------------

UNCUTTABLE = re.compile(
    r"&(?:#\w{1,7}|[A-Za-z]\w{1,31});|<!--.*?-->|" + "|".join(CHARACTERS), re.DOTALL
)
"""What occurs in the examples and is one for a reader or a parser."""


def is_cut_well(shown: str, whole: str) -> bool:
    """Whether it begins as the whole does, as far as an ellipsis between two characters."""
    inside = {p for f in UNCUTTABLE.finditer(whole) for p in range(f.start() + 1, f.end())}
    for found in re.finditer(r"[\s>]*\.\.\.", shown):
        for place in range(found.start(), found.end() - 2):
            if place not in inside and whole.startswith(shown[:place]):
                return True
    return False


@given(worlds(DOCUMENTS | PROSE), PERCENT, options())
@thorough
def test_what_is_shortened_is_cut_between_characters(
    assemble: Assemble, world: World, percent: int, asked: Options
) -> None:
    """No character as people see it, entity, comment or row of a table is cut, and no fence."""
    whole = everything(assemble, world, asked)
    texts = {(item.source, item.id): item.content for item in whole.items}

    context = assemble(world, max_tokens=part(whole, percent), **asked)

    verdicts = {(e.source, e.id): e.verdict for e in context.trace.items}
    for item in context.items:
        key = (item.source, item.id)
        if verdicts[key] == "truncated":
            assert is_cut_well(item.content, texts[key])
        elif verdicts[key] == "kept":
            assert item.content == texts[key]
        if item.source == "cat" and asked["detail"] != "compact":
            assert set(rows(item.content)) <= set(rows(texts[key]))
    check_layout(context, asked)


@given(worlds(), CONTENTS, PERCENT, options())
@settings(settings.get_profile("costly"))
def test_the_hosts_text_is_cut_between_characters(
    assemble: Assemble, world: World, own: str, percent: int, asked: Options
) -> None:
    """It is there whole before any item is; else it alone is there, as much as the budget has."""
    asked = {**asked, "additional_context": own}
    whole = everything(assemble, world, asked)

    context = assemble(world, max_tokens=part(whole, percent), **asked)

    assert RECOUNT[asked["tokens"]](context.markdown) == context.token_count
    assert context.token_count <= part(whole, percent)
    if context.additional != whole.additional:
        assert not context.items or not context.additional
        assert not context.additional or is_cut_well(context.additional, whole.additional)
        assert any("the additional context" in note for note in context.trace.notes)


def rows(text: str) -> list[str]:
    """The rows of a text's tables."""
    return [line for line in text.splitlines() if line.startswith("| ")]


# -- what stands around the items --------------------------------------------------------------

MARKDOWN = MarkdownIt("commonmark").enable("table")
GROUP = {
    "function": "Relevant Code",
    "document": "Related Documentation",
    "message": "Previous Conversations",
    "memory": "Other Context",
    "": "Other Context",
}
HEADINGS = [*("first", "second", "Ant", "Bee", "Cat", "Eel", "Dog"), *dict.fromkeys(GROUP.values())]
"""In the order in which they stand."""


Sections = list[tuple[str, list[ContextItem]]]


ADDITIONAL = "Additional Context"


def sections_of(context: FormattedContext, asked: Options) -> Sections:
    """The headings that there should be, and the items below each."""
    sections = {(e.source, e.id): e.section for e in context.trace.items if e.verdict in SHOWN}

    def title(item: ContextItem) -> str:
        if asked["group_by"] == "type":
            return GROUP[item.kind]
        section = sections[item.source, item.id]
        return section if section in {"first", "second"} else section.capitalize()

    sections_found = [(heading, list(own)) for heading, own in groupby(context.items, title)]
    assert sections_found == sorted(sections_found, key=lambda found: HEADINGS.index(found[0]))
    return [*sections_found, *([(ADDITIONAL, [])] if context.additional else ())]


def check_layout(context: FormattedContext, asked: Options) -> None:
    """A parser finds the headings and blocks that are ours, and no others."""
    text = context.markdown
    if not text:
        assert not context.items
        return
    if asked["guard"]:
        text = unguarded(text)
    listed = asked["include_sources"] and not any("the list of" in n for n in context.trace.notes)
    check = {"markdown": check_markdown, "xml": check_xml, "plain": check_plain}[asked["style"]]
    check(text, sections_of(context, asked), asked, min(10, len(context.items)) if listed else 0)


def unguarded(text: str) -> str:
    """What stands between the delimiters, which occur nowhere else."""
    found = re.fullmatch(r"<(reference-[0-9a-f]{12})>\n.*?\n\n(.*)\n</\1>", text, re.DOTALL)
    assert found is not None
    assert found[1] not in found[2]
    return found[2]


def check_markdown(text: str, sections: Sections, asked: Options, listed: int) -> None:
    """Title, headings, items; a rule above the list of sources."""
    tokens = MARKDOWN.parse(text)
    headings = [
        (opening.tag, inline.content)
        for opening, inline in pairwise(tokens)
        if opening.type == "heading_open"
    ]
    title = "Twice" if asked["recipe"] == "twice" else "Context"
    assert headings == [("h1", title), *(("h2", heading) for heading, _ in sections)]
    top = [token.type for token in tokens if token.level == 0 and token.nesting >= 0]
    top = [kind for kind in top if kind != "inline"]
    rule = top.index("hr") if listed else len(top)
    assert top[rule + 1 :] == (["paragraph_open", "bullet_list_open"] if listed else [])
    items = [item for _, own in sections for item in own]
    of_items = Counter(kind for kind in top[:rule] if kind != "heading_open")
    if asked["detail"] == "compact":
        assert of_items == {"bullet_list_open": len(sections)}
        bullets = [t for t in tokens if t.type == "list_item_open" and t.level == 1]
        assert len(bullets) == len(items) + listed + (sections[-1][0] == ADDITIONAL)
    elif not any(item.source == "cat" for item in items):
        assert of_items.keys() <= OF_TEXT
        assert of_items["fence"] == sum(item.source == "dog" for item in items)


OF_TEXT = {"paragraph_open", "bullet_list_open", "ordered_list_open", "code_block", "fence"}
"""The blocks that items make which have no tables, quotes or HTML of their own."""


def check_xml(text: str, sections: Sections, asked: Options, listed: int) -> None:
    """Sections of elements, the list of sources."""
    root = ET.fromstring(text)  # noqa: S314 - our own text
    found = root.findall("section")
    assert [section.get("name") for section in found] == [heading for heading, _ in sections]
    for section, (_, own) in zip(found, sections, strict=True):
        elements = [child.tag for child in section if child.tag not in {"also-in", "superseded-by"}]
        as_is = "entity" if asked["detail"] == "compact" else "document"
        assert elements == [as_is if item.source == "cat" else "entity" for item in own]
    assert len(root.findall("sources/source")) == listed
    assert [child.tag for child in root][-1] == ("sources" if listed else "section")


def check_plain(text: str, sections: Sections, asked: Options, listed: int) -> None:
    """Headings stand where nothing else that looks like them does."""
    title = "Twice" if asked["recipe"] == "twice" else "Context"
    found = re.findall(r"^(?:===|---) (.*) (?:===|---)$", text, re.MULTILINE)
    assert found == [title, *(heading for heading, _ in sections)]
    assert len(re.findall("^  - ", text.rpartition("\nSources:\n")[2], re.MULTILINE)) == listed


@given(worlds(HOSTILE | PROSE, ["ant", "bee", "dog", "eel"]), BUDGETS, options())
@thorough
def test_a_parser_finds_the_layout_whatever_the_items_say(
    assemble: Assemble, world: World, max_tokens: int, asked: Options
) -> None:
    """Headings, blocks and elements are ours: hostile contents, titles and places are text."""
    check_layout(assemble(world, max_tokens=max_tokens, **asked), asked)
