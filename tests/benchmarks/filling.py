"""Budget, fit and render beside what the seeds write, and how much of a budget is used."""

from __future__ import annotations

import random
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from contextkit.budget.shares import allotments, shares
from contextkit.models.items import ContextItem, Style
from contextkit.pipeline.render import Document, RenderedSection, render
from tests.benchmarks import seeds
from tests.benchmarks.cases import FitCase
from tests.benchmarks.harness import Effort, Report, compared, interleaved, percentile
from tests.benchmarks.texts import items_of, locomo_texts, prepared_items, repository_texts
from tests.text.test_tokens import real_tokens

__all__ = ["budget_speed", "fit_speed", "render_speed", "utilisation"]

_WEIGHTS = (1.0, 2.0, 3.0, 1.0, 2.0)
"""Those of seed 1, over and over."""


def _sources(number: int) -> dict[str, float]:
    """So many sources with their weights."""
    return {f"source{n:02}": _WEIGHTS[n % len(_WEIGHTS)] for n in range(number)}


def budget_speed(effort: Effort) -> Report:
    """Shares, and shares that go on to those who want more."""
    rows = []
    for number in (5, effort.pick(50, 10)):
        weights = _sources(number)
        # Every third source wants little, and what it leaves is given on.
        wanted = {name: 10 if n % 3 == 0 else 900 for n, name in enumerate(weights)}
        ways = {
            "ours": partial(shares, weights, 2000),
            "float shares, as seed 1": partial(seeds.float_shares, weights, 2000),
        }
        rows += compared(f"{number} sources, shares", interleaved(ways, effort))
        ways["ours"] = partial(allotments, weights, wanted, 2000)
        rows += compared(f"{number} sources, given on", interleaved(ways, effort))
    note = "The seed rounds down and gives nothing on: other, and less, than is done here."
    return Report(title="Budget", rows=rows, note=note)


def fit_speed(effort: Effort) -> Report:
    """From formatted items to the text that holds the budget, beside seed 2's selection."""
    rows = []
    for sources, items, max_tokens in (
        (5, 100, 2000),
        (5, 100, 8000),
        (50, 1000, 2000),
        (50, 1000, 8000),
        (50, 1000, 32000),
    ):
        weights = _sources(effort.pick(sources, 5))
        by_source = prepared_items(effort.pick(items, 30), tuple(weights))
        case = FitCase.of(by_source, weights, max_tokens)
        ways = {"ours": case.ours, "selection and text, as seed 2": case.seed}
        size = f"{items:,} of {sources} sources, {max_tokens:,} tokens"
        fitted = case.ours()
        placed = [entry for entries in fitted.placed.values() for entry in entries]
        more = {
            "used, %": round(100 * fitted.tokens / max_tokens, 1),
            "placed": len(placed),
            "shortened": sum(entry.truncated for entry in placed),
        }
        rows += [row | more for row in compared(size, interleaved(ways, effort))]
    note = "The seed stops at the first item that is too long and never looks at its text again."
    return Report(title="Fit", rows=rows, note=note)


_Old = Mapping[str, Sequence[seeds.SeedItem]]


def render_speed(effort: Effort) -> Report:
    """A hundred items in five sections to one text, beside seeds 2 and 4."""
    by_source = prepared_items(effort.pick(100, 10))
    document = Document(
        title="Context",
        sections=[
            RenderedSection(source.title(), [item.content for item in items])
            for source, items in by_source.items()
        ],
        footer="*100 items from 5 sources*",
    )
    old = {source: seeds.seed_items(items) for source, items in by_source.items()}
    references: dict[Style, tuple[str, Callable[[_Old], str]]] = {
        "markdown": ("as seed 2", seeds.assemble_markdown),
        "xml": ("as seed 4", seeds.assemble_xml),
        "plain": ("as seed 4", seeds.assemble_plain),
    }
    rows = []
    for style, (name, reference) in references.items():
        ways = {"ours": partial(render, document, style), name: partial(reference, old)}
        rows += compared(f"{sum(map(len, old.values()))}, {style}", interleaved(ways, effort))
    return Report(title="Render", rows=rows)


# -- how much of a budget is used -------------------------------------------------------------


_Set = tuple[Mapping[str, Sequence[ContextItem]], Mapping[str, float], int]


def utilisation(effort: Effort) -> Report:
    """The part of the budget that is used where there is more to show than fits."""
    texts = {"this repository": repository_texts()}
    if effort.data is not None:
        texts["conversations (data)"] = locomo_texts(effort.data)
    rows = [
        row
        for kind, known in texts.items()
        for row in _used(kind, list(_random_sets(known, effort.pick(300, 8))))
    ]
    note = (
        "Random sets: 1 to 6 sources, a fifth of them empty, up to 30 items each, 300 to 8,000 "
        "tokens, over a fifth more to show than fits. Counted by what each counts with itself "
        "(the seed: len // 4), and by o200k_base."
    )
    return Report(title="Use of the budget, in percent of it", rows=rows, note=note)


def _random_sets(texts: Sequence[str], number: int) -> Iterator[_Set]:
    """Sets of items with weights and a budget."""
    for seed in range(number):
        rng = random.Random(seed)
        weights = {f"source{n}": rng.choice(_WEIGHTS) for n in range(rng.randint(1, 6))}
        by_source = {
            source: _random_items(source, texts, rng) if rng.random() < 0.8 else []
            for source in weights
        }
        yield by_source, weights, round(300 * (8000 / 300) ** rng.random())


def _random_items(source: str, texts: Sequence[str], rng: random.Random) -> list[ContextItem]:
    """Items of one to four pieces of text."""
    joined = []
    for _ in range(rng.randint(1, 30)):
        start, length = rng.randrange(len(texts)), rng.choice([1, 1, 2, 4])
        joined.append("\n\n".join(texts[start : start + length]))
    return items_of(joined, [source])


def _used(kind: str, sets: Sequence[_Set]) -> Iterator[dict[str, Any]]:
    """A row for each counter of ours, and one for the seed."""
    own: dict[str, list[float]] = defaultdict(list)
    real: dict[str, list[float]] = defaultdict(list)
    for by_source, weights, max_tokens in sets:
        for name in ("default", "openai"):
            case = FitCase.of(by_source, weights, max_tokens, name)
            if case.wanted < 1.2 * max_tokens:
                continue
            fitted = case.ours()
            own[f"ours, {name}"].append(100 * fitted.tokens / max_tokens)
            real[f"ours, {name}"].append(100 * real_tokens(fitted.text) / max_tokens)
            if name == "default":
                text = case.seed()
                own["seed 2"].append(100 * seeds.estimate_tokens(text) / max_tokens)
                real["seed 2"].append(100 * real_tokens(text) / max_tokens)
    for name, values in own.items():
        yield {
            "items": f"{kind}, {name}",
            "sets": len(values),
            "median": statistics.median(values),
            "5th": percentile(values, 5),
            "least": min(values),
            "most": max(values),
            "over, % of sets": 100 * sum(value > 100 for value in values) / len(values),
            "median o200k": statistics.median(real[name]),
            "most o200k": max(real[name]),
            "over o200k, %": 100 * sum(value > 100 for value in real[name]) / len(values),
        }
