"""Conversations to remember, and questions with the turns that answer them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from attrs import frozen

__all__ = ["Conversation", "Question", "Turn", "invented_conversations", "read_conversations"]

_CORPUS, _QUESTIONS = "locomo_corpus.jsonl", "locomo_queries.jsonl"


@frozen(kw_only=True)
class Turn:
    """What one speaker said.

    Attributes:
        id: unique in its conversation.
        speaker: who said it.
        text: what was said.
        session: the number of its session.
        position: its place in that, from 0.
        said_at: when it was said.
    """

    id: str
    speaker: str
    text: str
    session: int
    position: int
    said_at: datetime


@frozen(kw_only=True)
class Question:
    """A question, the turns that answer it, and what kind of question it is."""

    text: str
    evidence: Sequence[str]
    category: str


@frozen(kw_only=True)
class Conversation:
    """Two people's sessions, and questions about them."""

    name: str
    turns: Sequence[Turn]
    questions: Sequence[Question]


def read_conversations(folder: Path) -> list[Conversation]:
    """The conversations of a folder in the format of LoCoMo's open part.

    Args:
        folder: the one with the two files, or with a folder `locomo` that has them.
    """
    place = next((p for p in (folder, folder / "locomo") if (p / _CORPUS).is_file()), None)
    if place is None:
        raise FileNotFoundError(f"{folder} has no {_CORPUS}, nor has its folder locomo")
    turns = _by_conversation(place / _CORPUS)
    questions = _by_conversation(place / _QUESTIONS)
    return [
        Conversation(
            name=name,
            turns=list(_turns(turns[name])),
            questions=[
                Question(
                    text=row["question"], evidence=row["evidence"], category=row["category_name"]
                )
                for row in questions.get(name, ())
            ],
        )
        for name in sorted(turns)
    ]


def _by_conversation(file: Path) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for line in file.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        found.setdefault(row["conv"], []).append(row)
    return found


def _turns(rows: Sequence[dict[str, Any]]) -> Iterator[Turn]:
    said: dict[int, int] = {}
    for row in rows:
        session = row["session"]
        position = said.get(session, 0)
        said[session] = position + 1
        yield Turn(
            id=row["id"],
            speaker=row["speaker"],
            text=row["text"],
            session=session,
            position=position,
            said_at=datetime.fromisoformat(row["created_at"]).replace(tzinfo=UTC),
        )


# What is asked about, the turn that names it, and the answer, which shares no word with the
# question: it is found by what stands before it.
_EXCHANGES = (
    ("Which instrument is {b} learning?", "Did you take up an instrument after all?",
     "Yes, the cello, every Thursday with a teacher from the conservatory."),
    ("Where did {b} spend the holidays?", "And the holidays, where did you spend them?",
     "In a hut above Zermatt, with nothing but snow around."),
    ("What did {b} cook for the birthday party?", "What did you cook for the birthday party?",
     "Lentil dal, a huge pot, and it was gone in ten minutes."),
    ("Which book is {b} reading at the moment?", "Any good book that you are reading?",
     "Middlemarch, slowly. I am at chapter forty."),
    ("What happened to the car of {b}?", "Is the car back from the garage?",
     "No, the gearbox is broken and they wait for parts from Japan."),
    ("Who repaired the roof for {b}?", "Have you found anybody for the roof?",
     "My cousin Ivo did it in one weekend, for a crate of beer."),
    ("What pet did {b} adopt?", "You wanted to adopt a pet, did you?",
     "Two guinea pigs, Salt and Pepper. They squeak all night."),
    ("Which marathon does {b} train for?", "How is the training for the marathon?",
     "Hard. Lisbon is in October and my knee complains."),
)  # fmt: skip
_PLAIN = (
    ("What does {a} grow on the balcony?", "I grow tomatoes and basil on the balcony this year."),
    ("Which course did {a} sign up for?", "I signed up for a pottery course in the old town."),
    ("When does {a} move to the new flat?", "We move to the new flat on the first of March."),
    ("What is the allergy of {a}?", "The doctor says that my allergy is against hazelnuts."),
)
_FILLERS = (
    "The weather has been strange all week.",
    "I nearly missed the tram this morning.",
    "The office is quiet, half of them are ill.",
    "My neighbour plays the drums again.",
    "I should sleep more, I know.",
    "Let us have a coffee next week.",
)
_PEOPLE = (("Ada", "Bela"), ("Chidi", "Dora"))
_FIRST_DAY = datetime(2025, 2, 3, 18, tzinfo=UTC)


def invented_conversations() -> list[Conversation]:
    """Small conversations of our own making: whether it works, not how well."""
    return [_invented(number, a, b) for number, (a, b) in enumerate(_PEOPLE)]


def _invented(number: int, a: str, b: str) -> Conversation:
    turns: list[Turn] = []
    questions: list[Question] = []

    def say(session: int, speaker: str, text: str) -> str:
        position = sum(1 for turn in turns if turn.session == session)
        said_at = _FIRST_DAY + timedelta(days=7 * session, minutes=position)
        name = f"{session}:{position}"
        turns.append(
            Turn(
                id=name,
                speaker=speaker,
                text=text,
                session=session,
                position=position,
                said_at=said_at,
            )
        )
        return name

    for session in range(4):
        for exchange in range(2):
            asked, opening, answer = _EXCHANGES[(2 * session + exchange + 3 * number) % 8]
            say(session, a, _FILLERS[(session + exchange) % 6])
            say(session, b, _FILLERS[(session + exchange + 2) % 6])
            say(session, a, opening)
            evidence = say(session, b, answer)
            questions.append(
                Question(text=asked.format(a=a, b=b), evidence=[evidence], category="beside")
            )
        asked, told = _PLAIN[(session + number) % 4]
        evidence = say(session, a, told)
        questions.append(
            Question(text=asked.format(a=a, b=b), evidence=[evidence], category="plain")
        )
    return Conversation(name=f"{a}-{b}", turns=turns, questions=questions)
