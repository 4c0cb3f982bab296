"""Revisions: tokens that change with a source's records.

Revisions are only compared for equality. A write changes them twice: before it, for processes
that wait for the store until the write ends, and after it, for those that searched meanwhile.
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
        """A source's revision; None if unknown."""

    def changed(self, source: str | None) -> None:
        """Change a source's revision; None: change those of all sources."""


@define
class ProcessRevisions:
    """Revisions that only cover changes by this process."""

    _start: str = field(factory=lambda: secrets.token_hex(_TOKEN_BYTES), init=False)
    _changes: defaultdict[str | None, int] = field(factory=lambda: defaultdict(int), init=False)

    def of(self, source: str) -> str:
        """A source's revision, unique to this process."""
        return f"{self._start}-{self._changes[None]}-{self._changes[source]}"

    def changed(self, source: str | None) -> None:
        """Change a source's revision."""
        self._changes[source] += 1


@frozen
class FolderRevisions:
    """Revisions in small files of the store's folder.

    Each file has the token of its source's last change. Tokens are random, so that a store that
    was moved, restored or recreated only has the revision of an earlier one if it has its records.

    Attributes:
        folder: the store's folder.
    """

    folder: Path

    def of(self, source: str) -> str | None:
        """A source's revision; None before the store's first use."""
        everything = self._read(None)
        return None if everything is None else f"{everything}-{self._read(source) or ''}"

    def changed(self, source: str | None) -> None:
        """Change a source's revision.

        Raises `StoreError` if that cannot be written.
        """
        token = secrets.token_bytes(_TOKEN_BYTES)
        try:
            # Not truncated first: another process may read at any moment.
            number = open_private(self._file(source), os.O_WRONLY | os.O_CREAT)
            try:
                os.write(number, token)
            finally:
                os.close(number)
        except OSError as error:
            raise StoreError(f"writing to the store at {self.folder}: {error.strerror}") from error

    def begin(self) -> None:
        """Write the store's first revision, or raise `StoreError`."""
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
        # A source's name may have characters that a file name may not.
        return self._files / hashlib.sha256(source.encode("utf-8", "surrogatepass")).hexdigest()

    def _read(self, source: str | None) -> str | None:
        try:
            token = self._file(source).read_bytes()
        except OSError:
            return None
        return token.hex() if len(token) == _TOKEN_BYTES else None
