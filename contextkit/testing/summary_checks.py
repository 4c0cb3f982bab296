"""Check a source's summaries: number, length, and required words."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import evolve

from contextkit.models.items import ContextItem
from contextkit.pipeline.looks import Look
from contextkit.plugin.checks import checked_summaries
from contextkit.testing.subject import NotConformingError, Subject
from contextkit.testing.text_checks import shown_text
from contextkit.text.passages import keeps
from contextkit.text.tokens import TokenCounter, counter_for

_COMPRESS = "contextkit_compress"
_LEAST_TARGETS = (1, 8, 30)


def check_must_keep(subject: Subject) -> None:
    """Check that the shown text has words of `must_keep`."""
    look = Look("markdown", "full")
    for item in subject.found():
        if not item.must_keep:
            continue
        text = shown_text(subject, item, look)
        # Words that a format does not show for some items are not required in their summaries.
        if not any(words.strip() and keeps(text, words) for words in item.must_keep):
            raise NotConformingError(
                f"item {item.id!r}: nothing of its `must_keep`, {list(item.must_keep)}, stands in "
                f"its text, so that no summary keeps it: name words that are shown"
            )


def check_summaries(subject: Subject) -> None:
    """Check that a summary fits and has the required words.

    The source may also answer None.
    """
    if not subject.has(_COMPRESS):
        return
    count = counter_for("default")
    look = Look("markdown", "full")
    items = [evolve(item, content=shown_text(subject, item, look)) for item in subject.found()]
    thirds = [max(1, count(item.content) // 3) for item in items]
    for targets in (thirds, *([least] * len(items) for least in _LEAST_TARGETS)):
        _check_answers(subject, items, targets, count)
    for item, target in zip(items, thirds, strict=True):
        _check_answers(subject, [item], [target], count)


def _check_answers(
    subject: Subject, items: Sequence[ContextItem], targets: Sequence[int], count: TokenCounter
) -> None:
    result = subject.call(
        _COMPRESS, query=subject.query, items=list(items), targets=list(targets), count=count
    )
    if result is None:
        return
    summaries = checked_summaries(subject.name, result, len(items))
    for item, target, summary in zip(items, targets, summaries, strict=True):
        if summary is None:
            continue
        problem = _problem(item, target, summary, count)
        if problem:
            raise NotConformingError(
                f"{_COMPRESS}: the summary of item {item.id!r} {problem}, and is not used: "
                f"return None for what cannot be said in {target} tokens"
            )


def _problem(item: ContextItem, target: int, summary: str, count: TokenCounter) -> str:
    if not summary.strip():
        return "is empty"
    if count(summary) > target:
        return f"has {count(summary)} tokens where {target} are asked for"
    missing = [words for words in item.must_keep if not keeps(summary, words)]
    return f"lacks {missing[0]!r}, which it must keep" if missing else ""
