"""Words related to those of a query: irregular forms, synonyms, and things of a kind.

A stemmer joins `wins` and `win`, not `won` and `win`; and somebody who asks about pets means the
puppy. Both are facts about English and stand in `related_words.txt`. They apply to the query, so
that no record needs to be indexed again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import lru_cache
from importlib.resources import files

from contextkit.embedding.keywords import embed_keywords_query

__all__ = ["related_to"]


def related_to(words: Iterable[int]) -> frozenset[int]:
    """The words related to the words of a query, without those.

    Args:
        words: the ids of the query's words, as `embed_keywords_query` gives them.
    """
    table = _table()
    own = frozenset(words)
    return frozenset(word for each in own for word in table.get(each, ())) - own


@lru_cache(maxsize=1)
def _table() -> Mapping[int, frozenset[int]]:
    """Word -> the words related to it, by their ids."""
    related: dict[int, set[int]] = defaultdict(set)
    for line in (
        files("contextkit.embedding").joinpath("related_words.txt").read_text().splitlines()
    ):
        if line.startswith("#"):
            continue
        kind, separator, things = line.partition(":")
        ids = set(embed_keywords_query(things if separator else line).indices)
        for word in embed_keywords_query(kind).indices if separator else ids:
            related[word] |= ids
    return {word: frozenset(others - {word}) for word, others in related.items()}
