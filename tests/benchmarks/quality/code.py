"""Code search: how well a question's files are ranked.

    python -m tests.benchmarks.quality code [--data DIR --repos DIR] [--only NAME ...]
        [--limit N] [--misses] [--json FILE]

`--data` has `repos.json` and `annotations/`, `--repos` a folder for each repository at its
revision. Each repository is indexed into a store of its own and its questions are put to the
source's query hook. NDCG@10 with binary gain; the mean of the repositories' means. The place of
a target is that of the first result that has some of its lines, or is of its file where it has
none, counted in files: one result per file.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from attrs import frozen

from contextkit import ContextRequest
from contextkit_code import contextkit_query
from tests.benchmarks.harness import Report, percentile
from tests.benchmarks.quality.annotations import (
    AnnotatedRepository,
    CodeQuestion,
    Target,
    read_annotations,
)
from tests.benchmarks.quality.evidence import mean
from tests.benchmarks.quality.ndcg import ndcg
from tests.benchmarks.quality.own_questions import OWN_QUESTIONS
from tests.benchmarks.quality.workspaces import IndexedCode, indexed_code
from tests.benchmarks.texts import ROOT

__all__ = ["Answered", "Measured", "Result", "main", "measure"]

_TIMED_ROUNDS = 3


@frozen
class Result:
    """A file and lines of it that were found."""

    path: str
    start: int
    end: int


@frozen
class Answered:
    """A question with what was found for it, best first."""

    question: CodeQuestion
    results: Sequence[Result]

    @property
    def files(self) -> list[str]:
        """The files, each once."""
        return list(dict.fromkeys(result.path for result in self.results))

    @property
    def score(self) -> float:
        """NDCG@10."""
        return ndcg(self._place(target) for target in self.question.targets)

    def _place(self, target: Target) -> int:
        """How many files there are up to the first result that covers a target; 0 for none."""
        files: set[str] = set()
        for result in self.results:
            files.add(result.path)
            if target.covered_by(result.path, result.start, result.end):
                return len(files)
        return 0


@frozen
class Measured:
    """A repository's questions, answered.

    Attributes:
        name: the repository.
        units: how many it has.
        index_seconds: what indexing them took.
        again_seconds: what an index run without any change took.
        answered: its questions.
        milliseconds: what each query took, warm, several times each.
    """

    name: str
    units: int
    index_seconds: float
    again_seconds: float
    answered: Sequence[Answered]
    milliseconds: Sequence[float]

    @property
    def score(self) -> float:
        """The mean of its questions'."""
        return mean(each.score for each in self.answered)


def measure(repository: AnnotatedRepository, folder: Path, limit: int) -> Measured:
    """Index a repository's folder and ask its questions, `limit` items each."""
    with indexed_code(folder) as indexed:
        answered, milliseconds = asyncio.run(_ask(indexed, repository.questions, limit))
        return Measured(
            repository.name,
            indexed.units,
            indexed.seconds,
            indexed.again_seconds,
            answered,
            milliseconds,
        )


async def _ask(
    indexed: IndexedCode, questions: Sequence[CodeQuestion], limit: int
) -> tuple[list[Answered], list[float]]:
    records = indexed.records()
    answered, milliseconds = [], []
    for number in range(1 + _TIMED_ROUNDS):
        for question in questions:
            started = time.perf_counter()
            request = ContextRequest(query=question.text, limit=limit, records=records)
            items = await contextkit_query(request)
            if number:
                milliseconds.append(1000 * (time.perf_counter() - started))
            else:
                answered.append(Answered(question, [_result(item.metadata) for item in items]))
    return answered, milliseconds


def _result(metadata: Mapping[str, Any]) -> Result:
    return Result(metadata["file_path"], metadata["start_line"], metadata["end_line"])


def reports(measured: Sequence[Measured]) -> list[Report]:
    """The tables: by repository, by kind of question, by halves of the repositories."""
    return [_by_repository(measured), _by_kind(measured), _by_halves(measured)]


def _by_repository(measured: Sequence[Measured]) -> Report:
    rows: list[Mapping[str, Any]] = [
        {
            "repository": each.name,
            "NDCG@10": f"{each.score:.3f}",
            "questions": len(each.answered),
            "units": each.units,
            "query, ms": percentile(each.milliseconds, 50),
            "95%": percentile(each.milliseconds, 95),
            "index, s": each.index_seconds,
            "again, s": each.again_seconds,
        }
        for each in measured
    ]
    overall = mean(each.score for each in measured)
    return Report(
        title="code search", rows=rows, note=f"mean of the repositories' means: {overall:.4f}"
    )


def _by_kind(measured: Sequence[Measured]) -> Report:
    scores: dict[str, list[float]] = {}
    for each in measured:
        for answered in each.answered:
            scores.setdefault(answered.question.kind, []).append(answered.score)
    rows = [
        {"kind of question": kind, "questions": len(found), "NDCG@10": f"{mean(found):.3f}"}
        for kind, found in sorted(scores.items())
    ]
    return Report(title="by kind, the mean of all questions", rows=rows)


def _by_halves(measured: Sequence[Measured]) -> Report:
    in_order = sorted(measured, key=lambda each: each.name)
    rows = [
        {
            "half": ", ".join(each.name for each in half),
            "NDCG@10": f"{mean(each.score for each in half):.3f}",
        }
        for half in (in_order[::2], in_order[1::2])
        if half
    ]
    return Report(title="by halves", rows=rows)


def _misses(measured: Sequence[Measured]) -> str:
    lines = []
    for each in measured:
        for answered in each.answered:
            if answered.score < 0.7:
                question = answered.question
                wanted = ", ".join(target.path for target in question.targets)
                lines.append(
                    f"{each.name} {answered.score:.2f} {question.text}\n"
                    f"    wanted {wanted}\n    found {', '.join(answered.files[:4])}"
                )
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print the tables."""
    parser = _parser()
    given = parser.parse_args(arguments)
    if (given.data is None) != (given.repos is None):
        parser.error("--data and --repos go together")
    if given.data is None:
        own = AnnotatedRepository("this repository", "", OWN_QUESTIONS)
        measured = [measure(own, ROOT, given.limit)]
    else:
        measured = [
            measure(each, given.repos / each.name / each.root, given.limit)
            for each in read_annotations(given.data)
            if not given.only or each.name in given.only
        ]
    tables = reports(measured)
    for table in tables:
        table.show()
    if given.misses:
        click.echo(_misses(measured))
    if given.json:
        given.json.write_text(json.dumps([table.as_dict() for table in tables], indent=2) + "\n")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="code", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, help="a folder with repos.json and annotations/")
    parser.add_argument("--repos", type=Path, help="a folder with a folder for each repository")
    parser.add_argument("--only", nargs="+", help="these repositories")
    parser.add_argument("--limit", type=int, default=20, help="items per question")
    parser.add_argument("--misses", action="store_true", help="show the questions under 0.7")
    parser.add_argument("--json", type=Path, help="a file for the same as data")
    return parser


if __name__ == "__main__":
    main()
