"""Any number of records: the peers' corpus, and beyond its texts more of the same kind.

The corpus has text of its own for some 100,000 records. More of them repeat its texts in rounds;
in each, one word in five is another one of the corpus, drawn by a hash, and the gold items of the
questions stay apart: no round repeats them, so that questions have one answer at every size.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import attrs
from attrs import define

from contextkit import ContextKit, Record as StoredRecord
from tests.benchmarks.peers.corpus import SOURCES, Corpus, Record, make_corpus
from tests.benchmarks.peers.edits import LONG_WORD, varied
from tests.benchmarks.peers.systems.contextkit_store import ContextKitSystem, _Source

__all__ = ["OWN_TEXTS", "GrowingSystem", "SearchingSource", "batches", "made"]

OWN_TEXTS = 100_000
"""So many records the corpus has text of its own for."""

SearchingSource = _Source
"""A source that offers what a search of its records finds, as against the peers."""

_BATCH = 2048
_OTHER_WORDS = 0.2
"""The share of words that are others in a later round."""


@define(eq=False)
class GrowingSystem(ContextKitSystem):
    """contextkit as it is measured against its peers, its records embedded by itself."""

    def filling(self, folder: Path) -> ContextKit:
        """A kit to put records with."""
        return self._opened(folder)

    def identify(self) -> None:
        """Open the store, which a question would."""
        self._kit.store.identity  # noqa: B018 (a property that opens it)


def made(number: int) -> Corpus:
    """The corpus that so many records begin with.

    Raises `ValueError` where there are too few records for the questions.
    """
    return make_corpus(min(number, OWN_TEXTS))


def batches(corpus: Corpus, number: int) -> Iterator[tuple[str, list[StoredRecord]]]:
    """So many records, each batch of one source."""
    for source in SOURCES:
        batch: list[StoredRecord] = []
        for record in _of(source, corpus, number):
            batch.append(StoredRecord(id=record.id, text=record.text))
            if len(batch) == _BATCH:
                yield source, batch
                batch = []
        if batch:
            yield source, batch


def _of(source: str, corpus: Corpus, number: int) -> Iterator[Record]:
    """A source's records: those of the corpus, and its part of those that are missing."""
    own = corpus.of(source)
    yield from own
    missing = number - len(corpus.records)
    if missing <= 0:
        return
    gold = {each for question in [*corpus.questions, *corpus.warming] for each in question.gold}
    repeated = [each for each in own if not {each.id, each.same_as, each.contradicts} & gold]
    share = _share(source, corpus, missing)
    vocabulary = _words(repeated)
    for position in range(share):
        number_of_round, row = divmod(position, len(repeated))
        yield _varied(repeated[row], number_of_round + 1, vocabulary)


def _share(source: str, corpus: Corpus, missing: int) -> int:
    """How many of the missing records are a source's; the last source has the rest."""
    parts = {each: missing * len(corpus.of(each)) // len(corpus.records) for each in SOURCES}
    parts[SOURCES[-1]] += missing - sum(parts.values())
    return parts[source]


def _words(records: Sequence[Record]) -> list[str]:
    """The words of these, as often as they occur."""
    return [word for record in records for word in LONG_WORD.findall(record.text)]


def _varied(record: Record, number_of_round: int, vocabulary: Sequence[str]) -> Record:
    """The record with other words in it."""
    rng = random.Random(f"{record.id} {number_of_round}")
    text = record.text
    # A short text may be drawn as it was.
    while text == record.text and LONG_WORD.search(text):
        text = varied(record.text, rng, vocabulary, _OTHER_WORDS)
    return attrs.evolve(record, id=f"{record.id}-{number_of_round}", text=text)
