"""Check the texts of items: whole, shortened and hostile."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from attrs import evolve

from contextkit.errors import SourceError
from contextkit.models.items import DETAILS, STYLES, ContextItem
from contextkit.pipeline.looks import Look, default_text
from contextkit.plugin.checks import checked_text, checked_texts
from contextkit.testing.hostile import harmless, hostile_text, with_text
from contextkit.testing.markup_structure import MarkupError, structure
from contextkit.testing.subject import NotConformingError, Subject
from contextkit.text.tokens import counter_for

LOOKS = tuple(Look(style, detail) for style, detail in itertools.product(STYLES, DETAILS))
_FORMAT = "contextkit_format"
_TRUNCATE = "contextkit_truncate"
_ITEMS = 3
"""So many items of each kind are looked at closely."""
_LIMITS = (1, 3, 8, 15, 30, 60, 120)
_BUDGETS = (60, 2000)
_TAG = re.compile(r"<([a-z][\w-]*)")


def check_formats(subject: Subject) -> None:
    """Check for one stable text per item, style and detail."""
    items = subject.found()
    for look in LOOKS:
        texts = _formatted(subject, items, look)
        if texts is None:
            continue
        _formatted(subject, (), look)
        if _formatted(subject, items, look) != texts:
            raise NotConformingError(
                f"{_FORMAT} gives other texts at the second call ({_named(look)}): "
                f"leave clocks and chance out of them"
            )
        for item, text in zip(items, texts, strict=True):
            _check_text(item, text, look)


def _check_text(item: ContextItem, text: str, look: Look) -> None:
    if not text.strip():
        raise NotConformingError(
            f"{_FORMAT} gives item {item.id!r} no text ({_named(look)}): show what it is"
        )
    if look.detail == "compact" and len(text.splitlines()) > 1:
        raise NotConformingError(
            f"{_FORMAT} gives item {item.id!r} {len(text.splitlines())} lines "
            f"({_named(look)}): compact is one line an item, see contextkit.text.one_line"
        )
    _structure(text, look, f"{_FORMAT}, item {item.id!r}")


def _formatted(subject: Subject, items: Sequence[ContextItem], look: Look) -> list[str] | None:
    result = subject.call(_FORMAT, items=list(items), style=look.style, detail=look.detail)
    return None if result is None else list(checked_texts(subject.name, result, len(items)))


def _named(look: Look) -> str:
    return f"style {look.style}, detail {look.detail}"


def _structure(text: str, look: Look, what: str) -> Counter[str]:
    try:
        return structure(text, look.style)
    except MarkupError as error:
        raise NotConformingError(
            f"{what} ({_named(look)}): {error}; use contextkit.text"
        ) from error


# -- hostile text -----------------------------------------------------------------------------


def check_hostile_text(subject: Subject) -> None:
    """Check that a record's text never becomes markup.

    No style may read it as a heading, a fence, a tag or a title.
    """
    if not subject.has(_FORMAT):
        return
    for item, look in itertools.product(_of_each_kind(subject.found()), LOOKS):
        text = hostile_text(_tags(subject, item, look))
        pairs = zip(with_text(item, text), with_text(item, harmless(text)), strict=True)
        for (where, hostile), (_, calm) in pairs:
            try:
                expected = _shown(subject, calm, look)
            except SourceError:
                # A field of a fixed form cannot hold such words in any record.
                continue
            try:
                found = _shown(subject, hostile, look)
            except SourceError as error:
                raise NotConformingError(
                    f"{_FORMAT} fails for hostile text in `{where}` ({_named(look)}): "
                    f"{error.reason}"
                ) from error
            if expected is not None and found is not None:
                _compare(expected, found, look, where)


def _of_each_kind(items: Sequence[ContextItem]) -> Iterator[ContextItem]:
    seen = Counter[str]()
    for item in items:
        seen[item.kind] += 1
        if seen[item.kind] <= _ITEMS:
            yield item


def _tags(subject: Subject, item: ContextItem, look: Look) -> tuple[str, ...]:
    shown = _shown(subject, item, look) or ""
    tags = tuple(dict.fromkeys(_TAG.findall(shown)))
    return look.writer.choose(markdown=(), xml=tags, plain=())


def shown_text(subject: Subject, item: ContextItem, look: Look) -> str:
    """Return an item's shown text, by hook or default."""
    text = _shown(subject, item, look)
    return default_text(item, look) if text is None else text


