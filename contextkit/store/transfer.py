"""Export and import all records as JSON lines.

The first line describes the file; each further line is one record with all its fields. Vectors
are left out: the importing store makes its own.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, TextIO

from attrs import define, field, frozen

from contextkit.errors import RecordDamagedError, RecordError
from contextkit.models.record import CHECKOUTS, Record
from contextkit.store.base import RecordStore, in_batches
from contextkit.store.ownership import Ownership
from contextkit.store.payloads import record_checksum

FORMAT = "contextkit-records"
FORMAT_VERSION = 1

_BATCH = 256
_SHOWN_ERRORS = 100
_ONE_USER = Ownership()
_TEXTS = ("source", "project", "id", "text", "keywords")

Redact = Callable[[Sequence[Record]], Sequence[Record]]
"""Replaces secrets in records (`contextkit.pipeline.redact`)."""

Transferred = Callable[[int, int | None], None]
"""Called with the number of records done, and the total if known."""


@frozen
class ExportReport:
    """The result of an export.

    Attributes:
        written: the number of exported records.
        damaged: the names of the records that could not be read.
    """

    written: int
    damaged: Sequence[str] = ()


@define
class ImportReport:
    """The result of an import.

    Attributes:
        imported: the number of stored records.
        failed: the number of refused lines.
        missing: records that the header counts and that the file lacks.
        errors: line number, counted from 1, and error; the first hundred.
    """

    imported: int = 0
    failed: int = 0
    missing: int = 0
    errors: list[tuple[int, str]] = field(factory=list)


@define
class _BadLineError(Exception):
    reason: str


def export_records(
    store: RecordStore,
    stream: TextIO,
    progress: Transferred,
    redact: Redact = list,
    ownership: Ownership = _ONE_USER,
) -> ExportReport:
    """Write the records of a store.

    Records written during the export may be missing from it. Damaged records are left out, and so
    are those that belong to another user or installation alone.
    """
    # How many of a server's records are exported is known at the end.
    total = None if ownership.is_shared else store.count(None, None, {})
    sources = {s: model for s, model in store.identity.sources.items() if s != CHECKOUTS}
    header = {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "models": sources,
        "records": total,
    }
    stream.write(_line(header))
    done = 0
    damaged: list[str] = []
    try:
        for batch in in_batches(_exported(store.scan(None, None, {}), ownership), _BATCH):
            stream.writelines(_line(_as_json(record)) for record in redact(batch))
            done += len(batch)
            if len(batch) == _BATCH:
                progress(done, None if total is None else max(done, total))
    except RecordDamagedError as error:
        # Raised after the last sound record, so the others have been written.
        damaged = error.records
    progress(done, done)
    return ExportReport(done, damaged)


def _exported(records: Iterator[Record], ownership: Ownership) -> Iterator[Record]:
    for record in records:
        if record.source != CHECKOUTS and ownership.is_visible(record.project):
            yield record


def _line(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"


def _as_json(record: Record) -> dict[str, Any]:
    return {
        "source": record.source,
        "project": record.project,
        "id": record.id,
        "created_at": record.created_at.isoformat(),
        "text": record.text,
        "keywords": record.keywords,
        "fields": record.fields,
        "checksum": record_checksum(record),
    }


def import_records(
    store: RecordStore, stream: Iterable[str], progress: Transferred, redact: Redact = list
) -> ImportReport:
    """Store exported records, replacing existing ones.

    Args:
        store: the target.
        stream: the lines, read one by one.
        progress: called after each batch.
        redact: replaces secrets in the records; default: keeps them as they are.

    Returns:
        The number of stored records and the refused lines; a bad line does not stop the import.

    Raises:
        RecordError: the first line is not an export's header; nothing is stored.
    """
    lines = enumerate(stream, start=1)
    total = _expected(next(lines, (1, ""))[1])
    report = ImportReport()
    records = _good_records(lines, report)
    while batch := list(itertools.islice(records, _BATCH)):
        store.put(redact(batch))
        report.imported += len(batch)
        progress(report.imported, None if total is None else max(total, report.imported))
    report.missing = max(0, (total or 0) - report.imported - report.failed)
    return report


def _expected(line: str) -> int | None:
    """The number of records that the header announces, if any."""
    try:
        header = json.loads(line.removeprefix("\ufeff"))
        known = header["format"] == FORMAT
        version = header["version"]
    except (ValueError, KeyError, TypeError, RecursionError):
        known, version, header = False, None, {}
    if not known:
        raise RecordError(
            "line 1: not an export of contextkit: expected the first line that "
            "`contextkit export` writes; nothing was imported"
        )
    if version != FORMAT_VERSION:
        raise RecordError(
            f"line 1: format version {version!r} is not supported, expected "
            f"{FORMAT_VERSION}: use a newer contextkit; nothing was imported"
        )
    total = header.get("records")
    return total if isinstance(total, int) and total >= 0 else None


def _good_records(lines: Iterator[tuple[int, str]], report: ImportReport) -> Iterator[Record]:
    for number, line in lines:
        if not line.strip():
            continue
        try:
            record = _as_record(line)
        except (_BadLineError, RecordError) as error:
            report.failed += 1
            if len(report.errors) < _SHOWN_ERRORS:
                reason = error.reason if isinstance(error, _BadLineError) else str(error)
                report.errors.append((number, reason))
            continue
        yield record


def _as_record(line: str) -> Record:
    try:
        stored = json.loads(line)
    except json.JSONDecodeError as error:
        raise _BadLineError(f"not JSON: {error.msg} at character {error.pos + 1}") from error
    except (ValueError, RecursionError) as error:
        raise _BadLineError(f"not JSON that can be read: {error}") from error
    if not isinstance(stored, dict):
        raise _BadLineError(f"expected an object, got a {type(stored).__name__}")
    for key in (*_TEXTS, "created_at"):
        if not isinstance(stored.get(key), str):
            raise _BadLineError(f"'{key}': expected a string, got {stored.get(key)!r:.60}")
    if not isinstance(stored.get("fields"), dict):
        raise _BadLineError(f"'fields': expected an object, got {stored.get('fields')!r:.60}")
    try:
        created_at = datetime.fromisoformat(stored["created_at"])
        created_at.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise _BadLineError(
            f"'created_at': expected a date and time as 2026-03-01T12:00:00+00:00, "
            f"got {stored['created_at']!r:.60}"
        ) from error
    texts = {key: stored[key] for key in _TEXTS}
    record = Record(**texts, created_at=created_at, fields=stored["fields"]).checked()
    # Exports of older versions have no checksum.
    if stored.get("checksum", record_checksum(record)) != record_checksum(record):
        raise _BadLineError(
            "the record differs from the exported one (wrong checksum); to import a line that you "
            "edited, delete its checksum"
        )
    return record
