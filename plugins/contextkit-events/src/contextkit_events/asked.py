"""Detect queries about recent activity, and events repeating a query."""

from __future__ import annotations

import re

from contextkit import ContextItem

_WORD = re.compile(r"\w+")
_ALIKE = 0.9

_READ_CHARACTERS = 8192

_GO_ON = r"""
    ^\W*(?:(?:and|now|ok(?:ay)?|please|so|then|yes)\W+)*
    (?:(?:carry\ on|continue|go\ (?:ahead|on)|keep\ going|proceed|resume)\b
    (?!\s+(?:an?|in|the|to|with)\s+(?!what|where))
    | (?:again|next)(?:\ step)?\W*$)
"""
"""Match queries that begin with "go on", without their own subject."""

_WHAT_WE_DID = r"""
    \bwhat\ (?:am|are|did|had|have|was|were)\ (?:i|we|you)\ (?:just\ )?
    (?:chang(?:e|ed|ing)|d(?:o|oing|one)|edit(?:ed|ing)?|r[au]n(?:ning)?|read(?:ing)?|sa(?:id|y)
    |tr(?:ied|y|ying)|up\ to|work(?:ed|ing)|writ(?:e|ing|ten)|wrote)\b
    | \b(?:i|we|you)\ just\b
    | \bwhere\ (?:am|are|did|was|were)\ (?:i|we)\b
"""
_WHEN = r"""
    \b(?:earlier\ today|just\ now|left\ off|pick(?:ing)?\ up|so\ far|this\ morning|yesterday)\b
    | \b(?:earlier|last|previous|this)\ session\b
"""
_THAT_ONE = r"""
    \b(?:my\ last|that|the\ (?:fail(?:ed|ing)|last|latest|previous)|this)\ (?:fail(?:ed|ing)\ )?
    (?:command|crash|edit|error|exception|failure|message|output|run|step|test|traceback)s?\b
    | \bwhy\ (?:did|do|does|has|is)\ (?:it|that|they|this)\ (?:still\ )?
    (?:break|crash|fail|not\ work)
"""
"""Match references to something that has just happened."""

_ASKED = re.compile(f"{_GO_ON}|{_WHAT_WE_DID}|{_WHEN}|{_THAT_ONE}", re.IGNORECASE | re.VERBOSE)


def asks_for_activity(query: str) -> bool:
    """Return whether a query asks for or needs recent activity.

    Only English is understood: "what did I just do?", "continue", "why did that test fail?".
    """
    return _ASKED.search(query[:_READ_CHARACTERS]) is not None


def is_the_question(item: ContextItem, query: str) -> bool:
    """Return whether an event is the user's own query.

    Such an event answers nothing: an agent's prompt is logged before the context for it is
    assembled. Nine in ten of the words of both must be the same.
    """
    if item.kind != "turn" or item.metadata.get("role", "user") != "user":
        return False
    said, asked = _words(str(item.metadata.get("text") or item.content)), _words(query)
    return len(said & asked) >= _ALIKE * max(1, len(said | asked))


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text[:_READ_CHARACTERS].casefold()))
