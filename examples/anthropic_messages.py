"""Ask Claude about a project: contextkit's items as `search_result` blocks, which it cites.

Run it in a project, with a key in ANTHROPIC_API_KEY:
`python examples/anthropic_messages.py "why do we retry?"`
"""

from __future__ import annotations

import asyncio
import sys
from typing import cast

from anthropic import AsyncAnthropic
from anthropic.types import Message, SearchResultBlockParam

from contextkit import ContextKit

MODEL = "claude-sonnet-5-5"


async def ask(client: AsyncAnthropic, kit: ContextKit, question: str) -> Message:
    """Send what the project knows, then the question; where it knows nothing, that alone."""
    context = await kit.assemble_context(question, max_tokens=4000)
    results = cast("list[SearchResultBlockParam]", context.search_results())
    return await client.messages.create(
        model=MODEL,
        max_tokens=1024,
        messages=[{"role": "user", "content": [*results, {"type": "text", "text": question}]}],
    )


def with_sources(answer: Message) -> str:
    """The answer, with a number behind what is cited, and the sources under these numbers."""
    text = ""
    numbers: dict[str, int] = {}
    for block in answer.content:
        if block.type != "text":
            continue
        text += block.text
        for citation in block.citations or []:
            if citation.type == "search_result_location":
                number = numbers.setdefault(citation.source, len(numbers) + 1)
                text += f" [{number}]"
    return "\n".join([text, *(f"[{number}] {source}" for source, number in numbers.items())])


async def main(question: str) -> None:
    """Ask one question about the workspace that this runs in."""
    async with AsyncAnthropic() as client, ContextKit.open(".") as kit:
        print(with_sources(await ask(client, kit, question)))


if __name__ == "__main__":
    asyncio.run(main(" ".join(sys.argv[1:]) or "why do we retry?"))
