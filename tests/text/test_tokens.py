"""The token estimate stays near a real tokenizer, on every kind of text."""

from __future__ import annotations

import json
import random
import statistics
import subprocess
import traceback
import tracemalloc
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from contextkit.errors import InvalidRequestError
from contextkit.text import tokens as counters
from contextkit.text.tokens import FAMILIES, TokenCounter, counter_for, estimate_tokens

DATA = Path(__file__).parents[1] / "data" / "tokens"
PIECE = 500
ANY_TEXT = st.text(st.characters(exclude_categories=()))
EVERY_FAMILY = pytest.mark.parametrize("family", FAMILIES)


def written(name: str) -> Callable[[Path], str]:
    """A text written for this test."""
    return lambda _: (DATA / f"{name}.txt").read_text(encoding="utf-8")


def python_sources(_: Path) -> str:
    """Modules of the standard library."""
    modules = (json.decoder, statistics, random, traceback, subprocess)
    return "\n".join(Path(str(module.__file__)).read_text(encoding="utf-8") for module in modules)


def json_documents(_: Path) -> str:
    """Indented and dense JSON of records such as an API returns."""
    rng = random.Random(5)
    words = (DATA / "prose.txt").read_text(encoding="utf-8").split()
    orders = [
        {
            "id": f"{rng.getrandbits(64):016x}",
            "createdAt": f"2025-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}T08:15:00Z",
            "customer": {"name": rng.choice(words).title(), "active": rng.random() < 0.5},
            "lines": [
                {"sku": f"A-{rng.randint(1, 9999)}", "quantity": rng.randint(1, 9), "note": None}
                for _ in range(rng.randint(1, 3))
            ],
            "total": round(rng.uniform(1, 900), 2),
            "comment": " ".join(rng.choices(words, k=8)),
        }
        for _ in range(20)
    ]
    return json.dumps(orders, indent=2) + "\n" + json.dumps(orders) + "\n" + json.dumps(orders[:5])


def stack_traces(_: Path) -> str:
    """Real tracebacks of calls into the standard library."""
    failing: list[Callable[[], object]] = [
        lambda: json.loads('{"a": [1, 2,, 3]}'),
        lambda: statistics.mean([]),
        lambda: subprocess.run(["/no/such/program", "--flag"], check=True),
        lambda: Path("/no/such/folder/file.toml").read_text(encoding="utf-8"),
        lambda: random.sample(range(3), 7),
        lambda: json.dumps({"handler": object()}, indent=2),
    ]
    traces = []
    for call in failing:
        try:
            call()
        except (ValueError, OSError, TypeError):
            try:
                raise RuntimeError("while the request was handled")
            except RuntimeError:
                traces.append(traceback.format_exc())
    # A temporary clone may have a random folder name, whose tokens cannot be estimated.
    return "\n".join(traces).replace(str(Path(__file__).parents[2]), "/home/ada/contextkit")


def git_log(folder: Path) -> str:
    """The log of a repository with thirty commits."""
    verbs = ("Fix", "Add", "Remove", "Speed up", "Document", "Refactor")
    things = ("the cache key", "retry handling", "CLI help", "the parser's error text", "CI setup")
    body = (DATA / "prose.txt").read_text(encoding="utf-8").split(". ")
    run(folder, "init", "-q")
    for number in range(30):
        subject = f"{verbs[number % 6]} {things[number % 5]} (#{1200 + 7 * number})"
        message = subject if number % 3 else f"{subject}\n\n{body[number % len(body)]}."
        run(folder, "commit", "-q", "--allow-empty", "-m", message)
    return run(folder, "log")


def run(folder: Path, *command: str) -> str:
    """What a git command prints."""
    author = ["-c", "user.name=Ada Example", "-c", "user.email=ada@example.org"]
    return subprocess.run(
        ["git", "-C", str(folder), *author, *command], check=True, capture_output=True, text=True
    ).stdout


CORPORA: dict[str, Callable[[Path], str]] = {
    "prose": written("prose"),
    "python": python_sources,
    "code": written("code"),
    "git log": git_log,
    "json": json_documents,
    "stack traces": stack_traces,
    "chinese": written("chinese"),
    "japanese": written("japanese"),
}


def pieces(text: str, size: int = PIECE, step: int = 100) -> Iterator[str]:
    """Pieces of a text, one beginning every `step` characters."""
    for start in range(0, max(1, len(text) - size + 1), step):
        yield text[start : start + size]


