"""Persistent state that the stored records match."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import asdict, field, frozen

from contextkit.models import IndexState
from contextkit.text import counted
from contextkit_commits.repository import Repository

RECORD_FORMAT = 2
"""Record format.

Raised whenever records are made in another way, so that the stored ones are made anew.
"""


@frozen(kw_only=True)
class Indexed:
    """The state that the stored records match.

    Attributes:
        head: the commit whose history they are, or None for no history.
        complete: False while a run is under way, and after one that was interrupted.
        record_format: the `RECORD_FORMAT` they were made with; 0 if it is not known.
        scope: the folder of the repository that they cover.
        detail: how much of each commit was available, as returned by `read_detail`.
        boundary: the shallow clone's cut they were made with.
        max_commits: the setting that they were chosen with.
        count: the number of stored records.
        total: the number of commits in the history.
        reduced: how many were read without lines or files, as objects of theirs are missing.
        missing: how many commits are missing themselves, so that the history ends there.
        is_unscoped: True where all commits are included because those of the folder cannot be
            determined.
    """

    head: str | None = None
    complete: bool = False
    record_format: int = 0
    scope: str = ""
    detail: str = "full"
    boundary: tuple[str, ...] = field(default=(), converter=tuple[str, ...])
    max_commits: int = 0
    count: int = 0
    total: int = 0
    reduced: int = 0
    missing: int = 0
    is_unscoped: bool = False

    def is_up_to_date(self, repository: Repository, max_commits: int) -> bool:
        """Return whether a run would find nothing to do."""
        return (
            self.complete
            and self.record_format == RECORD_FORMAT
            and self.head == repository.head
            and self.scope == repository.scope
            and self.boundary == repository.boundary
            and self.max_commits == max_commits
        )

    def made_like(self, other: Indexed) -> bool:
        """Return whether both states make a commit's record alike."""
        return (self.record_format, self.scope, self.detail) == (
            other.record_format,
            other.scope,
            other.detail,
        )

    def is_whole(self) -> bool:
        """Return whether the records are a complete history."""
        stored_all = self.complete and self.count == self.total
        return stored_all and self.head is not None and not self.scope

    def notes(self) -> Sequence[str]:
        """Return the notes to report on the stored history."""
        notes = []
        if self.head is None:
            notes.append("the repository has no commits yet")
        if self.boundary:
            notes.append(
                f"a shallow clone, cut at {counted(len(self.boundary), 'commit')}, whose files "
                f"are not listed; `git fetch --unshallow` brings the rest"
            )
        if self.detail != "full":
            what = "lines are not counted" if self.detail == "names" else "files are not listed"
            notes.append(f"a partial clone: {what}, as that would fetch them from its server")
        if self.reduced:
            notes.append(
                f"objects are missing from the repository: no lines or files of "
                f"{counted(self.reduced, 'commit')}; `git fsck` names them"
            )
        if self.missing:
            notes.append(
                f"the history ends early: {counted(self.missing, 'commit')} missing from the "
                f"repository; `git fsck` names them"
            )
        if self.is_unscoped:
            notes.append(
                "objects are missing from the repository: which commits changed this folder "
                "cannot be told, so all are indexed"
            )
        if self.count < self.total:
            notes.append(
                f"the newest {self.count:,} of {self.total:,} commits; "
                f"set [sources.commits] max_commits = 0 to index all"
            )
        return notes

    def save(self, state: IndexState) -> None:
        """Save the state."""
        state.save(asdict(self))


def load_indexed(state: IndexState) -> Indexed:
    """Load the saved state.

    Empty if it is missing or another version's.
    """
    try:
        indexed = Indexed(**state.load())
    except TypeError:
        return Indexed()
    return indexed if indexed.record_format == RECORD_FORMAT else Indexed()
