"""Build BM25's sparse vectors, and find related words.

A stemmer joins `wins` and `win`, but not `won` and `win`; and a question about pets is also about
puppies. `related_words.txt` lists irregular forms, synonyms, and things of a kind. They are added
to the query, so that no record needs to be indexed again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from attrs import frozen

if TYPE_CHECKING:
    from qdrant_edge import SparseVector

_KEYWORD_CHARACTERS = 200_000
_CACHED_QUERIES = 1024
_FIRST_CJK = "\u2e80"


@frozen
class KeywordVector:
    """A sparse vector: token ids and their weights."""

    indices: list[int]
    values: list[float]


AnyKeywordVector: TypeAlias = "KeywordVector | SparseVector"
"""Also the engine's own, which it stores without reading lists."""


@lru_cache(maxsize=2)
def _keyword_model(multilingual: bool) -> Any:
    from qdrant_edge import Bm25, Bm25Config, TokenizerType

    kind = TokenizerType.Multilingual if multilingual else TokenizerType.Code
    return Bm25(Bm25Config(language="english", tokenizer=kind))


def _keyword_model_for(text: str) -> Any:
    # The code tokenizer adds the parts of an identifier to the whole; the multilingual one splits
    # text that is written without spaces. Both give the same word the same id.
    return _keyword_model(not text.isascii() and max(text) >= _FIRST_CJK)


def embed_keywords(text: str) -> SparseVector:
    """BM25's vector of a document, from its first 200,000 characters."""
    text = text[:_KEYWORD_CHARACTERS]
    vector: SparseVector = _keyword_model_for(text).embed_document(text)
    return vector


@lru_cache(maxsize=_CACHED_QUERIES)
def embed_keywords_query(text: str) -> KeywordVector:
    """BM25's vector of a query; every distinct word counts once."""
    text = text[:_KEYWORD_CHARACTERS]
    vector = _keyword_model_for(text).embed_query(text)
    return KeywordVector(vector.indices, vector.values)


def related_to(words: Iterable[int]) -> frozenset[int]:
    """Return the ids of words related to a query's.

    Args:
        words: the ids of the query's words, from `embed_keywords_query`.
    """
    table = _table()
    own = frozenset(words)
    return frozenset(word for each in own for word in table.get(each, ())) - own


def base_form(word: str) -> str:
    """Return the base of an irregular form: `write` of `written`; other words unchanged.

    Args:
        word: in lower case.
    """
    return _bases().get(word, word)


@lru_cache(maxsize=1)
def _bases() -> Mapping[str, str]:
    """Map irregular forms to their bases."""
    forms = takewhile(lambda line: not line.startswith("# WORDS"), _lines())
    return {
        form: line.partition(" ")[0]
        for line in forms
        if not line.startswith("#")
        for form in line.split()[1:]
    }


def _lines() -> list[str]:
    # Not by `importlib.resources`, which imports `zipfile`.
    return Path(__file__).with_name("related_words.txt").read_text("ascii").splitlines()


@lru_cache(maxsize=1)
def _table() -> Mapping[int, frozenset[int]]:
    """Map word ids to those of related words."""
    related: dict[int, set[int]] = defaultdict(set)
    for line in _lines():
        if line.startswith("#"):
            continue
        kind, separator, things = line.partition(":")
        ids = set(embed_keywords_query(things if separator else line).indices)
        for word in embed_keywords_query(kind).indices if separator else ids:
            related[word] |= ids
    return {word: frozenset(others - {word}) for word, others in related.items()}
