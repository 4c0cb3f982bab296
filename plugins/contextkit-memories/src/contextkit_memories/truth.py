"""Check the anchors of memories when they are shown.

Files are looked up on the disk. A name is first looked for in the files that had it when the
memory was written, then in the records of the source `code`, and a commit in those of `commits`.
No program runs. What cannot be told is not reported.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from attrs import evolve

from contextkit import ContextItem, ContextRequest, Range, Record, RecordsView
from contextkit.concurrency import in_thread
from contextkit.indexing import Folder
from contextkit_memories.anchors import NEEDED, Anchor, is_whole_path
from contextkit_memories.occurrences import NOT_FOUND, grade
from contextkit_memories.places import exists, grade_in

ANCHORS, OUTDATED = "anchors", "outdated"
"""The names of an item's metadata: what it mentions, and the texts of it that are gone."""

_FEW, _MANY = 4, 60
_MAX_SEARCHES = 40
_SHARE_OF_TIME = 1 / 3
_MARKED = 3
_LAST_SECOND = int(datetime(9999, 12, 31, tzinfo=UTC).timestamp())
"""The time that the source `commits` gives to a commit dated later."""


async def with_marks(items: Sequence[ContextItem], request: ContextRequest) -> list[ContextItem]:
    """Replace the anchors in memories' metadata by the texts that are gone, if any.

    What has ended says so itself.
    """
    asked = dict.fromkeys(anchor for item in items for anchor in _asked(item))
    gone: set[Anchor] = set()
    if request.workspace is not None:
        root = request.workspace
        suspects = await in_thread(lambda: _without_witness(asked, root)) if asked else []
        gone = await _gone(suspects, request, Folder(root)) if suspects else gone
    return [_marked(item, gone) for item in items]


def _marked(item: ContextItem, gone: Collection[Anchor]) -> ContextItem:
    if ANCHORS not in item.metadata:
        return item
    texts = dict.fromkeys(anchor[1] for anchor in _asked(item) if anchor in gone)
    metadata = {name: value for name, value in item.metadata.items() if name != ANCHORS}
    if texts:
        metadata[OUTDATED] = list(texts)[:_MARKED]
    return evolve(item, metadata=metadata)


def _asked(item: ContextItem) -> Sequence[Anchor]:
    anchors: Sequence[Anchor] = item.metadata.get(ANCHORS, ()) if item.valid_until is None else ()
    return anchors


def _without_witness(anchors: Iterable[Anchor], workspace: Path) -> list[Anchor]:
    """List the anchors that are not where they were."""
    folder = Folder(workspace)
    return [anchor for anchor in anchors if not _stands(anchor, folder)]


def _stands(anchor: Anchor, folder: Folder) -> bool:
    kind, text, *places = anchor
    if kind == "commit":
        return False
    if kind == "path":
        return any(exists(folder, path) for path in places)
    return any(grade_in(folder, path, text) >= NEEDED[kind] for path in places)


async def _gone(suspects: Sequence[Anchor], request: ContextRequest, folder: Folder) -> set[Anchor]:
    """Return the anchors that are gone, also according to the indexes."""
    code, commits = request.records.others("code"), request.records.others("commits")
    gone = {anchor for anchor in suspects if is_whole_path(anchor)}
    shas = [anchor for anchor in suspects if anchor[0] == "commit"]
    names = [anchor for anchor in suspects if anchor not in gone and anchor[0] != "commit"]
    if shas:
        gone |= await in_thread(lambda: {each for each in shas if _rewritten(each, commits)})
    # The memories are worth more than their marks.
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(request.source_timeout * _SHARE_OF_TIME):
            gone |= await _lost(names[:_MAX_SEARCHES], code, folder)
    return gone


async def _lost(names: Sequence[Anchor], code: RecordsView, folder: Folder) -> set[Anchor]:
    """Return the names that no indexed file has."""

    async def records_with(names: Sequence[Anchor], limit: int) -> dict[Anchor, list[Record]]:
        found = await asyncio.gather(*(code.search(each[1], limit=limit) for each in names))
        hits = ([hit.record for hit in each] for each in found)
        return dict(zip(names, hits, strict=True))

    known = await records_with(names, _FEW)
    unsure = [name for name, records in known.items() if _may_go_on(name, records, _FEW)]
    known |= await records_with(unsure, _MANY)
    # Without an index, nothing can be told.
    if not all(known.values()) and not await in_thread(code.count):
        return set()
    return await in_thread(lambda: {each for each in names if _is_lost(each, known[each], folder)})


def _may_go_on(anchor: Anchor, records: Sequence[Record], limit: int) -> bool:
    """Whether there may be more records with a name than were found."""
    return len(records) == limit and anchor[1].casefold() in records[-1].text.casefold()


def _is_lost(anchor: Anchor, records: Sequence[Record], folder: Folder) -> bool:
    """Whether none of the records' files has a name, or is the file."""
    kind, text, *_ = anchor
    paths = [str(record.fields.get("file_path")) for record in records]
    if kind == "path":
        return not any(f"/{path}".endswith(f"/{text}") for path in paths)
    if _may_go_on(anchor, records, _MANY):
        return False
    having = [p for p, r in zip(paths, records, strict=True) if grade(r.text, p, text)]
    # An indexed file without the name was changed or deleted since.
    found = [grade_in(folder, path, text) for path in dict.fromkeys(having)]
    return all(NOT_FOUND < each < NEEDED[kind] for each in found)


def _rewritten(anchor: Anchor, commits: RecordsView) -> bool:
    """Whether a commit is missing among the indexed ones of its time."""
    _, _, sha, seconds = anchor
    if not seconds.isdecimal() or commits.get(sha):
        return False
    time = datetime.fromtimestamp(min(int(seconds), _LAST_SECOND), UTC)
    newer = commits.newest(1, {"created_at": Range(gt=time)})
    older = next(iter(commits.scan({"created_at": Range(lte=time)})), None)
    return bool(newer) and older is not None
