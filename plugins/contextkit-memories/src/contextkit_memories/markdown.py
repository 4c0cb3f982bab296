"""Memories as Markdown files in a folder, one each, for people who keep them in git.

The front matter has the fields of the record, except what can be looked up again.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import os
import re
import tempfile
from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from attrs import evolve, field, frozen

from contextkit import Record
from contextkit.errors import ContextKitError
from contextkit.indexing import Folder
from contextkit.models import KEEP_SECRET, belongs_to_user
from contextkit.sources import (
    as_json,
    name,
    read_document,
    shortened_line,
    text_parts,
    write_document,
)
from contextkit_memories.book import MemoryBook
from contextkit_memories.errors import InvalidMemoryError
from contextkit_memories.ids import PREFIX
from contextkit_memories.memory import Memory

_MOST_BYTES = 500_000
_ABOUT = ("id", "created_at", "scope")
_DERIVED = ("digest", "place", "exported", "anchors")
_KNOWN = (*_ABOUT, *Memory.parts(), "run", "number", KEEP_SECRET)
_BEGUN = (
    *("category", "importance", "tags", "created_at", "sequence", "position"),
    *("valid_from", "replaces"),
)
_ID = re.compile(r"^id: *(\S+)", re.MULTILINE)
_WORD = re.compile(r"[^\W_]+")
_LONGEST_WORDS, _LONGEST_ID = 40, 60
_TYPO = 0.8
_checked_id = name("an id", 200)


@frozen
class Report:
    """What an export or an import did with the files of a folder.

    Attributes:
        done: file names by what was done: `stored`, `updated`, `unchanged`, `deleted`.
        remarks: file name and what a person should know of it.
        refused: file name and why it was left as it is.
        broken: ids of memories whose file cannot be read.
    """

    done: dict[str, list[str]] = field(factory=dict)
    remarks: list[tuple[str, str]] = field(factory=list)
    refused: list[tuple[str, str]] = field(factory=list)
    broken: set[str] = field(factory=set)

    def add(self, outcome: str, file: str) -> None:
        """Note what was done with a file."""
        self.done.setdefault(outcome, []).append(file)


@frozen
class MemoryFile:
    """A file with front matter.

    Attributes:
        file: its name.
        values: the front matter.
        text: the memory's text.
    """

    file: str
    values: Mapping[str, Any]
    text: str

    @property
    def id(self) -> str:
        """The memory's id; empty in a file that a person began."""
        return self.values.get("id") or ""

    @property
    def shared(self) -> bool:
        """Whether the memory is the user's."""
        return self.values.get("scope") == "user"

    def record(self, known: Record | None) -> Record:
        """Return the record that the file describes.

        Args:
            known: the stored one; its time counts if the file has none, and its anchors stay.

        Raises `InvalidMemoryError` for an invalid value.
        """
        values = {"created_at": known.created_at if known else datetime.now(UTC), **self.values}
        known_parts = {"created_at", *Memory.parts()} - {*_DERIVED}
        given = {part: values[part] for part in known_parts if part in values}
        checked = Memory.checked({**given, "text": self.text})
        fields = {key: value for key, value in values.items() if key not in {*_ABOUT, *_DERIVED}}
        fields |= {part: as_json(value) for part, value in checked.items()}
        if known and "anchors" in known.fields:
            fields["anchors"] = known.fields["anchors"]
        created_at, text = checked["created_at"], fields.pop("text")
        del fields["created_at"]
        return _normal(Record(id=self.id, text=text, created_at=created_at, fields=fields))


def export_memories(
    book: MemoryBook, folder: Path, *, overwrite: bool = False, delete: bool = False
) -> Report:
    """Write the project's and the user's memories into a folder, one file each.

    A memory's file is found by the id in it, so a renamed file keeps its name.

    Args:
        book: the memories.
        folder: the folder; it is created if it is missing.
        overwrite: whether to replace files that differ from the store.
        delete: whether to delete files whose memory does not exist.
    """
    report = Report()
    folder.mkdir(parents=True, exist_ok=True)
    files = _files(folder, report)
    by_id = {each.id: each for each in reversed(files) if each.id}
    begun = {(each.text, each.shared): each for each in reversed(files) if not each.id}
    taken = {entry.casefold() for entry in os.listdir(folder)}  # noqa: PTH208 - names alone
    with book.turn():
        synced = []
        for record in sorted(book.records.scan(), key=lambda each: each.id):
            text = (record.text.strip(), belongs_to_user(record.project))
            file = by_id.pop(record.id, None) or begun.pop(text, None)
            if file is None and record.id in report.broken:
                continue
            outcome = _outcome(file, record, overwrite)
            if file is None:
                file = MemoryFile(_new_name(record, book, taken), {}, "")
            if outcome in {"stored", "updated"}:
                _write(folder / file.file, _document(record))
            if outcome == "refused":
                reason = f"{_difference(file, record)}; import it, or use --overwrite"
                report.refused.append((file.file, reason))
            else:
                report.add(outcome, file.file)
                synced.append(_synced(record))
            if book.secrets_in(record.text):
                report.remarks.append((file.file, "contains an apparent secret: do not commit it"))
        _put(book, [new for new in synced if new is not None])
    for file in by_id.values():
        if delete:
            (folder / file.file).unlink()
            report.add("deleted", file.file)
        else:
            remark = f"there is no memory {file.id}: import it, or use --delete"
            report.remarks.append((file.file, remark))
    report.remarks.extend((each.file, "is not imported yet") for each in begun.values())
    return report


