"""Errors of agents' settings."""

from __future__ import annotations

from pathlib import Path

from contextkit.errors import ContextKitError


class MergeError(ValueError):
    """A text is no settings file, or has a value that contextkit must not overwrite."""


class SettingsFileError(ContextKitError):
    """A settings file cannot be changed; nothing was written.

    Attributes:
        file: the file.
    """

    exit_code = 3

    def __init__(self, file: Path, reason: str) -> None:
        self.file = file
        super().__init__(f"{file}: {reason}; nothing was written")
