"""Find project names close to words that the project lacks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from contextkit.text import TALK
from contextkit_code.ranking.words import words_of

_LEAST_LETTERS = 5
_LONG_LETTERS = 8
_STEM = 5
_MOST_WORDS = 8
_SHORTEST = 3
_LEAST_SHARE = 0.6
"""Share of words that must be near a name.

Of any three words one is, by chance.
"""


def hits_a_word(words: Sequence[str], texts: Iterable[str]) -> bool:
    """Return whether a text has, or similarly begins, a word."""
    stems = {word[:_STEM] for word in words}
    return any(stem in text.lower() for text in texts for stem in stems)


def names_in(outlines: Iterable[str]) -> set[str]:
    """Collect the outlines' names, lower-cased, whole and in parts."""
    names: set[str] = set()
    for outline in outlines:
        for line in outline.splitlines():
            if " " not in line:
                names.add(line.rpartition(".")[2].lower())
                names.update(words_of(line))
    return names


def near_names(words: Sequence[str], names: Iterable[str]) -> list[str]:
    """Return the names nearest to the words.

    One letter of a short word may be wrong, two of a long one: `jsonfy` means `jsonify`. A compound
    means the name that it ends or begins with: `Sitzungscookie` means `cookie`. The result is empty
    where no name is near, or few of the words are near any name: the question then has another
    subject.
    """
    from rapidfuzz import process
    from rapidfuzz.distance import OSA

    known = sorted(name for name in names if len(name) >= _LEAST_LETTERS)
    found: list[str] = []
    compound = False
    meant = [word for word in words if word not in TALK and len(word) > _SHORTEST][:_MOST_WORDS]
    for word in meant:
        if len(word) < _LEAST_LETTERS:
            continue
        wrong = 1 if len(word) < _LONG_LETTERS else 2
        near = process.extractOne(word, known, scorer=OSA.distance, score_cutoff=wrong)
        parts = [name for name in known if word.endswith(name) or word.startswith(name)]
        if near is not None:
            found.append(near[0])
        elif parts:
            found.append(max(parts, key=len))
            compound = True
    return found if compound or len(found) >= _LEAST_SHARE * len(meant) else []
