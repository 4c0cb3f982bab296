"""Replace secrets before a text is stored or shown.

The core's detector comes first, then every plugin that is on and has `contextkit_redact`.
Ids, and the fields that a source filters by, stay as they are: records are found by them.
"""

from __future__ import annotations

import asyncio
import time
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import accumulate, chain, islice
from typing import Any, TypeVar

from attrs import define, evolve, field, frozen

from contextkit.concurrency import in_thread
from contextkit.errors import SourceError
from contextkit.models.items import ContextItem
from contextkit.models.record import KEEP_SECRET, REDACTIONS, Record
from contextkit.models.request import ContextRequest
from contextkit.pipeline.hook_timeout import note_late
from contextkit.plugin.checks import checked_spans, log_failure
from contextkit.plugin.manager import SourceRegistry
from contextkit.text.questions import signals_of
from contextkit.text.secrets import MARK, SecretSpan, find_secrets, replaced, without_overlaps

_HOOK = "contextkit_redact"
_BETWEEN = "\n\0\n"
"""Between texts that are searched as one; no secret spans it."""
_SHORTEST = 6
_PATH = "file_path"

_KEPT_TEXTS = 512
_LONGEST_KEPT = 2_000

T = TypeVar("T")


def _ignore(_: int) -> None:
    pass


@define(eq=False)
class _Redaction:
    """A redaction in a thread.

    Attributes:
        plugin: the plugin that is called, at first the first.
        began: when it began.
        is_over: whether the thread has ended it.
    """

    plugin: str
    began: float = field(factory=time.monotonic)
    is_over: bool = False


