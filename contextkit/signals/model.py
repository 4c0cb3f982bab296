"""What a query says of itself: its keywords, the names in it, and what is wanted."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from attrs import evolve, field, frozen
from attrs.validators import deep_iterable, in_

__all__ = ["INTENTS", "TOPICS", "Intent", "QuerySignals", "Topic"]

Intent = Literal["question", "action", "fix", "explain", "other"]
INTENTS: tuple[Intent, ...] = ("question", "action", "fix", "explain", "other")
Topic = Literal["code", "usage", "history", "decisions", "activity", "failures"]
TOPICS: tuple[Topic, ...] = ("code", "usage", "history", "decisions", "activity", "failures")


def _texts(given: Iterable[str]) -> tuple[str, ...]:
    if isinstance(given, str):
        raise TypeError(f"expected several texts, got {given!r}")
    return tuple(given)


@frozen(kw_only=True)
class QuerySignals:
    """What a query says of itself.

    Attributes:
        keywords: its words in lower case and in their order, without those that every text
            has; 64 at most. Behind a word in another language stand the English words for it.
        entities: the names in it, as they are written: identifiers, dotted names, file paths,
            quoted phrases and capitalised names; 64 at most.
        intent: what is wanted: `fix`, `explain`, `question`, `action`, or `other` where its
            words do not tell.
        kinds: the kinds of items that matter most for that, as the plugins know them.
        topics: what it asks about: `code` (how it works, where it is), `usage` (how to use or
            configure it), `history` (when, who, why it changed), `decisions` (what was
            agreed), `activity` (what is going on), `failures` (what went wrong). It says which
            sources are likely to have the answer: see `SourceInfo.answers`.
    """

    keywords: tuple[str, ...] = field(default=(), converter=_texts)
    entities: tuple[str, ...] = field(default=(), converter=_texts)
    intent: Intent = field(default="other", validator=in_(INTENTS))
    kinds: tuple[str, ...] = field(default=(), converter=_texts)
    topics: tuple[Topic, ...] = field(
        default=(), converter=_texts, validator=deep_iterable(in_(TOPICS))
    )

    def united(self, more: QuerySignals) -> QuerySignals:
        """These and others, each once, these first; an intent other than `other` stays.

        `code` alone, which a question has that says nothing else, gives way to other topics.
        """
        own = () if more.topics and self.topics == ("code",) else self.topics
        return evolve(
            self,
            keywords=dict.fromkeys((*self.keywords, *more.keywords)),
            entities=dict.fromkeys((*self.entities, *more.entities)),
            intent=more.intent if self.intent == "other" else self.intent,
            kinds=dict.fromkeys((*self.kinds, *more.kinds)),
            topics=dict.fromkeys((*own, *more.topics)),
        )
