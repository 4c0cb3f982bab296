"""Errors of Claude Code's settings."""

from __future__ import annotations

from pathlib import Path

from contextkit.errors import ContextKitError


class SettingsFileError(ContextKitError):
    """A settings file cannot be changed; nothing was written.

    Attributes:
        file: the file.
    """

    exit_code = 3

    def __init__(self, file: Path, reason: str) -> None:
        self.file = file
        super().__init__(f"{file}: {reason}; nothing was written")
