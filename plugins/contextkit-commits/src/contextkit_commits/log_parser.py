"""Stream parser for the output of `git log -z --numstat`.

The log is one run of NUL-terminated tokens: seven fields of a commit, then its files, and
so on. A file's first token has tabs (`3⇥1⇥path`) or a colon (`:100644 …`), the next
commit's is a bare sha; the fields are counted, so that no message can pass for either.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from attrs import field, mutable

from contextkit.errors import WorkspaceError
from contextkit_commits.text import clean_line, clean_message, clean_path

LOG_FORMAT = "%H%x00%P%x00%an%x00%ae%x00%at%x00%ct%x00%B"
"""Format for `git log -z --format=…`.

The fields of a commit, in the order of `_read_commit`.
"""

MAX_FILES = 100
"""Most paths kept of one commit; the others are counted."""

MAX_TOKEN = 1 << 20
"""Most bytes kept of a token.

No hand-written message is longer.
"""

_FIELDS = 7
_SHA = re.compile(rb"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_COUNTED = re.compile(rb"\n?(\d+|-)\t(\d+|-)\t(.*)", re.DOTALL)
_NAMED = re.compile(rb"\n?:")


@mutable(kw_only=True)
class Commit:
    """One commit of a history.

    Attributes:
        sha: its full name, 40 or 64 hex digits.
        parents: how many parents it has.
        author: the author's name, on one line.
        email: the author's address.
        authored_at: when it was written, in seconds since 1970.
        committed_at: when it became part of this history, in seconds since 1970.
        message: subject and body; valid text, without controls.
        files: paths it changed, the new one of a rename; against the first parent for a
            merge, none for a commit whose parents are not here. At most `MAX_FILES`.
        file_count: the number of files it changed.
        renamed: new path -> old path, for those of `files` that were renamed.
        insertions: lines added; binary files count as none.
        deletions: lines removed, likewise.
    """

    sha: str
    parents: int
    author: str
    email: str
    authored_at: int
    committed_at: int
    message: str
    files: list[str] = field(factory=list)
    file_count: int = 0
    renamed: dict[str, str] = field(factory=dict)
    insertions: int = 0
    deletions: int = 0

    def add_file(self, path: bytes, old: bytes | None = None) -> None:
        """Record one more changed file."""
        self.file_count += 1
        if len(self.files) < MAX_FILES:
            name = clean_path(path)
            self.files.append(name)
            if old is not None:
                self.renamed[name] = clean_path(old)

    def forget_files(self) -> None:
        """Drop files that the commit itself did not change."""
        self.files, self.file_count, self.renamed = [], 0, {}
        self.insertions = self.deletions = 0


def split_tokens(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield a stream's NUL-terminated tokens, each cut to `MAX_TOKEN` bytes."""
    parts: list[bytes] = []
    size = 0
    for chunk in chunks:
        *whole, rest = chunk.split(b"\0")
        if whole:
            first, *others = whole
            yield b"".join([*parts, first[: max(0, MAX_TOKEN - size)]])
            yield from others
            parts, size = [], 0
        if size < MAX_TOKEN:
            parts.append(rest)
            size += len(rest)


def parse_log(tokens: Iterator[bytes]) -> Iterator[Commit]:
    """Parse a log written with `LOG_FORMAT`.

    Raises `WorkspaceError` where the tokens are not such a log.
    """
    commit: Commit | None = None
    for token in tokens:
        if commit is not None and _read_file(commit, token, tokens):
            continue
        if commit is not None:
            yield commit
        commit = _read_commit(token, tokens)
    if commit is not None:
        yield commit


def _read_file(commit: Commit, token: bytes, tokens: Iterator[bytes]) -> bool:
    if counted := _COUNTED.fullmatch(token):
        added, removed, path = counted.groups()
        commit.insertions += 0 if added == b"-" else int(added)
        commit.deletions += 0 if removed == b"-" else int(removed)
        if path:
            commit.add_file(path)
        else:
            old = next(tokens, b"")
            commit.add_file(next(tokens, b""), old)
        return True
    if _NAMED.match(token):
        commit.add_file(next(tokens, b""))
        return True
    return False


def _read_commit(sha: bytes, tokens: Iterator[bytes]) -> Commit:
    rest = [token for _, token in zip(range(_FIELDS - 1), tokens, strict=False)]
    if not _SHA.fullmatch(sha) or len(rest) < _FIELDS - 1:
        raise WorkspaceError(f"git log printed something that is not a commit: {sha[:60]!r}")
    parents, author, email, authored, committed, message = rest
    return Commit(
        sha=sha.decode("ascii"),
        parents=len(parents.split()),
        author=clean_line(author),
        email=clean_line(email),
        authored_at=_seconds(authored),
        committed_at=_seconds(committed),
        message=clean_message(message),
    )


def _seconds(raw: bytes) -> int:
    """Parse a time; 0 if it is not a number."""
    try:
        return int(raw)
    except ValueError:
        return 0
