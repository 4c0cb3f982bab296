"""Make the records of a document."""

from __future__ import annotations

import codecs
from collections import Counter
from collections.abc import Sequence

from contextkit import Record
from contextkit.indexing import SkipFileError
from contextkit_documents.chunks import Chunk, chunks_of
from contextkit_documents.file_kinds import FileKind
from contextkit_documents.releases import is_changelog, release_fields
from contextkit_documents.stored import titled

_SAYS_WHAT_IT_IS = {
    "documentation": "",
    "configuration": "configuration settings config",
    "metadata": "project metadata package version dependencies",
}
_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


def records_of(path: str, what: FileKind, content: bytes) -> list[Record]:
    """Return one record for each of a document's chunks.

    Args:
        path: its path in the workspace.
        what: its kind, as its name tells.
        content: the bytes of its file.

    Raises `NotTextError` for a file that holds no text that can be read.
    """
    chunks = chunks_of(decoded(content), what, is_changelog=is_changelog(path))
    ids = _ids(path, chunks)
    return [
        Record(
            id=record_id,
            text=chunk.text,
            keywords=_keywords(path, chunk),
            fields={
                "kind": chunk.kind,
                "file_path": path,
                "language": what.language,
                "headings": list(chunk.headings),
                "start_line": chunk.first + 1,
                "end_line": chunk.last + 1,
                "position": position,
                **(release_fields(path, chunk.headings) if chunk.kind == "documentation" else {}),
            },
        )
        for position, (record_id, chunk) in enumerate(zip(ids, chunks, strict=True))
    ]


def _ids(path: str, chunks: Sequence[Chunk]) -> list[str]:
    """Return ids made from the chunks' headings.

    A section keeps its id when others are added or moved.
    """
    counted: Counter[tuple[str, ...]] = Counter()
    ids = []
    for chunk in chunks:
        counted[chunk.headings] += 1
        ordinal = counted[chunk.headings]
        name = f"{path}::{titled(chunk.kind, chunk.headings)}"
        ids.append(name if ordinal == 1 else f"{name}#{ordinal}")
    return ids


def _keywords(path: str, chunk: Chunk) -> str:
    # The nearest heading describes a chunk best.
    nearest = chunk.headings[-1:] if chunk.kind == "documentation" else ()
    return " ".join([path, *chunk.headings, *nearest, _SAYS_WHAT_IT_IS[chunk.kind]]).strip()


class NotTextError(SkipFileError):
    """A file holds no readable text; the message says why."""


def decoded(content: bytes) -> list[str]:
    """Decode a file's lines, without their ends.

    The encoding is UTF-8, or UTF-16 with its byte order mark.

    Raises `NotTextError` for any other encoding, and for binary data.
    """
    encoding = next((name for mark, name in _MARKS.items() if content.startswith(mark)), "utf-8")
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        raise NotTextError(f"it is not UTF-8: byte {error.start:,} cannot be read") from None
    if "\0" in text:
        raise NotTextError("it is binary")
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
