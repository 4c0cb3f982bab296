"""Which gold items a context holds; knows nothing of how it was assembled."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from attrs import frozen

from contextkit.models.items import ContextItem
from tests.benchmarks.quality.mixed_set import Gold

__all__ = ["Found", "Judge"]

_WORD = re.compile(r"\w+")
_READABLE = 0.5
"""The part of an item's own words that has to be shown for it to count as readable."""


@frozen
class Found:
    """Of one gold item: whether it is in the context, and whether most of it can be read."""

    gold: Gold
    shown: bool
    readable: bool


@frozen
class Judge:
    """Finds gold items among the items of a context.

    Attributes:
        ids: `memory:KEY`, `experience:KEY` and `event:KEY` -> the record's id.
        themes: theme -> the ids of its values.
    """

    ids: Mapping[str, str]
    themes: Mapping[str, frozenset[str]]

    def attainable(self, gold: Gold) -> bool:
        """False for a theme of which no value was distilled."""
        return gold.kind != "value" or bool(self.themes[gold.name])

    def found(self, gold: Sequence[Gold], items: Sequence[ContextItem]) -> list[Found]:
        """What became of each gold item that could have been found."""
        return [
            Found(one, bool(holding), any(_is_readable(item) for item in holding))
            for one in gold
            if self.attainable(one)
            for holding in [[item for item in items if self._is(one, item)]]
        ]

    def _is(self, gold: Gold, item: ContextItem) -> bool:
        if gold.kind == "code":
            return item.source == "code" and _holds_definition(item, gold.name)
        if gold.kind == "document":
            return item.source == "documents" and item.metadata.get("file_path") == gold.name
        if gold.kind == "commit":
            return item.source == "commits" and item.id.startswith(gold.name)
        if gold.kind == "value":
            return item.source == "values" and item.id in self.themes[gold.name]
        return item.id == self.ids[f"{gold.kind}:{gold.name}"]


def _holds_definition(item: ContextItem, name: str) -> bool:
    """Whether it is the definition, or shows it within what encloses it."""
    path, _, qualified = name.partition("::")
    if item.metadata.get("file_path") != path:
        return False
    own = str(item.metadata.get("qualified_name", ""))
    if own == qualified:
        return True
    last = re.escape(qualified.rpartition(".")[2])
    named = re.search(rf"\b(?:def|class) {last}\b", item.content)
    return qualified.startswith(f"{own}.") and named is not None


def _is_readable(item: ContextItem) -> bool:
    own = _WORD.findall(item.own_text)
    shown = set(_WORD.findall(item.content))
    return sum(word in shown for word in own) >= _READABLE * len(own)
