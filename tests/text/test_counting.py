"""Which counter counts: the core's estimates by name, then the plugins' tokenizers."""

from __future__ import annotations

from typing import Any

import pytest

from contextkit import ContextItem, InvalidRequestError
from contextkit.plugin.tokenizers import find_counter
from contextkit.text.tokens import counter_for
from tests.making import OpenKit, make_plugin, make_registry


def count_words(text: str) -> int:
    """Tokens of a tokenizer that is easily checked."""
    return len(text.split())


def counting(name: str) -> Any:
    """A hook that counts by words under that name."""
    return count_words if name == "words" else None


@pytest.mark.parametrize("name", ["default", "openai", "claude"])
def test_a_family_is_counted_by_the_core(name: str) -> None:
    """Without asking a plugin."""
    assert find_counter(make_registry(), name) == counter_for(name)


async def test_a_plugin_counts_the_budget(open_kit: OpenKit) -> None:
    """And the trace names the counter."""
    items = [ContextItem("tide", f"the water of day {n} was high", 0.9, id=str(n)) for n in "abc"]
    kit = open_kit(
        {"tide": make_plugin(items), "words": make_plugin(contextkit_tokenizer=counting)}
    )
    context = await kit.assemble_context("water", max_tokens=40, tokens="words")
    assert context.token_count == count_words(context.markdown) <= 40
    assert context.trace.counter == "words"
    assert len(context.items) == 3


def test_a_name_that_nobody_counts_by_is_refused() -> None:
    """With what there is, who was asked, and what went wrong there."""
    known = "there is no tokenizer 'tiktok'; available: default, openai, claude"
    install = " (pip install contextkit-tokenizers)"
    with pytest.raises(InvalidRequestError) as refused:
        find_counter(make_registry(), "tiktok")
    assert str(refused.value) == f"{known}; no plugin that is on offers one{install}"

    def broken(name: str) -> Any:
        raise ValueError(f"no file {name}.json")

    registry = make_registry(
        {
            "a": make_plugin(contextkit_tokenizer=broken),
            "b": make_plugin(contextkit_tokenizer=counting),
        }
    )
    with pytest.raises(InvalidRequestError) as refused:
        find_counter(registry, "tiktok")
    assert str(refused.value) == f"{known}; plugins asked: a, b (ValueError: no file tiktok.json)"


def test_what_is_no_function_is_refused() -> None:
    """It would fail at the first text."""
    registry = make_registry({"a": make_plugin(contextkit_tokenizer=lambda name: 7)})
    with pytest.raises(InvalidRequestError, match="expected a function of a text, got an int"):
        find_counter(registry, "seven")


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        (ZeroDivisionError(), "ZeroDivisionError"),
        (-1, "expected a whole number of at least 0, got -1"),
        (1.5, "expected a whole number of at least 0, got 1.5"),
        (None, "expected a whole number of at least 0, got None"),
    ],
)
def test_a_tokenizer_that_fails_costs_its_exactness(result: Any, reason: str) -> None:
    """The text is estimated instead, and the failure is told."""

    def count(text: str) -> Any:
        if isinstance(result, Exception):
            raise result
        return result

    told: list[tuple[str, str, str]] = []
    registry = make_registry({"a": make_plugin(contextkit_tokenizer=lambda name: count)})
    counter = find_counter(registry, "any", lambda *failure: told.append(failure))
    assert counter("high water at noon") == counter_for("openai")("high water at noon")
    assert told == [("a", "contextkit_tokenizer", reason)]
