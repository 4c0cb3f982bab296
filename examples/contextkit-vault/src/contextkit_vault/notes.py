"""Notes as records: front matter, tags, links, and one record for each part of a long note."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Any

from contextkit import Record
from contextkit.indexing import SkipFileError, WorkspaceFile
from contextkit.sources import InvalidEntryError, read_document

_LONGEST = 2_000
_HEADING = re.compile(r"^#{1,6} ", re.MULTILINE)
_LINK = re.compile(r"!?\[\[([^\[\]|\n]{1,200})(?:\|([^\[\]\n]{1,200}))?\]\]")
_TAG = re.compile(r"(?<!\S)#([A-Za-z][\w/-]{0,80})")


def records_of(file: WorkspaceFile, content: bytes) -> Sequence[Record]:
    """Return a note's records.

    Raises `SkipFileError` for a file that is no text.
    """
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        raise SkipFileError("it is not UTF-8") from None
    values, body = _read(text)
    title = str(values.get("title") or PurePosixPath(file.path).stem)
    fields = {
        "file_path": file.path,
        "title": title,
        "type": str(values.get("type") or "note"),
        "tags": sorted({*_texts(values.get("tags")), *_TAG.findall(body)}),
        "links": sorted({target.partition("#")[0] for target, _ in _LINK.findall(body)}),
    }
    known_as = [title, *_texts(values.get("aliases")), *fields["tags"]]
    shown = _LINK.sub(lambda link: link[2] or link[1], body)
    return [
        Record(
            id=f"{values.get('permalink') or file.path}#{position}",
            text=part,
            fields={**fields, "position": position},
            keywords=" ".join(known_as),
        )
        for position, part in enumerate(_parts(shown))
    ]


def _read(text: str) -> tuple[dict[str, Any], str]:
    """Return front matter and body; front matter that cannot be read counts as none."""
    if not text.startswith("---\n"):
        return {}, text
    try:
        return read_document(text, ("title", "tags", "aliases", "permalink", "type"))
    except InvalidEntryError:
        return {}, text.partition("\n---\n")[2] or text


def _texts(value: object) -> list[str]:
    """Return a list, or the parts of a text such as `coffee, brewing`."""
    listed = value if isinstance(value, list) else str(value or "").split(",")
    return [text for each in listed if (text := str(each).strip().lstrip("#"))]


def _parts(body: str) -> Iterator[str]:
    """Yield the body, or its sections if it is long, joined while they are short."""
    starts = [0, *(found.start() for found in _HEADING.finditer(body)), len(body)]
    part = ""
    for start, end in pairwise(starts):
        if part.strip() and len(part) + end - start > _LONGEST:
            yield part.strip()
            part = ""
        part += body[start:end]
    if part.strip():
        yield part.strip()
