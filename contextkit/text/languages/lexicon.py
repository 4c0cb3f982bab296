"""A language's words: those that say nothing, and the English ones for words of programming."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import field, frozen

if TYPE_CHECKING:
    import snowballstemmer


_LONGEST_PHRASE = 4
_LONGEST_WORD = 60
_LEAST_PART = 3
_PARTICLES = frozenset(
    ("ab", "an", "auf", "aus", "ein", "herunter", "hinzu", "hoch", "um", "zurück", "zusammen")
)
"""What may stand apart from a German verb: `stelle ... ein`."""

_JOINTS = ("", "s", "es", "n", "en", "e")
"""What German puts between the parts of a compound."""


@frozen
class Term:
    """A word of a question, and the English words for it.

    Attributes:
        text: the word, in lower case.
        english: the English words; none where it is English itself, or not known.
    """

    text: str
    english: tuple[str, ...] = ()


@frozen(slots=False, eq=False)
class Lexicon:
    """The words of one language.

    Attributes:
        name: the language, as the stemmer knows it.
        stop: the words that its questions are made with.
        terms: words and phrases, the words of a phrase joined by `-`, with the English ones.
    """

    name: str
    stop: frozenset[str] = field(repr=False)
    terms: Mapping[str, tuple[str, ...]] = field(repr=False)

    def terms_in(self, words: Sequence[str]) -> Iterator[Term]:
        """Take phrases and words from the words of a text, those left out that say nothing.

        Args:
            words: in lower case, in the text's order.
        """
        words = self._with_whole_verbs(words)
        place = 0
        while place < len(words):
            length, phrase = self._phrase_at(words, place)
            if phrase not in self.stop:
                yield Term(phrase.replace("-", " "), self.english_for(phrase))
            place += length

    def _with_whole_verbs(self, words: Sequence[str]) -> Sequence[str]:
        """Join German verbs with their particles: `stelle ... ein` is `einstelle`."""
        particles = _PARTICLES.intersection(words)
        if self.name != "german" or not particles:
            return words
        joined = {
            word: f"{particle}{word}"
            for particle in sorted(particles)
            for word in words
            if len(word) >= _LEAST_PART and self._stem(f"{particle}{word}") in self._by_stem
        }
        return [joined.get(word, word) for word in words if word not in _PARTICLES]

    def _phrase_at(self, words: Sequence[str], place: int) -> tuple[int, str]:
        for length in range(min(_LONGEST_PHRASE, len(words) - place), 1, -1):
            phrase = "-".join(words[place : place + length])
            if phrase in self.terms:
                return length, phrase
        return 1, words[place]

    def english_for(self, word: str) -> tuple[str, ...]:
        """Look up the English words for a word, its inflections, or a German compound."""
        if word in self.terms:
            return self.terms[word]
        if len(word) > _LONGEST_WORD:
            return ()
        forms = (word, *(_infinitives(word) if self.name == "german" else ()))
        found = (self._by_stem.get(self._stem(form)) for form in forms)
        return next(filter(None, found), None) or self._for_compound(word)

    def _for_compound(self, word: str) -> tuple[str, ...]:
        """Take `Sitzungscookie` apart: the English for `Sitzung`, and `cookie`."""
        if self.name != "german":
            return ()
        ends = range(len(word) - _LEAST_PART, _LEAST_PART - 1, -1)
        parts = [(head, word[end:]) for end in ends if (head := self._head(word[:end]))]
        for head, rest in parts:
            tail = self.terms.get(rest) or self._by_stem.get(self._stem(rest))
            tail = tail or self._for_compound(rest)
            if tail:
                return (*head, *tail)
        # The longest beginning that is known, and the rest as it is.
        return next(((*head, rest) for head, rest in parts if len(rest) > _LEAST_PART), ())

    def _head(self, part: str) -> tuple[str, ...]:
        for joint in _JOINTS:
            bare = part.removesuffix(joint) if joint else part
            if len(bare) >= _LEAST_PART and bare in self.terms:
                return self.terms[bare]
        return ()

    @cached_property
    def longest(self) -> int:
        """The length of the longest word that it has."""
        return max(map(len, (*self.terms, *self.stop)))

    @cached_property
    def _by_stem(self) -> Mapping[str, tuple[str, ...]]:
        """The English words by stem; words of one stem share theirs."""
        found: dict[str, dict[str, None]] = defaultdict(dict)
        for word, english in self.terms.items():
            found[self._stem(word)].update(dict.fromkeys(english))
        return {stem: tuple(english) for stem, english in found.items()}

    def _stem(self, word: str) -> str:
        return _stemmed(self.name, word)


def _infinitives(word: str) -> Iterator[str]:
    """Guess the verbs that a German participle is of: `abgefangen`, `registriert`."""
    for form in dict.fromkeys((word, word.replace("ge", "", 1))):
        yield form
        if form.endswith("t"):
            yield f"{form[:-1]}en"
            yield f"{form[:-1]}n"
            yield f"{form.removesuffix('et')}en"


@lru_cache(maxsize=4096)
def _stemmed(language: str, word: str) -> str:
    return str(_stemmer(language).stemWord(word))


@cache
def _stemmer(language: str) -> snowballstemmer.stemmer:
    # Most questions are in English.
    import snowballstemmer

    return snowballstemmer.stemmer(language)


@cache
def lexicon(name: str) -> Lexicon:
    """Read the words of a language from its file."""
    # Not by `importlib.resources`, which imports `zipfile`.
    text = Path(__file__).with_name(f"{name}.txt").read_text("utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    stop = (line[1:].split() for line in lines if line.startswith("-"))
    return Lexicon(
        name=name,
        stop=frozenset(word for words in stop for word in words),
        terms=dict(_terms(line for line in lines if not line.startswith("-"))),
    )


def _terms(lines: Iterable[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    for line in lines:
        words, _, english = line.partition(":")
        for word in words.split():
            yield word, tuple(english.split())
