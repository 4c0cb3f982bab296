"""Shorten a formatted commit, keeping the most important parts."""

from __future__ import annotations

from collections.abc import Callable

from contextkit.models import ContextItem, Style
from contextkit.text import Excerpt, excerpt, style_of

_CLOSING_TAG = "</entity>"
_AUTHOR = " by "


def truncate_commit(
    item: ContextItem, style: Style, max_tokens: int, count: Callable[[str], int], query: str
) -> str:
    """Shorten a commit to `max_tokens`.

    The result is "" if the subject does not fit.

    The heading and the subject, which XML and plain text have in the heading, stay; of the body,
    the sentences that match the query. If the subject does not fit, the files are dropped, then
    author and date. The sha in the heading lets the reader look up the rest.

    Args:
        item: the commit, formatted in the style.
        style: `markdown`, `xml` or `plain`.
        max_tokens: the most tokens of the result, as counted by `count`.
        count: text -> tokens; called a logarithmic number of times.
        query: the query that found the commit.
    """
    if count(item.content) <= max_tokens:
        return item.content
    first, *lines = item.content.split("\n")
    choose = style_of(style).choose
    ends = lines[-1:] == choose(markdown=None, xml=[_CLOSING_TAG], plain=None)
    end = [lines.pop()] if ends else []
    listing = choose(markdown="*Files: ", xml="<files>", plain="Files: ")
    files = [lines.pop()] if lines and lines[-1].startswith(listing) else []
    # In Markdown the subject is a line of its own, and the heading has the author.
    subject = choose(markdown=lines[:1], xml=[], plain=[])
    body = "\n".join(lines[len(subject) :]).strip("\n")
    named = choose(markdown=first.partition(_AUTHOR)[0], xml=first, plain=first)
    space = choose(markdown="\n\n", xml="\n", plain="\n")
    for top, bottom in ((first, [*files, *end]), (first, end), (named, end)):
        head, tail = "\n".join([top, *subject]), "".join(f"\n{line}" for line in bottom)
        bare = f"{head}{tail}"
        if count(bare) <= max_tokens:
            said = excerpt(body, query, max_tokens, count, head=head + space, tail=tail)
            return said or Excerpt(bare)
    return ""
