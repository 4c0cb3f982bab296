"""Tasks on repositories, each with the lines that solve it: reading, indexing, asking."""

from __future__ import annotations

import argparse
import contextlib
import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import click
from attrs import evolve, frozen

from contextkit import ContextItem, ContextKit
from contextkit.config.load import load_config
from contextkit.models.records import Records
from contextkit.plugin.manager import SourceRegistry
from contextkit.store.hold import BatchSearcher
from contextkit.workspace.find import Workspace
from tests.benchmarks.quality.own_questions import own_commit_questions
from tests.benchmarks.quality.surroundings import clone_at, home_in

__all__ = [
    "WAYS",
    "Gold",
    "Indexed",
    "Task",
    "indexed_task",
    "own_tasks",
    "read_tasks",
    "task_parser",
    "tasks_of",
]

WAYS: Mapping[str, Sequence[str] | None] = {"default": None, "code": ("code",)}
"""Way -> the sources that are asked; None for all that are on."""

_SETTINGS = {"assemble.source_timeout": 60.0, "assemble.deadline": 90.0}
_LEAST_ITEMS = 20
_TOKENS_AN_ITEM = 60


@frozen
class Gold:
    """Lines of a file that a task is about, the first and the last one included."""

    file: str
    start: int
    end: int


@frozen
class Task:
    """A task.

    Attributes:
        name: what it is called.
        repository: the name of its repository's folder; "" for this repository.
        commit: the commit before it was solved.
        problem: its description, which is the query.
        gold: the lines that solve it.
    """

    name: str
    repository: str
    commit: str
    problem: str
    gold: Sequence[Gold]

    @property
    def files(self) -> frozenset[str]:
        """The files that it is about."""
        return frozenset(each.file for each in self.gold)


@frozen
class Indexed:
    """A task's work tree, indexed."""

    kit: ContextKit
    folder: Path

    def code_records(self) -> Records:
        """The code's records, with searches that travel together as those of an assembly do."""
        return evolve(self.kit.records("code"), searcher=BatchSearcher(self.kit.store))

    async def context(self, task: Task, way: str, budget: int) -> Sequence[ContextItem]:
        """The items of the context for a task."""
        sources = WAYS[way]
        limit = None if sources is None else max(_LEAST_ITEMS, budget // _TOKENS_AN_ITEM)
        context = await self.kit.assemble_context(
            task.problem,
            None if sources is None else list(sources),
            max_tokens=budget,
            record_use=False,
            limit=limit,
        )
        return context.items


def read_tasks(data: Path) -> list[Task]:
    """The tasks of a file of JSON lines, or of `open.jsonl` in a folder."""
    file = data / "open.jsonl" if data.is_dir() else data
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return [
        Task(
            name=row["id"],
            repository=row["repo"].rpartition("/")[2],
            commit=row["base_commit"],
            problem=row["problem"],
            gold=[Gold(each["file"], each["start"], each["end"]) for each in row["gold"]],
        )
        for row in rows
    ]


def own_tasks() -> list[Task]:
    """A handful about this repository, for when there is no data."""
    return [
        Task(
            name=question.text,
            repository="",
            commit="HEAD",
            problem=question.text,
            gold=[Gold(each.path, each.line, each.line) for each in question.functions],
        )
        for question in own_commit_questions()
    ]


@contextlib.contextmanager
def indexed_task(
    task: Task, repositories: Path | None, kept: Path | None, ways: Sequence[str]
) -> Iterator[Indexed]:
    """Check out a task's commit and index what the ways ask.

    Args:
        task: the task.
        repositories: a folder with its repository; None for this one.
        kept: where trees and stores are kept, and found again; None keeps nothing.
        ways: some of `WAYS`; without "default" the code alone is indexed.
    """
    with contextlib.ExitStack() as stack:
        base = kept or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        home = stack.enter_context(tempfile.TemporaryDirectory())
        stack.enter_context(home_in(Path(home)))
        place = base / f"{task.repository or 'own'}-{task.commit[:12]}"
        folder = place / "tree"
        if not folder.exists():
            place.mkdir(parents=True, exist_ok=True)
            source = () if repositories is None else (repositories / task.repository,)
            clone_at(task.commit, folder, *source)
        asked = "all" if "default" in ways else "code"
        settings = {**_SETTINGS, "project": "benchmark", "store.path": place / f"store-{asked}"}
        workspace = Workspace(folder.resolve())
        config = load_config(workspace, environment={}, flags=settings)
        with ContextKit.over(workspace, config, SourceRegistry(config, True)) as kit:
            for name, outcome in kit.index(None if asked == "all" else ["code"]).items():
                if outcome.problem:
                    raise click.ClickException(f"{task.name}: {name}: {outcome.problem}")
            yield Indexed(kit, folder)


def task_parser(name: str, said: str, budgets: Sequence[int]) -> argparse.ArgumentParser:
    """The options of a measurement of tasks."""
    parser = argparse.ArgumentParser(prog=name, description=said.splitlines()[0])
    parser.add_argument("--data", type=Path, help="a folder with open.jsonl, or such a file")
    parser.add_argument("--repos", type=Path, help="a folder with a git repository for each name")
    parser.add_argument("--only", nargs="+", help="tasks of these repositories")
    parser.add_argument("--ways", nargs="+", choices=list(WAYS), default=list(WAYS))
    parser.add_argument("--budgets", nargs="+", type=int, default=list(budgets))
    parser.add_argument("--kept", type=Path, help="a folder where trees and indexes are kept")
    parser.add_argument("--json", type=Path, help="a file for the same as data")
    return parser


def tasks_of(parser: argparse.ArgumentParser, given: argparse.Namespace) -> list[Task]:
    """The tasks that the options want."""
    if (given.data is None) != (given.repos is None):
        parser.error("--data and --repos go together")
    tasks = own_tasks() if given.data is None else read_tasks(given.data)
    return [task for task in tasks if not given.only or task.repository in given.only]
