"""Locate, read and atomically write the settings files."""

from __future__ import annotations

import codecs
import contextlib
import difflib
import os
import stat
import tempfile
from pathlib import Path

from attrs import frozen

from contextkit_agents.errors import SettingsFileError


@frozen
class Change:
    """A planned change of a file.

    Attributes:
        file: the file.
        before: its current text, or None if it does not exist.
        after: its new text, or None if it is deleted.
    """

    file: Path
    before: str | None
    after: str | None

    @property
    def difference(self) -> str:
        """Return the difference in the format of `diff -u`."""
        lines = difflib.unified_diff(
            (self.before or "").splitlines(keepends=True),
            (self.after or "").splitlines(keepends=True),
            os.devnull if self.before is None else str(self.file),
            os.devnull if self.after is None else str(self.file),
        )
        return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


def read(file: Path) -> str | None:
    """Return a file's text; None if it is missing.

    Line ends are kept as they are. A byte order mark is left out; `write` keeps it in the file.

    Raises `SettingsFileError` where it cannot be read or is not UTF-8.
    """
    try:
        return file.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsFileError(file, f"cannot be read: {error}") from error


def write(change: Change) -> None:
    """Make a change atomically: the file is never half written.

    A link stays a link, and a file keeps its mode.

    Raises `SettingsFileError` where that fails, or where the file has changed since.
    """
    if read(change.file) != change.before:
        raise SettingsFileError(change.file, "it has been changed meanwhile: run this again")
    try:
        if change.after is None:
            change.file.unlink()
            return
        target = Path(os.path.realpath(change.file))
        target.parent.mkdir(parents=True, exist_ok=True)
        _replace(target, change.after)
    except OSError as error:
        raise SettingsFileError(change.file, f"cannot be written: {error.strerror}") from error


def _replace(target: Path, text: str) -> None:
    number, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    made = Path(name)
    try:
        marked = target.exists() and target.read_bytes().startswith(codecs.BOM_UTF8)
        with open(number, "wb") as stream:  # noqa: PTH123 - it is a file's number
            stream.write(text.encode("utf-8-sig" if marked else "utf-8"))
            stream.flush()
            os.fsync(stream.fileno())
        made.chmod(stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o644)
        made.replace(target)
    finally:
        with contextlib.suppress(FileNotFoundError):
            made.unlink()
