"""Issues: is what their fix changed found, with the whole issue as the query?

    python -m tests.benchmarks.quality issues [--data DIR --repos DIR] [--only NAME ...]
        [--ways default code] [--budgets 2000 4000 8000] [--kept DIR] [--json FILE]

`--data` has `open.jsonl`, an issue with its `problem`, `base_commit` and the lines that the
fix changed each; `--repos` has a git repository for each name. `file@K` is the share of the
issues of which a changed file is among the K best files of the code source; `function` the
share of the changed places whose function or class is an item of a context of so many tokens.

    default   all sources, nothing set
    code      the code source alone, an item for each 60 tokens

The halves are the issues of even and of odd places: choose on one, report the other.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Mapping, Sequence

from attrs import frozen

from contextkit import ContextItem, ContextRequest
from contextkit_code import contextkit_query
from tests.benchmarks.harness import Report
from tests.benchmarks.quality.evidence import mean
from tests.benchmarks.quality.tasks import (
    Gold,
    Indexed,
    Task,
    indexed_task,
    task_parser,
    tasks_of,
)

__all__ = ["BUDGETS", "Answered", "main", "place_of_first", "share_found"]

BUDGETS = (2000, 4000, 8000)
"""Tokens of the whole context."""

_RANKS = (1, 5, 10)
_ITEMS = 60


@frozen
class Answered:
    """What was found for an issue.

    Attributes:
        issue: its place among the issues.
        place: that of its first changed file among the ranked files, from 1; 0 for none.
        functions: way and budget -> the share of its changed places in the context.
    """

    issue: int
    place: int
    functions: Mapping[tuple[str, int], float]


def place_of_first(task: Task, files: Iterable[str]) -> int:
    """The place of the first file that a fix changed, from 1, a file counted once; 0 for none."""
    ranked = enumerate(dict.fromkeys(files), 1)
    return next((place for place, file in ranked if file in task.files), 0)


def share_found(task: Task, items: Sequence[ContextItem]) -> float:
    """The share of the changed places that stand in the lines of an item."""
    return mean(float(any(_holds(item.metadata, gold) for item in items)) for gold in task.gold)


def _holds(metadata: Mapping[str, object], gold: Gold) -> bool:
    first, last = metadata.get("start_line"), metadata.get("end_line")
    return (
        metadata.get("file_path") == gold.file
        and isinstance(first, int)
        and isinstance(last, int)
        and first <= gold.end
        and gold.start <= last
    )


async def _ask(
    indexed: Indexed, task: Task, place: int, ways: Sequence[str], budgets: Sequence[int]
) -> Answered:
    request = ContextRequest(query=task.problem, limit=_ITEMS, records=indexed.code_records())
    ranked = [str(item.metadata.get("file_path")) for item in await contextkit_query(request)]
    functions = {
        (way, budget): share_found(task, await indexed.context(task, way, budget))
        for way in ways
        for budget in budgets
    }
    return Answered(place, place_of_first(task, ranked), functions)


def reports(answered: Sequence[Answered]) -> list[Report]:
    """A table of all issues and of both halves."""
    groups = {
        "all": answered,
        "even places": answered[::2],
        "odd places": answered[1::2],
    }
    kinds = list(dict.fromkeys(kind for each in answered for kind in each.functions))
    rows = [_row(label, own, kinds) for label, own in groups.items()]
    return [Report(title="what fixes changed", rows=rows)]


def _row(
    label: str, answered: Sequence[Answered], kinds: Sequence[tuple[str, int]]
) -> dict[str, object]:
    ranks = {f"file@{k}": mean(float(0 < each.place <= k) for each in answered) for k in _RANKS}
    functions = {
        f"{way}: function in {budget}": mean(each.functions[way, budget] for each in answered)
        for way, budget in kinds
    }
    figures = {name: f"{value:.3f}" for name, value in {**ranks, **functions}.items()}
    return {"issues": label, "number": len(answered), **figures}


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print the table."""
    parser = task_parser("issues", __doc__ or "", BUDGETS)
    given = parser.parse_args(arguments)
    answered = []
    for place, task in enumerate(tasks_of(parser, given)):
        with indexed_task(task, given.repos, given.kept, given.ways) as indexed:
            answered.append(asyncio.run(_ask(indexed, task, place, given.ways, given.budgets)))
    tables = reports(answered)
    for table in tables:
        table.show()
    if given.json:
        given.json.write_text(json.dumps([table.as_dict() for table in tables], indent=2) + "\n")


if __name__ == "__main__":
    main()
