"""What tells that a source's records have changed since, also by another process.

A revision is compared for being the same and for nothing else. It is noted before a write,
for those who may have to wait for the store until the write is done, and after it, for those
who searched meanwhile.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from collections import defaultdict
from pathlib import Path
from typing import Protocol

from attrs import define, field, frozen

from contextkit.errors import StoreError
from contextkit.files import make_private_folder, open_private

_TOKEN_BYTES = 16


class Revisions(Protocol):
    """The revisions of a store's sources."""

    def of(self, source: str) -> str | None:
        """A source's revision; None where it cannot be told."""

    def changed(self, source: str | None) -> None:
        """Note that a source's records change; None: any source's may."""


@define
class ProcessRevisions:
    """Revisions that only this process knows of."""

    _start: str = field(factory=lambda: secrets.token_hex(_TOKEN_BYTES), init=False)
    _changes: defaultdict[str | None, int] = field(factory=lambda: defaultdict(int), init=False)

    def of(self, source: str) -> str:
        """A source's revision, which no other process has."""
        return f"{self._start}-{self._changes[None]}-{self._changes[source]}"

    def changed(self, source: str | None) -> None:
        """Note that a source's records change."""
        self._changes[source] += 1


@frozen
class FolderRevisions:
    """Revisions in small files of a store's folder, of which each has its last change's token.

    Tokens are random: what is moved away, restored or made anew never has the revision of
    what was there before, unless it has its records as well.

    Attributes:
        folder: the store's folder.
    """

    folder: Path

    def of(self, source: str) -> str | None:
        """A source's revision; None where the store is not made yet."""
        everything = self._read(None)
        return None if everything is None else f"{everything}-{self._read(source) or ''}"

    def changed(self, source: str | None) -> None:
        """Note that a source's records change. Raises `StoreError` where that cannot be noted."""
        token = secrets.token_bytes(_TOKEN_BYTES)
        try:
            # Not emptied first: a reader may come at any moment.
            number = open_private(self._file(source), os.O_WRONLY | os.O_CREAT)
            try:
                os.write(number, token)
            finally:
                os.close(number)
        except OSError as error:
            raise StoreError(f"writing to the store at {self.folder}: {error.strerror}") from error

    def begin(self) -> None:
        """Make the store's first revision where it has none. Raises `StoreError`."""
        try:
            make_private_folder(self._files)
        except OSError as error:
            raise StoreError(f"cannot open the store at {self.folder}: {error.strerror}") from error
        if self._read(None) is None:
            self.changed(None)

    @property
    def _files(self) -> Path:
        return self.folder / "revisions"

    def _file(self, source: str | None) -> Path:
        if source is None:
            return self._files / "everything"
        # A source's name may be anything in a store; a file's may not.
        return self._files / hashlib.sha256(source.encode("utf-8", "surrogatepass")).hexdigest()

    def _read(self, source: str | None) -> str | None:
        try:
            token = self._file(source).read_bytes()
        except OSError:
            return None
        return token.hex() if len(token) == _TOKEN_BYTES else None
