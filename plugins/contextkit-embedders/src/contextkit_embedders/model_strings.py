"""Parse a model string: `KIND:TARGET?option=value&option=value`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from urllib.parse import parse_qsl, quote

from attrs import frozen

from contextkit.errors import ConfigError

KINDS: Mapping[str, str] = {
    "fastembed": "fastembed:/path/to/folder",
    "sentence-transformers": "sentence-transformers:/path/to/folder",
    "openai": "openai:MODEL@https://host/v1",
}
MOST_CHARACTERS = 32_000
"""Most characters of a text passed to a model.

That is 8,000 tokens of prose, the most that any model reads.
"""
POOLINGS = ("mean", "cls", "last_token", "none")

_PREFIXES = ("query_prefix", "record_prefix")
_OPTIONS: Mapping[str, tuple[str, ...]] = {
    "fastembed": (*_PREFIXES, "pooling"),
    "sentence-transformers": _PREFIXES,
    "openai": _PREFIXES,
}


@frozen
class Prefixes:
    """A model's text prefixes.

    Examples are `query: ` and `passage: `.
    """

    query: str = ""
    record: str = ""

    def of_query(self, text: str) -> str:
        """Return the prefixed query, cut to `MOST_CHARACTERS`."""
        return (self.query + text)[:MOST_CHARACTERS]

    def of_records(self, texts: Sequence[str]) -> list[str]:
        """Return the records' prefixed texts, each cut likewise."""
        return [(self.record + text)[:MOST_CHARACTERS] for text in texts]

    def in_name(self, name: str) -> str:
        """Add the settings that change record vectors to a name.

        A query's prefix changes none.
        """
        return f"{name}?record_prefix={quote(self.record)}" if self.record else name


@frozen
class ModelString:
    """A parsed model string.

    Attributes:
        given: the original string.
        kind: one of `KINDS`.
        target: the folder, or `MODEL@URL`.
        prefixes: the prefixes of texts.
        pooling: one of `POOLINGS`, or None if not given.
    """

    given: str
    kind: str
    target: str
    prefixes: Prefixes = Prefixes()
    pooling: str | None = None

    def wrong(self, reason: str) -> ConfigError:
        """Return the error for an invalid part of this string."""
        return ConfigError(f"embedding model '{self.given}': {reason}")


def read_model_string(given: str) -> ModelString | None:
    """Parse a model string; None for unsupported kinds.

    Raises `ConfigError` for a malformed string of a supported kind.
    """
    kind, colon, rest = given.partition(":")
    if kind not in KINDS or not colon:
        return None
    target, _, query = rest.partition("?")
    bare = ModelString(given, kind, target.strip())
    if not bare.target:
        raise bare.wrong(f"nothing stands after '{kind}:'; expected {KINDS[kind]}")
    options = _options(bare, query)
    pooling = options.get("pooling")
    if pooling is not None and pooling not in POOLINGS:
        raise bare.wrong(f"pooling '{pooling}' is not one of {', '.join(POOLINGS)}")
    prefixes = Prefixes(options.get("query_prefix", ""), options.get("record_prefix", ""))
    return ModelString(given, kind, bare.target, prefixes, pooling)


def _options(string: ModelString, query: str) -> dict[str, str]:
    try:
        pairs = parse_qsl(query, keep_blank_values=True, strict_parsing=True) if query else []
    except ValueError as error:
        raise string.wrong(f"'?{query}' is not of the form ?option=value&option=value") from error
    known = _OPTIONS[string.kind]
    for name, _ in pairs:
        if name not in known:
            raise string.wrong(f"'{name}' is not an option; there are {', '.join(known)}")
    if len(dict(pairs)) < len(pairs):
        raise string.wrong("an option stands there twice")
    return dict(pairs)