def _shown(subject: Subject, item: ContextItem, look: Look) -> str | None:
    texts = _formatted(subject, [item], look)
    return None if texts is None else texts[0]


def _compare(expected: str, found: str, look: Look, where: str) -> None:
    what = f"{_FORMAT}, hostile text in `{where}`"
    if look.detail == "compact" and len(found.splitlines()) > 1:
        raise NotConformingError(
            f"{what} ({_named(look)}): line ends break out of its one line; "
            f"use contextkit.text.one_line"
        )
    more = _structure(found, look, what) - _structure(expected, look, what)
    if more:
        raise NotConformingError(
            f"{what} ({_named(look)}): it becomes {', '.join(sorted(more))}; use contextkit.text"
        )


# -- shortening -------------------------------------------------------------------------------


def check_truncation(subject: Subject) -> None:
    """Check that shortened text fits, and closes its markup.

    Hostile text is included.
    """
    if not subject.has(_TRUNCATE):
        return
    count = counter_for("default")
    # Only the core shortens `compact`.
    looks = [look for look in LOOKS if look.detail != "compact"]
    for item, look in itertools.product(_of_each_kind(subject.found()), looks):
        hostile = evolve(item, content=f"{item.content}\n\n{hostile_text(())}")
        for shown, limit in itertools.product((item, hostile), _LIMITS):
            result = subject.call(
                _TRUNCATE,
                item=evolve(shown, content=shown_text(subject, shown, look)),
                style=look.style,
                max_tokens=limit,
                count=count,
                query=subject.query,
            )
            if result is None:
                continue
            short = checked_text(subject.name, result)
            what = f"{_TRUNCATE}, item {item.id!r}, max_tokens {limit}"
            if count(short) > limit:
                raise NotConformingError(
                    f"{what} ({_named(look)}): the result takes {count(short)} tokens: count "
                    f"with `count`, and return None where nothing fits"
                )
            _structure(short, look, what)


# -- whole contexts ---------------------------------------------------------------------------


def check_contexts(subject: Subject) -> None:
    """Check contexts in every style and detail, within the budget."""
    subject.found()
    for look, budget in itertools.product(LOOKS, _BUDGETS):
        context = subject.kit.assemble_context_sync(
            subject.query,
            [subject.name],
            max_tokens=budget,
            style=look.style,
            detail=look.detail,
            filters=dict(subject.filters),
            source_timeout=subject.timeout,
            deadline=subject.timeout,
        )
        (source,) = context.trace.sources
        if source.state not in {"ok", "empty"}:
            raise NotConformingError(
                f"in a context ({_named(look)}) its state is {source.state}: {source.reason}"
            )
        failed = [note for note in context.trace.notes if note.startswith(f"{subject.name}: ")]
        if failed:
            raise NotConformingError(f"in a context ({_named(look)}) {failed[0]}")
        # The core alone decides how `compact` shows a long item without a format.
        expected = budget == max(_BUDGETS) and look.detail != "compact"
        if expected and not context.items:
            reasons = sorted({item.reason for item in context.trace.items})
            raise NotConformingError(
                f"in a context of {budget} tokens ({_named(look)}) not one of its items is "
                f"shown: {'; '.join(reasons) or source.reason or 'nothing was found'}"
            )
        if look.writer.syntax == "xml" and context.markdown:
            _structure(context.markdown, look, "a context")
