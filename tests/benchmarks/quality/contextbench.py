"""The context of a task: how much of it are the files and lines that solve the task.

    python -m tests.benchmarks.quality contextbench [--data DIR --repos DIR] [--only NAME ...]
        [--ways default code] [--budgets 4000 8000] [--kept DIR] [--json FILE]

`--data` has `open.jsonl`, a task with its `problem`, `base_commit` and gold lines each;
`--repos` has a git repository for each name. A figure is the mean over the tasks: recall and
precision of files and of lines, and F1 of lines. A line counts by its file and its number.

    default   all sources, nothing set
    code      the code source alone, an item for each 60 tokens

The halves are the tasks of even and of odd places: choose on one, report the other.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Collection, Mapping, Sequence

from attrs import frozen

from tests.benchmarks.harness import Report
from tests.benchmarks.quality.evidence import mean
from tests.benchmarks.quality.shown_lines import shown_lines
from tests.benchmarks.quality.tasks import Task, indexed_task, task_parser, tasks_of

__all__ = ["BUDGETS", "Scored", "main", "score"]

BUDGETS = (4000, 8000)
"""Tokens of the whole context."""


@frozen
class Scored:
    """One context's figures, each 0..1."""

    place: int
    way: str
    budget: int
    file_recall: float
    file_precision: float
    line_recall: float
    line_precision: float

    @property
    def line_f1(self) -> float:
        """The harmonic mean of both."""
        both = self.line_recall + self.line_precision
        return 2 * self.line_recall * self.line_precision / both if both else 0.0


def score(
    task: Task, place: int, way: str, budget: int, shown: Mapping[str, Collection[int]]
) -> Scored:
    """The figures of one context, from the lines that it shows of each file."""
    gold = {(g.file, line) for g in task.gold for line in range(g.start, g.end + 1)}
    lines = {(file, line) for file, own in shown.items() for line in own}
    files = {file for file, own in shown.items() if own}
    right, hit = files & task.files, lines & gold
    return Scored(
        place=place,
        way=way,
        budget=budget,
        file_recall=len(right) / len(task.files),
        file_precision=len(right) / max(1, len(files)),
        line_recall=len(hit) / len(gold),
        line_precision=len(hit) / max(1, len(lines)),
    )


def reports(scored: Sequence[Scored]) -> list[Report]:
    """A table of both ways and all budgets, and one of the halves."""
    kinds = list(dict.fromkeys((each.way, each.budget) for each in scored))

    def row(way: str, budget: int, places: Collection[int], label: str) -> dict[str, object]:
        own = [
            each
            for each in scored
            if (each.way, each.budget) == (way, budget) and each.place % 2 in places
        ]
        return {
            "way": way,
            "tokens": budget,
            "tasks": f"{len(own)} {label}".strip(),
            "file recall": f"{mean(each.file_recall for each in own):.3f}",
            "file precision": f"{mean(each.file_precision for each in own):.3f}",
            "line recall": f"{mean(each.line_recall for each in own):.3f}",
            "line precision": f"{mean(each.line_precision for each in own):.3f}",
            "line F1": f"{mean(each.line_f1 for each in own):.3f}",
        }

    halves = {"at even places": (0,), "at odd places": (1,)}
    return [
        Report(
            title="files and lines of the tasks in the context",
            rows=[row(way, budget, (0, 1), "") for way, budget in kinds],
        ),
        Report(
            title="by halves of the tasks",
            rows=[
                row(way, budget, places, label)
                for label, places in halves.items()
                for way, budget in kinds
            ],
        ),
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print the tables."""
    parser = task_parser("contextbench", __doc__ or "", BUDGETS)
    given = parser.parse_args(arguments)
    scored = []
    for place, task in enumerate(tasks_of(parser, given)):
        with indexed_task(task, given.repos, given.kept, given.ways) as indexed:
            for way in given.ways:
                for budget in given.budgets:
                    items = asyncio.run(indexed.context(task, way, budget))
                    shown = shown_lines(items, indexed.folder)
                    scored.append(score(task, place, way, budget, shown))
    tables = reports(scored)
    for table in tables:
        table.show()
    if given.json:
        given.json.write_text(json.dumps([table.as_dict() for table in tables], indent=2) + "\n")


if __name__ == "__main__":
    main()
