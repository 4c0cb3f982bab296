"""A context's tokens are those of the named tokenizer, through the whole path."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tokenizers import Tokenizer

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


@pytest.mark.parametrize("max_tokens", [40, 900])
@pytest.mark.parametrize("tokens", ["o200k_base", "gpt-4"])
async def test_a_context_is_counted_by_the_tokenizer_that_is_named(
    open_kit: OpenKit, other_count: OtherCount, tokens: str, max_tokens: int
) -> None:
    """Its count is exact and within the budget; the trace names the counter."""
    encoding = {"gpt-4": "cl100k_base"}.get(tokens, tokens)

    context = await with_notes(open_kit()).assemble_context(
        "gate water 水位", max_tokens=max_tokens, tokens=tokens
    )

    assert context.items
    assert context.token_count == other_count(encoding, context.markdown) <= max_tokens
    assert context.trace is not None
    assert context.trace.counter == tokens


async def test_a_context_is_counted_by_a_tokenizer_on_disk(
    open_kit: OpenKit, write_tokenizer: WriteTokenizer
) -> None:
    """The setting names it for requests that name none; what it does not know is a token too."""
    path = write_tokenizer()
    kit = with_notes(open_kit(assemble__tokens=f"tokenizers:{path}"))

    context = await kit.assemble_context("gate", max_tokens=150)

    encoded = Tokenizer.from_file(str(path)).encode(context.markdown, add_special_tokens=False)
    assert context.items
    assert context.token_count == len(encoded) <= 150


@pytest.mark.parametrize(
    ("tokens", "said"),
    [
        ("o200k", "there is no tokenizer 'o200k'.*plugins asked: tokenizers"),
        ("tokenizers:/nowhere/tokenizer.json", "there is no file .*nowhere"),
    ],
)
async def test_an_unknown_name_is_refused(open_kit: OpenKit, tokens: str, said: str) -> None:
    """The error has the name and what is wrong with it."""
    with pytest.raises(InvalidRequestError, match=said):
        await open_kit().assemble_context("gate", tokens=tokens)
