"""Find what a question about changes is about, beside changes, times and releases."""

from __future__ import annotations

import re
from functools import cache

from contextkit.text.dates import without_periods
from contextkit.text.languages.read import language_of
from contextkit.text.questions import subject_stems
from contextkit.text.words import STOP_WORDS

_OF_CHANGES = """
activity adding added author authored break breaking breaks change changed changelog codebase
commits committed contributor current days deprecated deprecates feature git highlight history
introduced log logs merge merged migrate migration month moved moving new newer newest news note
one past previous project pr prs pull recent release removed repo repository request since
summarize summary today two three four five six unreleased upcoming updated upgrade version week
work year yesterday january february march april june july august september october november
december
"""
_NAME = re.compile(r"\w_\w|[a-z][A-Z]|\w\.[^\W\d]")
"""What is only in names of code, such as `recent_changes`."""

_MOVE = re.compile(r"\b(?:from|to) [\w.+-]++ v?\d++(?![\w.])")
_VERSION = re.compile(
    r"(?:(?<![\w.+-])(?P<name>[\w.+-]++) )?(?<![\w.-])v?\d++(?>(?:\.\d++)+)[\w.+-]*+"
    r"|(?<!\S)v?\d++\b"
)


def changes_subject(query: str, project: str = "") -> str:
    """Return the words of a question about changes that say what changed, in their order.

    `What changed in the parser since 3.2?` is about the parser. The result is empty for a question
    about all that changed, such as `What's new in the latest release?`.

    Args:
        query: the question. One that is not in English is returned as it is.
        project: the project's name, which says nothing in it.
    """
    if language_of(query) is not None:
        return query
    text = _VERSION.sub(_word_before, _MOVE.sub(" ", without_periods(query)))
    known = _stems_of_changes() | {*subject_stems(project)}
    return " ".join(
        word
        for word in text.split()
        if _NAME.search(word) or not known.issuperset(subject_stems(word))
    )


def _word_before(version: re.Match[str]) -> str:
    """Return the word before a version, without the name of what has it, as in `click 8.2`."""
    name = version["name"]
    return name if name is not None and name.lower() in STOP_WORDS else " "


@cache
def _stems_of_changes() -> frozenset[str]:
    return frozenset(stem for word in _OF_CHANGES.split() for stem in subject_stems(word))
