"""BM25's sparse vectors, the same for every record and every store."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from attrs import frozen

__all__ = ["KeywordVector", "embed_keywords", "embed_keywords_query"]

_KEYWORD_CHARACTERS = 200_000
_CACHED_QUERIES = 1024
_FIRST_CJK = "\u2e80"


@frozen
class KeywordVector:
    """A sparse vector: token ids and their weights, of equal length."""

    indices: list[int]
    values: list[float]


@lru_cache(maxsize=2)
def _keyword_model(multilingual: bool) -> Any:
    from qdrant_edge import Bm25, Bm25Config, TokenizerType

    kind = TokenizerType.Multilingual if multilingual else TokenizerType.Code
    return Bm25(Bm25Config(language="english", tokenizer=kind))


def _keyword_model_for(text: str) -> Any:
    # The code tokenizer adds an identifier's parts to its whole; the multilingual one cuts
    # text that is written without spaces into words. Both give a word the same id.
    return _keyword_model(not text.isascii() and max(text) >= _FIRST_CJK)


def embed_keywords(text: str) -> KeywordVector:
    """BM25's vector of a document; beyond 200,000 characters a text is not searched."""
    text = text[:_KEYWORD_CHARACTERS]
    vector = _keyword_model_for(text).embed_document(text)
    return KeywordVector(list(vector.indices), list(vector.values))


@lru_cache(maxsize=_CACHED_QUERIES)
def embed_keywords_query(text: str) -> KeywordVector:
    """BM25's vector of a query: every distinct word counts once."""
    text = text[:_KEYWORD_CHARACTERS]
    vector = _keyword_model_for(text).embed_query(text)
    return KeywordVector(list(vector.indices), list(vector.values))
