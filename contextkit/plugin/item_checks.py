"""Check the items that a source found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from attrs import frozen

from contextkit.errors import SourceError
from contextkit.models.items import ContextItem, Provenance, Successor
from contextkit.plugin.plain import MOST_CHARACTERS, TooMuchError, plain_item
from contextkit.plugin.values import OPTIONAL_TEXT, Kinds, check_fields, sequence_of

_ITEM_FIELDS: Kinds = {
    "content": (str,),
    "id": (str,),
    "kind": (str,),
    "title": OPTIONAL_TEXT,
    "text": OPTIONAL_TEXT,
    "location": OPTIONAL_TEXT,
    "sequence": OPTIONAL_TEXT,
    "position": (int, type(None)),
    "metadata": (Mapping,),
    "must_keep": (tuple,),
    "superseded_by": (Successor, type(None)),
}
_MARGIN = 1000
"""How many more items than asked for a source may return without a note."""


@frozen
class CheckedItems:
    """A source's items, and what was left out of its result, if anything was."""

    items: tuple[ContextItem, ...]
    note: str | None = None


def checked_items(source: str, result: object, limit: int) -> CheckedItems:
    """Check `contextkit_query`'s result: the first `limit` items, all this source's."""
    hook = "contextkit_query"
    first = sequence_of(source, hook, () if result is None else result, ContextItem, limit)
    items, characters = [], 0
    for given in first:
        try:
            item = plain_item(given)
        except TooMuchError as error:
            raise SourceError(source, hook, f"item {given.id!r}: {error}") from error
        if item.source != source:
            raise SourceError(
                source, hook, f"item {item.id!r} says it is of source {item.source!r}"
            )
        if item is not given:
            check_fields(source, hook, f"item {item.id!r}", item, _ITEM_FIELDS)
            sequence_of(source, hook, item.also_in, Provenance)
            sequence_of(source, hook, item.must_keep, str)
        size = len(item.content) + len(item.text or "")
        if characters + size <= MOST_CHARACTERS:
            characters += size
            items.append(item)
    return CheckedItems(tuple(items), _left_out(result, limit, len(first) - len(items)))


def _left_out(result: object, limit: int, long: int) -> str | None:
    """Describe what is not used of a result that is much too large."""
    if long:
        items = "1 item" if long == 1 else f"{long:,} items"
        return f"left out {items}: more than {MOST_CHARACTERS:,} characters"
    if type(result) in {list, tuple} and len(cast("list[object]", result)) > limit + _MARGIN:
        cut = len(cast("list[object]", result)) - limit
        return f"left out {cut:,} items: at most {limit:,} were asked for"
    return None
