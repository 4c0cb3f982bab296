"""The whole path: a model from the configuration, records that it embeds, and what finds them."""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import contextkit_embedders
from contextkit import ContextItem, ContextKit, ContextRequest, Record, hookimpl
from contextkit.store.embedded import EmbeddedStore
from contextkit.store.reembed import reembed
from contextkit.testing import open_kit

KITTENS = ["A kitten sleeps on the sofa", "Stock prices fell on Monday", "The bridge was painted"]
QUERY = "young cat naps"


class Notes:
    """A source that finds what its store finds."""

    @hookimpl
    async def contextkit_query(self, request: ContextRequest) -> list[ContextItem]:
        """The records that match."""
        hits = await request.records.search(request.query, limit=request.limit)
        return [ContextItem("notes", h.record.text, h.relevance, id=h.record.id) for h in hits]


@pytest.fixture
def kit(tmp_path: Path) -> Iterator[Callable[..., ContextKit]]:
    """Opens a kit with the source `notes` and the embedders, on one store."""
    plugins = {"embedders": contextkit_embedders, "notes": Notes}
    given = {"store.path": str(tmp_path / "store"), "assemble.min_relevance": 0.0}
    with contextlib.ExitStack() as stack:

        def opened(**settings: Any) -> ContextKit:
            own = {key.replace("__", "."): value for key, value in settings.items()}
            return stack.enter_context(open_kit(tmp_path, plugins, settings={**given, **own}))

        yield opened


def put_kittens(kit: ContextKit) -> None:
    """Store the texts as records of `notes`."""
    kit.records("notes").put([Record(id=str(n), text=text) for n, text in enumerate(KITTENS)])


def found(kit: ContextKit) -> list[str]:
    """What a context about the query has."""
    return [item.content for item in kit.assemble_context_sync(QUERY).items]


def test_a_model_finds_what_shares_no_word(minilm: Path, kit: Callable[..., ContextKit]) -> None:
    """With keywords alone nothing is found; after `reembed` the right record comes first."""
    without = kit(embedding__model="none")
    put_kittens(without)
    assert found(without) == []
    without.close()

    given = kit(embedding__model=f"fastembed:{minilm}", embedding__timeout=30.0)
    assert isinstance(given.store, EmbeddedStore)
    made = reembed(given.store.path, given.store.embedders, lambda _done, _total: None)

    assert dict(made.models)["notes"].startswith("fastembed:")
    assert found(given)[0] == KITTENS[0]


def test_an_endpoint_that_fails_costs_the_vectors_alone(
    server: Any, kit: Callable[..., ContextKit]
) -> None:
    """The context is made from keywords, and what is wrong is told."""
    pytest.importorskip("httpx")
    server.judge = lambda _: server.json({"error": "no credit"}, 402)
    given = kit(embedding__model=f"openai:tiny@{server.url}")

    put_kittens(given)
    context = given.assemble_context_sync("where does the kitten sleep?")

    assert [item.content for item in context.items] == [KITTENS[0]]
    assert "answered HTTP 402: no credit" in str(context.trace)
