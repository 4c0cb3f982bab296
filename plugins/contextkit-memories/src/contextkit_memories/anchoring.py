"""Look up in a workspace what a memory's text mentions."""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from pathlib import Path

from attrs import define

from contextkit.indexing import Folder, Git, GitError, GitFailedError, git_files
from contextkit.logs import get_logger
from contextkit_memories.anchors import MAX_ANCHORS, NEEDED, WITNESSES, Anchor
from contextkit_memories.occurrences import DEFINED, USED, grade
from contextkit_memories.places import grade_in
from contextkit_memories.references import Reference, references_in

_SEARCHED_NAMES = 20
_FILES_PER_NAME = 40
_MAX_OUTPUT = 8_000_000
_NO_MATCH = 1
_SECONDS = 2.0
_log = get_logger(__name__)


def anchors_of(text: str, tree: Tree) -> tuple[Anchor, ...]:
    """Return the anchors of a text, by the state of a tree.

    Without git, only paths become anchors. Nothing is raised: a reference that cannot be looked up
    is not anchored.
    """
    found: list[Anchor] = []
    names: list[Reference] = []
    try:
        for reference in references_in(text):
            if reference.kind == "path":
                found += _of_path(reference.text, tree)
            elif reference.kind == "commit":
                found += _of_commit(reference.text, tree)
            else:
                names.append(reference)
        # What is a path is no name: `setup.py` does not use `setup`.
        taken = {anchor[1] for anchor in found}
        found += _of_names([name for name in names if name.text not in taken], tree)
    except GitError as error:
        _log.debug("memory_not_anchored", reason=str(error))
    return tuple(dict.fromkeys(found))[:MAX_ANCHORS]


@define(slots=False)
class Tree:
    """The files of a workspace, now or at a commit.

    Attributes:
        root: the workspace's root folder.
        commit: the full sha of a commit of its history; None for the files as they are.
        timeout: seconds until a git command is stopped.
    """

    root: Path
    commit: str | None = None
    timeout: float = _SECONDS

    @cached_property
    def git(self) -> Git:
        """Git in the root folder."""
        return Git(self.root, timeout=self.timeout)

    @cached_property
    def has_git(self) -> bool:
        """Whether git has a commit of the workspace."""
        return self._says("rev-parse", "--verify", "HEAD") is not None

    @cached_property
    def has_whole_history(self) -> bool:
        """Whether git has all commits, as it has not in a shallow clone."""
        return self.has_git and self._says("rev-parse", "--is-shallow-repository") == "false"

    def commit_at(self, moment: datetime) -> str | None:
        """Return the commit that was the newest at a time, or None."""
        return self._says("rev-list", "-1", f"--before={int(moment.timestamp())}", "HEAD") or None

    def _says(self, *command: str) -> str | None:
        try:
            return self.git.run(*command).text.strip()
        except GitError:
            return None

    @cached_property
    def folder(self) -> Folder:
        """The root folder."""
        return Folder(self.root)

    @cached_property
    def paths(self) -> Sequence[str]:
        """The paths of all files; none without git."""
        if self.commit is None:
            return git_files(self.root, self.timeout).paths or []
        listed = self.git.run("ls-tree", "-r", "-z", "--name-only", self.commit).output
        return os.fsdecode(listed).split("\0")

    def exists(self, path: str) -> bool:
        """Whether there is a file or folder."""
        if self.commit is None:
            return isinstance(self.folder.look_up(path), os.stat_result)
        return any(each == path or each.startswith(f"{path}/") for each in self.paths)

    def grade(self, path: str, name: str) -> int:
        """Tell how a file contains a name, as one of the constants of `occurrences`."""
        if self.commit is None:
            return grade_in(self.folder, path, name)
        content = first_bytes(self.git.stream("cat-file", "blob", f"{self.commit}:./{path}"))
        return grade(content.decode("utf-8", "replace"), path, name)

    def files_with(self, names: Sequence[str]) -> Mapping[str, list[str]]:
        """Map names to files that contain them, some of each.

        Raises `GitError`, also where there is no repository.
        """
        found: dict[str, dict[str, None]] = {name: {} for name in names}
        batches = (names[n : n + _SEARCHED_NAMES] for n in range(0, len(names), _SEARCHED_NAMES))
        for path, name in (match for batch in batches for match in self._matches(batch)):
            files = found.get(name)
            # A store holds only UTF-8.
            if files is not None and len(files) < _FILES_PER_NAME and path.isprintable():
                files[path] = None
        return {name: list(files) for name, files in found.items()}

    def _matches(self, names: Sequence[str]) -> Iterator[tuple[str, str]]:
        options = ["-z", "-o", "-I", "-F", "-w", "--no-color", "--no-line-number", "--no-column"]
        patterns = [part for name in names for part in ("-e", name)]
        # With the commit, git prints `COMMIT:PATH`.
        where = ["--untracked"] if self.commit is None else []
        trees = [] if self.commit is None else [self.commit]
        arguments = ["--no-full-name", *options, *where, *patterns, *trees, "--", self.git.here]
        rest, size, end = b"", 0, time.monotonic() + self.timeout
        try:
            for chunk in self.git.stream("grep", *arguments):
                *lines, rest = (rest + chunk).split(b"\n")
                for line in lines:
                    path, _, name = os.fsdecode(line).partition("\0")
                    yield path.removeprefix(f"{self.commit}:"), name
                size += len(chunk)
                if size > _MAX_OUTPUT or time.monotonic() > end:
                    break
        except GitFailedError as error:
            if error.code != _NO_MATCH:
                raise

    def witnesses(self, kind: str, name: str, paths: Iterable[str]) -> tuple[str, ...]:
        """Choose files that contain a name as it must be, those that define it first."""
        graded: dict[int, list[str]] = defaultdict(list)
        for path in paths:
            graded[self.grade(path, name)].append(path)
        return tuple(p for each in (DEFINED, USED) if each >= NEEDED[kind] for p in graded[each])

    def fitting(self, path: str) -> list[str]:
        """List the files of which a path is the end."""
        fitting = [each for each in self.paths if each.endswith(f"/{path}")]
        return [each for each in fitting[:_FILES_PER_NAME] if self.exists(each)]

    def has_commit(self, sha: str) -> bool:
        """Whether a commit is in the history of the tree."""
        head = self.commit or "HEAD"
        return self.git.run("merge-base", "--is-ancestor", sha, head, check=False).code == 0


