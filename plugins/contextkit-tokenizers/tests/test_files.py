"""Counting by a `tokenizer.json` on disk."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from contextkit.errors import InvalidRequestError
from contextkit_tokenizers import contextkit_tokenizer

WriteTokenizer = Callable[..., Path]


def counter(path: object) -> Callable[[str], int]:
    """The plugin's counter for a file, which must be there."""
    count = contextkit_tokenizer(f"tokenizers:{path}")
    assert count is not None
    return count


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("high water comes at noon", 5), ("", 0), ("high <s> water", 5), ("high \ud800 water", 3)],
)
def test_tokens_are_those_of_the_text_alone(
    write_tokenizer: WriteTokenizer, text: str, tokens: int
) -> None:
    """A template's tokens do not count; special tokens and half surrogate pairs are plain text."""
    assert counter(write_tokenizer())(text) == tokens


def test_lengths_of_training_do_not_count(write_tokenizer: WriteTokenizer) -> None:
    """A file may say that texts are cut at so many tokens, or filled up to them."""

    def prepared(tokenizer: Any) -> None:
        tokenizer.enable_truncation(4)
        tokenizer.enable_padding(length=8)

    count = counter(write_tokenizer(prepared=prepared))

    assert count("noon") == 1
    assert count("high water " * 50) == 100


def test_a_byte_level_tokenizer_counts_any_text(tmp_path: Path) -> None:
    """Of the kind that open models have: what is in no vocabulary is counted by bytes."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=300, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False
    )
    tokenizer.train_from_iterator(["high water comes at noon"] * 50, trainer)
    path = tmp_path / "tokenizer.json"
    tokenizer.save(str(path))
    count = counter(path)

    assert count("high water") == 2
    assert count("编") == 3
    assert count("a" * 100_000) == 100_000


def test_a_folder_stands_for_the_tokenizer_in_it(
    write_tokenizer: WriteTokenizer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """And a path may begin at the working directory or at the user's home."""
    folder = write_tokenizer("model/tokenizer.json").parent
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))

    for path in (folder, "model", "model/tokenizer.json", "~/model"):
        assert counter(path)("high water") == 2


def test_a_file_is_read_once_until_it_changes(write_tokenizer: WriteTokenizer) -> None:
    """Every request asks for its counter."""
    path = write_tokenizer()
    first = counter(path)

    assert counter(path) is first
    write_tokenizer(words=["<unk>", "<s>", "</s>", "high", "water", "marks"])
    os.utime(path, ns=(1, 1))
    assert counter(path) is not first


def test_a_hundred_threads_count_as_one_does(write_tokenizer: WriteTokenizer) -> None:
    """Also when they all ask for the counter before the file was read."""
    path = write_tokenizer()
    barrier = Barrier(100)

    def counted(number: int) -> int:
        barrier.wait()
        return counter(path)("high water " * number)

    with ThreadPoolExecutor(100) as pool:
        assert list(pool.map(counted, range(100))) == [2 * number for number in range(100)]


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("", r"expected tokenizers:PATH, the path of a tokenizer\.json"),
        ("nowhere.json", r"there is no file .*nowhere\.json$"),
        ("empty", r"there is no file .*empty.tokenizer\.json$"),
        ("words.txt", r"words\.txt is not a tokenizer: expected ident"),
        ("list.json", r"list\.json is not a tokenizer: invalid type"),
        ("config.json", r"config\.json is not a tokenizer: "),
        ("bytes.json", r"bytes\.json is not a tokenizer: "),
        ("a\0b", "there is no file"),
        ("\ud800", "there is no file"),
        ("~nobody-of-this-name/t.json", "cannot read ~nobody-of-this-name/t.json: "),
        ("a" * 5000, "cannot read a+: "),
    ],
)
def test_what_is_no_tokenizer_is_said(
    path: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No path, no such file, something else in it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "words.txt").write_text("not json")
    (tmp_path / "list.json").write_text("[]")
    (tmp_path / "config.json").write_text('{"model_max_length": 512}')
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe\x00")

    with pytest.raises(InvalidRequestError, match=f"(?i){said}"):
        contextkit_tokenizer(f"tokenizers:{path}")
