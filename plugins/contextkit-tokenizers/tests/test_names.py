"""Which names are this plugin's, and which encoding they stand for."""

import itertools

import pytest

from contextkit_tokenizers import contextkit_tokenizer, encoding_of
from contextkit_tokenizers.names import MODELS, PREFIXES

O200K = """
    o200k_base o200k_harmony o1 o1-mini o3 o3-pro o4-mini o4-mini-2025-04-16 gpt-4o gpt-4o-mini
    gpt-4o-2024-11-20 chatgpt-4o-latest gpt-4.1 gpt-4.1-nano gpt-4.5-preview gpt-5 gpt-5-mini
    gpt-5.1 gpt-oss-120b ft:gpt-4o-mini-2024-07-18:acme::abc ft:gpt-4.1:acme
"""
CL100K = """
    cl100k_base gpt-4 gpt-4-0613 gpt-4-32k gpt-4-turbo gpt-3.5 gpt-3.5-turbo gpt-3.5-turbo-0125
    gpt-35-turbo gpt-35-turbo-16k davinci-002 babbage-002 text-embedding-3-small
    text-embedding-3-large text-embedding-ada-002 ft:gpt-4 ft:gpt-3.5-turbo:acme:suffix:abc
    ft:davinci-002:acme
"""
OTHERS = """
    o200k O200K_BASE cl100k gpt gpt-4omni GPT-4o o2 o30 openai/gpt-4o gpt2 p50k_base davinci claude
    claude-sonnet-5 tokenizers tokenizer:x.json ft:o200k_base:acme ft:
"""


@pytest.mark.parametrize(("encoding", "names"), [("o200k_base", O200K), ("cl100k_base", CL100K)])
def test_a_name_stands_for_its_encoding(encoding: str, names: str) -> None:
    """Encodings and models by name or the beginning of a version; fine-tuned ones by their base."""
    assert {name: encoding_of(name) for name in names.split()} == dict.fromkeys(
        names.split(), encoding
    )


@pytest.mark.parametrize("name", ["", " ", "o200k_base ", "\ud800", *OTHERS.split()])
def test_another_name_is_not_ours(name: str) -> None:
    """Not even one that nearly matches: the core lists the names that exist."""
    assert encoding_of(name) is None
    assert contextkit_tokenizer(name) is None


def test_no_beginning_hides_another() -> None:
    """The order in which they are tried does not matter."""
    for one, other in itertools.permutations(PREFIXES, 2):
        assert not one.startswith(other)
    for model, encoding in MODELS.items():
        assert {found for start, found in PREFIXES.items() if model.startswith(start)} <= {encoding}
