"""From a changelog entry to the commit that it tells of.

    python -m tests.benchmarks.quality commits [--data DIR --repos DIR] [--only NAME ...]
        [--detail full summary compact ...] [--limit N] [--most N] [--keep DIR] [--json FILE]

`--data` has what `commit_localise.py` wrote, `--repos` the git repository of each set under
the set's name. Two questions about one assembly of a repository's commits: where the right
one stands in the ranking (recall among ten, mean reciprocal rank), and whether it is in the
context of so many tokens.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click
from attrs import frozen

from contextkit import ContextKit
from contextkit.config.load import load_config
from contextkit.models.items import DETAILS
from contextkit.plugin.manager import SourceRegistry
from contextkit.workspace.find import Workspace
from tests.benchmarks.harness import Report
from tests.benchmarks.quality.changelog_entries import (
    OWN_COMMIT,
    OWN_ENTRIES,
    Entry,
    EntrySet,
    read_entry_sets,
)
from tests.benchmarks.quality.evidence import mean
from tests.benchmarks.quality.surroundings import clone_at, home_in

__all__ = ["BUDGETS", "Asked", "main", "recalls"]

BUDGETS = (500, 1000, 2000)
"""Tokens of the whole context."""


_AMONG = 10
_FEW = 20
_PATIENCE_SECONDS = 60.0


@frozen
class Asked:
    """What became of one entry.

    Attributes:
        repository: whose changelog it is of.
        among_ten: the share of its commits that are among the ten best.
        reciprocal_rank: of the best of them; 0 where none was found.
        recall: per budget, the share of them that is in the context.
    """

    repository: str
    among_ten: float
    reciprocal_rank: float
    recall: Sequence[float]


def recalls(
    kit: ContextKit, name: str, entries: Sequence[Entry], detail: str, limit: int
) -> list[Asked]:
    """Ask for each entry's commits, which are indexed already."""
    return asyncio.run(_asked(kit, name, entries, detail, limit))


async def _asked(
    kit: ContextKit, name: str, entries: Sequence[Entry], detail: str, limit: int
) -> list[Asked]:
    found = []
    for entry in entries:
        recall = []
        for budget in BUDGETS:
            context = await kit.assemble_context(
                entry.text,
                ["commits"],
                limit=limit,
                max_tokens=budget,
                detail=detail,
                tokens="o200k_base",
            )
            recall.append(_share(entry, [item.id for item in context.items]))
        ranked = [row.id for row in context.trace.items if row.verdict != "below_floor"]
        among_ten = _share(entry, ranked[:_AMONG])
        found.append(Asked(name, among_ten, _reciprocal(entry, ranked), recall))
    return found


def _share(entry: Entry, ids: Sequence[str]) -> float:
    return mean(float(any(each.startswith(sha) for each in ids)) for sha in entry.shas)


def _reciprocal(entry: Entry, ids: Sequence[str]) -> float:
    ranks = (rank for rank, each in enumerate(ids, 1) if each.startswith(tuple(entry.shas)))
    return 1 / next(ranks, float("inf"))


@contextlib.contextmanager
def indexed_commits(repository: Path, store: Path) -> Iterator[ContextKit]:
    """A kit with a repository's commits; a store that is there already is brought up to date."""
    settings = {
        "project": "benchmark",
        "store.path": store,
        "assemble.source_timeout": _PATIENCE_SECONDS,
        "assemble.deadline": _PATIENCE_SECONDS,
    }
    workspace = Workspace(repository.resolve())
    config = load_config(workspace, environment={}, flags=settings)
    with ContextKit.over(workspace, config, SourceRegistry(config, True)) as kit:
        outcome = kit.index(["commits"])["commits"]
        if outcome.problem:
            raise click.ClickException(f"{repository}: {outcome.problem}")
        yield kit


def report(asked: Sequence[Asked], detail: str) -> Report:
    """A row for each repository, then all entries together and the mean of the repositories."""
    names = list(dict.fromkeys(one.repository for one in asked))
    by_name = {name: [one for one in asked if one.repository == name] for name in names}
    rows = [_row(name, [own]) for name, own in by_name.items()]
    if len(names) > 1:
        large = [own for own in by_name.values() if len(own) >= _FEW]
        rows.append(_row("all entries", [asked]))
        rows.append(_row(f"mean of those with {_FEW} or more", large))
    return Report(title=f"changelog entry -> commit, detail={detail}", rows=rows)


def _row(label: str, groups: Sequence[Sequence[Asked]]) -> dict[str, Any]:
    """The mean of the groups' means."""

    def figure(values: Sequence[Sequence[float]]) -> str:
        return f"{mean(mean(group) for group in values):.3f}"

    return {
        "repository": label,
        "entries": sum(map(len, groups)),
        f"recall@{_AMONG}": figure([[one.among_ten for one in group] for group in groups]),
        "MRR": figure([[one.reciprocal_rank for one in group] for group in groups]),
        **{
            f"{budget}": figure([[one.recall[n] for one in group] for group in groups])
            for n, budget in enumerate(BUDGETS)
        },
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print the tables."""
    parser = _parser()
    given = parser.parse_args(arguments)
    if (given.data is None) != (given.repos is None):
        parser.error("--data and --repos go together")
    asked: dict[str, list[Asked]] = {detail: [] for detail in given.detail}
    with tempfile.TemporaryDirectory() as made:
        stores = given.keep or Path(made) / "stores"
        for entries, repository in _sets(given, Path(made)):
            with home_in(stores), indexed_commits(repository, stores / entries.name) as kit:
                for detail in given.detail:
                    asked[detail] += recalls(
                        kit, entries.name, entries.entries, detail, given.limit
                    )
    tables = [report(own, detail) for detail, own in asked.items()]
    for table in tables:
        table.show()
    if given.json:
        given.json.write_text(json.dumps([table.as_dict() for table in tables], indent=2) + "\n")


def _sets(given: argparse.Namespace, made: Path) -> Iterator[tuple[EntrySet, Path]]:
    if given.data is None:
        yield EntrySet("this repository", OWN_ENTRIES), clone_at(OWN_COMMIT, made / "clone")
        return
    for entries in read_entry_sets(given.data, given.most):
        if not given.only or entries.name in given.only:
            yield entries, given.repos / entries.name


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="commits", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, help="a folder with what commit_localise.py wrote")
    parser.add_argument("--repos", type=Path, help="a folder with a git repository for each set")
    parser.add_argument("--only", nargs="+", help="these sets")
    parser.add_argument("--detail", nargs="+", choices=DETAILS, default=["full", "compact"])
    parser.add_argument("--limit", type=int, default=50, help="commits per entry")
    parser.add_argument("--most", type=int, default=300, help="entries of a repository")
    parser.add_argument("--keep", type=Path, help="a folder for the stores, to use them again")
    parser.add_argument("--json", type=Path, help="a file for the same as data")
    return parser


if __name__ == "__main__":
    main()