def _outcome(file: MemoryFile | None, record: Record, overwrite: bool) -> str:
    """Decide what an export does with a memory's file."""
    if file is None:
        return "stored"
    if not _difference(file, record):
        return "unchanged" if file.id else "updated"
    return "updated" if overwrite or _is_as_exported(file, record) else "refused"


def _is_as_exported(file: MemoryFile, record: Record) -> bool:
    """Whether a file says what it said when it was written or read last."""
    try:
        return _hash(file.record(record), file.shared) == record.fields.get("exported")
    except ContextKitError:
        return False


def import_memories(book: MemoryBook, folder: Path, *, overwrite: bool = False) -> Report:
    """Store the memories that the files of a folder describe.

    A file with an id says everything about its memory. A file without one is remembered as a new
    memory. Memories without a file stay, and so do those that changed since their file did.

    Args:
        book: the memories.
        folder: the folder.
        overwrite: whether to take the file where the memory changed, too.
    """
    report = Report()
    files = _files(folder, report)
    changed: list[Record] = []
    with book.turn():
        known = {each.id: each for each in book.records.get(*(file.id for file in files))}
        for file in files:
            try:
                record = _read(book, file, known.get(file.id), report, overwrite)
            except ContextKitError as error:
                report.refused.append((file.file, str(error)))
            else:
                changed += [] if record is None else [record]
        _put(book, changed)
        for record in changed:
            before = known.get(record.id, record)
            if belongs_to_user(before.project) != belongs_to_user(record.project):
                book.scope(belongs_to_user(before.project)).scopes[0].delete(record.id)
    return report


def _read(
    book: MemoryBook, file: MemoryFile, known: Record | None, report: Report, overwrite: bool
) -> Record | None:
    """Remember a begun file's memory, or return the record that is to be stored."""
    secrets = book.secrets_in(file.text)
    if secrets and file.values.get(KEEP_SECRET) is not True:
        found = ", ".join(secrets)
        raise InvalidMemoryError(f"seems to contain {found}: remove it, or add {KEEP_SECRET}: true")
    if not file.id:
        given = {part: file.values[part] for part in _BEGUN if part in file.values}
        report.add(book.remember(file.text, **given, shared=file.shared).outcome, file.file)
        return None
    project = book.scope(file.shared).project
    record = evolve(file.record(known), source=book.source, project=project).checked()
    if known is not None and not (difference := _difference(file, known)):
        report.add("unchanged", file.file)
        return _synced(known)
    if known is not None and not overwrite:
        if _is_as_exported(file, known):
            report.remarks.append((file.file, "is older than the store: export again"))
            return None
        if _hash(known, belongs_to_user(known.project)) != known.fields.get("exported"):
            raise InvalidMemoryError(
                f"{difference}, and the memory changed, too; use --overwrite to take the file"
            )
    report.add("stored" if known is None else "updated", file.file)
    return _synced(record)


def _put(book: MemoryBook, records: Sequence[Record]) -> None:
    for shared in (False, True):
        book.scope(shared).put(
            [each for each in records if belongs_to_user(each.project) is shared]
        )


def _synced(record: Record) -> Record | None:
    """Return the record with the hash of its file, or None if it has that."""
    now = _hash(record, belongs_to_user(record.project))
    if record.fields.get("exported") == now:
        return None
    return evolve(record, fields={**record.fields, "exported": now})


def _hash(record: Record, shared: bool) -> str:
    """Hash what a file says of a memory."""
    normal = _normal(record)
    fields = {key: value for key, value in normal.fields.items() if key not in _DERIVED}
    said = [normal.text, normal.created_at.isoformat(), shared, fields]
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:16]


