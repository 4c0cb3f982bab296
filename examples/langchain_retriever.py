"""A LangChain retriever over contextkit: its items as documents, within the token budget.

Run it in a project: `python examples/langchain_retriever.py "why do we retry?"`
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from langchain_core.callbacks import (
    AsyncCallbackManagerForRetrieverRun,
    CallbackManagerForRetrieverRun,
)
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import Field

from contextkit import ContextAssembler, ContextItem, ContextKit


class ContextKitRetriever(BaseRetriever):
    """Finds what a kit's sources know, ranked, without duplicates, fitted to the budget.

    Attributes:
        kit: who is asked; whoever opened it closes it.
        options: arguments of `assemble_context`, such as `max_tokens` or `context_types`.
    """

    kit: ContextKit | ContextAssembler
    options: Mapping[str, Any] = Field(default_factory=dict)

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,  # noqa: ARG002 - its signature
    ) -> list[Document]:
        context = self.kit.assemble_context_sync(query, **self.options)
        return [document(item) for item in context.items]

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,  # noqa: ARG002 - its signature
    ) -> list[Document]:
        context = await self.kit.assemble_context(query, **self.options)
        return [document(item) for item in context.items]


def document(item: ContextItem) -> Document:
    """An item as its source shows it; `source` is where it can be found, as loaders say it."""
    return Document(
        id=f"{item.source}:{item.id}",
        page_content=item.content,
        metadata={
            **item.metadata,
            "source": item.location or f"{item.source}:{item.id}",
            "title": item.title or item.id,
            "context_type": item.source,
            "relevance": item.relevance,
        },
    )


if __name__ == "__main__":
    with ContextKit.open(".") as opened:
        retriever = ContextKitRetriever(kit=opened, options={"max_tokens": 2000})
        for found in retriever.invoke(" ".join(sys.argv[1:]) or "why do we retry?"):
            print(f"{found.metadata['source']}\n{found.page_content}\n")