def first_bytes(chunks: Iterable[bytes], most: int = 1_000_000) -> bytes:
    """Join chunks until they have so many bytes."""
    joined = bytearray()
    for chunk in chunks:
        joined += chunk
        if len(joined) > most:
            break
    return bytes(joined)


def _of_path(text: str, tree: Tree) -> list[Anchor]:
    path = text.rstrip("/")
    if tree.exists(path):
        return [("path", text, path)]
    fitting = [] if text.endswith("/") else tree.fitting(path)
    return [("path", text, *fitting)] if 0 < len(fitting) <= WITNESSES else []


def _of_commit(text: str, tree: Tree) -> list[Anchor]:
    said = tree.git.run("log", "-1", "--format=%H %ct", text, "--", check=False)
    parts = said.text.split()
    if said.code or len(parts) != 2 or not parts[0].startswith(text):
        return []
    return [("commit", text, *parts)] if tree.has_commit(parts[0]) else []


def _of_names(references: Sequence[Reference], tree: Tree) -> list[Anchor]:
    parts = {each: _parts(each) for each in references}
    wanted = dict.fromkeys([*references, *(part for each in parts.values() for part in each)])
    searched = list(wanted)[:_SEARCHED_NAMES]
    files = tree.files_with([each.text for each in searched])
    known = {each: tree.witnesses(each.kind, each.text, files[each.text]) for each in searched}
    found: list[Anchor] = []
    for reference in references:
        for each, paths in _held(reference, parts[reference], known).items():
            found.append((each.kind, each.text, *paths[:WITNESSES]))
    return found


def _parts(reference: Reference) -> list[Reference]:
    """List the last two names of a name with dots."""
    names = reference.text.split(".")[-2:]
    if len(names) == 1 or reference.kind != "name":
        return []
    return [Reference("name" if "_" in name.strip("_") else "word", name) for name in names]


def _held(
    reference: Reference, parts: Sequence[Reference], known: Mapping[Reference, Sequence[str]]
) -> dict[Reference, Sequence[str]]:
    """Choose what to look for later, with the files that have it.

    `Shelf.restock` is true as long as both are: `def restock` does not have the dot. A plain word
    is a part of it only where one file defines both.
    """
    files = [set(known.get(part, ())) for part in parts]
    common = set.intersection(*files) if files else set()
    held: dict[Reference, Sequence[str]] = {part: sorted(common) for part in parts if common}
    if not held:
        held = {part: known[part] for part in parts if part.kind == "name" and known.get(part)}
    if not held and known.get(reference):
        held = {reference: known[reference]}
    return held
