"""Memories of an old state of a repository, shown in a newer one: which are marked.

    python -m tests.benchmarks.quality outdated --repos DIR [--pairs NAME=OLD..NEW ...]
        [--each N] [--seed N] [--wrong] [--json FILE]

`--repos` has the git repositories of the pairs, under their names. Of each, memories are written
in a checkout of OLD, the source `code` is indexed, NEW is checked out, and it is indexed again.
Then each memory's own text is the question for a context.

What is broken is known from git and from tree-sitter, not from the plugin: files that NEW lacks,
and names that OLD defines and that are no identifier and no string in NEW. Names that were only
removed from one class, and are elsewhere in NEW, count as neither.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from attrs import frozen
from tree_sitter import Language, Node, Parser

from contextkit import ContextKit
from contextkit.config.load import load_config
from contextkit.plugin.manager import SourceRegistry
from contextkit.workspace.find import Workspace
from contextkit_memories import MemoryBook
from contextkit_memories.checking import check
from tests.benchmarks.harness import Report
from tests.benchmarks.quality.surroundings import clone_at, home_in

__all__ = ["Case", "cases", "main"]

PAIRS = ("flask=1.1.0..3.1.0", "express=3.21.2..v5.2.1", "gin=v1.7.7..v1.12.0")

_GRAMMARS = {".py": "python", ".js": "javascript", ".go": "go"}
_BROKEN = {"deleted": 8, "moved": 8, "renamed": 14, "folder": 1, "commit": 2}
_TRUE = {"kept file": 8, "kept name": 14, "kept commit": 2, "never": 8, "prose": 8}
_WITH_FILE = (
    "The place for this is `{}`.",
    "See {} before you change how requests are handled",
    "We decided to keep the helpers in {}, because the tests need them.",
)
_WITH_NAME = (
    "Call `{}` first, otherwise the second request fails.",
    "The bug was in `{}`: it forgot to close the file",
    "{}() is slow with large bodies; the team measured it in May.",
)
_WITH_COMMIT = ("Since {} the headers are sorted.", "The timeout was introduced in commit {}.")
_NEVER = (
    "The billing service has `charge_customer_twice` and nobody calls it.",
    "Plan: add a `--dry-run-everything` flag and a `SomedayManager` class.",
    "Postgres keeps it in `pg_stat_statements`; see deploy/postgres/tuning.conf there.",
    "In the other repository, `src/ledger/postings.rs` has the same bug.",
    "Kubernetes calls this `terminationGracePeriodSeconds`.",
    "Rename it to `frobnicate_requests` some day, in lib/frobnicate/core.py.",
    "The fix of the other project is 3fa9c1e7 by its maintainers.",
    "GitHub, PostgreSQL and macOS are spelled like this; and/or is not a path.",
)
_PROSE = (
    "The user prefers short answers, and tabs.",
    "Ask before you push to the main branch.",
    "We moved the weekly meeting to Thursday, 10:30.",
    "Reviews need two people, at least one from the core team.",
    "The staging server is slow on Mondays.",
    "Write tests first; run them with -x.",
    "Releases are made by Ada, e.g. at the end of a month.",
    "The customer wants CSV, not XML.",
)


@frozen
class Case:
    """A memory, and whether what it mentions is gone.

    Attributes:
        kind: what it mentions.
        text: the memory.
        is_broken: whether it should be marked.
    """

    kind: str
    text: str
    is_broken: bool


def _git(folder: Path, *arguments: str) -> str:
    ran = subprocess.run(
        ["git", "-C", str(folder), *arguments], capture_output=True, check=True, encoding="utf-8"
    )
    return ran.stdout


@frozen
class _State:
    """A commit of a repository.

    Attributes:
        paths: its files.
        defined: names that its code defines.
        known: all its identifiers and strings.
    """

    paths: frozenset[str]
    defined: frozenset[str]
    known: frozenset[str]

    @classmethod
    def of(cls, folder: Path, commit: str) -> _State:
        _git(folder, "checkout", "--quiet", "--force", commit)
        paths = frozenset(_git(folder, "ls-files").splitlines())
        defined: set[str] = set()
        known: set[str] = set()
        for path in sorted(paths):
            grammar = _GRAMMARS.get(Path(path).suffix)
            if grammar is None or not (folder / path).is_file():
                continue
            module = import_module(f"tree_sitter_{grammar}")
            tree = Parser(Language(module.language())).parse((folder / path).read_bytes())
            for node in _nodes(tree.root_node):
                text = (node.text or b"").decode("utf-8", "replace")
                if "identifier" in node.type:
                    known.add(text)
                    if _is_defined(node):
                        defined.add(text)
                elif "string" in node.type and len(text) < 200:
                    known.update(text.strip("\"'`").split())
        return cls(paths, frozenset(defined), frozenset(known))


def _nodes(root: Node) -> Iterator[Node]:
    pending = [root]
    while pending:
        node = pending.pop()
        yield node
        pending.extend(node.children)


def _is_defined(node: Node) -> bool:
    parent = node.parent
    named = parent is not None and parent.child_by_field_name("name")
    return bool(
        parent is not None
        and named
        and named.id == node.id
        and any(word in parent.type for word in ("definition", "declaration", "type_spec"))
    )


def cases(folder: Path, old: str, new: str, each: float, chance: random.Random) -> list[Case]:
    """Make memories of the old state; the folder is a clone and ends at the old state."""
    after, before = _State.of(folder, new), _State.of(folder, old)
    renames = _git(folder, "diff", "-M", "--diff-filter=R", "--name-status", old, new)
    moved = {line.split("\t")[1] for line in renames.splitlines()}
    ours = set(_git(folder, "rev-list", old).split())
    theirs = set(_git(folder, "rev-list", new).split())
    folders = {str(parent) for path in before.paths for parent in Path(path).parents} - {"."}
    names = {name for name in before.defined if len(name) > 3 and not name.startswith("__")}
    pools = {
        "deleted": [path for path in before.paths - after.paths if path not in moved],
        "moved": [path for path in before.paths - after.paths if path in moved],
        "folder": [f for f in folders if not any(p.startswith(f"{f}/") for p in after.paths)],
        "renamed": names - after.known,
        "commit": [sha[:9] for sha in ours - theirs],
        "kept file": before.paths & after.paths,
        "kept name": names & after.defined,
        "kept commit": [sha[:9] for sha in ours & theirs],
        "never": _NEVER,
        "prose": _PROSE,
    }
    made = []
    for kind, number in {**_BROKEN, **_TRUE}.items():
        pool = sorted(pools[kind])
        chosen = chance.sample(pool, min(len(pool), round(number * each)))
        made += [Case(kind, _said(kind, text, chance), kind in _BROKEN) for text in chosen]
    return made


def _said(kind: str, text: str, chance: random.Random) -> str:
    if kind in {"never", "prose"}:
        return text
    forms: Sequence[str] = _WITH_FILE
    if "name" in kind:
        forms = _WITH_NAME
    elif "commit" in kind:
        forms = _WITH_COMMIT
    return chance.choice(forms).format(f"{text}/" if kind == "folder" else text)


@frozen
class _Outcome:
    case: Case
    in_context: bool
    in_check: bool


def _outcomes(folder: Path, home: Path, new: str, made: Sequence[Case]) -> list[_Outcome]:
    settings = {"store.path": home / "store", "embedding.model": "none"}
    workspace = Workspace(folder.resolve())
    config = load_config(workspace, environment={}, flags=settings)
    with home_in(home), ContextKit.over(workspace, config, SourceRegistry(config, True)) as kit:
        kit.index(["code", "commits"])
        book = MemoryBook.of(kit)
        ids = [book.remember(case.text).id for case in made]
        _git(folder, "checkout", "--quiet", "--force", new)
        kit.index(["code", "commits"])
        marked = asyncio.run(_marked(kit, made))
        checked = {each.memory.id for each in check(book, kit.workspace.root).outdated}
    return [
        _Outcome(case, one in marked, one in checked) for one, case in zip(ids, made, strict=True)
    ]


async def _marked(kit: ContextKit, made: Sequence[Case]) -> set[str]:
    """The ids of the memories that are marked in the context of their own text."""
    found = set()
    for case in made:
        context = await kit.assemble_context(case.text, ["memories"], min_relevance=0)
        found |= {item.id for item in context.items if item.metadata.get("outdated")}
    return found


def report(outcomes: Sequence[_Outcome]) -> Report:
    """A row for each kind, then all the broken and all the others."""
    groups = {kind: [o for o in outcomes if o.case.kind == kind] for kind in {**_BROKEN, **_TRUE}}
    groups["all broken"] = [o for o in outcomes if o.case.is_broken]
    groups["all others"] = [o for o in outcomes if not o.case.is_broken]
    rows: list[dict[str, Any]] = [
        {
            "memories": name,
            "number": len(group),
            "in contexts": f"{sum(o.in_context for o in group) / len(group):.3f}",
            "by check": f"{sum(o.in_check for o in group) / len(group):.3f}",
        }
        for name, group in groups.items()
        if group
    ]
    return Report(title="the share of memories that are marked as outdated", rows=rows)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(prog="outdated", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repos", type=Path, required=True, help="a folder with repositories")
    parser.add_argument("--pairs", nargs="+", default=PAIRS, help="NAME=OLD..NEW, two commits each")
    parser.add_argument("--each", type=float, default=1.0, help="so many times the memories")
    parser.add_argument("--seed", type=int, default=1, help="of what is chosen")
    parser.add_argument("--wrong", action="store_true", help="print those judged wrongly")
    parser.add_argument("--json", type=Path, help="a file for the same as data")
    given = parser.parse_args(arguments)
    outcomes: list[_Outcome] = []
    with tempfile.TemporaryDirectory() as made:
        for pair in given.pairs:
            name, _, commits = pair.partition("=")
            old, _, new = commits.partition("..")
            folder = clone_at(old, Path(made) / name, given.repos / name)
            chosen = cases(folder, old, new, given.each, random.Random(given.seed))
            outcomes += _outcomes(folder, Path(made) / f"{name}-home", new, chosen)
    table = report(outcomes)
    table.show()
    if given.wrong:
        for each in outcomes:
            if {each.in_context, each.in_check} != {each.case.is_broken}:
                print(each)  # noqa: T201
    if given.json:
        given.json.write_text(json.dumps(table.as_dict(), indent=2) + "\n")


if __name__ == "__main__":
    main()
