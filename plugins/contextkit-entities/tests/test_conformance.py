"""Both sources do what contextkit expects of every source."""

from __future__ import annotations

import contextkit_entities
from contextkit import ContextKit
from contextkit.testing import SourceConformance
from contextkit_entities import EntityBook, relations_source


def fill(book: EntityBook) -> None:
    """Services and a person, as somebody would add them."""
    book.add("Billing", "service", properties={"owner": "# Ana", "lang": "Go"}, salience=0.8)
    book.add("Stripe", "service", aliases=["the card processor"])
    book.add("Ana *Lima*", "person", shared=True)
    book.add("Invoice table", "table", properties={"rows": 12, "billing": True})
    book.relate("Billing", "depends on", "Stripe")
    book.relate("Billing", "owned by", "Ana *Lima*", properties={"since": "<2024>"})
    book.relate("Invoice table", "written by", "Billing", weight=0.7)


class TestEntities(SourceConformance):
    """Four entities: by name, by alias, by search, and one of the user's."""

    source = contextkit_entities
    query = "why does billing call the card processor twice for Ana Lima?"
    timeout = 60.0

    def prepare(self, kit: ContextKit) -> None:
        """Add them to the project."""
        fill(EntityBook.of(kit))


class TestRelations(SourceConformance):
    """Three relations around what the query mentions, read from the source `entities`."""

    source = relations_source
    query = "why does billing call the card processor twice for Ana Lima?"
    timeout = 60.0

    def prepare(self, kit: ContextKit) -> None:
        """The source that keeps them is there, too."""
        kit.register(contextkit_entities, "entities")
        fill(EntityBook.of(kit))
