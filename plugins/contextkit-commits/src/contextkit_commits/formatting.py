"""Format a commit in each style.

It is shown whole, without its body, or on one line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from contextkit.models import ContextItem, Detail, Style
from contextkit.text import (
    TextStyle,
    code_span,
    element,
    escape_markdown,
    escape_xml,
    markdown_text,
    one_line,
    style_of,
)
from contextkit_commits.commit_records import NO_MESSAGE, SHORT_SHA
from contextkit_commits.own_words import own_words
from contextkit_commits.text import shortened

_FILES_SHOWN = 3
_MAX_NAME = 120
_DATE = len("2026-01-02")
_UNKNOWN = "unknown"
_PATH_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def format_commit(item: ContextItem, style: Style, detail: Detail) -> str:
    """Format a commit in one style.

    The first line names the commit, the last the files it changed. Everything between is the
    message, none of whose lines can be mistaken for those two. A `summary` has neither body nor
    files; `compact` is one line.
    """
    if detail == "compact":
        return _compact(item, style_of(style))
    message, files = item.own_text.partition("\n")[0], ""
    if detail == "full":
        message, files = own_words(item.own_text, _author(item)), _listed(item)
    return style_of(style).choose(markdown=_markdown, xml=_xml, plain=_plain)(item, message, files)


def _markdown(item: ContextItem, message: str, files: str) -> str:
    author, date = escape_markdown(_author(item)), escape_markdown(_date(item))
    head = f"**Commit** `{_short(item)}` by {author} on {date}"
    tail = [f"*Files: {_listed(item, code_span)}*"] if files else []
    return "\n".join([head, markdown_text(message or NO_MESSAGE), *tail])


def _xml(item: ContextItem, message: str, files: str) -> str:
    name, rest = _name_and_rest(message)
    attributes = {
        "name": name,
        "type": "commit",
        "sha": _short(item),
        "author": _author(item),
        "date": _date(item),
    }
    tail = [f"<files>{escape_xml(files)}</files>"] if files else []
    return element("entity", attributes, [*map(escape_xml, rest), *tail])


def _plain(item: ContextItem, message: str, files: str) -> str:
    name, rest = _name_and_rest(message)
    head = f"{name} [commit {_short(item)}, {_author(item)}, {_date(item)}]"
    # Indented, no line of a message can be mistaken for the heading of a section or of an item.
    body = [f"  {line}" if line else "" for line in rest]
    return "\n".join([head, *body, *([f"Files: {files}"] if files else [])])


def _name_and_rest(message: str) -> tuple[str, Sequence[str]]:
    """Split the subject from the lines below it.

    If the subject is too long for a name, all lines are returned as the rest.
    """
    subject, _, body = message.partition("\n")
    lines = body.strip("\n").split("\n") if body else []
    name = one_line(subject) or NO_MESSAGE
    if len(name) <= _MAX_NAME:
        return name, lines
    return shortened(name, _MAX_NAME), [subject, *lines]


def _compact(item: ContextItem, style: TextStyle) -> str:
    known, subject = _known(item), _subject(item)
    # When the line is shortened, the author is cut off first, not the change.
    by = f" ({known['author']})" if "author" in known else ""
    commit = " ".join(it for name, it in known.items() if name != "author")
    line = style.line(f"{commit}: {subject}{by}")
    return style.entry(line, tag="commit", attributes=known, text=subject)


def _known(item: ContextItem) -> dict[str, str]:
    """Return what identifies a commit on one line, if known."""
    named = {"sha": _short(item), "date": _date(item), "author": _author(item)}
    return {name: it for name, it in named.items() if it != _UNKNOWN}


def _subject(item: ContextItem) -> str:
    return one_line(item.own_text.partition("\n")[0]) or NO_MESSAGE


def _short(item: ContextItem) -> str:
    return one_line(str(item.metadata.get("sha") or item.id)).replace("`", "")[:SHORT_SHA]


def _author(item: ContextItem) -> str:
    return one_line(str(item.metadata.get("author") or "")) or _UNKNOWN


def _date(item: ContextItem) -> str:
    return one_line(str(item.metadata.get("timestamp") or ""))[:_DATE] or _UNKNOWN


def _listed(item: ContextItem, spelt: Callable[[str], str] = str) -> str:
    """Return a commit's first files and the remaining count."""
    metadata: Mapping[str, Any] = item.metadata
    paths = list(metadata.get("files_changed") or ())
    more = max(len(paths), int(metadata.get("file_count") or 0)) - _FILES_SHOWN
    shown = ", ".join(spelt(_visible_path(str(path))) for path in paths[:_FILES_SHOWN])
    return f"{shown} and {more} more" if more > 0 else shown


def _visible_path(path: str) -> str:
    r"""Show a path on one line, with controls made visible.

    A line feed in it is shown as `\n`.
    """
    return _PATH_CONTROLS.sub(lambda found: repr(found[0])[1:-1], path)
