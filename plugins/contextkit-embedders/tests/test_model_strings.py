"""Model strings: which are ours, what they say, and what is wrong with them."""

import pytest

from contextkit.errors import ConfigError
from contextkit_embedders import contextkit_embedder
from contextkit_embedders.model_strings import MOST_CHARACTERS, Prefixes, read_model_string


@pytest.mark.parametrize(
    "model", ["wordllama", "none", "fastembed", "tei:x@http://h", "FASTEMBED:/x"]
)
def test_other_strings_are_left_to_others(model: str) -> None:
    """A string of another kind, or of none, is no error."""
    assert contextkit_embedder(model) is None


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        ("fastembed:", "nothing stands after 'fastembed:'"),
        ("fastembed:  ?pooling=cls", "nothing stands after 'fastembed:'"),
        ("openai:", "nothing stands after 'openai:'; expected openai:MODEL@https://host/v1"),
        ("fastembed:/x?pooling", "'?pooling' is not of the form ?option=value"),
        ("fastembed:/x?pooling=max", "pooling 'max' is not one of mean, cls, last_token, none"),
        ("fastembed:/x?poling=cls", "'poling' is not an option; there are query_prefix,"),
        ("openai:m@http://h/v1?pooling=cls", "'pooling' is not an option"),
        ("fastembed:/x?pooling=cls&pooling=mean", "an option stands there twice"),
        ("openai:text-embedding-3-small", "expected openai:MODEL@https://host/v1"),
        ("openai:@https://host/v1", "expected openai:MODEL@https://host/v1"),
        ("openai:m@ftp://host/v1", "'ftp://host/v1' is not a URL such as"),
        ("openai:m@https://", "'https://' is not a URL such as"),
        ("openai:m@https://host:x/v1", "is not a URL"),
        ("openai:m@https://host:0/v1", "is not a URL"),
        ("openai:m@https://[::1/v1", "is not a URL"),
        ("openai:m@https://my host/v1", "is not a URL"),
        ("openai:m@https://host/v1#there", "has no part '#there'"),
        ("fastembed:BAAI/bge-small-en-v1.5", "contextkit models pull NAME FOLDER"),
        ("sentence-transformers:all-MiniLM-L6-v2", "SentenceTransformer(NAME).save(FOLDER)"),
    ],
)
def test_a_malformed_string_says_what_is_wrong(model: str, reason: str) -> None:
    """The error names the string and what would be right."""
    with pytest.raises(ConfigError) as raised:
        contextkit_embedder(model)

    assert f"embedding model '{model}': " in str(raised.value)
    assert reason in str(raised.value)


def test_options_are_read_as_in_a_url() -> None:
    """Plus and %20 are spaces, and a value may be empty."""
    found = read_model_string(
        "fastembed:/a b?query_prefix=query:+&record_prefix=p%C3%A9%20&pooling=cls"
    )

    assert found is not None
    assert (found.target, found.pooling) == ("/a b", "cls")
    assert found.prefixes == Prefixes("query: ", "pé ")
    assert read_model_string("fastembed:/x?query_prefix=") is not None


def test_a_long_text_is_cut() -> None:
    """A model gets no more than it may read, whatever the record has."""
    endless = "word " * MOST_CHARACTERS

    assert len(Prefixes("q", "r").of_query(endless)) == MOST_CHARACTERS
    assert [len(text) for text in Prefixes().of_records([endless])] == [MOST_CHARACTERS]


def test_a_password_in_a_url_is_refused_and_not_shown() -> None:
    """A key belongs in the environment, and errors land in logs."""
    with pytest.raises(ConfigError, match="a key belongs in OPENAI_API_KEY") as raised:
        contextkit_embedder("openai:m@https://me:secret@host/v1")

    assert "secret" not in str(raised.value)
