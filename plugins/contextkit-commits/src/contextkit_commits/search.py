"""Find commits for a request."""

from __future__ import annotations

import asyncio
import re

from contextkit.concurrency import in_thread
from contextkit.models import ContextItem, ContextRequest, Record
from contextkit_commits.commit_records import SHORT_SHA, commit_item
from contextkit_commits.ranking import is_silent_merge, relevance_of, words_of

_SHA = re.compile(r"(?<![0-9A-Za-z_])[0-9a-f]{7,64}(?![0-9A-Za-z_])", re.IGNORECASE)
_MOST_SHAS = 20
_CANDIDATES = 3


async def find_commits(request: ContextRequest) -> list[ContextItem]:
    """Return commits that a request names, then the best matches.

    A merge without a message of its own ("Merge branch 'x'") is found only by its sha: the commits
    that it merged are indexed.
    """
    named, hits = await asyncio.gather(
        _named(request),
        # Fetch more than requested, so that a commit that the store ranks low can still rise.
        request.records.search(
            request.query, limit=_CANDIDATES * request.limit, filters=request.filters
        ),
    )
    words = words_of(request.query)
    known = {record.id for record in named}
    scored = [
        (relevance_of(hit, words), hit.record)
        for hit in hits
        if hit.record.id not in known and not is_silent_merge(hit.record)
    ]
    scored.sort(key=lambda found: -found[0])
    # The best commit cannot exceed 1, and the order of the others is kept.
    most = max(1.0, scored[0][0]) if scored else 1.0
    items = [
        *(commit_item(record, 1.0) for record in named),
        *(commit_item(record, relevance / most) for relevance, record in scored),
    ]
    return items[: request.limit]


def shas_in(query: str) -> list[str]:
    """Return possible shas of a query, in lower case.

    A sha is seven to 64 hex digits in a row.
    """
    return list(dict.fromkeys(sha.lower() for sha in _SHA.findall(query)))[:_MOST_SHAS]


async def _named(request: ContextRequest) -> list[Record]:
    shas = shas_in(request.query)
    # Most prompts name none, and should not wait for a thread.
    return await in_thread(lambda: _with_sha(request, shas)) if shas else []


def _with_sha(request: ContextRequest, shas: list[str]) -> list[Record]:
    """Return the commits whose shas begin with these, in order."""
    filters = {**request.filters, "sha7": sorted({sha[:SHORT_SHA] for sha in shas})}
    candidates = sorted(request.records.scan(filters), key=lambda record: record.id)
    found = [record for sha in shas for record in candidates if record.id.startswith(sha)]
    return list({record.id: record for record in found}.values())
