"""Find pairs of texts that contradict each other.

`The timeout is 30 s` and `The timeout is 60 s` are about one subject and cannot both be true;
`Service A has port 1` and `Service B has port 2` are about two. Two texts contradict each other
if

- they share three words in five, in the same order, and at least two of these carry meaning,
- they begin with the same word, ignoring a leading negation, and that word is not followed by
  different numbers or names (`Bug 12: …`, `Bug 34: …`),
- neither is a question,
- and they differ in something that changes the meaning (see `contextkit.dedup.guard`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from rapidfuzz.distance import Indel

from contextkit.dedup.guard import Guarded
from contextkit.dedup.normal import normal_text
from contextkit.dedup.vocabulary import FUNCTION_WORDS, NEGATIONS

_LEAST_COMMON = 0.6
_LEAST_SHARED_WORDS = 2
_ROUNDING = 1e-9
_OPENS_NEGATION = NEGATIONS | {"do", "does", "please"}
_AUXILIARIES = """
    is are was were be been has have had do does did can will would should
"""
_SAY_LITTLE = FUNCTION_WORDS | frozenset(_AUXILIARIES.split())
_QUESTION_MARKS = ("?", "？")

_Words = frozenset[str]


def contradicting_pairs(texts: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield positions of texts that contradict each other.

    Args:
        texts: statements, in any order; of each pair the lower position comes first.
    """
    by_opening: dict[str, list[tuple[int, _Words]]] = defaultdict(list)
    for position, text in enumerate(texts):
        if not text.rstrip().endswith(_QUESTION_MARKS):
            words = normal_text(text).split(" ")
            opening = next((word for word in words if word not in _OPENS_NEGATION), "")
            by_opening[opening].append((position, frozenset(words)))
    for group in by_opening.values():
        for one, other in _alike([words for _, words in group]):
            pair = group[one][0], group[other][0]
            if _contradict(*(Guarded(texts[position]) for position in pair)):
                yield pair


def _alike(texts: Sequence[_Words]) -> Iterator[tuple[int, int]]:
    """Yield the pairs that share enough words, in any order."""
    bits: dict[str, int] = {}
    # A set of words is a bit mask, so that two are compared without a loop over words.
    sets = [sum(bits.setdefault(word, 1 << len(bits)) for word in words) for words in texts]
    least = [len(words) * _LEAST_COMMON / 2 - _ROUNDING for words in texts]
    for other, (words, half) in enumerate(zip(sets, least, strict=True)):
        for one in range(other):
            if (sets[one] & words).bit_count() >= least[one] + half:
                yield one, other


def _contradict(one: Guarded, other: Guarded) -> bool:
    shared = (one.key_set & other.key_set) - _SAY_LITTLE
    return (
        len(shared) >= _LEAST_SHARED_WORDS
        and Indel.normalized_similarity(one.keys, other.keys) >= _LEAST_COMMON
        and not _are_of_two_things(one, other)
        and one.contradicts(other)
    )


def _are_of_two_things(one: Guarded, other: Guarded) -> bool:
    """Whether different numbers or names follow the first word."""
    here, there = (text.words[_opening(text) + 1 :] for text in (one, other))
    if len(here) < 2 or len(there) < 2:
        return False
    first, second = here[0], there[0]
    return (
        first.key != second.key
        and (first.literal or first.name)
        and (second.literal or second.name)
    )


def _opening(text: Guarded) -> int:
    """The position of the first word without negations."""
    places = enumerate(text.keys)
    return next((place for place, word in places if word not in _OPENS_NEGATION), 0)
