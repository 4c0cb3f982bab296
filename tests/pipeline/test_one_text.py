"""Counting and compressing a host's own text (seed 3's `estimateTokens` and `compress`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from structlog.testing import capture_logs

from contextkit import ContextItem, InvalidRequestError, hookimpl
from contextkit.text.tokens import counter_for
from tests.making import make_assembler
from tests.pipeline.test_compression import QUERY, story

counted = counter_for("default")

WORDS = story(7)


class Model:
    """A plugin that summarises for every source with what it is given."""

    def __init__(self, *answers: str | None) -> None:
        self.answers = answers
        self.asked: list[tuple[str, Sequence[ContextItem], Sequence[int]]] = []

    @hookimpl
    def contextkit_compress(
        self,
        query: str,
        items: Sequence[ContextItem],
        targets: Sequence[int],
        count: Callable[[str], int],
    ) -> Sequence[str | None]:
        self.asked.append((query, items, targets))
        return self.answers


async def test_tokens_are_counted_by_name() -> None:
    """By the configured estimate, or by another one."""
    kit = make_assembler({})
    assert await kit.count_tokens(WORDS) == counted(WORDS)
    assert await kit.count_tokens(WORDS, "claude") > await kit.count_tokens(WORDS)
    with pytest.raises(InvalidRequestError, match="there is no tokenizer 'nope'"):
        await kit.count_tokens(WORDS, "nope")
    with pytest.raises(InvalidRequestError, match="only a text has tokens, got a NoneType"):
        await kit.count_tokens(None)  # type: ignore[arg-type]
    with pytest.raises(InvalidRequestError, match="only a text is shortened, got a NoneType"):
        await kit.compress(None, 40)  # type: ignore[arg-type]


def test_a_script_has_both() -> None:
    """Without an event loop."""
    kit = make_assembler({})
    assert kit.count_tokens_sync("") == 0
    assert kit.count_tokens_sync(kit.compress_sync(WORDS, 40, query=QUERY)) <= 40


async def test_the_sentences_that_answer_are_kept() -> None:
    """Within the tokens; what fits stays as it is."""
    kit = make_assembler({})
    short = await kit.compress(WORDS, 40, query=QUERY)
    assert "The harbour gate 7 is closed at 7 o'clock." in short
    assert len(short) < len(WORDS)
    assert await kit.count_tokens(short) <= 40
    assert await kit.compress(WORDS, 10_000) == WORDS
    assert await kit.compress("", 1) == ""


@pytest.mark.parametrize("text", [WORDS, "word " * 500, "x" * 5000, "潮" * 900, "a\ud800b " * 50])
@pytest.mark.parametrize("most", [1, 3, 20, 100])
async def test_nothing_is_longer_than_it_may_be(text: str, most: int) -> None:
    """Whatever the text is, and however little there is room for."""
    kit = make_assembler({})
    short = await kit.compress(text, most)
    assert await kit.count_tokens(short) <= most
    assert short.encode().decode() == short


async def test_a_plugin_summarises() -> None:
    """It is asked once with the query and the tokens, and its words count where they fit."""
    model = Model("The gate is closed at seven.")
    kit = make_assembler({"model": model})
    assert await kit.compress(WORDS, 30, query=QUERY) == "The gate is closed at seven."
    [(query, [item], [target])] = model.asked
    assert (query, item.content, target) == (QUERY, WORDS, 30)


@pytest.mark.parametrize("answer", [(None,), (" ",), ("long " * 200,), (), ("a", "b")])
async def test_a_bad_answer_costs_only_itself(answer: tuple[str | None, ...]) -> None:
    """The next way is taken, and what is no summary is logged."""
    kit = make_assembler({"model": Model(*answer)})
    with capture_logs() as logs:
        short = await kit.compress(WORDS, 40, query=QUERY)
    assert "The harbour gate 7 is closed" in short
    assert [log["event"] for log in logs] == ([] if answer == (None,) else ["hook_failed"])


@pytest.mark.parametrize("most", [0, -1, 1.5, True, "many"])
async def test_a_budget_that_is_none_is_refused(most: object) -> None:
    """In one line."""
    with pytest.raises(InvalidRequestError, match="max_tokens must be a whole number of at least"):
        await make_assembler({}).compress(WORDS, most)  # type: ignore[arg-type]
