"""A secret's place in a text, and the mark that replaces it."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from functools import cache
from operator import attrgetter

from attrs import frozen

MARK = "[secret: "
"""What every mark begins with."""

_WHOLE_MARK = re.compile(r"\[secret: [^\]\n]{1,60}\]")


@frozen
class SecretSpan:
    """A part of a text that looks like a secret.

    Attributes:
        start: where it begins in the text.
        end: where it ends.
        kind: what it looks like, in a few words: `GitHub token`.
    """

    start: int
    end: int
    kind: str

    def located(self, text: str) -> str:
        """What it looks like and where it is, without the secret itself.

        Args:
            text: the text that it is a part of.
        """
        line = text.count("\n", 0, self.start) + 1
        column = self.start - text.rfind("\n", 0, self.start)
        article = "an" if self.kind[0] in "aeiouAEIOU" else "a"
        return f"{article} {self.kind} (line {line}, from character {column})"


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """A pattern that is compiled when it is first needed: most texts need few of them."""
    return re.compile(pattern)


def without_marks(text: str) -> str:
    """Blank out existing marks, whose words would match again."""
    return _WHOLE_MARK.sub(lambda mark: "\0" * len(mark[0]), text) if MARK in text else text


def without_overlaps(text: str, found: Iterable[SecretSpan]) -> list[SecretSpan]:
    """The spans in the order of the text, of overlapping ones the first that was found.

    A mark of an earlier replacement is no secret, nor is a part of one.

    Args:
        text: the text that the spans are parts of.
        found: the spans, the surest first.
    """
    marks = _WHOLE_MARK.finditer(text) if MARK in text else ()
    kept = [SecretSpan(*mark.span(), kind="") for mark in marks]
    for span in found:
        at = bisect_left(kept, span.start, key=attrgetter("start"))
        free = not kept[at - 1 : at] or kept[at - 1].end <= span.start
        if free and (at == len(kept) or kept[at].start >= span.end):
            kept.insert(at, span)
    return [span for span in kept if span.kind]


def replaced(text: str, spans: Sequence[SecretSpan], *, keep_lines: bool = False) -> str:
    """The text with a mark in place of each span.

    Args:
        text: the text.
        spans: in the order of the text; none overlaps another.
        keep_lines: True to leave the line breaks of a replaced part in the text, so that
            the lines behind it keep their numbers.
    """
    parts, behind = [], 0
    for span in spans:
        lines = text.count("\n", span.start, span.end) if keep_lines else 0
        parts += [text[behind : span.start], f"{MARK}{span.kind}]", "\n" * lines]
        behind = span.end
    return "".join([*parts, text[behind:]])
