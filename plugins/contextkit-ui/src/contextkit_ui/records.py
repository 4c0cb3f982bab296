"""List, search, edit and end the records that people write, for the page."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from attrs import frozen

from contextkit import InvalidRequestError
from contextkit.errors import ContextKitError
from contextkit.sources import Book, Entry, shortened_line
from contextkit_ui.pages import render
from contextkit_ui.project import Project

_LIMIT = 50
_MOST = 1000
_TITLE = 72


@frozen(kw_only=True)
class OtherRecord:
    """A record that another one replaced, or that replaced it.

    Attributes:
        id: its id.
        title: its first words; empty if it was deleted.
        created_at: when it was stored, or None if it was deleted.
    """

    id: str
    title: str = ""
    created_at: datetime | None = None


@frozen(kw_only=True)
class RecordView:
    """One record.

    Attributes:
        id, title, scope, created_at, text: its own.
        facts: its other values by name, as they are shown.
        document: what people edit.
        relevance: how well it matches the search; None in a list.
        valid_until: when it stopped being true, or None.
        replaces, replaced_by: the records before and after it.
        ends: whether it can be ended.
    """

    id: str
    title: str
    scope: str
    created_at: datetime
    text: str
    facts: Mapping[str, str]
    document: str
    relevance: float | None
    valid_until: datetime | None
    replaces: Sequence[OtherRecord]
    replaced_by: OtherRecord | None
    ends: bool


@frozen(eq=False)
class RecordPages:
    """Answers the page's requests about records; every method blocks.

    Attributes:
        project: whose records they are.
    """

    project: Project

    @property
    def sources(self) -> list[str]:
        """The enabled sources whose records people write."""
        registry = self.project.kit.registry
        return [name for name in registry.sources if registry.info(name).book]

    def find(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Return the newest records, or those that match a query, as HTML."""
        source, query = _text(asked, "source"), _text(asked, "query", "").strip()
        limit = asked.get("limit", _LIMIT)
        if type(limit) is not int or not 1 <= limit <= _MOST:
            raise InvalidRequestError(f"limit must be within 1 and {_MOST}, got {limit!r}")
        book = self.book(source)
        wanted = {"ended": True} if asked.get("ended") is True and _lasting(book) else {}
        if query:
            views = [_view(book, *found) for found in book.search(query, limit, **wanted)]
        else:
            views = [_view(book, entry) for entry in book.list(limit, **wanted)]
        total = len(views) if query else book.count(**wanted)
        html = render(
            "records.html",
            source=source,
            hue=self.project.hues[source],
            records=views,
            total=total,
            searched=bool(query),
        )
        return {"html": html, "total": total}

    def edit(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Change the parts that differ between two versions of a record's document."""
        book = self.book(_text(asked, "source"))
        before, after = _text(asked, "before"), _text(asked, "after")
        entry = book.change_document(_text(asked, "id"), before, after)
        return {"id": entry.id, "outcome": entry.outcome}

    def end(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """End a record that is no longer true, or delete it if its source has no such state."""
        book = self.book(_text(asked, "source"))
        entry: Entry = _ending(book)(_text(asked, "id"))
        return {"id": entry.id, "outcome": "ended" if _lasting(book) else "deleted"}

    def book(self, source: str) -> Book[Any]:
        """Return the book of a source's records.

        Raises `InvalidRequestError` for a source without one.
        """
        if source not in self.sources:
            known = ", ".join(self.sources) or "none"
            raise InvalidRequestError(f"'{source}' has no records to edit; these have: {known}")
        target = self.project.kit.registry.info(source).book
        try:
            book: type[Book[Any]] = pkgutil.resolve_name(target)
        except (ImportError, AttributeError, ValueError) as error:
            raise ContextKitError(f"the source {source} names {target}: {error}") from error
        return book.of(self.project.kit)


def _lasting(book: Book[Any]) -> bool:
    return hasattr(book, "end")


def _ending(book: Book[Any]) -> Callable[[str], Entry]:
    ending: Callable[[str], Entry] = getattr(book, "end", book.remove)
    return ending


def _view(book: Book[Any], entry: Entry, relevance: float | None = None) -> RecordView:
    replaces, by = getattr(entry, "replaces", ()), getattr(entry, "replaced_by", None)
    others = _others(book, [*replaces, *([by] if by else [])])
    shown = [name for name in book.editable() if name != "text"]
    values = {name: getattr(entry, name) for name in shown}
    until = getattr(entry, "valid_until", None)
    return RecordView(
        id=entry.id,
        title=shortened_line(entry.text, _TITLE),
        scope="all your projects" if entry.scope == "user" else "this project",
        created_at=entry.created_at,
        text=entry.text,
        facts={name: _shown(value) for name, value in values.items() if value not in (None, ())},
        document=book.document(entry),
        relevance=relevance,
        valid_until=until,
        replaces=[others[each] for each in replaces],
        replaced_by=others[by] if by else None,
        ends=_lasting(book),
    )


def _others(book: Book[Any], ids: Sequence[str]) -> dict[str, OtherRecord]:
    found = {record.id: record for record in book.records.get(*ids)} if ids else {}
    return {
        each: OtherRecord(
            id=each, title=shortened_line(known.text, _TITLE), created_at=known.created_at
        )
        if (known := found.get(each))
        else OtherRecord(id=each)
        for each in ids
    }


def _shown(value: Any) -> str:
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d}"
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _text(asked: Mapping[str, Any], name: str, default: str | None = None) -> str:
    value = asked.get(name, default)
    if not isinstance(value, str):
        raise InvalidRequestError(f"{name} must be a text, got {value!r:.60}")
    return value
