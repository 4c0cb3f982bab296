"""A context's tokens are those of the named tokenizer, through the whole path."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from contextkit import ContextKit, InvalidRequestError, Record

OpenKit = Callable[..., ContextKit]
OtherCount = Callable[[str, str], int]
WriteTokenizer = Callable[..., Path]

NOTES = [
    "The gate is closed before ebb; high water comes at noon.",
    "水位在中午最高,闸门在退潮前关闭。" * 5,
    "```python\ndef gate(level: float) -> bool:\n    return level > 3.14\n```\n" * 6,
    "gate <|endoftext|> <|fim_prefix|> gate " * 12,
    "gate 🎉👩‍👩‍👧‍👦 é 𝐆𝐚𝐭𝐞 " * 25,
    "The gate " + "a" * 4000,
]


def with_notes(kit: ContextKit) -> ContextKit:
    """Store the notes."""
    kit.records("notes").put(
        [Record(id=str(number), text=text) for number, text in enumerate(NOTES)]
    )
    return kit


@pytest.mark.parametrize("max_tokens", [40, 200, 900, 8000])
@pytest.mark.parametrize("tokens", ["o200k_base", "gpt-4"])
async def test_a_context_is_counted_by_the_tokenizer_that_is_named(
    open_kit: OpenKit, other_count: OtherCount, tokens: str, max_tokens: int
) -> None:
    """Its count is the real one, it is within the budget, and the trace names the counter."""
    encoding = {"gpt-4": "cl100k_base"}.get(tokens, tokens)

    context = await with_notes(open_kit()).assemble_context(
        "gate water 水位", max_tokens=max_tokens, tokens=tokens
    )

    assert context.items
    assert context.token_count == other_count(encoding, context.markdown) <= max_tokens
    assert context.trace is not None
    assert context.trace.counter == tokens


async def test_the_tokenizer_may_be_a_setting(open_kit: OpenKit, other_count: OtherCount) -> None:
    """`[assemble] tokens`, for every request that names none."""
    kit = with_notes(open_kit(assemble__tokens="o200k_base"))

    context = await kit.assemble_context("gate", max_tokens=300)

    assert context.items
    assert context.token_count == other_count("o200k_base", context.markdown) <= 300


async def test_a_context_is_counted_by_a_tokenizer_on_disk(
    open_kit: OpenKit, write_tokenizer: WriteTokenizer
) -> None:
    """Which knows words: everything between them is a token as well."""
    from tokenizers import Tokenizer

    path = write_tokenizer()

    context = await with_notes(open_kit()).assemble_context(
        "gate", max_tokens=150, tokens=f"tokenizers:{path}"
    )

    encoded = Tokenizer.from_file(str(path)).encode(context.markdown, add_special_tokens=False)
    assert context.items
    assert context.token_count == len(encoded) <= 150


async def test_a_hundred_requests_at_once_are_counted_as_one(open_kit: OpenKit) -> None:
    """One counter serves them all."""
    kit = with_notes(open_kit())
    alone = await kit.assemble_context("gate", max_tokens=500, tokens="o200k_base")

    together = await asyncio.gather(
        *(kit.assemble_context("gate", max_tokens=500, tokens="o200k_base") for _ in range(100))
    )

    assert {context.markdown for context in together} == {alone.markdown}
    assert {context.token_count for context in together} == {alone.token_count}


@pytest.mark.parametrize(
    ("tokens", "said"),
    [
        ("o200k", "nothing counts by 'o200k'.*asked of tokenizers"),
        ("claude-sonnet-5", "nothing counts by 'claude-sonnet-5'"),
        ("tokenizers:/nowhere/tokenizer.json", "there is no file .*nowhere"),
    ],
)
async def test_a_name_that_nobody_counts_by_is_refused(
    open_kit: OpenKit, tokens: str, said: str
) -> None:
    """With what was asked for and what is wrong with it."""
    with pytest.raises(InvalidRequestError, match=said):
        await open_kit().assemble_context("gate", tokens=tokens)
