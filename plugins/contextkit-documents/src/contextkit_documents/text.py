"""Decode a document's bytes."""

from __future__ import annotations

import codecs

from contextkit.indexing import SkipFileError

_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


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
