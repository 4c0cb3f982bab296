"""Text to vectors: BM25's sparse ones for every record, dense ones by a source's model.

The default model works offline and without a download; others come from plugins, by the
hook `contextkit_embedder`. A model that fails costs its vectors and nothing else: search
goes on with the keywords.
"""

from __future__ import annotations

from contextkit.embedding.built_in import BUILT_IN, load_embedder
from contextkit.embedding.choice import Embedders, OneEmbedder, PluginEmbedders
from contextkit.embedding.dense import DenseModel
from contextkit.embedding.embedder import Embedder, KeywordsOnly, ModelEmbedder, NotAsked
from contextkit.embedding.keywords import KeywordVector, embed_keywords, embed_keywords_query
from contextkit.embedding.related import related_to

__all__ = [
    "BUILT_IN",
    "DenseModel",
    "Embedder",
    "Embedders",
    "KeywordVector",
    "KeywordsOnly",
    "ModelEmbedder",
    "NotAsked",
    "OneEmbedder",
    "PluginEmbedders",
    "embed_keywords",
    "embed_keywords_query",
    "load_embedder",
    "related_to",
]
