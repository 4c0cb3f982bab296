"""Check kinds and numbers of values that plugins return.

An error names the plugin and the hook.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import TypeVar

from contextkit.errors import SourceError
from contextkit.plugin.plain import MOST_CHARACTERS, plain_text

T = TypeVar("T")

Kinds = Mapping[str, tuple[type, ...]]
"""Field -> the types of its values."""

OPTIONAL_TEXT = (str, type(None))
"""The types of a text that may be missing."""

_MOST_NAMES = 1000
"""How many dedupe keys an item, and how many keywords a query, may have."""


def sequence_of(
    source: str, hook: str, result: object, kind: type[T], most: int | None = None
) -> tuple[T, ...]:
    """Return a sequence's entries, the first `most`; all for None."""
    if isinstance(result, (str, bytes)) or not isinstance(result, Sequence):
        raise SourceError(
            source, hook, f"expected a sequence of {kind.__name__}, got {described(result)}"
        )
    # The entries are read once: a foreign sequence may be slow, or never end.
    entries = tuple(islice(result, most))
    for position, entry in enumerate(entries):
        if not isinstance(entry, kind):
            raise SourceError(
                source,
                hook,
                f"entry {position} is {described(entry)}, expected {kind.__name__}",
            )
    return entries


def names_of(source: str, hook: str, result: object) -> tuple[str, ...]:
    """Return the few short texts of one item or query, such as dedupe keys."""
    names = sequence_of(source, hook, result, str, _MOST_NAMES + 1)
    if len(names) > _MOST_NAMES:
        raise SourceError(source, hook, f"more than {_MOST_NAMES:,} texts for one item or query")
    return tuple(map(plain_text, names))


def texts_of(source: str, hook: str, result: object, most: int) -> tuple[str, ...]:
    """Return texts for a context, the first `most`."""
    texts = tuple(map(plain_text, sequence_of(source, hook, result, str, most)))
    if (characters := sum(map(len, texts))) > 2 * MOST_CHARACTERS:
        reason = (
            f"its texts have {characters:,} characters, at most {2 * MOST_CHARACTERS:,} are used"
        )
        raise SourceError(source, hook, reason)
    return texts


def check_fields(source: str, hook: str, what: str, value: object, kinds: Kinds) -> None:
    """Check the types of a value's fields."""
    for name, allowed in kinds.items():
        found = getattr(value, name)
        if not isinstance(found, allowed):
            raise SourceError(source, hook, f"{what}: {name} is {described(found)}")


def described(value: object) -> str:
    """Name a value's type, as in "an int"."""
    name = "None" if value is None else type(value).__name__
    return name if value is None else f"an {name}" if name[0] in "aeiouAEIOU" else f"a {name}"


def one_per_item(source: str, hook: str, returned: int, items: int) -> None:
    """Check that there is one result per item."""
    if returned != items:
        raise SourceError(source, hook, f"returned {returned} results for {items} items")
