"""Whether secrets are replaced, and how many are left in what people and agents wrote."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from contextkit.errors import RecordDamagedError
from contextkit.health.finding import Finding, fine, warning
from contextkit.records import KEEP_SECRET, REDACTIONS, Range
from contextkit.redaction import Redactor
from contextkit.registry import SourceRegistry
from contextkit.store.base import RecordStore, in_batches
from contextkit.store.embedded import EmbeddedStore

__all__ = ["secret_findings"]

PART = "secrets"
_BATCH = 256
_REWRITTEN = "`contextkit reembed` writes the store anew, without them"
_IMPORTED = "`contextkit export FILE`, then `contextkit import FILE`: both replace them"


def secret_findings(registry: SourceRegistry, store: RecordStore | None) -> Iterator[Finding]:
    """One finding on what is replaced, and one where something is left.

    Sources that index the workspace write their records anew, so only the others are searched.

    Args:
        registry: the plugins, and the setting.
        store: the store, or None where there is none.
    """
    redactor = Redactor(registry)
    if not redactor.enabled:
        yield warning(PART, "secrets are stored as they are", "set redact.enabled = true")
    elif store is None:
        yield fine(PART, "secrets are replaced before a text is stored")
    else:
        replaced = store.count(None, None, {REDACTIONS: Range(gte=1)})
        kept = store.count(None, None, {KEEP_SECRET: True})
        told = f", {kept:,} as the user wants it with theirs" if kept else ""
        yield fine(PART, f"{replaced:,} records have replaced secrets{told}")
        for source in registry.sources:
            if not registry.implements(source, "contextkit_index"):
                yield from _left(redactor, store, source)


def _left(redactor: Redactor, store: RecordStore, source: str) -> Iterator[Finding]:
    found: list[int] = []
    counting = redactor.telling(found.append)
    # Which records are damaged is for a deep look to say.
    with contextlib.suppress(RecordDamagedError):
        for batch in in_batches(store.scan(source, None, {}), _BATCH):
            counting.records(batch)
    if found:
        remedy = _REWRITTEN if isinstance(store, EmbeddedStore) else _IMPORTED
        text = f"{source}: {sum(found):,} secrets in records that an earlier version stored"
        yield warning(PART, text, remedy)
