"""Worlds of sources that find anything, and the contexts that are assembled of them."""

from __future__ import annotations

import asyncio
import random
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import pairwise
from typing import Any

from attrs import field, frozen
from hypothesis import strategies as st

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
from contextkit.models.items import DETAILS, GROUPINGS, STYLES, Detail, Style
from contextkit.text.markup import escape_xml, fenced
from contextkit.text.tokens import counter_for
from tests.making import make_assembler

NOW = datetime(2026, 7, 1, tzinfo=UTC)


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


def assembler(names: Sequence[str]) -> ContextAssembler:
    """Assembles from those sources, registered in that order."""
    plugins = sources()
    made = make_assembler({name: plugins[name] for name in names})
    made.pipeline.clock = lambda: NOW
    return made


Assemble = Callable[..., FormattedContext]


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
