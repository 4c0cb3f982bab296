"""Questions about a repository: how much of their answers a context holds.

    python -m tests.benchmarks.quality sweqa [--data DIR --repos DIR] [--only NAME ...]
        [--budgets 2000 4000] [--json FILE]

`--data` has `NAME.jsonl`, a question and its reference answer a line, and `repos.json`, which
names each repository's revision; `--repos` has a git repository for each name. Each workspace is
indexed whole, with every source that is installed. A figure is the mean share of the answers'
own names (`answers.py`) in a context:

    default   what somebody gets who sets nothing
    best      the best choice of sources and settings known: code alone, 60 items

The halves are the questions of even and of odd places: choose on one, report the other.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from attrs import frozen

from contextkit import ContextKit
from contextkit.config.load import load_config
from contextkit.plugin.manager import SourceRegistry
from contextkit.workspace.find import Workspace
from tests.benchmarks.harness import Report
from tests.benchmarks.quality.answers import AnswerNames, name_recall, texts_of
from tests.benchmarks.quality.evidence import mean
from tests.benchmarks.quality.own_questions import OWN_ANSWERS
from tests.benchmarks.quality.surroundings import clone_at, home_in

__all__ = ["BUDGETS", "WAYS", "Asked", "main", "measure", "reports"]

BUDGETS = (2000, 4000)
"""Tokens of the whole context."""

WAYS: Mapping[str, Mapping[str, Any]] = {
    "default": {},
    "best": {"context_types": ["code"], "limit": 60},
}
"""Way -> the arguments of `assemble_context` that differ from its defaults."""

_LEAST_NAMES = 2
_SECONDS = 60.0


@frozen
class Asked:
    """One question's recall in one way.

    Attributes:
        repository: its name.
        question: its place among the repository's questions that are scored.
        way: one of `WAYS`.
        budget: tokens.
        recall: the share of the answer's names in the context, 0..1.
        tokens: what the context takes.
    """

    repository: str
    question: int
    way: str
    budget: int
    recall: float
    tokens: int


def measure(
    name: str, folder: Path, rows: Sequence[Mapping[str, str]], budgets: Sequence[int]
) -> list[Asked]:
    """Index a repository and ask its questions in each way.

    Args:
        name: what the tables call it.
        folder: its work tree.
        rows: each with `question` and `answer`; those whose answer has fewer than two names
            that tell are passed over.
        budgets: tokens of the contexts.
    """
    command = ["git", "-C", str(folder), "ls-files", "-z"]
    listed = subprocess.run(command, capture_output=True, check=True).stdout.decode()
    names = AnswerNames.of(texts_of(folder, [path for path in listed.split("\0") if path]))
    scored = [(row["question"], names.gold(row["question"], row["answer"])) for row in rows]
    scored = [(question, gold) for question, gold in scored if len(gold) >= _LEAST_NAMES]
    settings = {"assemble.source_timeout": _SECONDS, "assemble.deadline": _SECONDS}
    with tempfile.TemporaryDirectory() as home, home_in(Path(home)):
        workspace = Workspace(folder.resolve())
        config = load_config(workspace, environment={}, flags=settings)
        with ContextKit.over(workspace, config, SourceRegistry(config, True)) as kit:
            for source, outcome in kit.index().items():
                if outcome.problem:
                    raise click.ClickException(f"{name}: {source}: {outcome.problem}")
            return asyncio.run(_ask(kit, name, scored, budgets))


async def _ask(
    kit: ContextKit,
    name: str,
    scored: Sequence[tuple[str, list[str]]],
    budgets: Sequence[int],
) -> list[Asked]:
    asked = []
    for place, (question, gold) in enumerate(scored):
        for way, options in WAYS.items():
            for budget in budgets:
                context = await kit.assemble_context(
                    question, max_tokens=budget, record_use=False, **options
                )
                recall = name_recall(gold, context.markdown)
                asked.append(Asked(name, place, way, budget, recall, context.token_count))
    return asked


def reports(asked: Sequence[Asked], budgets: Sequence[int]) -> list[Report]:
    """Make a table of repositories and one of halves, each with both ways side by side."""
    repositories = list(dict.fromkeys(each.repository for each in asked))
    by_repository = [
        _row("repository", name, [a for a in asked if a.repository == name], budgets)
        for name in repositories
    ]
    by_half = [
        _row("half", half, [a for a in asked if a.question % 2 == odd], budgets)
        for odd, half in enumerate(("even places", "odd places"))
    ]
    means = [
        f"{way} {budget:,}: {_mean_of_means(asked, repositories, way, budget):.3f}"
        for way in WAYS
        for budget in budgets
    ]
    note = f"mean of the repositories' means: {'; '.join(means)}"
    return [
        Report(title="names of the answers in the context", rows=by_repository, note=note),
        Report(title="by halves of the questions", rows=by_half),
    ]


def _row(
    kind: str, name: str, asked: Sequence[Asked], budgets: Sequence[int]
) -> Mapping[str, object]:
    figures: dict[str, object] = {kind: name, "questions": len({_of(each) for each in asked})}
    for budget in budgets:
        for way in WAYS:
            own = [each for each in asked if (each.way, each.budget) == (way, budget)]
            figures[f"{way} {budget}"] = f"{mean(each.recall for each in own):.3f}"
        shown = [a.tokens for a in asked if (a.way, a.budget) == ("default", budget)]
        figures[f"tokens {budget}"] = round(mean(shown))
    return figures


def _of(asked: Asked) -> tuple[str, int]:
    return asked.repository, asked.question


def _mean_of_means(
    asked: Sequence[Asked], repositories: Sequence[str], way: str, budget: int
) -> float:
    return mean(
        mean(a.recall for a in asked if (a.repository, a.way, a.budget) == (name, way, budget))
        for name in repositories
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print the tables."""
    parser = _parser()
    given = parser.parse_args(arguments)
    if (given.data is None) != (given.repos is None):
        parser.error("--data and --repos go together")
    asked: list[Asked] = []
    if given.data is None:
        with tempfile.TemporaryDirectory() as made:
            clone = clone_at("HEAD", Path(made) / "clone")
            asked = measure("this repository", clone, OWN_ANSWERS, given.budgets)
    else:
        for name, (_, revision) in json.loads((given.data / "repos.json").read_text()).items():
            if given.only and name not in given.only:
                continue
            lines = (given.data / f"{name}.jsonl").read_text().splitlines()
            with tempfile.TemporaryDirectory() as made:
                clone = clone_at(revision, Path(made) / name, given.repos / name)
                asked += measure(name, clone, [json.loads(each) for each in lines], given.budgets)
    tables = reports(asked, given.budgets)
    for table in tables:
        table.show()
    if given.json:
        given.json.write_text(json.dumps([table.as_dict() for table in tables], indent=2) + "\n")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="sweqa", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, help="a folder with repos.json and NAME.jsonl")
    parser.add_argument("--repos", type=Path, help="a folder with a git repository for each name")
    parser.add_argument("--only", nargs="+", help="these repositories")
    parser.add_argument("--budgets", nargs="+", type=int, default=list(BUDGETS))
    parser.add_argument("--json", type=Path, help="a file for the same as data")
    return parser


if __name__ == "__main__":
    main()
