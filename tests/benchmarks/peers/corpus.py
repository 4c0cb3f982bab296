"""The corpus that every system gets: records of five sources, distractors, copies, questions.

So that a reader can judge whether it is fair:

- **Text** is real (`texts`): functions, and sentences of docstrings and comments. It depends on
  the interpreter's version, on this repository's state and on a seed; the report carries a
  digest, and all systems of one run get the same files.
- **Records**, of originals: code 50% (a function below a line with its path and name, 60 to
  3,000 characters), memories 23%, commits 14%, experiences 8%, values 5%. A record that is not
  code is made of seven sentences: one of its own, at any place, and six that stand near it in
  its file. A record has 550 characters on average. No two originals are equal.
- **Distractors**: up to four for each gold item, at most a fifth of all records. They stand in
  its source and differ from it in one word of three; the new words are those of other answers.
- **Near copies** are 8% of all records, **contradictions** 2%. A copy lacks a word, has
  other punctuation or spaces or a prefix; a function's has other spaces or a comment more.
  It stands in the same source or, one of two memories, commits and values, in another of
  these; its ratio to the original is at least 91. A contradiction has another number or a
  negation more and stands in the same source. Both are known by label (`same_as`,
  `contradicts`).
- **Questions**: 100, twenty a source. Half are about one record, the gold item, and half about
  two in different sources. A question paraphrases a *passage* of each (the sentence of its own,
  or a docstring's first sentence) in other words: a third of the words and most stop words are
  dropped, others replaced by a list of synonyms, and in every second one the halves swapped.
  Seven gold items in ten have a near copy, which is as good, and some a contradiction, which is
  not. Ten further questions of the same make are for warming up and never counted.
- **Growth**: a larger corpus has the questions and the gold items of the smaller one, among
  more of the rest.
- **Vectors** are `contextkit.embedding`'s default ones, 256 numbers, made once.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, product, zip_longest
from pathlib import Path

import attrs
from attrs import define, field, frozen

from tests.benchmarks.peers.edits import (
    LONG_WORD,
    contradiction,
    near_copy,
    paraphrase,
    varied,
    words,
)
from tests.benchmarks.peers.texts import LIBRARY, Function, Sentence, hashed, texts

__all__ = ["SOURCES", "Corpus", "Question", "Record", "make_corpus", "read_corpus"]

SOURCES = ("memories", "code", "experiences", "values", "commits")

_SHARES = {"memories": 23, "code": 50, "experiences": 8, "values": 5, "commits": 14}
_SLOTS = [source for source, share in _SHARES.items() if source != "code" for _ in range(share)]
_COPIES_PERCENT = 8
_CONTRADICTIONS_PERCENT = 2
_GOLD = 20
_SPARE = 2
_UNASKED = 5
_COPIED_GOLD = 0.7
_CONTRADICTED_GOLD = 0.3
_DISTRACTORS = 4
_DISTRACTORS_PERCENT = 20
_OTHER_WORDS = 1 / 3
_STRAY = ("memories", "commits", "values")
_LABELS = ("Goal", "Hypothesis", "Action", "Prediction", "Outcome", "Lesson", "Next")
_NEARBY = 50


@frozen
class Record:
    """One record.

    Attributes:
        id: unique in the corpus.
        source: one of `SOURCES`.
        text: what is searched, shown and compared.
        same_as: the record that it is a near copy of, or nothing.
        contradicts: the record that it contradicts, or nothing.
    """

    id: str
    source: str
    text: str
    same_as: str = ""
    contradicts: str = ""


@frozen
class Question:
    """A query and what answers it.

    Attributes:
        query: the text that is asked.
        gold: the records that it is about, one or two.
        answers: for each, the passage that the query paraphrases, of that record and of its
            near copies, as `words`; any of them in a context is the answer.
    """

    query: str
    gold: Sequence[str]
    answers: Sequence[Sequence[str]]


@frozen
class Corpus:
    """Records and questions.

    Attributes:
        records: in the order of their sources.
        questions: those that count.
        warming: those that do not.
    """

    records: Sequence[Record]
    questions: Sequence[Question]
    warming: Sequence[Question]

    @property
    def digest(self) -> str:
        """What tells one corpus from another."""
        whole = json.dumps([self._plain(self.records), self._plain(self.questions)])
        return hashlib.blake2b(whole.encode(), digest_size=6).hexdigest()

    def of(self, source: str) -> list[Record]:
        """A source's records."""
        return [record for record in self.records if record.source == source]

    def write(self, folder: Path) -> None:
        """Write it for other processes; questions apart, as few need the records."""
        records = "\n".join(json.dumps(attrs.asdict(record)) for record in self.records)
        (folder / "records.jsonl").write_text(records, encoding="utf-8")
        questions = [self._plain(self.questions), self._plain(self.warming)]
        (folder / "questions.json").write_text(json.dumps(questions), encoding="utf-8")

    def _plain(self, values: Sequence[Record] | Sequence[Question]) -> list[dict[str, object]]:
        return [attrs.asdict(value) for value in values]


