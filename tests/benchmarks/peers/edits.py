"""Edits of texts: near copies, contradictions, distractors, and the way a question is worded.

A near copy says the same thing; a contradiction differs in a number or a negation and says
another, though most of its letters are the same.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

from rapidfuzz import fuzz

__all__ = ["LONG_WORD", "NEAR", "contradiction", "near_copy", "paraphrase", "varied", "words"]

NEAR = 90.0
"""From this ratio on, in percent, two texts are near duplicates."""

LONG_WORD = re.compile(r"[A-Za-z]{4,}")
"""A word that says something."""

_NUMBER = re.compile(r"(?<![\w.])\d{1,3}(?![\w.])")
_VERB = re.compile(r"\b(is|are|can|will|should|must|does|was|were)\b(?! not\b)")
_NEGATION = re.compile("no|nor|not|none|never|neither|without|cannot|nothing|nobody|nowhere")
_PREFIXES = ("Note: ", "Reminder: ", "Again: ", "As said before, ")
_WORD = re.compile(r"\w+")
_PART = re.compile(r"[^\W_]+")
_LEAST_QUERY_WORDS = 4

_STOP_WORDS = re.compile(
    "a|an|the|of|in|to|for|is|are|be|it|its|this|that|and|or|as|by|with|from|on|at|if"
)
_SYNONYMS = {
    "return": "give back",
    "returns": "gives back",
    "remove": "delete",
    "removes": "deletes",
    "raise": "throw",
    "raises": "throws",
    "raised": "thrown",
    "check": "verify",
    "checks": "verifies",
    "create": "make",
    "creates": "makes",
    "created": "made",
    "list": "sequence",
    "dictionary": "mapping",
    "string": "text",
    "strings": "texts",
    "argument": "parameter",
    "arguments": "parameters",
    "directory": "folder",
    "error": "failure",
    "call": "invoke",
    "called": "invoked",
    "begin": "start",
    "end": "finish",
    "convert": "turn",
    "ensure": "make sure",
    "allow": "permit",
    "allows": "permits",
    "current": "present",
    "empty": "blank",
    "default": "standard",
    "used": "employed",
    "using": "with",
    "need": "require",
    "needs": "requires",
    "should": "ought to",
    "must": "has to",
    "only": "just",
    "same": "identical",
    "test": "try",
    "value": "number",
    "whether": "if",
}


def words(text: str) -> str:
    """A text's words and nothing else, in small letters: what is left of it in any markup."""
    return " ".join(_PART.findall(text.lower().replace("\\", "")))


def near_copy(text: str, rng: random.Random, *, code: bool = False) -> str | None:
    """The same thing in slightly other words, or None where every edit changes too much.

    Code is only laid out differently or given a comment.
    """
    edits = [_other_spaces, _with_a_comment if code else _with_a_prefix]
    if not code:
        edits += [_without_a_word, _other_case]
    rng.shuffle(edits)
    for edit in edits:
        edited = edit(text, rng)
        if edited != text and fuzz.ratio(text, edited) >= NEAR + 1:
            return edited
    return None


def contradiction(text: str, rng: random.Random) -> str | None:
    """The text with a number changed or a negation put in, or None where it has neither."""
    numbers = list(_NUMBER.finditer(text))
    if numbers:
        found = rng.choice(numbers)
        return text[: found.start()] + str(int(found[0]) * 3 + 2) + text[found.end() :]
    verbs = list(_VERB.finditer(text))
    if verbs:
        found = rng.choice(verbs)
        return f"{text[: found.end()]} not{text[found.end() :]}"
    return None


def varied(text: str, rng: random.Random, vocabulary: Sequence[str], share: float) -> str:
    """The text with this share of its long words drawn anew."""

    def other(found: re.Match[str]) -> str:
        return rng.choice(vocabulary) if rng.random() < share else found[0]

    return LONG_WORD.sub(other, text)


def paraphrase(text: str, rng: random.Random) -> str:
    """A question about a text: words dropped, some replaced, the halves perhaps swapped."""
    said = _WORD.findall(text.lower())
    kept = [
        _SYNONYMS.get(word, word)
        for word in said
        if rng.random() >= (0.6 if _STOP_WORDS.fullmatch(word) else 1 / 3)
    ]
    if len(kept) < _LEAST_QUERY_WORDS:
        kept = said
    if rng.random() < 0.5:
        middle = rng.randrange(1, len(kept))
        kept = kept[middle:] + kept[:middle]
    return " ".join(kept)


def _without_a_word(text: str, rng: random.Random) -> str:
    found = [
        each
        for each in re.finditer(r" [a-z]{2,}(?= )", text)
        if not _NEGATION.fullmatch(each[0].strip())
    ]
    if not found:
        return text
    word = rng.choice(found)
    return text[: word.start()] + text[word.end() :]


def _other_case(text: str, _: random.Random) -> str:
    text = re.sub(r"(?<=\w)\.(?=\s|$)", "!", text)
    return text[:1].swapcase() + re.sub(r"(?<=\w),(?=\s)", ";", text[1:])


def _other_spaces(text: str, rng: random.Random) -> str:
    places = [place for place, character in enumerate(text) if character == " "]
    for place in sorted(rng.sample(places, min(3, len(places))), reverse=True):
        text = f"{text[:place]} {text[place:]}"
    return text


def _with_a_prefix(text: str, rng: random.Random) -> str:
    return rng.choice(_PREFIXES) + text


def _with_a_comment(text: str, _: random.Random) -> str:
    return f"{text}\n    # copied as it is"
