"""Questions about this repository to all five sources: are the items that answer in the context?

    python -m tests.benchmarks.quality mixed [--only splits sources options kinds strategies ...]
        [--budgets 1000 2000 4000] [--tokens NAME] [--json FILE]

Two figures for each budget, means over questions of the share of gold items: `in`, those that
are in the context at all, and `readable`, those of which half of their words can be read there.
The question set and how it came to be: mixed_questions.toml.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import field, frozen

from contextkit.config.strategies import BUILT_IN
from contextkit.models.context import FormattedContext
from tests.benchmarks.harness import Report
from tests.benchmarks.quality.evidence import mean
from tests.benchmarks.quality.mixed_corpus import Corpus, opened_corpus
from tests.benchmarks.quality.mixed_scoring import Found, Judge
from tests.benchmarks.quality.mixed_set import MixedSet, Question, read_mixed_set
from tests.benchmarks.quality.mixed_splits import (
    BY_EVIDENCE,
    EQUAL,
    FIXED,
    FOLLOWING,
    SEEDS,
    Follow,
    sections_with,
)
from tests.benchmarks.texts import SOURCES

__all__ = ["BUDGETS", "TABLES", "Asking", "Measurement", "Way", "main"]

BUDGETS = (1000, 2000, 4000)
"""Tokens of the whole context."""

TABLES = ("splits", "sources", "options", "kinds", "strategies")

_WHOLE_BUDGET_LIMIT = 100
_SOURCE_OF_KIND = {
    "memory": "memories",
    "experience": "experiences",
    "code": "code",
    "commit": "commits",
    "value": "values",
}
_OPTIONS: Mapping[str, Mapping[str, Any]] = {
    "as it is": {},
    "detail=summary": {"detail": "summary"},
    "detail=compact": {"detail": "compact"},
    "limit=10": {"limit": 10},
    "limit=40": {"limit": 40},
    "diversity=0.1": {"diversity": 0.1},
    "diversity=0.3": {"diversity": 0.3},
    "diversity=0.5": {"diversity": 0.5},
    "compress": {"compress": True},
    "min_relevance=0": {"min_relevance": 0.0},
    "min_relevance=0.2": {"min_relevance": 0.2},
}


_STRATEGIES: Mapping[str, Any] = {
    **{name: name for name in BUILT_IN},
    "recent, with recency 0.5": {"name": "recent", "recency": 0.5},
    "balanced, half-life 30 d": {"name": "balanced", "half_life_days": 30.0},
    "conversation without decay": {"name": "conversation", "decay": 1.0},
}


@frozen
class Asking:
    """A request's options, and what its weights follow.

    Attributes:
        options: arguments of `assemble_context`.
        follow: makes the weights from the question's candidates, or None.
        knows_sources: weights that are cut for sources without gold, or None.
    """

    options: Mapping[str, Any] = field(factory=dict)
    follow: Follow | None = None
    knows_sources: Mapping[str, float] | None = None


@frozen
class Way:
    """One way to ask, and what became of every question's gold.

    Attributes:
        name: the way.
        found: question -> budget -> gold items.
        budgets: tokens of the contexts.
    """

    name: str
    found: Sequence[Sequence[Sequence[Found]]]
    budgets: Sequence[int] = BUDGETS

    def figures(self, questions: Sequence[int] | None = None) -> dict[str, str]:
        """Both figures for each budget, of all questions or of some."""
        chosen = range(len(self.found)) if questions is None else questions
        return {
            f"{what} {budget}": f"{self.mean_of(what, number, chosen):.3f}"
            for what in ("in", "readable")
            for number, budget in enumerate(self.budgets)
        }

    def mean_of(self, what: str, number: int, questions: Sequence[int]) -> float:
        """The mean share at one of the budgets."""
        return mean(
            mean(float(one.shown if what == "in" else one.readable) for one in gold)
            for gold in (self.found[question][number] for question in questions)
        )


@frozen
class Measurement:
    """The set over its corpus, and how contexts are asked for in every way.

    Attributes:
        mixed: the questions.
        corpus: the kit.
        budgets: tokens of the contexts.
        tokens: what counts tokens.
    """

    mixed: MixedSet
    corpus: Corpus
    budgets: Sequence[int] = BUDGETS
    tokens: str = "o200k_base"

    def way(self, name: str, asking: Asking) -> Way:
        """Ask every question in one way."""
        return Way(name, asyncio.run(self._asked(asking)), self.budgets)

    async def _asked(self, asking: Asking) -> list[list[list[Found]]]:
        judge = Judge(self.corpus.ids, self.corpus.themes)
        found = []
        for question in self.mixed.questions:
            options = dict(asking.options)
            if asking.knows_sources:
                options["weights"] = sections_with(_sources_of(question), asking.knows_sources)
            if asking.follow:
                first = await self._context(question, self.budgets[0], options)
                options["weights"] = asking.follow(first.trace.items)
            contexts = [await self._context(question, each, options) for each in self.budgets]
            found.append([judge.found(question.gold, context.items) for context in contexts])
        return found

    async def _context(
        self, question: Question, budget: int, options: Mapping[str, Any]
    ) -> FormattedContext:
        return await self.corpus.kit.assemble_context(
            question.text, max_tokens=budget, tokens=self.tokens, **options
        )


def _sources_of(question: Question) -> frozenset[str]:
    return frozenset(_SOURCE_OF_KIND[gold.kind] for gold in question.gold)


# -- tables -----------------------------------------------------------------------------------


def splits(measurement: Measurement) -> Report:
    """Fixed weights, weights that follow the question, and what choosing by halves gives."""
    fixed = [
        measurement.way(name, Asking({"weights": weights, "shares": "fixed"}))
        for name, weights in FIXED.items()
    ]
    following = [measurement.way(name, Asking(given)) for name, given in BY_EVIDENCE.items()]
    following += [
        measurement.way(name, Asking(follow=follow)) for name, follow in FOLLOWING.items()
    ]
    knowing = [
        measurement.way(f"{name}, little for sources without gold", Asking(knows_sources=base))
        for name, base in (("seeds'", SEEDS), ("equal", EQUAL))
    ]
    rows = [{"split": way.name, **way.figures()} for way in [*fixed, *following, *knowing]]
    rows += [
        {"split": f"the best of {label} on one half, asked on the other", **_across(ways)}
        for label, ways in (("fixed", fixed), ("following", following))
    ]
    return Report(title="The split of the budget", rows=rows, note=_said_of(measurement))


def _across(ways: Sequence[Way]) -> dict[str, str]:
    """Each half's questions by the way that is best for the other half, at the middle budget."""
    found: dict[int, Sequence[Sequence[Found]]] = {}
    for half in (0, 1):
        own = range(half, len(ways[0].found), 2)
        best = _best(ways, range(1 - half, len(ways[0].found), 2))
        found.update({question: best.found[question] for question in own})
    return Way("", [found[number] for number in sorted(found)], ways[0].budgets).figures()