def read_corpus(folder: Path) -> Corpus:
    """A corpus that was written there."""
    lines = (folder / "records.jsonl").read_text(encoding="utf-8").splitlines()
    counted, warming = json.loads((folder / "questions.json").read_text(encoding="utf-8"))
    return Corpus(
        records=[Record(**json.loads(line)) for line in lines],
        questions=[Question(**each) for each in counted],
        warming=[Question(**each) for each in warming],
    )


@frozen
class _Original:
    """A record and what a question about it would say; nothing where none is asked."""

    record: Record
    passage: str = ""


def make_corpus(number: int, seed: int = 0) -> Corpus:
    """A corpus of so many records.

    Raises `ValueError` where there is not text enough, or there are too few records for
    the questions.
    """
    copies = number * _COPIES_PERCENT // 100
    contradictions = number * _CONTRADICTIONS_PERCENT // 100
    golds = (_GOLD + _SPARE) * len(SOURCES)
    distractors = min(_DISTRACTORS * golds, number * _DISTRACTORS_PERCENT // 100)
    wanted = _parts(number - copies - contradictions - distractors)
    if min(wanted.values()) < _SPARE * 2:
        raise ValueError(f"{number} records are too few: some source would have next to none")
    originals = _originals(wanted, seed)
    asked = {source: _askable(originals[source]) for source in SOURCES}
    flat = [each for source in SOURCES for each in originals[source]]
    first = [each for source in SOURCES for each in asked[source]]
    gold = {each.record.id for each in first}
    rest = sorted((each for each in flat if each.record.id not in gold), key=_order)
    edited = _Edited({words(each.record.text) for each in flat})
    edited.distract(first, distractors)
    edited.contradict(first, min(contradictions, int(_CONTRADICTED_GOLD * len(first))))
    edited.contradict(rest, contradictions)
    edited.copy(first, min(copies, int(_COPIED_GOLD * len(first))))
    edited.copy(rest, copies)
    records = [each.record for each in flat] + edited.records
    questions = _questions(asked, {record.same_as: record for record in edited.records})
    return Corpus(
        records=sorted(records, key=lambda record: SOURCES.index(record.source)),
        questions=[each for own in questions for each in own[_SPARE:]],
        warming=[each for own in questions for each in own[:_SPARE]],
    )


def _parts(number: int) -> dict[str, int]:
    parts = {source: number * share // 100 for source, share in _SHARES.items()}
    parts["code"] += number - sum(parts.values())
    return parts


def _order(each: _Original) -> int:
    return hashed(each.record.id)


# -- originals --------------------------------------------------------------------------------


def _originals(wanted: Mapping[str, int], seed: int) -> dict[str, list[_Original]]:
    """So many of each source, the first of each stream."""
    functions: list[Function] = []
    documented: list[Function] = []
    sentences: list[Sentence] = []
    sources: Counter[str] = Counter()
    for text in texts(seed):
        if isinstance(text, Function):
            # Those that questions are asked about come first, as few are documented.
            asked = _is_documented(text) and len(documented) < _GOLD + _SPARE
            (documented if asked else functions).append(text)
        else:
            sentences.append(text)
            sources[_source_of(text)] += 1
        if (
            len(functions) >= wanted["code"]
            and all(sources[source] >= wanted[source] for source in _SLOTS)
            and len(documented) >= min(_GOLD + _SPARE, wanted["code"] // 10)
        ):
            break
    made = {"code": _code([*documented, *functions]), **_prose(sentences)}
    found = {source: list(islice(made[source], wanted[source])) for source in SOURCES}
    short = [source for source in SOURCES if len(found[source]) < wanted[source]]
    if short:
        there = ", ".join(f"{source} {len(found[source])} of {wanted[source]}" for source in short)
        raise ValueError(f"this interpreter's library has not text enough: {there}")
    return found


def _source_of(sentence: Sentence) -> str:
    """By the sentence itself, so that it does not move when another file changes."""
    return _SLOTS[hashed(sentence.text) % len(_SLOTS)]


def _code(functions: Sequence[Function]) -> Iterator[_Original]:
    for number, each in enumerate(functions):
        text = f"# {each.path}: {each.name}\n{each.code}"
        asked = each.summary if _is_documented(each) else ""
        yield _Original(Record(f"code-{number}", "code", text), asked)


def _is_documented(function: Function) -> bool:
    """A name that occurs anywhere is no answer; a docstring's sentence is."""
    return function.origin == LIBRARY and len(function.summary.split()) >= 8


def _prose(sentences: Sequence[Sentence]) -> dict[str, list[_Original]]:
    """Records of seven sentences; the sentence of a question stands in one of them alone."""
    made: dict[str, list[_Original]] = {source: [] for source in _SLOTS}
    gold = set()
    counted: Counter[str] = Counter()
    for place, each in enumerate(sentences):
        source = _source_of(each)
        if counted[source] < _GOLD + _SPARE and _is_askable(each):
            counted[source] += 1
            gold.add(place)
    for place, each in enumerate(sentences):
        rng = random.Random(hashed(f"record {each.text}"))
        near = range(max(0, place - _NEARBY), min(len(sentences), place + _NEARBY))
        others = [other for other in near if other not in gold and other != place]
        parts = [sentences[other].text for other in rng.sample(others, len(_LABELS) - 1)]
        parts.insert(rng.randrange(len(_LABELS)), each.text)
        own = made[source := _source_of(each)]
        record = Record(f"{source}-{len(own)}", source, _laid_out(source, each.path, parts))
        own.append(_Original(record, each.text if place in gold else ""))
    return made


def _laid_out(source: str, path: str, parts: Sequence[str]) -> str:
    if source == "experiences":
        return "\n".join(f"{label}: {part}" for label, part in zip(_LABELS, parts, strict=True))
    if source == "commits":
        body = " ".join(parts[1:])
        return f"{Path(path).stem}: {parts[0]}\n\n{body}\nFiles: {path}"
    return " ".join(parts)


def _is_askable(sentence: Sentence) -> bool:
    return sentence.origin == LIBRARY and len(sentence.text.split()) >= 8


def _askable(originals: Sequence[_Original]) -> list[_Original]:
    """Those that questions are asked about: the first that say enough, and never all."""
    most = min(_GOLD + _SPARE, max(len(originals) - _UNASKED, 0))
    return list(islice((each for each in originals if each.passage), most))


# -- near copies and contradictions -----------------------------------------------------------


@define
class _Edited:
    """Edited records, none of which is equal to another record.

    Attributes:
        known: what records there are, as `words` and a mark for what is only laid out anew.
        records: the edited ones.
    """

    known: set[str]
    records: list[Record] = field(factory=list, init=False)
    _copies: int = field(default=0, init=False)
    _contradictions: int = field(default=0, init=False)

    def distract(self, originals: Sequence[_Original], most: int) -> None:
        """Records like these that do not answer what these do, in turns."""
        vocabulary = [word for each in originals for word in LONG_WORD.findall(each.passage)]
        for number, each in islice(product(range(_DISTRACTORS), originals), most):
            record = each.record
            rng = random.Random(hashed(f"distractor {number} {record.id}"))
            text = record.text
            while words(each.passage) in words(text):
                text = varied(record.text, rng, vocabulary, _OTHER_WORDS)
            self.records.append(Record(f"{record.id}-like-{number}", record.source, text))

    def copy(self, originals: Sequence[_Original], most: int) -> None:
        """Near copies of the first of these, until there are so many."""
        for each in originals:
            if self._copies >= most:
                return
            rng = random.Random(hashed(f"copy {each.record.id}"))
            record = each.record
            text = near_copy(record.text, rng, code=record.source == "code")
            if text is not None:
                stray = record.source in _STRAY and rng.random() < 0.5
                source = rng.choice(_STRAY) if stray else record.source
                self.records.append(Record(f"{record.id}-copy", source, text, same_as=record.id))
                self._copies += 1

    def contradict(self, originals: Sequence[_Original], most: int) -> None:
        """Contradictions of the first of these that can be contradicted, likewise."""
        for each in originals:
            if self._contradictions >= most:
                return
            record = each.record
            rng = random.Random(hashed(f"contradiction {record.id}"))
            # In a question's own passage, where there is one.
            passage = each.passage or record.text
            said = contradiction(passage, rng)
            if said is None or passage not in record.text:
                continue
            text = record.text.replace(passage, said)
            if words(text) not in self.known:
                self.known.add(words(text))
                self.records.append(
                    Record(f"{record.id}-not", record.source, text, contradicts=record.id)
                )
                self._contradictions += 1


def _questions(
    asked: Mapping[str, Sequence[_Original]], copy_of: Mapping[str, Record]
) -> list[list[Question]]:
    """Each source's questions; every second one asks about another source's record, too."""
    found = []
    for one, other in zip(SOURCES, [*SOURCES[1:], SOURCES[0]], strict=True):
        pairs = zip_longest(asked[one], asked[other][: len(asked[one])])
        found.append(
            [
                _question([first, second] if number % 2 and second else [first], copy_of)
                for number, (first, second) in enumerate(pairs)
            ]
        )
    return found


def _question(about: Sequence[_Original], copy_of: Mapping[str, Record]) -> Question:
    queries, answers = [], []
    for each in about:
        passages = [words(each.passage)]
        if each.record.id in copy_of:
            passages.append(_passage_in(copy_of[each.record.id], each))
        answers.append(list(dict.fromkeys(passages)))
        queries.append(
            paraphrase(each.passage, random.Random(hashed(f"question {each.record.id}")))
        )
    return Question(" and ".join(queries), [each.record.id for each in about], answers)


def _passage_in(copy: Record, each: _Original) -> str:
    """A passage as its near copy has it: between the words that stand around the original."""
    passage = words(each.passage)
    copied = words(copy.text)
    if passage in copied:
        return passage
    before, _, after = words(each.record.text).partition(passage)
    return copied[len(before) : len(copied) - len(after)]