@cache
def o200k_base() -> Any:
    """The real tokenizer; importing it warns of what its own code will have to change."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        import bpe_openai

        return bpe_openai.get_encoding("o200k_base")


def real_tokens(text: str) -> int:
    """The tokens of o200k_base."""
    return len(o200k_base().encode_ordinary(text))


@pytest.mark.parametrize("kind", CORPORA)
def test_the_estimate_is_near_a_real_tokenizer(kind: str, tmp_path: Path) -> None:
    """Within 10% on average and 20% at the 5th and 95th percentile of 500-character pieces."""
    errors = [
        estimate_tokens(piece) / real_tokens(piece) - 1 for piece in pieces(CORPORA[kind](tmp_path))
    ]
    fifth, *_, ninety_fifth = statistics.quantiles(errors, n=20)

    assert statistics.mean(map(abs, errors)) <= 0.10
    assert fifth >= -0.20
    assert ninety_fifth <= 0.20


@pytest.mark.parametrize("kind", CORPORA)
def test_claude_counts_leave_room_for_its_tokenizers(kind: str, tmp_path: Path) -> None:
    """Every kind counts at least a fifth over o200k_base, and not over twice as much."""
    text = CORPORA[kind](tmp_path)

    ratio = counter_for("claude")(text) / real_tokens(text)

    assert 1.2 <= ratio <= 2.2


@pytest.mark.parametrize("kind", CORPORA)
def test_openai_counts_leave_a_margin(kind: str, tmp_path: Path) -> None:
    """A budget counted for OpenAI's models is kept on a text of several pieces."""
    text = CORPORA[kind](tmp_path)[:8000]

    assert 1.0 <= counter_for("openai")(text) / real_tokens(text) <= 1.2


@EVERY_FAMILY
@given(text=ANY_TEXT)
def test_any_text_has_a_count(family: str, text: str) -> None:
    """Any Unicode, lone surrogates included: 0 when empty, else at least 1, and again the same."""
    count = counter_for(family)

    assert count(text) == count(text)
    assert (count(text) >= 1) if text else (count(text) == 0)


@EVERY_FAMILY
@given(text=ANY_TEXT, more=ANY_TEXT)
def test_more_text_never_counts_less(family: str, text: str, more: str) -> None:
    """Appending never lowers the count."""
    count = counter_for(family)

    assert count(text) <= count(text + more)


@given(st.lists(st.sampled_from(["word ", "x_1 = f(a)\n", "上面", '{"k": 3}', "é"]), max_size=30))
@settings(max_examples=50)
def test_parts_count_about_as_much_as_the_whole(parts: list[str]) -> None:
    """Counts of parts add up to the whole's, but for two tokens a joint."""
    whole = estimate_tokens("".join(parts))

    assert abs(sum(map(estimate_tokens, parts)) - whole) <= 2 * len(parts)


def test_a_text_of_many_blocks_counts_like_its_lines() -> None:
    """Where a long text is worked through in blocks, no byte is lost or counted twice."""
    line = "def area(width: float) -> float:\n"

    def thousandths(text: str) -> int:
        return counters._tokens(text, "o200k", 100_000)

    assert thousandths(line * 10_000) == 10_000 * thousandths(line)


@given(ANY_TEXT, st.integers(min_value=0, max_value=60), ANY_TEXT, ANY_TEXT)
@EVERY_FAMILY
def test_beginnings_count_like_the_texts_they_make(
    family: str, text: str, end: int, between: str, note: str
) -> None:
    """A beginning with something behind it has the count of the two as one text."""
    counter = counter_for(family)
    end = min(end, len(text))
    assert counter.beginnings is not None

    counted = counter.beginnings(text, note).tokens(end, between)

    assert counted == counter(text[:end] + between + note)


@EVERY_FAMILY
@given(texts=st.lists(ANY_TEXT, max_size=8))
def test_many_texts_count_as_they_do_one_by_one(family: str, texts: list[str]) -> None:
    """What stands beside a text makes no difference to its count."""
    counter = counter_for(family)
    assert counter.many(texts) == [counter(text) for text in texts]
    assert TokenCounter("characters", len).many(texts) == [len(text) for text in texts]


@EVERY_FAMILY
@pytest.mark.parametrize("note", ["", "*(truncated)*"])
@pytest.mark.parametrize("line", ["def area(width: float) -> float:\n", "上面の日本語、é. "])
def test_the_longest_beginning_is_guessed_well(family: str, note: str, line: str) -> None:
    """The guess is within two tokens of what may be used; where nothing fits it is 0."""
    counter = counter_for(family)
    assert counter.beginnings is not None
    beginnings = counter.beginnings(line * 2000, note)

    assert abs(beginnings.tokens(beginnings.longest(3000), "") - 3000) <= 2
    assert beginnings.longest(1 if note else 0) == 0


def test_families_have_names_for_the_trace() -> None:
    """Each family's counter says that it is an estimate, and of what."""
    names = [counter_for(family).name for family in FAMILIES]

    assert names == ["estimate", "estimate:openai", "estimate:claude"]


def test_an_unknown_family_is_an_error_that_names_the_known_ones() -> None:
    """The error says what was asked for and what there is."""
    with pytest.raises(
        InvalidRequestError, match="expected one of default, openai, claude, got 'gpt'"
    ):
        counter_for("gpt")


def test_many_long_texts_are_counted_in_little_memory() -> None:
    """Counting takes a part of what the texts themselves take, and says what it says of each."""
    texts = [f"{number} {'what is counted ' * 2_800}" for number in range(200)]
    counter = counter_for("default")
    counter.many(texts[:1])
    tracemalloc.start()
    try:
        together = counter.many(texts)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert together == [counter(text) for text in texts]
    assert peak < sum(map(len, texts))
