"""What a query says of itself: its keywords, the names in it, and what is wanted."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from attrs import evolve, field, frozen
from attrs.validators import in_

__all__ = ["INTENTS", "Intent", "QuerySignals"]

Intent = Literal["question", "action", "fix", "explain", "other"]
INTENTS: tuple[Intent, ...] = ("question", "action", "fix", "explain", "other")


def _texts(given: Iterable[str]) -> tuple[str, ...]:
    if isinstance(given, str):
        raise TypeError(f"expected several texts, got {given!r}")
    return tuple(given)


@frozen(kw_only=True)
class QuerySignals:
    """What a query says of itself.

    Attributes:
        keywords: its words in lower case and in their order, without those that every text
            has; 64 at most.
        entities: the names in it, as they are written: identifiers, dotted names, file paths,
            quoted phrases and capitalised names; 64 at most.
        intent: what is wanted: `fix`, `explain`, `question`, `action`, or `other` where its
            words do not tell.
        kinds: the kinds of items that matter most for that, as the plugins know them.
    """

    keywords: tuple[str, ...] = field(default=(), converter=_texts)
    entities: tuple[str, ...] = field(default=(), converter=_texts)
    intent: Intent = field(default="other", validator=in_(INTENTS))
    kinds: tuple[str, ...] = field(default=(), converter=_texts)

    def united(self, more: QuerySignals) -> QuerySignals:
        """These and others, each once, these first; an intent other than `other` stays."""
        return evolve(
            self,
            keywords=dict.fromkeys((*self.keywords, *more.keywords)),
            entities=dict.fromkeys((*self.entities, *more.entities)),
            intent=more.intent if self.intent == "other" else self.intent,
            kinds=dict.fromkeys((*self.kinds, *more.kinds)),
        )
