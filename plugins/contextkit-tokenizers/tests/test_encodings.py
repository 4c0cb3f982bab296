"""Counting by OpenAI's encodings: exact against another library, whatever the text."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest
from hypothesis import example, given, settings, strategies as st

from contextkit_tokenizers import contextkit_tokenizer

OtherCount = Callable[[str, str], int]

ENCODINGS = ("o200k_base", "cl100k_base")
# Where the encodings' rules for splitting text differ from each other, they differ on these.
TRICKY = (
    "aAbZsStTlLdD019'’\"`#{}()[]/\\-_.,:;|<> \n\r\t\u00a0\u2028\u3000é\u0301ſǅªʰ中あーक्🎉\u200d👩"
)

CASES = {
    "shortest": ("", "\0"),
    "special token": ("a<|endoftext|>b", "<|fim_prefix|><|endofprompt|>", "<|start|>user"),
    "white space": ("   \n\n  x", "\t\t\n", "a \n", " " * 300, "\r\n\r\n", "\u3000\u3000x"),
    "contractions": ("don't WE'LL it'S I'M they'Re x'ſ y'ſ'lL", "'s", "''s"),
    "numbers": ("1234567", "3.14159", "١٢٣٤", "½⅓"),
    "scripts": (
        "编程语言的上下文预算",
        "コンテキストを組み立てる",
        "हिन्दी में",
        "Žluťoučký kůň",
        "ǅungla",
    ),
    "emoji": ("👩‍👩‍👧‍👦", "🇩🇪🇯🇵", "e\u0301", "\U000e0067"),
    "code": ("def f(x):\n    return x**2  # ²\n", '{"a": [1, 2, null]}', "/usr/lib/x.so\n/\n"),
}


def counter(encoding: str) -> Callable[[str], int]:
    """The plugin's counter, which must be there."""
    count = contextkit_tokenizer(encoding)
    assert count is not None
    return count


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("kind", CASES)
def test_counts_are_exact(encoding: str, kind: str, other_count: OtherCount) -> None:
    """On what the rules for splitting text single out; special tokens are plain text."""
    count = counter(encoding)
    for text in CASES[kind]:
        assert count(text) == other_count(encoding, text), text


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_counts_are_exact_on_any_text(encoding: str, other_count: OtherCount) -> None:
    """Of any characters, and of those that the rules single out."""
    count = counter(encoding)
    # Unassigned characters are left out: libraries differ in the Unicode version they know.
    characters = st.characters(exclude_categories=("Cs", "Cn"))

    @settings(max_examples=1000, deadline=None)
    @given(st.text(characters) | st.text(st.sampled_from(TRICKY)))
    @example("x'ſ'lLLsl")
    def exact(text: str) -> None:
        assert count(text) == other_count(encoding, text)

    exact()


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_half_surrogate_pairs_are_counted(encoding: str) -> None:
    """As the character that stands for what cannot be read; two that belong together as one."""
    count = counter(encoding)

    assert count("a\ud800b") == count("a\ufffdb")
    assert count("\udfff\ud800") == count("\ufffd\ufffd")
    assert count("\ud83c\udf89") == count("🎉")


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("text", ["a", " ", "\n", "\t", "#", "字", "\u0301", "1", "hello world "])
def test_a_long_repetitive_text_takes_linear_time(encoding: str, text: str) -> None:
    """Over a million characters and 200,000 tokens, where the library's own interface ends."""
    count = counter(encoding)

    many, more = count(text * 100_000), count(text * 1_000_000)

    assert many < more <= 10 * many


def test_an_encoding_is_loaded_once() -> None:
    """A model has the counter of its encoding, which differs from the others'."""
    assert counter("o200k_base") is counter("gpt-5")
    assert counter("o200k_base")("上下文预算 ") < counter("gpt-4")("上下文预算 ")


IMPORTS = """
import sys, warnings
from concurrent.futures import ThreadPoolExecutor

def fail_on_network(event, arguments):
    if event.startswith("socket."):
        raise SystemExit(event)

sys.addaudithook(fail_on_network)
filters = list(warnings.filters)
import contextkit_tokenizers

def loaded():
    return [name for name in ("bpe_openai", "tokenizers", "numpy") if name in sys.modules]

assert not loaded(), loaded()
assert contextkit_tokenizers.contextkit_tokenizer("o200k") is None
assert not loaded(), loaded()

def count(_):
    return contextkit_tokenizers.contextkit_tokenizer("o200k_base")("hello world")

with ThreadPoolExecutor(100) as pool:
    assert set(pool.map(count, range(100))) == {2}
assert loaded() == ["bpe_openai"], loaded()
assert warnings.filters == filters
print("fine")
"""


def test_a_library_is_imported_when_it_is_asked_for() -> None:
    """Not before, with no warning, and without the network; also by many threads at once."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", IMPORTS], capture_output=True, text=True, check=False
    )

    assert done.stdout == "fine\n", done.stderr
