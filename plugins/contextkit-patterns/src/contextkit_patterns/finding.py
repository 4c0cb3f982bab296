"""Find a request's patterns, by triggers and by search."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from attrs import frozen

from contextkit import ContextItem, ContextRequest, InvalidRequestError, Records
from contextkit.concurrency import in_thread
from contextkit.text import INTENTS
from contextkit_patterns.pattern import Pattern, words_of

_MOST_WORDS = 500


@frozen
class Calls:
    """The parts of a request that trigger patterns.

    Attributes:
        words: the query's words, in their order.
        intents: the query's intents.
        entity_types: requested types of entities, beside those the query names.
    """

    words: tuple[str, ...]
    intents: frozenset[str]
    entity_types: frozenset[str]

    @classmethod
    def of(cls, request: ContextRequest) -> Calls:
        """Parse a request; the filter `intent` overrides the query's own.

        Raises `InvalidRequestError` if the filter has anything but texts, or unknown intents.
        """
        words = tuple(words_of(request.query)[:_MOST_WORDS])
        given = frozenset(_texts(request.filters, "intent"))
        intents = given or frozenset({request.signals.intent})
        for intent in intents:
            if intent not in INTENTS:
                raise InvalidRequestError(
                    f"filter intent: {intent!r} is not one of {', '.join(INTENTS)}"
                )
        types = (" ".join(words_of(each)) for each in request.entity_types)
        return cls(words, intents, frozenset(types))

    @property
    def trigger_words(self) -> list[str]:
        """Return the stored trigger words of possible patterns."""
        of_types = [word for each in self.entity_types for word in each.split()[:1]]
        of_intents = [f"intent:{intent}" for intent in self.intents]
        return list(dict.fromkeys([*self.words, *sorted(of_types), *sorted(of_intents)]))

    def call_for(self, pattern: Pattern) -> bool:
        """Return whether a pattern's triggers match.

        A keyword or an entity type that the query names is enough, unless the pattern is limited to
        other intents. A pattern with intents alone matches those.
        """
        if pattern.intents and not self.intents.intersection(pattern.intents):
            return False
        if not pattern.keywords and not pattern.entity_types:
            return bool(pattern.intents)
        # Spaces at both ends make a phrase match only whole words.
        said = f" {' '.join(self.words)} "
        named = (*pattern.keywords, *pattern.entity_types)
        return any(f" {' '.join(words_of(each))} " in said for each in named) or bool(
            self.entity_types.intersection(pattern.entity_types)
        )


async def find_patterns(request: ContextRequest) -> list[ContextItem]:
    """Return triggered and matching patterns, best first, each once.

    An item's relevance is its fit (1 if a trigger matches, else the search's score) times its
    expected success rate.
    """
    calls = Calls.of(request)
    if request.records.known_empty:
        return []
    filters = {name: wanted for name, wanted in request.filters.items() if name != "intent"}
    hits = await request.records.search(request.query, limit=request.limit, filters=filters)
    found = [(Pattern.from_record(hit.record), hit.relevance) for hit in hits]

    patterns = await in_thread(lambda: called_for(calls, request.records, filters))
    called = [(pattern, 1.0) for pattern in patterns]
    return _best_first([*called, *found])[: request.limit]


def called_for(calls: Calls, records: Records, filters: Mapping[str, Any]) -> list[Pattern]:
    """Return the triggered patterns among the filtered records."""
    wanted = {**filters, "trigger_words": calls.trigger_words}
    patterns = map(Pattern.from_record, records.scan(wanted))
    return [pattern for pattern in patterns if calls.call_for(pattern)]


def _best_first(found: Iterable[tuple[Pattern, float]]) -> list[ContextItem]:
    best: dict[str, tuple[Pattern, float]] = {}
    for pattern, fit in found:
        known = best.get(pattern.id)
        # If a name is in both scopes, the project's pattern is used.
        hides = known is not None and known[0].scope == "project" and pattern.scope == "user"
        kept = known[0] if known is not None and hides else pattern
        best[pattern.id] = (kept, max(fit, known[1] if known else 0.0))
    # No time: a procedure does not age, and the order is by success.
    items = [
        # A question may have nothing of it but a keyword, which is no part of what is shown.
        it.as_item(
            "patterns",
            fit * it.rate,
            text="\n".join([it.text, *it.keywords]),
            salience=it.rate,
            created_at=None,
        )
        for it, fit in best.values()
    ]
    return sorted(items, key=lambda item: (-item.relevance, item.id))


def _texts(filters: Mapping[str, Any], name: str) -> list[str]:
    value = filters.get(name, ())
    texts = list(value) if isinstance(value, (list, tuple, set, frozenset)) else [value]
    for text in texts:
        if not isinstance(text, str):
            raise InvalidRequestError(f"filter {name}: expected texts, got {text!r}")
    return texts
