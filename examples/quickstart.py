"""Assemble a context and a premortem for the workspace that this runs in.

Run it in a clone: `python examples/quickstart.py "how is the token budget split?"`
"""

from __future__ import annotations

import asyncio
import logging
import sys

import structlog

from contextkit import ContextKit, ContextKitError, FormattedContext


def show(context: FormattedContext) -> None:
    """Print a context, what it took and what each source did for it."""
    print(context.markdown or "(nothing relevant was found)")
    print(f"\n{context.token_count} of {context.trace.max_tokens} tokens")
    for source in context.trace.sources:
        reason = f": {source.reason}" if source.reason else ""
        print(f"  {source.section}: {source.state}, {source.used} tokens{reason}")


async def main(query: str) -> None:
    """Index the workspace, then ask two questions."""
    async with ContextKit.open(".") as kit:
        # Blocking work belongs in a thread where an event loop must go on.
        await asyncio.to_thread(kit.index)
        show(await kit.assemble_context(query, max_tokens=2000))
        print("\n---\n")
        show(await kit.get_premortem_context("debugging", strategy="systematic-elimination"))


if __name__ == "__main__":
    # contextkit logs with structlog, which a host sets up as it likes: here, only warnings.
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
    try:
        asyncio.run(main(" ".join(sys.argv[1:]) or "how is the token budget split?"))
    except ContextKitError as error:
        sys.exit(f"quickstart: {error}")
