"""A LlamaIndex retriever over contextkit: its items as nodes, within the token budget.

Run it in a project: `python examples/llama_index_retriever.py "why do we retry?"`
"""

from __future__ import annotations

import sys
from typing import Any

from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from contextkit import ContextAssembler, ContextItem, ContextKit


class ContextKitRetriever(BaseRetriever):
    """Finds what a kit's sources know, ranked, without duplicates, fitted to the budget.

    Attributes:
        kit: who is asked; whoever opened it closes it.
        options: arguments of `assemble_context`, such as `max_tokens` or `context_types`.
    """

    def __init__(self, kit: ContextKit | ContextAssembler, **options: Any) -> None:
        super().__init__()
        self.kit = kit
        self.options = options

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        context = self.kit.assemble_context_sync(query_bundle.query_str, **self.options)
        return [node(item) for item in context.items]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        context = await self.kit.assemble_context(query_bundle.query_str, **self.options)
        return [node(item) for item in context.items]


def node(item: ContextItem) -> NodeWithScore:
    """An item as its source shows it: a model needs no more, so it is not shown the metadata."""
    metadata = {
        **item.metadata,
        "source": item.source,
        "title": item.title or item.id,
        "location": item.location,
    }
    text = TextNode(
        id_=f"{item.source}:{item.id}",
        text=item.content,
        metadata=metadata,
        excluded_llm_metadata_keys=list(metadata),
    )
    return NodeWithScore(node=text, score=item.relevance)


if __name__ == "__main__":
    with ContextKit.open(".") as opened:
        retriever = ContextKitRetriever(opened, max_tokens=2000)
        for found in retriever.retrieve(" ".join(sys.argv[1:]) or "why do we retry?"):
            print(f"{found.score:.2f} {found.node.metadata['title']}\n{found.text}\n")
