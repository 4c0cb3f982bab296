"""Find files named by paths, modules or frames."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from attrs import evolve, frozen

from contextkit_code.ranking.words import words_of

_READ = 100_000
_MOST = 60
_TOKEN = re.compile(
    r"(?P<path>[\w~.@+/\\-]++)(?:\"?,\s?line\s|[:(])?(?P<line>(?<=[:\s(])\d{1,7}+)?"
    r"(?:[:\d]{0,8}+,?\s[Ii]n\s(?P<function>[^\W\d][\w.]{0,99}+))?"
)
_LISTED = re.compile(
    r"^[ \t]{1,20}+(?P<line>\d{1,7}+):\d{1,7}+[ \t]++(?:error|warning)\b", re.MULTILINE
)
_ENDING = re.compile(r"[A-Za-z]\w{0,7}")
_IDENTIFIER = re.compile(r"[^\W\d]\w*")
_LEAST_PARTS = 2
"""Fewest parts of a path that a file must share.

`core.py` alone may be any of twenty.
"""

_OF_A_FILE = frozenset(
    [
        "code",
        "comments",
        "describe",
        "docstrings",
        "document",
        "explain",
        "file",
        "improve",
        "module",
        "overview",
        "read",
        "refactor",
        "review",
        "summarise",
        "summarize",
        "understand",
    ]
)
"""Words of a question about a file as a whole."""


@frozen
class Mention:
    """A file as written in a question.

    Attributes:
        parts: the folders and the name, without the ending.
        ending: the suffix of the name; "" for a module.
        line: the line in a frame, or None.
        function: the function of a frame, or "".
        place: its offset in the question, in characters.
    """

    parts: tuple[str, ...]
    ending: str
    line: int | None
    function: str
    place: int

    @property
    def text(self) -> str:
        """Return the text to search for."""
        return "/".join(self.parts)


def mentions_in(query: str) -> list[Mention]:
    """Find paths, modules and frames, each once.

    Only the first 100,000 characters are read.
    """
    found: dict[tuple[object, ...], Mention] = {}
    for token in _TOKEN.finditer(query[:_READ]):
        for mention in _mentions(token):
            found.setdefault((mention.parts, mention.line), mention)
    for listed in _listed(query[:_READ], list(found.values())):
        found.setdefault((listed.parts, listed.line), listed)
    files = [mention for mention in found.values() if mention.ending]
    modules = [mention for mention in found.values() if not mention.ending]
    return [*files[:_MOST], *modules[:_MOST]]


def _listed(text: str, mentions: Sequence[Mention]) -> Iterator[Mention]:
    """Yield the lines that stand below the name of their file, as linters list them."""
    files = [mention for mention in mentions if mention.ending and mention.line is None]
    for found in _LISTED.finditer(text):
        above = max(
            (file for file in files if file.place < found.start()), default=None, key=_place
        )
        if above is not None:
            yield evolve(above, line=int(found["line"]))


def _place(mention: Mention) -> int:
    return mention.place


def _mentions(token: re.Match[str]) -> Iterator[Mention]:
    path = token["path"].rstrip(".").replace("\\", "/")
    *folders, name = [
        part for part in path.split("/") if part and part not in (".", "~", "..")
    ] or [""]
    stem, dot, ending = name.rpartition(".")
    line = int(token["line"]) if token["line"] else None
    if dot and stem and _ENDING.fullmatch(ending) and (folders or line or len(ending) <= 4):
        function = (token["function"] or "").rstrip(".").rpartition(".")[2]
        yield Mention((*folders, stem), ending, line, function, token.start())
    parts = tuple(name.split(".")) if dot and not folders else (*folders, name)
    if len(parts) >= _LEAST_PARTS and all(map(_IDENTIFIER.fullmatch, parts)):
        yield Mention(parts, "", None, "", token.start())


def whole_file(mentions: Sequence[Mention], words: Sequence[str]) -> Mention | None:
    """Return the file that a question is about as a whole, as `explain src/shelf.py` is.

    Args:
        mentions: the files that it names.
        words: its subject words.
    """
    named = [mention for mention in mentions if mention.ending]
    if len(named) != 1 or named[0].line is not None:
        return None
    of_path = {*words_of(named[0].text), named[0].ending.lower()}
    return named[0] if of_path.union(_OF_A_FILE).issuperset(words) else None


def matched_files(mentions: Sequence[Mention], paths: Iterable[str]) -> Mapping[Mention, list[str]]:
    """Match mentions to files.

    Of several, those that share most of the path count.
    """
    split = {path: _split(path) for path in paths}
    found = {}
    for mention in mentions:
        shared = {path: _shared(mention, *each) for path, each in split.items()}
        most = max(shared.values(), default=0)
        if most:
            found[mention] = sorted(path for path, parts in shared.items() if parts == most)
    return found


def _split(path: str) -> tuple[tuple[str, ...], str]:
    *folders, name = path.split("/")
    stem, _, ending = name.rpartition(".")
    return (*folders, stem or name), ending


def _shared(mention: Mention, parts: tuple[str, ...], ending: str) -> int:
    """Count the trailing parts that a mention and file share.

    0 where they are too few to tell.
    """
    if mention.ending:
        if ending != mention.ending:
            return 0
        shared = _common(mention.parts, parts)
        whole = shared in (len(mention.parts), len(parts))
        return shared if whole or shared >= _LEAST_PARTS else 0
    module = parts[:-1] if parts[-1] in ("__init__", "index", "mod") else parts
    for named in (mention.parts, mention.parts[:-1]):
        if len(named) >= _LEAST_PARTS and _common(named, module) == len(named):
            return len(named)
    return 0


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    count = 0
    for mine, its in zip(reversed(one), reversed(other), strict=False):
        if mine != its:
            break
        count += 1
    return count
