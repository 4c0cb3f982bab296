"""Code by a commit's subject: are the functions that it changed in the assembled context?

    python -m tests.benchmarks.quality localise [--data DIR --repos DIR] [--only NAME ...]
        [--detail summary full ...] [--limit N] [--sources-only] [--json FILE]

`--data` has what `commit_localise.py` wrote, `--repos` the git repository of each set under
the set's name. The tree before all of the commits is indexed; a subject's score is the share
of the changed functions whose signature and docstring are in the context.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import io
import json
import stat
import subprocess
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from attrs import frozen

from contextkit import ContextItem, ContextKit
from contextkit.models.items import DETAILS
from tests.benchmarks.harness import Report
from tests.benchmarks.quality.commit_questions import (
    ChangedFunction,
    CommitQuestion,
    CommitSet,
    read_commit_sets,
)
from tests.benchmarks.quality.evidence import evidence_recall, mean
from tests.benchmarks.quality.own_questions import own_commit_questions
from tests.benchmarks.quality.workspaces import indexed_code
from tests.benchmarks.texts import ROOT

__all__ = ["BUDGETS", "Asked", "main", "recalls"]

BUDGETS = (2000, 4000, 8000)
"""Tokens of the whole context."""


@frozen
class Asked:
    """A question, and the share of its functions that were in a context of each budget."""

    repository: str
    detail: str
    names_one: bool
    recall: Sequence[float]


def recalls(
    name: str, folder: Path, questions: Sequence[CommitQuestion], details: Sequence[str], limit: int
) -> list[Asked]:
    """Index a folder's code and ask the questions, in each detail and within each budget."""
    with indexed_code(folder) as indexed:
        return [
            Asked(name, detail, question.names_one, found)
            for detail in details
            for question, found in zip(
                questions,
                asyncio.run(_ask(indexed.kit, questions, detail, limit)),
                strict=True,
            )
        ]


async def _ask(
    kit: ContextKit, questions: Sequence[CommitQuestion], detail: str, limit: int
) -> list[list[float]]:
    found = []
    for question in questions:
        recall = []
        for budget in BUDGETS:
            context = await kit.assemble_context(
                question.text,
                ["code"],
                limit=limit,
                max_tokens=budget,
                detail=detail,
                tokens="o200k_base",
            )
            recall.append(mean(_is_in(each, context.items) for each in question.functions))
        found.append(recall)
    return found


def _is_in(function: ChangedFunction, items: Sequence[ContextItem]) -> float:
    """1 where an item of those lines shows signature and docstring."""
    wanted = [text for text in (function.signature, function.docstring) if text]
    shown = [item.content for item in items if _holds(item.metadata, function)]
    return float(any(evidence_recall(content, wanted) == 1.0 for content in shown))


def _holds(metadata: Mapping[str, Any], function: ChangedFunction) -> bool:
    return (
        metadata.get("file_path") == function.path
        and metadata["start_line"] <= function.line <= metadata["end_line"]
    )


def reports(asked: Sequence[Asked]) -> list[Report]:
    """A table for each detail: the repositories, and both sorts of questions."""
    return [
        _report(detail, [one for one in asked if one.detail == detail])
        for detail in dict.fromkeys(one.detail for one in asked)
    ]


def _report(detail: str, asked: Sequence[Asked]) -> Report:
    names = list(dict.fromkeys(one.repository for one in asked))
    rows = []
    for label, wanted in (("", None), (", one is named", True), (", none is named", False)):
        chosen = [one for one in asked if wanted is None or one.names_one is wanted]
        by_name = {name: [one for one in chosen if one.repository == name] for name in names}
        rows += [_row(f"{name}{label}", [found]) for name, found in by_name.items() if found]
        if len(names) > 1:
            rows.append(_row(f"mean{label}", [found for found in by_name.values() if found]))
    return Report(title=f"functions in the context, detail={detail}", rows=rows)


def _row(label: str, groups: Sequence[Sequence[Asked]]) -> dict[str, Any]:
    """The mean of the groups' means."""
    at_budget = {
        f"{budget}": f"{mean(mean(one.recall[n] for one in group) for group in groups):.3f}"
        for n, budget in enumerate(BUDGETS)
    }
    return {"repository": label, "questions": sum(map(len, groups)), **at_budget}


@contextlib.contextmanager
def _tree(repository: Path, commit: str, folders: Sequence[str]) -> Iterator[Path]:
    """The files of a commit, or those of some folders of it."""
    command = ["git", "-C", str(repository), "archive", "--format=zip", commit, *folders]
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode:
        said = " ".join(done.stderr.decode("utf-8", "replace").split())
        raise click.ClickException(f"{repository}: no tree of {commit}: {said}")
    with tempfile.TemporaryDirectory() as made:
        # Python before 3.11.4 extracts tar files without a filter. What it extracts from a zip
        # file stays in the folder, and a link would become a file with the link's target in it.
        with zipfile.ZipFile(io.BytesIO(done.stdout)) as files:
            members = files.infolist()
            files.extractall(made, [each for each in members if not _is_link(each)])
        yield Path(made)


def _is_link(member: zipfile.ZipInfo) -> bool:
    return stat.S_ISLNK(member.external_attr >> 16)


def _measure(given: argparse.Namespace, commits: CommitSet) -> list[Asked]:
    of_sources = {
        function.path.partition("/")[0]
        for question in commits.questions
        for function in question.functions
    }
    folders = sorted(of_sources) if given.sources_only else []
    with _tree(given.repos / commits.name, commits.base, folders) as folder:
        return recalls(commits.name, folder, commits.questions, given.detail, given.limit)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print the tables."""
    parser = _parser()
    given = parser.parse_args(arguments)
    if (given.data is None) != (given.repos is None):
        parser.error("--data and --repos go together")
    if given.data is None:
        questions = own_commit_questions()
        asked = recalls("this repository", ROOT, questions, given.detail, given.limit)
    else:
        asked = [
            one
            for commits in read_commit_sets(given.data)
            if not given.only or commits.name in given.only
            for one in _measure(given, commits)
        ]
    tables = reports(asked)
    for table in tables:
        table.show()
    if given.json:
        given.json.write_text(json.dumps([table.as_dict() for table in tables], indent=2) + "\n")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="localise", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, help="a folder with what commit_localise.py wrote")
    parser.add_argument("--repos", type=Path, help="a folder with a git repository for each set")
    parser.add_argument("--only", nargs="+", help="these sets")
    parser.add_argument("--detail", nargs="+", choices=DETAILS, default=["full", "summary"])
    parser.add_argument("--limit", type=int, default=200, help="items per question")
    parser.add_argument(
        "--sources-only", action="store_true", help="index only the folders with changed functions"
    )
    parser.add_argument("--json", type=Path, help="a file for the same as data")
    return parser


if __name__ == "__main__":
    main()
