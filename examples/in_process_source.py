"""A host with a source of its own, registered without a distribution or an entry point.

Run it: `python examples/in_process_source.py "where is my order?"`
"""

from __future__ import annotations

import asyncio
import logging
import re
import sys
import tempfile
from collections.abc import Sequence
from typing import Any

import structlog

from contextkit import ContextItem, ContextKit, ContextKitError, ContextRequest, hookimpl
from contextkit.text import line_start_safe, one_line

ORDERS = [
    {"id": "A-17", "what": "a pump and two hoses", "state": "sent on Monday"},
    {"id": "B-42", "what": "a garden chair", "state": "waits for its cushion"},
]


class Orders:
    """The orders of the customer that the host talks to: an object is a plugin as a module is.

    Attributes:
        orders: what the host has in memory; it may change between two questions.
    """

    def __init__(self, orders: Sequence[dict[str, str]]) -> None:
        self.orders = orders

    @hookimpl
    async def contextkit_query(self, request: ContextRequest) -> list[ContextItem]:
        """Those that share words with the query, best first."""
        words = set(re.findall(r"\w+", request.query.lower()))
        found = []
        for order in self.orders:
            text = f"Order {order['id']}, {order['what']}: {order['state']}"
            shared = words & set(re.findall(r"\w+", text.lower()))
            if shared:
                relevance = len(shared) / len(words)
                found.append(ContextItem("orders", text, relevance, order, id=order["id"]))
        return sorted(found, key=lambda item: -item.relevance)[: request.limit]

    @hookimpl
    def contextkit_format(self, items: Sequence[ContextItem], style: str) -> list[str] | None:
        """In bold what it is, in Markdown; other styles are left to the core."""
        return [_shown(item.metadata) for item in items] if style == "markdown" else None

    @hookimpl
    def contextkit_dedup_keys(self, items: Sequence[ContextItem]) -> list[list[str]]:
        """The order's number."""
        return [[f"order:{item.id}"] for item in items]


def _shown(order: Any) -> str:
    state = line_start_safe(order["state"])
    return f"- **{one_line(order['id'])}** {line_start_safe(order['what'])}: {state}"


async def main(query: str) -> None:
    """Ask the host's own source, and no plugin that happens to be installed."""
    with tempfile.TemporaryDirectory() as folder:
        async with ContextKit.open(folder, entry_points=False) as kit:
            kit.register(Orders(ORDERS), "orders")
            context = await kit.assemble_context(query, max_tokens=500)
            print(context.markdown or "(nothing relevant was found)")


if __name__ == "__main__":
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
    try:
        asyncio.run(main(" ".join(sys.argv[1:]) or "what became of order A-17?"))
    except ContextKitError as error:
        sys.exit(f"in_process_source: {error}")