def _best(ways: Sequence[Way], questions: Sequence[int]) -> Way:
    number = len(ways[0].budgets) // 2
    return max(ways, key=lambda way: way.mean_of("in", number, questions))


def sources(measurement: Measurement) -> Report:
    """The whole budget to one source, against all five."""
    ways = [measurement.way("all five, as it is", Asking())]
    ways += [
        measurement.way(
            f"{name} alone", Asking({"context_types": [name], "limit": _WHOLE_BUDGET_LIMIT})
        )
        for name in SOURCES
    ]
    rows = [{"sources": way.name, **way.figures()} for way in ways]
    note = f"A source that is alone may give {_WHOLE_BUDGET_LIMIT} items."
    return Report(title="The whole budget to one source", rows=rows, note=note)


def options(measurement: Measurement) -> Report:
    """What the options of a request do."""
    rows = []
    for name, given in _OPTIONS.items():
        way = measurement.way(name, Asking(given))
        rows.append({"option": name, **way.figures()})
    return Report(title="Options of a request", rows=rows)


def kinds(measurement: Measurement) -> Report:
    """The questions of each intent, and the gold items of each kind."""
    way = measurement.way("as it is", Asking())
    intents: dict[str, list[int]] = defaultdict(list)
    for number, question in enumerate(measurement.mixed.questions):
        intents[question.intent].append(number)
    rows: list[dict[str, Any]] = [
        {"questions": intent, "number": len(numbers), **way.figures(numbers)}
        for intent, numbers in intents.items()
    ]
    rows += _of_kinds(way)
    return Report(title="By intent, and by kind of gold item", rows=rows)


def _of_kinds(way: Way) -> Iterator[dict[str, Any]]:
    for kind in _SOURCE_OF_KIND:
        own = [
            [[one for one in gold if one.gold.kind == kind] for gold in budgets]
            for budgets in way.found
        ]
        number = sum(len(budgets[0]) for budgets in own)
        # Every gold item for itself: a question may have two of a kind, or none.
        single = [
            [[one] for one in gold]
            for gold in zip(
                *(
                    [one for budgets in own for one in budgets[place]]
                    for place in range(len(way.budgets))
                ),
                strict=True,
            )
        ]
        yield {
            "questions": f"gold items: {kind}",
            "number": number,
            **Way("", single, way.budgets).figures(),
        }


def strategies(measurement: Measurement) -> Report:
    """What the strategies give; nothing was chosen before, and nothing is noted."""
    rows = []
    for name, strategy in _STRATEGIES.items():
        way = measurement.way(name, Asking({"strategy": strategy, "record_use": False}))
        rows.append({"strategy": name, **way.figures()})
    return Report(title="Strategies", rows=rows)


def _said_of(measurement: Measurement) -> str:
    mixed = measurement.mixed
    gold = [one for question in mixed.questions for one in question.gold]
    numbers = {kind: sum(one.kind == kind for one in gold) for kind in _SOURCE_OF_KIND}
    without = [theme for theme, values in measurement.corpus.themes.items() if not values]
    return (
        f"{len(mixed.questions)} questions over commit {mixed.commit[:7]}; gold items: "
        f"{', '.join(f'{number} of {kind}' for kind, number in numbers.items())}; themes of "
        f"which no value was distilled, not asked for: {', '.join(without) or 'none'}"
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print the tables."""
    given = _parser().parse_args(arguments)
    mixed = read_mixed_set()
    made = {
        "splits": splits,
        "sources": sources,
        "options": options,
        "kinds": kinds,
        "strategies": strategies,
    }
    reports = []
    with opened_corpus(mixed, {}) as corpus:
        measurement = Measurement(mixed, corpus, given.budgets, given.tokens)
        for name in given.only:
            reports.append(made[name](measurement))
            reports[-1].show()
    if given.json:
        given.json.write_text(json.dumps([each.as_dict() for each in reports], indent=2) + "\n")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="mixed", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=TABLES, default=list(TABLES))
    parser.add_argument("--budgets", nargs="+", type=int, default=list(BUDGETS))
    parser.add_argument("--tokens", default="o200k_base", help="what counts tokens")
    parser.add_argument("--json", type=Path, help="a file for the same as data")
    return parser


if __name__ == "__main__":
    main()
