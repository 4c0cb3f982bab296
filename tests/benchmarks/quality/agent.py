"""What a coding agent reads: every source on, the command line's defaults, two repositories.

    python -m tests.benchmarks.quality agent [--repos DIR] [--budgets 1000 2000] [--json FILE]

`--repos` has the git repository of httpx under that name; without it this repository alone is
asked. The questions and how they came to be: agent_questions.toml. For each kind of question
and half of the set, means over questions within each budget:

    in, readable   the share of gold items that are there, and of those that can be read
    before         tokens of other items before the first gold item; all where there is none
    events, tasks  tokens of what was done last, and of the stack of tasks
    first          the share of contexts that begin with what was done last
    items, tokens  everything else that is there; what a question about nothing should not bring
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import frozen

from contextkit import ContextKit
from contextkit.models.context import FormattedContext
from contextkit.text.tokens import counter_for
from tests.benchmarks.harness import Report
from tests.benchmarks.quality.agent_corpus import OWN, opened_agent_corpus
from tests.benchmarks.quality.agent_set import KINDS, AgentQuestion, AgentSet, read_agent_set
from tests.benchmarks.quality.evidence import mean
from tests.benchmarks.quality.mixed_scoring import Judge

__all__ = ["BUDGETS", "HALVES", "Read", "asked", "figures", "main", "reports"]

BUDGETS = (1000, 2000)
"""Tokens of the whole context."""

HALVES = ("choosing", "checking")
"""The questions of even places, and those of odd ones."""

_ACTIVITY = ("events", "tasks")


@frozen
class Read:
    """What one context was like.

    Attributes:
        question: the place of its question.
        kind: the question's.
        budget: tokens of the context.
        figures: name -> value.
    """

    question: int
    kind: str
    budget: int
    figures: Mapping[str, float]


async def asked(
    kit: ContextKit,
    ids: Mapping[str, str],
    given: AgentSet,
    places: Sequence[int],
    budgets: Sequence[int] = BUDGETS,
    options: Mapping[str, Any] | None = None,
) -> list[Read]:
    """Ask questions of a workspace within each budget, and look at the contexts."""
    judge, found = Judge(ids, {}), []
    for place in places:
        question = given.questions[place]
        for budget in budgets:
            context = await kit.assemble_context(
                question.text, max_tokens=budget, **(options or {})
            )
            seen = figures(question, context, judge)
            found.append(Read(place, question.kind, budget, seen))
    return found


def figures(question: AgentQuestion, context: FormattedContext, judge: Judge) -> dict[str, float]:
    """What a context is like: the figures of the module's first lines, by name."""
    count = counter_for("default")
    tokens = [count(item.content) for item in context.items]
    gold = judge.found(question.gold, context.items)
    of_gold = [
        place
        for place, item in enumerate(context.items)
        if any(one.shown for one in judge.found(question.gold, [item]))
    ]
    sources = [item.source for item in context.items]
    spent = {
        name: sum(n for n, source in zip(tokens, sources, strict=True) if source == name)
        for name in _ACTIVITY
    }
    return {
        "in": mean(float(one.shown) for one in gold),
        "readable": mean(float(one.readable) for one in gold),
        "before": float(sum(tokens[: of_gold[0]] if of_gold else tokens)),
        **{name: float(value) for name, value in spent.items()},
        "first": float([name for name in sources if name != "tasks"][:1] == ["events"]),
        "items": float(sum(source not in _ACTIVITY for source in sources)),
        "tokens": float(sum(tokens) - sum(spent.values())),
    }


def reports(read: Sequence[Read], budgets: Sequence[int]) -> list[Report]:
    """A table for each budget: kinds of questions by halves, and in both."""
    return [
        Report(
            title=f"Within {budget:,} tokens",
            rows=list(_rows([r for r in read if r.budget == budget])),
        )
        for budget in budgets
    ]


def _rows(read: Sequence[Read]) -> Iterator[dict[str, Any]]:
    for kind in KINDS:
        for half in (0, 1, None):
            own = [
                each
                for each in read
                if each.kind == kind and (half is None or each.question % 2 == half)
            ]
            if own:
                yield {
                    "questions": f"{kind}, {'both' if half is None else HALVES[half]}",
                    "number": len(own),
                    **{
                        name: _shown(name, mean(e.figures[name] for e in own))
                        for name in own[0].figures
                    },
                }


def _shown(name: str, value: float) -> str:
    return f"{value:.3f}" if name in {"in", "readable", "first"} else f"{value:.1f}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print the tables."""
    given = _parser().parse_args(arguments)
    questions = read_agent_set()
    read: list[Read] = []
    for workspace in questions.commits:
        if workspace == OWN or given.repos:
            repository = None if workspace == OWN else given.repos / workspace
            with (
                tempfile.TemporaryDirectory() as made,
                opened_agent_corpus(questions, workspace, repository, Path(made)) as corpus,
            ):
                places = questions.asked_in(workspace)
                read += asyncio.run(asked(corpus.kit, corpus.ids, questions, places, given.budgets))
    made_reports = reports(read, given.budgets)
    for report in made_reports:
        report.show()
    if given.json:
        rows = [each.as_dict() for each in made_reports]
        given.json.write_text(json.dumps(rows, indent=2) + "\n")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="agent", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repos", type=Path, help="a folder with the git repository of httpx")
    parser.add_argument("--budgets", nargs="+", type=int, default=list(BUDGETS))
    parser.add_argument("--json", type=Path, help="a file for the same as data")
    return parser


if __name__ == "__main__":
    main()
