"""What the seed documents write, as references to compare with; none of it is used elsewhere.

Seed 2 writes deduplication, selection and Markdown out; seed 1 the shares; seed 4 XML and
plain text. They are kept as they are there, with what is wrong about them.
"""

from __future__ import annotations

import difflib
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

from attrs import evolve, field, frozen

from contextkit.models.items import ContextItem

__all__ = [
    "SeedItem",
    "assemble_markdown",
    "assemble_plain",
    "assemble_xml",
    "deduplicate",
    "estimate_tokens",
    "float_shares",
    "seed_items",
    "select_items",
    "similarity",
]

_SIMILAR = 0.90
_MAX_ITEM_FRACTION = 0.25


@frozen(eq=False)
class SeedItem:
    """Seed 2's item."""

    source: str
    content: str
    relevance: float
    metadata: Mapping[str, str] = field(factory=dict)


def seed_items(items: Sequence[ContextItem]) -> list[SeedItem]:
    """The same items as the seed has them."""
    return [SeedItem(i.source, i.content, i.relevance, {"id": f"{i.source} {i.id}"}) for i in items]


# -- tokens and shares ------------------------------------------------------------------------


def estimate_tokens(text: str) -> int:
    """Seeds 1 and 2: four characters a token."""
    return len(text) // 4


def float_shares(weights: Mapping[str, float], max_tokens: int) -> dict[str, int]:
    """Seeds 1 and 2: each source's part, rounded down; nobody gets what another leaves."""
    total = sum(weights.values())
    return {source: int(weight / total * max_tokens) for source, weight in weights.items()}


# -- duplicates -------------------------------------------------------------------------------


def deduplicate(items: Sequence[SeedItem], autojunk: bool = True) -> list[SeedItem]:
    """Seed 2: by key, else by difflib against all that are kept; the most relevant one wins.

    Args:
        items: the items.
        autojunk: difflib's default, as the seed has it; False compares every character.
    """
    seen: dict[str, SeedItem] = {}
    for item in items:
        key = _key(item)
        other = seen.get(key) or _similar(item, list(seen.values()), autojunk)
        if other is None:
            seen[key] = item
        elif item.relevance > other.relevance:
            del seen[_key(other)]
            seen[key] = item
    return sorted(seen.values(), key=lambda item: item.relevance, reverse=True)


def _key(item: SeedItem) -> str:
    for name, prefix in (("ghap_id", "ghap"), ("file_path", "file"), ("sha", "commit")):
        if name in item.metadata:
            return f"{prefix}:{item.metadata[name]}"
    return f"memory:{item.metadata['id']}"


def _similar(item: SeedItem, kept: Sequence[SeedItem], autojunk: bool) -> SeedItem | None:
    for other in kept:
        if similarity(item.content, other.content, autojunk) >= _SIMILAR:
            return other
    return None


def similarity(one: str, other: str, autojunk: bool) -> float:
    """Seed 2: difflib's ratio of two texts."""
    return difflib.SequenceMatcher(None, one, other, autojunk=autojunk).ratio()


# -- selection --------------------------------------------------------------------------------


def select_items(items: Sequence[SeedItem], shares: Mapping[str, int]) -> dict[str, list[SeedItem]]:
    """Seed 2: cap each item, take items in order, stop a source at the first that is too long.

    What a source does not use is lost; the note of a capped item is over its cap; headings
    count for nothing.
    """
    by_source: dict[str, list[SeedItem]] = defaultdict(list)
    for item in items:
        by_source[item.source].append(item)
    selected: dict[str, list[SeedItem]] = {}
    for source, own in by_source.items():
        selected[source] = []
        used = 0
        for item in own:
            capped = _capped(item, shares[source])
            tokens = estimate_tokens(capped)
            if used + tokens > shares[source]:
                break
            selected[source].append(evolve(item, content=capped))
            used += tokens
    return selected


def _capped(item: SeedItem, share: int) -> str:
    cap = int(share * _MAX_ITEM_FRACTION)
    if estimate_tokens(item.content) <= cap:
        return item.content
    cut = item.content[: cap * 4]
    line_end = cut.rfind("\n")
    shorter = cut[:line_end] if line_end > cap * 4 * 0.8 else cut
    return f"{shorter}...\n\n*(truncated)*"


# -- rendering --------------------------------------------------------------------------------


def assemble_markdown(selected: Mapping[str, Sequence[SeedItem]]) -> str:
    """Seed 2: a section per source that has items."""
    parts = ["# Context\n"]
    shown = {source: items for source, items in selected.items() if items}
    for source, items in shown.items():
        parts.append(f"\n## {source.capitalize()}\n")
        parts += [f"\n{item.content}\n" for item in items]
    total = sum(map(len, shown.values()))
    parts.append(f"\n---\n*{total} items from {len(shown)} sources*")
    return "\n".join(parts)


def assemble_xml(selected: Mapping[str, Sequence[SeedItem]]) -> str:
    """Seed 4: groups of elements, nothing escaped, sections not closed."""
    return _grouped(selected, lambda title: f'<section name="{title}">')


def assemble_plain(selected: Mapping[str, Sequence[SeedItem]]) -> str:
    """Seed 4: groups of texts."""
    return _grouped(selected, lambda title: f"=== {title} ===")


def _grouped(selected: Mapping[str, Sequence[SeedItem]], heading: Callable[[str], str]) -> str:
    sections = [
        "\n\n".join([heading(source.capitalize()), *(item.content for item in items)])
        for source, items in selected.items()
    ]
    return "\n\n---\n\n".join(sections)
