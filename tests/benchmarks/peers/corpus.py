"""The corpus that every system gets: records of five sources, near copies, questions.

So that a reader can judge whether it is fair:

- **Text** is real (`texts`): functions, sentences of docstrings and comments, and commit
  messages. It depends on the interpreter's version and on this repository's state; the
  report carries a digest, and all systems of one run get the same files.
- **Records**, of originals: code 50% (a function below a line with its path and name, 60 to
  3,000 characters), memories 23% (a sentence), commits 14% (`file: sentence`, and often a
  second sentence and files), experiences 8% (six labelled sentences), values 5% (a
  sentence). No two originals are equal but for case, punctuation and white space; natural
  near duplicates, such as two tests that differ in a name, are left as they are.
- **Near copies** are 8% of all records, **contradictions** 2%. A copy lacks a word, has
  other punctuation or spaces or a prefix; a function's has other spaces or a comment more.
  It stands in the same source or, one of two memories, commits and values, in another of
  these; its ratio to the original is at least 91. A contradiction has another number or a
  negation more and stands in the same source. Both are known by label (`same_as`,
  `contradicts`).
- **Questions**: 100, twenty a source, each about one known record, the gold item, whose
  *passage* it paraphrases (a memory's or value's sentence, a commit's subject, an
  experience's goal, a function's name and its docstring's first sentence): a quarter of the
  words and most stop words dropped, others replaced by a list of synonyms, in every
  second one the halves swapped. Seven gold items in ten have a near copy, which is as good,
  and some a contradiction, which is not. Ten further questions of the same make are for
  warming up and never counted.
- **Growth**: a larger corpus has the questions and the gold items of the smaller one, among
  more of the rest; what else stands in an experience or a commit may be another sentence.
- **Vectors** are `contextkit.embedding`'s default ones, 256 numbers, made once.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

import attrs
from attrs import define, field, frozen

from tests.benchmarks.peers.edits import contradiction, near_copy, paraphrase, words
from tests.benchmarks.peers.texts import (
    LIBRARY,
    Function,
    Sentence,
    commit_messages,
    hashed,
    texts,
)

__all__ = ["SOURCES", "Corpus", "Question", "Record", "make_corpus", "read_corpus"]

SOURCES = ("memories", "code", "experiences", "values", "commits")

_SHARES = {"memories": 23, "code": 50, "experiences": 8, "values": 5, "commits": 14}
_SENTENCES = {"memories": 5, "experiences": 1, "values": 1, "commits": 3}
_COPIES_PERCENT = 8
_CONTRADICTIONS_PERCENT = 2
_GOLD = 20
_SPARE = 2
_COPIED_GOLD = 0.7
_CONTRADICTED_GOLD = 0.3
_STRAY = ("memories", "commits", "values")
_LABELS = ("Goal", "Hypothesis", "Action", "Prediction", "Outcome", "Lesson")


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
        gold: the record that it is about.
        passages: the passage that it paraphrases, of that record and of its near copies,
            as `words`; any of them in a context is the answer.
    """

    query: str
    gold: str
    passages: tuple[str, ...]


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
        questions=[Question(**{**each, "passages": tuple(each["passages"])}) for each in counted],
        warming=[Question(**{**each, "passages": tuple(each["passages"])}) for each in warming],
    )


@frozen
class _Original:
    """A record and what a question about it would say; nothing where none is asked."""

    record: Record
    passage: str = ""


def make_corpus(number: int) -> Corpus:
    """A corpus of so many records.

    Raises `ValueError` where there is not text enough, or there are too few records for
    the questions.
    """
    copies = number * _COPIES_PERCENT // 100
    contradictions = number * _CONTRADICTIONS_PERCENT // 100
    wanted = _parts(number - copies - contradictions)
    if min(wanted.values()) < _SPARE * 2:
        raise ValueError(f"{number} records are too few: some source would have next to none")
    originals = _originals(wanted)
    asked = {source: _askable(originals[source]) for source in SOURCES}
    flat = [each for source in SOURCES for each in originals[source]]
    first = [each for source in SOURCES for each in asked[source]]
    gold = {each.record.id for each in first}
    rest = sorted((each for each in flat if each.record.id not in gold), key=_order)
    edited = _Edited({words(each.record.text) for each in flat})
    edited.contradict(first, min(contradictions, int(_CONTRADICTED_GOLD * len(first))))
    edited.contradict(rest, contradictions)
    edited.copy(first, min(copies, int(_COPIED_GOLD * len(first))))
    edited.copy(rest, copies)
    records = [each.record for each in flat] + edited.records
    copy_of = {record.same_as: record for record in edited.records}
    return Corpus(
        records=sorted(records, key=lambda record: SOURCES.index(record.source)),
        questions=[_question(each, copy_of) for own in asked.values() for each in own[_SPARE:]],
        warming=[_question(each, copy_of) for own in asked.values() for each in own[:_SPARE]],
    )


