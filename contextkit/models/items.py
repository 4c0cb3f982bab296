"""Items, and their provenance."""

from __future__ import annotations

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
    if value is not None and not 0.0 <= value <= 1.0:
        raise ValueError(f"{attribute.name} must be within 0..1, got {value!r}")


def _number(value: float) -> float:
    """Convert to `float`, which as a converter itself would cost each start four milliseconds.

    attrs looks for its annotations, and `inspect` parses the signatures of built-in types.
    """
    return float(value)


def _aware(_: object, attribute: Attribute[Any], value: datetime | None) -> None:
    if value is not None and value.utcoffset() is None:
        raise ValueError(f"{attribute.name} must carry a time zone, got {value.isoformat()}")


@frozen
class Provenance:
    """The origin of a dropped duplicate.

    Attributes:
        source: the duplicate's source.
        id: its id there.
        location: its place (`path:line`, a sha), or None.
    """

    source: str
    id: str
    location: str | None = None


@frozen
class Successor:
    """A newer item that contradicts or replaced an item.

    Attributes:
        id: its id.
        created_at: its creation time with a time zone, or None.
        location: the place of the whole item, or None.
        title: its first words, or None.
    """

    id: str
    created_at: datetime | None = field(default=None, validator=_aware)
    location: str | None = None
    title: str | None = None


@frozen
class ContextItem:
    """One piece of context from any source.

    Two items are equal if source and content are equal; the other fields describe them.

    Attributes:
        source: the name of its source.
        content: the text to show. The source sets its own text; `contextkit_format` replaces it
            by the formatted text.
        relevance: how well it matches the query, 0..1, comparable within its source.
        metadata: data for the source's own hooks; JSON-like values.
        id: unique and stable within its source; default: a hash of the content.
        kind: its type (`function`, `memory`, `commit`), used for grouping.
        title: a short name for lists of sources; default: the id.
        text: the record's own text, if `content` has more than that; used for finding
            duplicates. Default: `content`.
        created_at: its creation time with a time zone; None if that has no meaning.
        salience: its importance independent of the query, 0..1; None is neutral.
        location: the place of the whole item, for instance `path:line`.
        sequence: the sequence of its source's items that it is part of, such as a session or a
            file; None if it is independent.
        position: its position in the sequence. Items of one sequence whose positions differ by
            one or two support each other (see `contextkit.sources.neighbours`).
        hint: evidence for it besides its match, 0..1, such as its author or its time. It decides
            between items that match about equally well, and makes none relevant.
        also_in: its dropped duplicates.
        must_keep: parts of its text that a summary must contain; otherwise the item is shortened
            or left out instead.
        superseded_by: the newest item that contradicts it, if newer items of its source replace
            older ones (`SourceInfo.updates`); the core finds it and the text says so. A source
            sets it where it knows what replaced the item.
        valid_from: when it became true, with a time zone; None for `created_at`.
        valid_until: when it stopped being true; None while it is true.
    """

    source: str
    content: str
    relevance: float = field(eq=False, converter=_number, validator=_unit_interval)
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
    valid_from: datetime | None = field(default=None, eq=False, kw_only=True, validator=_aware)
    valid_until: datetime | None = field(default=None, eq=False, kw_only=True, validator=_aware)

    @id.default
    def _content_hash(self) -> str:
        import hashlib

        if not isinstance(self.content, str):
            raise ValueError(f"content must be a text, got {self.content!r:.60}")
        return hashlib.sha256(self.content.encode("utf-8", "surrogatepass")).hexdigest()[:16]

    @property
    def own_text(self) -> str:
        """The record's own text: `text`, or `content` without it."""
        return self.content if self.text is None else self.text


@frozen(kw_only=True)
class IndexReport:
    """What one `contextkit_index` call did to its source's records.

    Attributes:
        added, updated, removed, unchanged: numbers of units (files, commits, …).
        skipped: (unit, reason) of skipped units.
        notes: messages for the user.
        redacted: the number of secrets replaced in the records; the core counts them.
        remaining: the number of units left for a later run, as the time was up.
    """

    added: int = 0
    updated: int = 0
    removed: int = 0
    unchanged: int = 0
    skipped: Sequence[tuple[str, str]] = ()
    notes: Sequence[str] = ()
    redacted: int = 0
    remaining: int = 0
