"""Convert commits to stored records and to items."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, Any

from contextkit.models import ContextItem, Record
from contextkit_commits.text import shortened

if TYPE_CHECKING:
    from contextkit_commits.log_parser import Commit

SHORT_SHA = 7
NO_MESSAGE = "(no message)"

_MAX_KEYWORDS = 150
_MAX_TITLE = 120
_LAST_SECOND = int(datetime(9999, 12, 31, tzinfo=UTC).timestamp())
_SHOWN_FIELDS = (
    "sha",
    "author",
    "timestamp",
    "files_changed",
    "insertions",
    "deletions",
    "subject",
    "is_merge",
    "file_count",
)


def commit_record(commit: Commit) -> Record:
    """Return a commit's record, searchable by message, paths and author."""
    committed = _moment(commit.committed_at)
    renamed = {"renamed_from": commit.renamed} if commit.renamed else {}
    return Record(
        id=commit.sha,
        text=commit.message,
        keywords=" ".join(_keywords(commit)),
        created_at=committed,
        fields={
            "sha": commit.sha,
            "sha7": commit.sha[:SHORT_SHA],
            "author": commit.author,
            "author_email": commit.email,
            "authored_at": _moment(commit.authored_at).isoformat(),
            "timestamp": committed.isoformat(),
            "subject": commit.message.partition("\n")[0],
            "files_changed": commit.files,
            "file_count": commit.file_count,
            "insertions": commit.insertions,
            "deletions": commit.deletions,
            "is_merge": commit.parents > 1,
            **renamed,
        },
    )


def _keywords(commit: Commit) -> Iterator[str]:
    # Each word once: a commit that touches thirty files of one folder is not thirty times about
    # that folder's name. The store's tokenizer adds the parts of an identifier.
    words = dict.fromkeys(commit.author.split())
    for path in commit.files:
        *folders, name = path.split("/")
        words.update(dict.fromkeys([*folders, name.rpartition(".")[0] or name]))
    return islice(words, _MAX_KEYWORDS)


def _moment(seconds: int) -> datetime:
    """Return a time in UTC, within the years 1970..9999."""
    return datetime.fromtimestamp(min(max(seconds, 0), _LAST_SECOND), UTC)


def commit_item(record: Record, relevance: float) -> ContextItem:
    """Return the item of a stored commit."""
    fields: dict[str, Any] = {name: record.fields.get(name) for name in _SHOWN_FIELDS}
    subject = str(fields["subject"] or record.text.partition("\n")[0] or NO_MESSAGE)
    return ContextItem(
        "commits",
        record.text,
        relevance,
        metadata=fields,
        id=record.id,
        kind="commit",
        title=shortened(subject, _MAX_TITLE),
        text=record.text,
        created_at=record.created_at,
        location=f"commit {record.id[:SHORT_SHA]}",
    )