def _parts(number: int) -> dict[str, int]:
    parts = {source: number * share // 100 for source, share in _SHARES.items()}
    parts["code"] += number - sum(parts.values())
    return parts


def _order(each: _Original) -> int:
    return hashed(each.record.id)


# -- originals --------------------------------------------------------------------------------


def _originals(wanted: Mapping[str, int]) -> dict[str, list[_Original]]:
    """So many of each source, the first of each stream."""
    functions: list[Function] = []
    documented: list[Function] = []
    sentences: dict[str, list[Sentence]] = {source: [] for source in _SENTENCES}
    # An experience is made of several sentences, so that half as many do for the first ones.
    enough = {**wanted, "experiences": wanted["experiences"] // 2 + 1}
    for text in texts():
        if isinstance(text, Function):
            # Those that questions are asked about come first, as few are documented.
            asked = _is_documented(text) and len(documented) < _GOLD + _SPARE
            (documented if asked else functions).append(text)
        else:
            sentences[_source_of(text)].append(text)
        if (
            len(functions) >= enough["code"]
            and all(len(sentences[source]) >= enough[source] for source in sentences)
            and len(documented) >= min(_GOLD + _SPARE, wanted["code"] // 10)
        ):
            break
    made = {
        "code": _code([*documented, *functions]),
        "memories": _single("memories", sentences["memories"]),
        "values": _single("values", sentences["values"]),
        "commits": _commits(sentences["commits"]),
        "experiences": _experiences(sentences["experiences"]),
    }
    found = {source: list(islice(made[source], wanted[source])) for source in SOURCES}
    short = [source for source in SOURCES if len(found[source]) < wanted[source]]
    if short:
        there = ", ".join(f"{source} {len(found[source])} of {wanted[source]}" for source in short)
        raise ValueError(f"this interpreter's library has not text enough: {there}")
    return found


def _source_of(sentence: Sentence) -> str:
    """By the sentence itself, so that it does not move when another file changes."""
    slots = [source for source, share in _SENTENCES.items() for _ in range(share)]
    return slots[hashed(sentence.text) % len(slots)]


def _code(functions: Sequence[Function]) -> Iterator[_Original]:
    for number, each in enumerate(functions):
        text = f"# {each.path}: {each.name}\n{each.code}"
        asked = each.summary if _is_documented(each) else ""
        yield _Original(Record(f"code-{number}", "code", text), asked)


def _is_documented(function: Function) -> bool:
    """A name that occurs anywhere is no answer; a docstring's sentence is."""
    return function.origin == LIBRARY and len(function.summary.split()) >= 6


def _single(source: str, sentences: Sequence[Sentence]) -> Iterator[_Original]:
    for number, each in enumerate(sentences):
        asked = each.text if _is_askable(each) else ""
        yield _Original(Record(f"{source}-{number}", source, each.text), asked)


def _commits(sentences: Sequence[Sentence]) -> Iterator[_Original]:
    for number, message in enumerate(commit_messages()):
        yield _Original(Record(f"commits-own-{number}", "commits", message))
    for number, each in enumerate(sentences):
        subject = f"{Path(each.path).stem}: {each.text}"
        more = sentences[(number * 7 + 3) % len(sentences)]
        body = f"\n\n{more.text}\nFiles: {each.path}, {more.path}" if number % 3 else ""
        asked = each.text if _is_askable(each) else ""
        yield _Original(Record(f"commits-{number}", "commits", subject + body), asked)


def _experiences(sentences: Sequence[Sentence]) -> Iterator[_Original]:
    """Goals are all different ones in the first round, and the last sentences in a second."""
    count = len(sentences)
    for number in range(2 * count):
        goal = sentences[number % count]
        others = [sentences[hashed(f"{number} {n}") % count].text for n in range(1, 6)]
        fields = zip(_LABELS, [goal.text, *others], strict=True)
        text = "\n".join(f"{label}: {sentence}" for label, sentence in fields)
        asked = goal.text if _is_askable(goal) and number < count else ""
        yield _Original(Record(f"experiences-{number}", "experiences", text), asked)


def _is_askable(sentence: Sentence) -> bool:
    return sentence.origin == LIBRARY and len(sentence.text.split()) >= 8


def _askable(originals: Sequence[_Original]) -> list[_Original]:
    """Those that questions are asked about: the first that say enough."""
    return list(islice((each for each in originals if each.passage), _GOLD + _SPARE))


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


def _question(each: _Original, copy_of: Mapping[str, Record]) -> Question:
    record = each.record
    rng = random.Random(hashed(f"question {record.id}"))
    passages = [words(each.passage)]
    if record.id in copy_of:
        passages.append(_passage_in(copy_of[record.id], each))
    name = record.text.partition("\n")[0].rpartition(": ")[2] if record.source == "code" else ""
    query = paraphrase(f"{name.replace('.', ' ')} {each.passage}", rng)
    return Question(query, record.id, tuple(dict.fromkeys(passages)))


def _passage_in(copy: Record, each: _Original) -> str:
    """A passage as its near copy has it: between the words that stand around the original."""
    passage = words(each.passage)
    copied = words(copy.text)
    if passage in copied:
        return passage
    before, _, after = words(each.record.text).partition(passage)
    return copied[len(before) : len(copied) - len(after)]
