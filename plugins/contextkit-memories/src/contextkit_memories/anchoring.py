"""Look up in a workspace what a memory's text mentions."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from contextkit.indexing import Folder, Git, GitError, GitFailedError, git_files
from contextkit.logs import get_logger
from contextkit_memories.anchors import MAX_ANCHORS, NEEDED, WITNESSES, Anchor
from contextkit_memories.occurrences import DEFINED, USED
from contextkit_memories.places import exists, grade_in
from contextkit_memories.references import Reference, references_in

_SEARCHED_NAMES = 20
_FILES_PER_NAME = 40
_MAX_OUTPUT = 8_000_000
_NO_MATCH = 1
_SECONDS = 2.0
_log = get_logger(__name__)


def anchors_of(text: str, workspace: Path) -> tuple[Anchor, ...]:
    """Return the anchors of a text, by the state of the workspace.

    Without git, only paths become anchors. Nothing is raised: a reference that cannot be looked up
    is not anchored.
    """
    references = references_in(text)
    if not references:
        return ()
    try:
        return _Anchoring(workspace).anchors(references)
    except GitError as error:
        _log.debug("memory_not_anchored", reason=str(error))
        return ()


class _Anchoring:
    """Looks up references in one workspace."""

    def __init__(self, workspace: Path) -> None:
        self.folder = Folder(workspace)
        self.git = Git(workspace, timeout=_SECONDS)
        self.listed: Sequence[str] | None = None

    def anchors(self, references: Iterable[Reference]) -> tuple[Anchor, ...]:
        found: list[Anchor] = []
        names: list[Reference] = []
        for reference in references:
            if reference.kind == "path":
                found += self._paths(reference.text)
            elif reference.kind == "commit":
                found += self._commits(reference.text)
            else:
                names.append(reference)
        # What is a path is no name: `setup.py` does not use `setup`.
        taken = {anchor[1] for anchor in found}
        found += self._names([name for name in names if name.text not in taken])
        return tuple(dict.fromkeys(found))[:MAX_ANCHORS]

    def _paths(self, text: str) -> list[Anchor]:
        path = text.rstrip("/")
        if isinstance(self.folder.look_up(path), os.stat_result):
            return [("path", text, path)]
        if text.endswith("/"):
            return []
        if self.listed is None:
            self.listed = git_files(self.folder.root).paths or []
        fitting = [each for each in self.listed if each.endswith(f"/{path}")]
        fitting = [each for each in fitting[:_FILES_PER_NAME] if exists(self.folder, each)]
        return [("path", text, *fitting)] if 0 < len(fitting) <= WITNESSES else []

    def _commits(self, text: str) -> list[Anchor]:
        # Only commits of the history, with a change in the workspace's folder.
        said = self.git.run("log", "-1", "--format=%H %ct", text, "--", check=False)
        parts = said.text.split()
        if said.code or len(parts) != 2 or not parts[0].startswith(text):
            return []
        is_own = self.git.run("merge-base", "--is-ancestor", parts[0], "HEAD", check=False)
        return [("commit", text, *parts)] if is_own.code == 0 else []

    def _names(self, references: Sequence[Reference]) -> list[Anchor]:
        components = [
            Reference("name" if "_" in part.strip("_") else "word", part)
            for reference in references
            if reference.kind == "name" and "-" not in reference.text
            for part in reference.text.split(".")
            if "." in reference.text and len(part) > 1
        ]
        wanted = list(dict.fromkeys([*references, *components]))[:_SEARCHED_NAMES]
        if not wanted:
            return []
        files = files_with(self.git, [reference.text for reference in wanted])
        known = {each: self._witnesses(each, files[each.text]) for each in wanted}
        found = []
        for reference in references:
            parts = [each for each in components if each.text in reference.text.split(".")]
            # `Shelf.restock` is true as long as both are; `def restock` does not have the dot.
            held = [each for each in parts if known.get(each)] or [reference]
            found += [(each.kind, each.text, *known[each]) for each in held if known.get(each)]
        return found

    def _witnesses(self, reference: Reference, paths: Iterable[str]) -> tuple[str, ...]:
        """Choose files that contain a name, those that define it first."""
        graded: dict[int, list[str]] = defaultdict(list)
        for path in paths:
            graded[grade_in(self.folder, path, reference.text)].append(path)
        fitting = [p for g in (DEFINED, USED) if g >= NEEDED[reference.kind] for p in graded[g]]
        return tuple(fitting[:WITNESSES])


def files_with(git: Git, names: Sequence[str]) -> Mapping[str, list[str]]:
    """Map names to files of a work tree that contain them, some of each.

    Raises `GitError`, also where there is no repository.
    """
    found: dict[str, dict[str, None]] = {name: {} for name in names}
    for path, name in _matches(git, names):
        files = found.get(name)
        # A store holds only UTF-8.
        if files is not None and len(files) < _FILES_PER_NAME and path.isprintable():
            files[path] = None
    return {name: list(files) for name, files in found.items()}


def _matches(git: Git, names: Sequence[str]) -> Iterator[tuple[str, str]]:
    options = ("-z", "-o", "-I", "-F", "-w", "--untracked", "--no-color")
    more = ("--no-full-name", "--no-line-number", "--no-column")
    patterns = [part for name in names for part in ("-e", name)]
    rest, size = b"", 0
    try:
        for chunk in git.stream("grep", *options, *more, *patterns, "--", git.here):
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                path, _, name = os.fsdecode(line).partition("\0")
                yield path, name
            size += len(chunk)
            if size > _MAX_OUTPUT:
                break
    except GitFailedError as error:
        if error.code != _NO_MATCH:
            raise
