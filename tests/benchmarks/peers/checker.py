"""What a context is worth, told from its text and the corpus's labels, whoever made it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations

from attrs import frozen
from rapidfuzz import fuzz

from contextkit.text.tokens import estimate_tokens
from tests.benchmarks.peers.corpus import Corpus, Question, Record
from tests.benchmarks.peers.edits import NEAR, words
from tests.benchmarks.peers.system import BUDGET, Answer

__all__ = ["Worth", "share_found", "worth"]

_NUMBER = re.compile(r"\d+")
_NEGATION = re.compile(r"\b(?:not|no|never|none|without|cannot)\b|n't\b", re.IGNORECASE)


@frozen
class Worth:
    """What a system's contexts hold, all questions together.

    Attributes:
        questions: how many were asked.
        gold: the share of answers that can be read in the contexts.
        planted: pairs of near copies, by the corpus's labels, that are both shown.
        natural: other pairs that are shown whose ratio is that of near duplicates, and
            that have the same numbers and negations.
        contradicted: questions of which the gold item and its contradiction are shown.
        items: records shown in a context, on average.
        tokens: of a context, on average.
        over: contexts over the budget.
    """

    questions: int
    gold: float
    planted: int
    natural: int
    contradicted: int
    items: float
    tokens: float
    over: int


def worth(corpus: Corpus, answers: Sequence[Answer]) -> Worth:
    """Judge the answers to the corpus's questions, in their order."""
    records = {record.id: record for record in corpus.records}
    opposite = {record.contradicts: record.id for record in corpus.records}
    asked = list(zip(corpus.questions, answers, strict=True))
    pairs = Counter(
        kind
        for answer in answers
        for one, other in combinations(_shown(answer, records), 2)
        for kind in [_kind(one, other)]
        if kind
    )
    tokens = [estimate_tokens(answer.text) for answer in answers]
    return Worth(
        questions=len(asked),
        gold=share_found(corpus, [answer.text for answer in answers]),
        planted=pairs["planted"],
        natural=pairs["natural"],
        contradicted=sum(
            any({gold, opposite.get(gold, "")} <= set(answer.shown) for gold in question.gold)
            for question, answer in asked
        ),
        items=sum(len(answer.shown) for answer in answers) / len(answers),
        tokens=sum(tokens) / len(tokens),
        over=sum(each > BUDGET for each in tokens),
    )


def share_found(corpus: Corpus, contexts: Sequence[str]) -> float:
    """The share of the questions' answers that can be read in their contexts."""
    return sum(map(_answered, corpus.questions, contexts)) / len(contexts)


def _shown(answer: Answer, records: Mapping[str, Record]) -> list[Record]:
    return [records[each] for each in answer.shown]


def _answered(question: Question, context: str) -> float:
    read = words(context)
    found = [any(passage in read for passage in each) for each in question.answers]
    return sum(found) / len(found)


def _kind(one: Record, other: Record) -> str:
    if (one.same_as or one.id) == (other.same_as or other.id):
        return "planted"
    if one.contradicts == (other.same_as or other.id):
        return ""
    if other.contradicts == (one.same_as or one.id):
        return ""
    if fuzz.ratio(one.text, other.text, score_cutoff=NEAR) == 0 or _differ(one, other):
        return ""
    return "natural"


def _differ(one: Record, other: Record) -> bool:
    """Whether they have other numbers or negations: then they say different things."""
    return any(
        Counter(pattern.findall(one.text)) != Counter(pattern.findall(other.text))
        for pattern in (_NUMBER, _NEGATION)
    )
