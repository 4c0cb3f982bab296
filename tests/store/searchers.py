"""A host's own objects, and what is found with them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

from contextkit import Hit
from contextkit.models.record import Search
from contextkit.plugin.manager import SourceRegistry
from contextkit.store.searcher import SearcherStore

MakePlugin = Callable[..., ModuleType]
MakeRegistry = Callable[..., SourceRegistry]


__all__ = ["asked", "hit_of", "host", "note"]


def host(**methods: Any) -> Any:
    """A host's object with these methods; a value stands for a method that returns it."""
    return SimpleNamespace(
        **{
            name: given if callable(given) else lambda query, limit, given=given: given
            for name, given in methods.items()
        }
    )


def asked(searcher: object, source: str = "notes", **options: Any) -> list[Hit]:
    """What a searcher finds for a source, as the pipeline would ask it."""
    search = Search(**{"query": "tide", "source": source, "projects": ("p", ""), **options})
    return asyncio.run(SearcherStore(searcher).answer(search))


def hit_of(result: object) -> Hit:
    """The one hit of a searcher that returns this result."""
    (hit,) = asked(host(search_notes=[result]))
    return hit


def note(**values: Any) -> dict[str, Any]:
    """A result that is right, but for what is given."""
    return {"id": "n1", "content": "High water at noon", "score": 0.5, **values}
