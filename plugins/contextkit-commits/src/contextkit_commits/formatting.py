"""What a commit looks like in each style, whole and shortened."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from contextkit.markup import escape_xml, one_line
from contextkit.models import ContextItem, Style
from contextkit_commits.commit_records import NO_MESSAGE, SHORT_SHA
from contextkit_commits.escaping import markdown_inline, markdown_line, visible_path
from contextkit_commits.text import shortened

__all__ = ["format_commit"]

_FILES_SHOWN = 3
_MAX_NAME = 120


def format_commit(item: ContextItem, style: Style) -> str:
    """The text of a commit in one style.

    Its first line says which commit it is, its last which files it changed; everything
    between them is the message, none of whose lines can pass for one of those two.
    """
    if style == "xml":
        return _xml(item)
    return _markdown(item) if style == "markdown" else _plain(item)


def _markdown(item: ContextItem) -> str:
    author, moment = markdown_inline(_author(item)), _moment(item)
    head = f"**Commit** `{_short(item)}` by {author} on {moment}"
    message = [markdown_line(line) for line in (item.own_text or NO_MESSAGE).split("\n")]
    files = _files(item)
    tail = [f"*Files: {markdown_inline(files)}*"] if files else []
    return "\n".join([head, *message, *tail])


def _xml(item: ContextItem) -> str:
    name, rest = _name_and_rest(item)
    attributes = {
        "name": name,
        "type": "commit",
        "sha": _short(item),
        "author": _author(item),
        "timestamp": _moment(item),
    }
    head = " ".join(f'{key}="{escape_xml(value)}"' for key, value in attributes.items())
    files = _files(item)
    tail = [f"<files>{escape_xml(files)}</files>"] if files else []
    message = [escape_xml(line) for line in rest]
    return "\n".join([f"<entity {head}>", *message, *tail, "</entity>"])


def _plain(item: ContextItem) -> str:
    name, rest = _name_and_rest(item)
    head = f"{name} [commit {_short(item)}, {_author(item)}, {_moment(item)}]"
    files = _files(item)
    # Indented, no line of a message can pass for the heading of a section or of an item.
    message = [f"  {line}" if line else "" for line in rest]
    return "\n".join([head, *message, *([f"Files: {files}"] if files else [])])


def _name_and_rest(item: ContextItem) -> tuple[str, Sequence[str]]:
    """The subject, and the lines below it; all lines where the subject is too long a name."""
    subject, _, body = item.own_text.partition("\n")
    lines = body.strip("\n").split("\n") if body else []
    name = one_line(subject) or NO_MESSAGE
    if len(name) <= _MAX_NAME:
        return name, lines
    return shortened(name, _MAX_NAME), [subject, *lines]


def _short(item: ContextItem) -> str:
    return one_line(str(item.metadata.get("sha") or item.id)).replace("`", "")[:SHORT_SHA]


def _author(item: ContextItem) -> str:
    return one_line(str(item.metadata.get("author") or "")) or "unknown"


def _moment(item: ContextItem) -> str:
    return one_line(str(item.metadata.get("timestamp") or "")) or "unknown"


def _files(item: ContextItem) -> str:
    metadata: Mapping[str, Any] = item.metadata
    paths = [visible_path(str(path)) for path in metadata.get("files_changed") or ()]
    more = max(len(paths), int(metadata.get("file_count") or 0)) - _FILES_SHOWN
    shown = ", ".join(paths[:_FILES_SHOWN])
    return f"{shown}, ... ({more} more)" if more > 0 else shown
