"""Find the files, names and commits that a memory's text mentions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from attrs import frozen

Kind = Literal["path", "name", "word", "commit"]

MAX_REFERENCES = 30

_SHORTEST = 2

_SPAN = re.compile(r"`([^`\n]{1,200})`")
_TOKEN = re.compile(r"[\w./@+$-]{2,200}(?:\(\))?")
_JOINERS = re.compile(r"::|->|#|\\")
_LINE_NUMBER = re.compile(r":\d.*")
_FLAG = re.compile(r"--[A-Za-z]\w*(?:-\w+)*")
_PATH = re.compile(r"(?:\./)?[\w.@+-]+(?:/[\w.@+-]+)*/?")
_FILE = re.compile(r"(?=.{4})[\w.@+-]*\w\.[A-Za-z]\w{0,9}")
_COMMIT = re.compile(r"(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,40}")
_NAME = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
_KEBAB = re.compile(r"[A-Za-z]\w*(?:-\w+)+")
_CODE_LIKE = re.compile(r"[A-Za-z0-9]_\w|[a-z0-9][A-Z]|_[A-Za-z]|\.")


@frozen
class Reference:
    """Something that a text mentions, and that may exist in the workspace.

    Attributes:
        kind: `path`; `name` for what looks like code; `word` for a plain word in backticks;
            `commit`.
        text: as it is looked for.
    """

    kind: Kind
    text: str


def references_in(text: str) -> list[Reference]:
    """List what a text mentions, each once, at most 30.

    A text in backticks may be any name. Other words have to look like code: `snake_case`,
    `CamelCase`, a dotted name, a call, a flag, a path. Whether something exists is not checked, so
    the same text may be both a path and a name.
    """
    spans = [found[1] for found in _SPAN.finditer(text)]
    rest = _SPAN.sub(" ` ", text)
    found = [each for span in spans for each in _in_span(span)]
    found += [each for word in _tokens(rest) for each in _of_token(word, in_backticks=False)]
    return list(dict.fromkeys(found))[:MAX_REFERENCES]


def _in_span(span: str) -> Iterator[Reference]:
    words = [part for word in span.split() for part in _JOINERS.split(_LINE_NUMBER.sub("", word))]
    # Of a whole command, only what looks like code is a name: its other words are English.
    alone = len(span.split()) == 1
    for word in words:
        for token in _tokens(word):
            yield from _of_token(token, in_backticks=alone)


def _tokens(text: str) -> Iterator[str]:
    return (found[0].rstrip(".-+@").lstrip("@+$") for found in _TOKEN.finditer(text))


def _of_token(token: str, *, in_backticks: bool) -> Iterator[Reference]:
    name = token.removesuffix("()")
    if _FLAG.fullmatch(name):
        yield Reference("name", name)
        return
    if _COMMIT.fullmatch(name):
        yield Reference("commit", name)
    is_path = "/" in name or _FILE.fullmatch(name)
    if is_path and _PATH.fullmatch(name) and ".." not in name.split("/"):
        yield Reference("path", name.removeprefix("./"))
    if _NAME.fullmatch(name):
        yield from _of_name(name, in_backticks, is_call=name != token)
    elif in_backticks and _KEBAB.fullmatch(name):
        yield Reference("name", name)


def _of_name(name: str, in_backticks: bool, *, is_call: bool) -> Iterator[Reference]:
    if max(map(len, name.split("."))) < _SHORTEST:
        # `e.g`, `i.e`.
        return
    if is_call or _CODE_LIKE.search(name):
        yield Reference("name", name)
    elif in_backticks:
        yield Reference("word", name)