@frozen(eq=False)
class Redactor:
    """Replaces secrets in texts, records and items.

    Attributes:
        registry: the plugins, and the setting `redact.enabled`.
        told: called with the number of secrets in each batch of records that had any.
    """

    registry: SourceRegistry
    told: Callable[[int], None] = _ignore
    _running: _Redaction | None = None
    _late: list[_Redaction] = field(factory=list)

    @property
    def enabled(self) -> bool:
        """Whether redaction is on."""
        return self.registry.config.redact.enabled

    def find(
        self, texts: Sequence[str], parts: Sequence[Sequence[str]] = ()
    ) -> list[list[SecretSpan]]:
        """Find the secrets in texts, even where redaction is off.

        Args:
            texts: the texts; searched as one batch.
            parts: the texts by their origin. A plugin that fails for the batch is called again for
                each part, so that one origin's texts cannot hide the secrets of another.

        Returns:
            Per text its secrets, in the text's order; none overlaps another.
        """
        found = _found(texts)
        for plugin in self.registry.on_with(_HOOK):
            if self._running is not None:
                self._running.plugin = plugin
            more = self._found_by(plugin, texts, parts)
            for place, text in enumerate(texts):
                if spans := more.get(text):
                    found[place] = without_overlaps(text, [*found[place], *spans])
        return found

    def _found_by(
        self, plugin: str, texts: Sequence[str], parts: Sequence[Sequence[str]]
    ) -> Mapping[str, Sequence[SecretSpan]]:
        """Map texts to the secrets that one plugin finds."""
        failures: list[str] = []

        def note(*failure: str) -> None:
            failures.extend(failure)

        more = self.registry.attempt(
            plugin,
            _HOOK,
            partial(checked_spans, plugin, texts),
            note if len(parts) > 1 else log_failure,
            texts=list(texts),
        )
        if not failures:
            return dict(zip(texts, more or (), strict=more is not None))
        by_part = [self._found_by(plugin, part, ()) for part in parts if part]
        return {text: spans for found in by_part for text, spans in found.items()}

    def texts(self, texts: Sequence[str], *, keep_lines: bool = False) -> list[str]:
        """Replace secrets by marks such as `[secret: GitHub token]`.

        Args:
            texts: the texts; searched as one batch.
            keep_lines: True to keep the line breaks within each replaced secret.
        """
        marked = self._marked(texts, keep_lines=keep_lines) if self.enabled else {}
        return [marked.get(text, text) for text in texts]

    def records(self, records: Sequence[Record]) -> list[Record]:
        """Redact the text, keywords and fields of records.

        A record with the field `keep_secret: true` stays as it is. One that had a secret
        says in its field `redactions` how many marks stand in it.

        Args:
            records: the records; searched as one batch.
        """
        if not self.enabled:
            return list(records)
        marked = self._marked(text for record in records for text in self._texts(record))
        if not marked:
            return list(records)
        beside = (part for r in records if r.text in marked for part in self._parts(r))
        marked |= self._with_marks(part for part in beside if part not in marked)
        return [self._redacted(record, marked) for record in records]

    def items(
        self, items: Sequence[ContextItem], stored: Collection[str] = ()
    ) -> tuple[ContextItem, ...]:
        """Redact the texts and metadata of items.

        Args:
            items: the items that a source found.
            stored: ids of records that the store gave: those were redacted when they were
                stored, and are not searched again.
        """
        return self.answers([(items, stored)])[0]

    def answers(
        self, found: Sequence[tuple[Sequence[ContextItem], Collection[str]]]
    ) -> list[tuple[ContextItem, ...]]:
        """Redact the items of several sources as one batch.

        A slow plugin then delays a context once, and not once for each source.

        Args:
            found: each source's items, and the ids of its stored ones, as in `items`.
        """
        parts = [_texts_of(items, stored) for items, stored in found] if self.enabled else []
        marked = self._marked(chain.from_iterable(parts), parts=parts)
        return [
            tuple(
                item if not marked or item.id in stored else _redacted_item(item, marked)
                for item in items
            )
            for items, stored in found
        ]

    async def request(self, request: ContextRequest) -> ContextRequest:
        """Redact a request's query, which caches and traces keep.

        If a plugin is late, the query is redacted by the core alone, and no cache keeps it.
        """
        try:
            [query] = await self.within(request.deadline, lambda r: r.texts([request.query]))
        except SourceError:
            query = replaced(request.query, find_secrets(request.query))
            request = evolve(request, cache=False)
        if query == request.query:
            return request
        return evolve(request, query=query, signals=signals_of(query))

    async def within(self, deadline: float, call: Callable[[Redactor], T]) -> T:
        """Redact in a thread, for half of an assembly's deadline at most.

        A slow plugin then holds up nothing else. After one that was late, no other is called until
        it has ended.

        Args:
            deadline: the assembly's deadline, in seconds.
            call: calls this redactor.

        Raises:
            SourceError: a plugin is late; it names the plugin.
        """
        plugins = self.registry.on_with(_HOOK) if self.enabled else []
        if not plugins:
            return call(self)
        self._late[:] = [each for each in self._late if not each.is_over]
        if not self._late:
            redaction = _Redaction(plugins[0])
            try:
                async with asyncio.timeout(deadline / 2):
                    return await in_thread(partial(self._run, redaction, call))
            except TimeoutError:
                self._late.append(redaction)
        seconds = time.monotonic() - self._late[0].began
        note_late(self._late[0].plugin, _HOOK, seconds)
        reason = f"no answer within {seconds:.2g} s"
        raise SourceError(self._late[0].plugin, _HOOK, reason)

    def _run(self, redaction: _Redaction, call: Callable[[Redactor], T]) -> T:
        try:
            return call(evolve(self, running=redaction))
        finally:
            redaction.is_over = True

    def telling(self, told: Callable[[int], None]) -> Redactor:
        """Return a redactor that reports the number of secrets."""
        return evolve(self, told=told)

    def _marked(
        self,
        texts: Iterable[str],
        *,
        keep_lines: bool = False,
        parts: Sequence[Sequence[str]] = (),
    ) -> dict[str, str]:
        """Map each text with secrets to its redacted text.

        The number of secrets is reported.
        """
        marked = self._with_marks(texts, keep_lines=keep_lines, parts=parts)
        if marked:
            told = sum(marks_in([after]) - marks_in([text]) for text, after in marked.items())
            self.told(told)
        return marked

    def _with_marks(
        self,
        texts: Iterable[str],
        *,
        keep_lines: bool = False,
        parts: Sequence[Sequence[str]] = (),
    ) -> dict[str, str]:
        different = [text for text in dict.fromkeys(texts) if len(text) >= _SHORTEST]
        found = self.find(different, parts) if different else []
        return {
            text: replaced(text, spans, keep_lines=keep_lines)
            for text, spans in zip(different, found, strict=True)
            if spans
        }

    def _texts(self, record: Record) -> Iterator[str]:
        if record.fields.get(KEEP_SECRET) is True:
            return
        yield record.text
        # Most fields are parts of the text, and have no secret if the text has none.
        yield from (part for part in self._parts(record) if part not in record.text)

    def _parts(self, record: Record) -> Iterator[str]:
        yield record.keywords
        kept = self._kept_fields(record.source)
        for name, value in record.fields.items():
            if name not in kept:
                yield from _strings(value)

    def _redacted(self, record: Record, marked: Mapping[str, str]) -> Record:
        if record.fields.get(KEEP_SECRET) is True:
            return record
        if record.text not in marked and not any(part in marked for part in self._parts(record)):
            return record
        kept = self._kept_fields(record.source)
        text = marked.get(record.text, record.text)
        fields = {
            name: value if name in kept else _value_with_marks(value, marked)
            for name, value in record.fields.items()
        }
        fields[REDACTIONS] = marks_in([text]) or marks_in(_strings(fields))
        keywords = marked.get(record.keywords, record.keywords)
        return evolve(record, text=text, keywords=keywords, fields=fields)

    def _kept_fields(self, source: str) -> Collection[str]:
        return (_PATH, *self.registry.info(source).indexed_fields)