def _files(folder: Path, report: Report) -> list[MemoryFile]:
    """Read the files with front matter, and report the others."""
    if folder.is_symlink():
        raise InvalidMemoryError(f"{folder} is a symbolic link: name the folder itself")
    reader, found = Folder(folder), dict[str, MemoryFile]()
    for entry, is_folder in reader.entries():
        if is_folder or entry.startswith(".") or not entry.endswith(".md"):
            continue
        try:
            raw = reader.read(entry, _MOST_BYTES)[0]
        except OSError as error:
            report.refused.append((entry, f"cannot be read: {error.strerror or error}"))
            continue
        if not raw.removeprefix(BOM_UTF8).startswith(b"---"):
            report.remarks.append((entry, "has no front matter, so it is not a memory"))
            continue
        try:
            file = _file(entry, raw)
            if file.id in found:
                raise InvalidMemoryError(f"{found[file.id].file} has the id {file.id}, too")
            found[file.id or entry] = file
        except ContextKitError as error:
            report.refused.append((entry, str(error)))
            report.broken.update(_ID.findall(raw.decode("utf-8", "replace")))
    reader.close()
    return list(found.values())


def _file(entry: str, raw: bytes) -> MemoryFile:
    try:
        content = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidMemoryError(f"is not UTF-8: byte {error.start}") from error
    values, text = read_document(content, (*_ABOUT, *text_parts(Memory)))
    for key in values.keys() - set(_KNOWN):
        if near := difflib.get_close_matches(key, _KNOWN, n=1, cutoff=_TYPO):
            raise InvalidMemoryError(f"there is no {key}: did you mean {near[0]}?")
    if values.get("scope", "project") not in {"project", "user"}:
        raise InvalidMemoryError(f"scope must be project or user, got {values['scope']!r}")
    if values.get("id") is not None:
        _checked_id(values["id"])
    return MemoryFile(entry, values, text)


def _normal(record: Record) -> Record:
    """Return the record as it would be stored now, with fields of other makes."""
    others = {
        key: value
        for key, value in record.fields.items()
        if key not in {*Memory.parts(), *_DERIVED} and value is not None
    }
    made = Memory.from_record(evolve(record, text=record.text.strip())).as_record()
    fields = {**made.fields, **others, **made.fields}
    return evolve(made, fields=fields, project=record.project)


def _difference(file: MemoryFile | None, record: Record) -> str:
    """Say what in a file differs from the store; empty if nothing does."""
    if file is None:
        return ""
    stored = _normal(record)
    if not file.id:
        file = evolve(file, values={**_values(stored), **file.values})
    try:
        described = file.record(record)
    except ContextKitError as error:
        return str(error)
    keys = [*stored.fields, *(key for key in described.fields if key not in stored.fields)]
    differing = [k for k in keys if stored.fields.get(k) != described.fields.get(k)]
    differing += ["text"] * (stored.text != described.text)
    differing += ["created_at"] * (stored.created_at != described.created_at)
    differing += ["scope"] * (file.shared != (Memory.from_record(record).scope == "user"))
    shown = [key for key in differing if key not in _DERIVED]
    return f"differs from the store in {', '.join(shown)}" if shown else ""


def _document(record: Record) -> str:
    stored = _normal(record)
    return write_document(_values(stored), stored.text)


def _values(record: Record) -> dict[str, Any]:
    about = (record.id, record.created_at.isoformat(), Memory.from_record(record).scope)
    fields = {key: value for key, value in record.fields.items() if key not in _DERIVED}
    return {**dict(zip(_ABOUT, about, strict=True)), **fields}


def _new_name(record: Record, book: MemoryBook, taken: set[str]) -> str:
    """Make a free file name of the first words, if they hold no secret, and the id."""
    named = "" if book.secrets_in(record.text) else shortened_line(record.text, _LONGEST_WORDS)
    digits = "-".join(_WORD.findall(record.id.removeprefix(PREFIX)))[:_LONGEST_ID]
    stem = "-".join([*_WORD.findall(named.lower()), digits])
    free = next(made for made in _names(stem) if made.casefold() not in taken)
    taken.add(free.casefold())
    return free


def _names(stem: str) -> Iterator[str]:
    yield f"{stem}.md"
    yield from (f"{stem}-{number}.md" for number in range(2, 1_000_000))


def _write(path: Path, content: str) -> None:
    """Write a file at once; a symbolic link is replaced, not followed."""
    descriptor, unfinished = tempfile.mkstemp(dir=path.parent, prefix=".contextkit-")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(content)
        Path(unfinished).replace(path)
    except BaseException:
        Path(unfinished).unlink(missing_ok=True)
        raise
