"""Items, and what is known of where they come from."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

from attrs import Attribute, field, frozen

Style = Literal["markdown", "xml", "plain"]
Overflow = Literal["hard", "soft"]
Detail = Literal["full", "summary", "compact"]
Grouping = Literal["source", "type"]
Shares = Literal["by_evidence", "fixed"]
STYLES: tuple[Style, ...] = ("markdown", "xml", "plain")
DETAILS: tuple[Detail, ...] = ("full", "summary", "compact")
GROUPINGS: tuple[Grouping, ...] = ("source", "type")
OVERFLOWS: tuple[Overflow, ...] = ("hard", "soft")
SHARES: tuple[Shares, ...] = ("by_evidence", "fixed")


def _unit_interval(_: object, attribute: Attribute[Any], value: float | None) -> None:
    if value is not None and not (math.isfinite(value) and 0.0 <= value <= 1.0):
        raise ValueError(f"{attribute.name} must be within 0..1, got {value!r}")


def _aware(_: object, attribute: Attribute[Any], value: datetime | None) -> None:
    if value is not None and value.utcoffset() is None:
        raise ValueError(f"{attribute.name} must carry a time zone, got {value.isoformat()}")


@frozen
class Provenance:
    """Where a dropped duplicate came from, kept on the item that won.

    Attributes:
        source: the duplicate's source.
        id: its id there.
        location: where it can be found (`path:line`, a sha), or None.
    """

    source: str
    id: str
    location: str | None = None


@frozen
class Successor:
    """The newer item of the same source that says otherwise.

    Attributes:
        id: its id.
        created_at: when it came to be, aware, or None.
        location: where the whole of it can be found, or None.
    """

    id: str
    created_at: datetime | None = field(default=None, validator=_aware)
    location: str | None = None


@frozen
class ContextItem:
    """One piece of context from any source.

    Two items are equal if source and content are equal; the rest describes them.

    Attributes:
        source: the name of the source it comes from.
        content: what is shown. A source hands in its own words; after
            `contextkit_format` this is the formatted text.
        relevance: how well it matches the query, 0..1, comparable within its source.
        metadata: whatever the source's own hooks need; JSON-like values.
        id: unique and stable within its source; default: a hash of the content.
        kind: what it is (`function`, `memory`, `commit`); groups items by type.
        title: a short name for lists of sources; default: the id.
        text: the record's own words, where `content` holds more than those;
            duplicates are found on this. Default: `content`.
        created_at: when it came to be, aware; None when that means nothing.
        salience: how much it matters whatever the query, 0..1; None is neutral.
        location: where the whole of it can be found, for instance `path:line`.
        sequence: what it is a part of, among its source's items: a session, a file; None
            where it stands alone.
        position: its place in that. Items of one sequence whose positions are one or two
            apart support each other (see `contextkit.sources.neighbours`).
        hint: what speaks for it beside its match, 0..1, such as who said it or when. It
            decides between items that match about equally well, and makes none relevant.
        also_in: the duplicates of it that were dropped.
        must_keep: texts of it that no summary may leave out: where one would, the item is
            shortened or left out instead.
        superseded_by: the newest item that contradicts it, where its source's items replace
            older ones (`SourceInfo.updates`); the core finds it and the text says so.
    """

    source: str
    content: str
    relevance: float = field(eq=False, converter=float, validator=_unit_interval)
    metadata: Mapping[str, Any] = field(factory=dict, eq=False)
    id: str = field(eq=False, kw_only=True)
    kind: str = field(default="", eq=False, kw_only=True)
    title: str | None = field(default=None, eq=False, kw_only=True)
    text: str | None = field(default=None, eq=False, kw_only=True)
    created_at: datetime | None = field(default=None, eq=False, kw_only=True, validator=_aware)
    salience: float | None = field(default=None, eq=False, kw_only=True, validator=_unit_interval)
    location: str | None = field(default=None, eq=False, kw_only=True)
    sequence: str | None = field(default=None, eq=False, kw_only=True)
    position: int | None = field(default=None, eq=False, kw_only=True)
    hint: float = field(default=0.0, eq=False, kw_only=True, validator=_unit_interval)
    also_in: tuple[Provenance, ...] = field(default=(), eq=False, kw_only=True)
    must_keep: tuple[str, ...] = field(default=(), eq=False, kw_only=True)
    superseded_by: Successor | None = field(default=None, eq=False, kw_only=True)

    @id.default
    def _content_hash(self) -> str:
        import hashlib

        return hashlib.sha256(self.content.encode("utf-8", "surrogatepass")).hexdigest()[:16]

    @property
    def own_text(self) -> str:
        """The record's own words: `text`, or `content` where that is all there is."""
        return self.content if self.text is None else self.text


@frozen(kw_only=True)
class IndexReport:
    """What one `contextkit_index` call did to its source's records.

    Attributes:
        added, updated, removed, unchanged: how many units (files, commits, …).
        skipped: (what, why) for what was passed over.
        notes: lines that a person should see.
        redacted: secrets that were replaced in the records; the core counts them.
    """

    added: int = 0
    updated: int = 0
    removed: int = 0
    unchanged: int = 0
    skipped: Sequence[tuple[str, str]] = ()
    notes: Sequence[str] = ()
    redacted: int = 0