def marks_in(texts: Iterable[str]) -> int:
    """Count the redaction marks in texts."""
    return sum(text.count(MARK) for text in texts)


def _found(texts: Sequence[str]) -> list[list[SecretSpan]]:
    """Find each text's secrets with the core's detector.

    Most batches have none, so all texts are searched at once.
    """
    found: list[list[SecretSpan]] = [[] for _ in texts]
    unknown = [at for at, text in enumerate(texts) if text not in _clean]
    # Searching a text that is pure ASCII is faster.
    for is_ascii in (True, False):
        places = [at for at in unknown if texts[at].isascii() == is_ascii]
        for place in _with_secrets([texts[at] for at in places]):
            found[places[place]] = find_secrets(texts[places[place]])
    _clean.add(texts[at] for at in unknown if not found[at])
    return found


class _CleanTexts:
    """The latest short texts in which the core's detector found nothing."""

    def __init__(self) -> None:
        self._newer: set[str] = set()
        self._older: set[str] = set()

    def __contains__(self, text: str) -> bool:
        return text in self._newer or text in self._older

    def add(self, texts: Iterable[str]) -> None:
        short = (text for text in texts if len(text) <= _LONGEST_KEPT)
        self._newer.update(islice(short, _KEPT_TEXTS))
        # Replaced in one step, as other threads use them.
        if len(self._newer) >= _KEPT_TEXTS:
            self._newer, self._older = set(), self._newer


_clean = _CleanTexts()


def _with_secrets(texts: Sequence[str]) -> set[int]:
    """Find texts that may have a secret, in one search."""
    if not texts:
        return set()
    ends = list(accumulate(len(text) + len(_BETWEEN) for text in texts))
    touched = (
        bisect_right(ends, at)
        for span in find_secrets(_BETWEEN.join(texts))
        for at in (span.start, span.end - 1)
    )
    return {place for place in touched if place < len(texts)}


def _strings(value: object) -> Iterator[str]:
    """Yield the strings in a JSON value, without its keys."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _strings(inner)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            yield from _strings(inner)


def _value_with_marks(value: Any, marked: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return marked.get(value, value)
    if isinstance(value, Mapping):
        return {key: _value_with_marks(inner, marked) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        values = [_value_with_marks(inner, marked) for inner in value]
        return values if isinstance(value, list) else tuple(values)
    return value


def _texts_of(items: Iterable[ContextItem], stored: Collection[str]) -> list[str]:
    texts = (text for item in items if item.id not in stored for text in _item_texts(item))
    return [text for text in dict.fromkeys(texts) if len(text) >= _SHORTEST]


def _item_texts(item: ContextItem) -> Iterator[str]:
    yield item.content
    yield from _strings(item.must_keep)
    yield from (text for text in (item.text, item.title) if text is not None)
    yield from _strings(item.metadata)


def _redacted_item(item: ContextItem, marked: Mapping[str, str]) -> ContextItem:
    return evolve(
        item,
        content=marked.get(item.content, item.content),
        text=None if item.text is None else marked.get(item.text, item.text),
        title=None if item.title is None else marked.get(item.title, item.title),
        must_keep=_value_with_marks(item.must_keep, marked),
        metadata=_value_with_marks(item.metadata, marked),
    )
