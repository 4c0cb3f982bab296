"""Facts about a workspace, from the names of its files."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path, PurePosixPath

from attrs import frozen

from contextkit.workspace.folder import Folder
from contextkit.workspace.git import Git, GitError
from contextkit.workspace.listing import git_files
from contextkit.workspace.tool_folders import TOOL_FOLDERS

_MOST_FILES = 100_000
_SUFFIX = re.compile(r"\.[A-Za-z0-9_+-]{1,12}")
_DOCUMENT = re.compile(
    r"(README|CHANGELOG|CHANGES|CONTRIBUTING|ARCHITECTURE|DESIGN|AGENTS|CLAUDE)(\.\w{1,8})?",
    re.IGNORECASE,
)
_DOCUMENT_FOLDERS = frozenset({"doc", "docs", "documentation", "adr", "rfcs", "wiki"})
_PASSED_OVER = TOOL_FOLDERS | {"build", "dist", "target"}


@frozen
class FileKind:
    """The files with one suffix.

    Attributes:
        suffix: lower case, with its dot.
        language: their language, or None.
        files: the number of files.
    """

    suffix: str
    language: str | None
    files: int


@frozen(kw_only=True)
class WorkspaceFacts:
    """Facts about a workspace.

    Attributes:
        files: the number of files, without those that git ignores.
        kinds: the suffixes, the most frequent first.
        documents: files and folders of documentation at the root, by name.
        commits: the number of commits of the current branch; None without a repository or git.
    """

    files: int
    kinds: Sequence[FileKind]
    documents: Sequence[str]
    commits: int | None


def workspace_facts(root: Path, most_kinds: int = 8) -> WorkspaceFacts:
    """Collect facts from the names of a workspace's files.

    Args:
        root: its root folder.
        most_kinds: maximum number of suffixes.
    """
    listed = git_files(root).paths
    names = list(islice(Folder(root).walk(_enters), _MOST_FILES)) if listed is None else listed
    suffixes = Counter(
        suffix
        for suffix in (PurePosixPath(name).suffix.lower() for name in names)
        if _SUFFIX.fullmatch(suffix)
    )
    frequent = sorted(suffixes.items(), key=lambda pair: (-pair[1], pair[0]))[:most_kinds]
    return WorkspaceFacts(
        files=len(names),
        kinds=[FileKind(suffix, _language(suffix), count) for suffix, count in frequent],
        documents=sorted(set(_documents(names))),
        commits=_commits(root),
    )


def _documents(names: Sequence[str]) -> Iterator[str]:
    for name in names:
        first, _, rest = name.partition("/")
        if rest and first.lower() in _DOCUMENT_FOLDERS:
            yield f"{first}/"
        elif not rest and _DOCUMENT.fullmatch(first):
            yield first


def _language(suffix: str) -> str | None:
    from rich.syntax import Syntax

    lexer = Syntax("", Syntax.guess_lexer(f"x{suffix}")).lexer
    return None if lexer is None else str(lexer.name)


def _enters(path: str) -> bool:
    name = path.rstrip("/").rpartition("/")[2]
    return not name.startswith(".") and name not in _PASSED_OVER


def _commits(root: Path) -> int | None:
    try:
        counted = Git(root).run("rev-list", "--count", "HEAD").text.strip()
    except GitError:
        return None
    return int(counted) if counted.isdigit() else None
