"""The static model's tokenizer: made for one text or whole, it cuts the same."""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
import wordllama
from tokenizers import Tokenizer

from contextkit.disk_cache import cache_file
from contextkit.embedding import reduced
from contextkit.embedding.built_in import (
    StaticTokenizer,
    _ascii_pieces_of,
    _pieces_of,
    find_static_model,
)
from contextkit.embedding.reduced import SPACE, TokenGroups

FILE = Path(wordllama.__file__).parent / "tokenizers" / "l2_supercat_tokenizer_config.json"

TEXTS = (
    "how is the token budget split over the sources?",
    "",
    " ",
    "  two  spaces,    four, and one at the end ",
    "def split(budget):\n\treturn budget // 2\r\n",
    "▁ is what stands for a space",
    "<s>tide</s> and <unk> <0x41> <0x4",
    "żółć, Ébauche, ПРИВЕТ, 日本語のテキスト, עברית",
    "🌊👩‍👩‍👧 ſ ﬁ e\u0301 \x00\x07 \u200b\ufeff",
    "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 ￼ \U0010ffff",
    "====================------------________",
    "HTTPServerError_v2.5::get<T>(a&&b)!=null",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
)


@pytest.fixture(scope="module")
def described() -> Mapping[str, Any]:
    """The whole tokenizer's description."""
    whole: Mapping[str, Any] = json.loads(FILE.read_bytes())
    return whole


@pytest.fixture(scope="module")
def whole() -> Tokenizer:
    """The whole tokenizer."""
    return Tokenizer.from_file(str(FILE))


def cut(tokenizer: Tokenizer, text: str) -> list[int]:
    """The numbers of a text's tokens."""
    ids: list[int] = tokenizer.encode(text, add_special_tokens=False).ids
    return ids


def cut_by(tokenizer: StaticTokenizer, texts: Sequence[str]) -> list[list[int]]:
    """The numbers of the tokens of each text."""
    return [ids.tolist() for ids in tokenizer.ids(texts)]


def test_no_token_reaches_from_one_piece_to_the_next(whole: Tokenizer) -> None:
    """Every token is within one piece of the text that it is."""
    tokens = [token.replace(SPACE, " ") for token in whole.get_vocab(with_added_tokens=False)]
    words = [token for token in tokens if not re.fullmatch(r"<0x..>|<s>|</s>|<unk>", token)]
    assert all(_pieces_of(word) == [word] for word in words)
    assert all(_ascii_pieces_of(word) == [word] for word in words if word.isascii())


def test_pieces_of_texts_are_cut_as_in_the_whole_text(whole: Tokenizer) -> None:
    """Also on second sight, and when no token can reach from one piece to the next."""
    lines = [" ".join(TEXTS), "\n".join(TEXTS), " \n ".join(TEXTS), "\t".join(TEXTS)]
    texts = [*TEXTS, *lines, *map(str.upper, lines), Path(__file__).read_text(encoding="utf-8")]
    tokenizer = StaticTokenizer(FILE)
    for _ in range(2):
        assert cut_by(tokenizer, texts) == [cut(whole, text)[:512] for text in texts]
    vocabulary = [token.replace("▁", " ") for token in whole.get_vocab()]
    assert cut_by(tokenizer, vocabulary) == [cut(whole, text) for text in vocabulary]


@pytest.mark.parametrize("text", TEXTS)
def test_a_reduced_tokenizer_cuts_its_text_as_the_whole_one_does(
    described: Mapping[str, Any], whole: Tokenizer, text: str
) -> None:
    """Whatever characters, markers and runs of spaces there are in it."""
    small = Tokenizer.from_str(TokenGroups.of(described).reduced_to([text]))
    assert cut(small, text) == cut(whole, text)
    assert small.get_vocab_size() < whole.get_vocab_size() / 10


def test_merges_may_be_written_as_pairs(described: Mapping[str, Any], whole: Tokenizer) -> None:
    """As newer releases of the library write them."""
    model = described["model"]
    pairs = [merge.split(" ") for merge in model["merges"]]
    groups = TokenGroups.of({**described, "model": {**model, "merges": pairs}})
    small = Tokenizer.from_str(groups.reduced_to(TEXTS[:1]))
    assert cut(small, TEXTS[0]) == cut(whole, TEXTS[0])


def test_a_tokenizer_is_parsed_again_only_when_its_file_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its groups are cached beside compiled modules, and a damaged copy of them is replaced."""
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    kept = Path(cache_file(reduced.__file__, "tokens"))
    kept.parent.mkdir(parents=True)
    file = Path(shutil.copy(FILE, tmp_path / "tokenizer.json"))
    parse = Mock(wraps=json.loads)
    monkeypatch.setattr(json, "loads", parse)
    first, second = TokenGroups.read(file), TokenGroups.read(file)
    assert (second, parse.call_count) == (first, 1)
    kept.write_bytes(kept.read_bytes()[:1000])
    assert (TokenGroups.read(file), parse.call_count) == (first, 2)
    file.write_text(file.read_text(encoding="utf-8").replace('"1.0"', '"1.10"'), "utf-8")
    assert TokenGroups.read(file) != first


def test_several_texts_are_cut_by_one_reduced_tokenizer(
    described: Mapping[str, Any], whole: Tokenizer
) -> None:
    """Each of them as the whole one does."""
    small = Tokenizer.from_str(TokenGroups.of(described).reduced_to(TEXTS))
    assert [cut(small, text) for text in TEXTS] == [cut(whole, text) for text in TEXTS]


def test_a_text_gets_the_same_tokens_first_and_later(whole: Tokenizer) -> None:
    """The first short one is cut by a reduced tokenizer, each after it by the whole one."""
    tokenizer = StaticTokenizer(FILE)
    first, second = cut_by(tokenizer, TEXTS[:1]), cut_by(tokenizer, TEXTS[1:])
    assert [*first, *second, *cut_by(tokenizer, TEXTS[:1])] == [
        cut(whole, text) for text in (*TEXTS, TEXTS[0])
    ]


def test_a_long_text_that_comes_first_is_cut_whole(whole: Tokenizer) -> None:
    """And no further than 512 tokens, as every text."""
    for text in (TEXTS[0] * 100, "🌊" * 490):
        assert cut_by(StaticTokenizer(FILE), [text]) == [cut(whole, text)[:512]]


def test_the_first_query_has_the_vector_that_later_ones_have() -> None:
    """To the last digit."""
    model = find_static_model()
    first, *others = (model.embed_query(TEXTS[0]) for _ in range(3))
    assert all((first == other).all() for other in others)
