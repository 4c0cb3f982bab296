"""The files that a source indexes, without files of secrets.

Files whose names suggest keys or passwords are never indexed, whatever the settings say.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from attrs import define, field

from contextkit.workspace.folder import Folder, LinkedFolderError, Status

KEY_FILE_REASON = "it may hold secrets"
"""The reason in index reports for skipping a key file."""

_WORDS = frozenset({"credential", "credentials", "secret", "secrets"})
_NAMES = _WORDS | {
    *(".env", ".envrc", ".netrc", "_netrc", ".npmrc", ".pypirc", ".htpasswd", ".pgpass"),
    *(".boto", ".dockercfg", ".git-credentials", ".my.cnf", ".s3cfg", ".vault-token"),
}
_ENDINGS = frozenset(
    {"env", "jks", "kdbx", "key", "keystore", "p12", "p8", "pem", "pfx", "pkcs12", "ppk"}
)
_TEMPLATES = frozenset({"dist", "example", "sample", "template"})
_PRIVATE_KEY = re.compile(r"id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?(?![a-z0-9])")
# A program may be called `credentials.py`: code is indexed.
_DATA = frozenset(
    {
        *("adoc", "bak", "cfg", "conf", "csv", "dat", "db", "enc", "gpg", "ini", "json", "json5"),
        *("jsonc", "log", "markdown", "md", "mdx", "old", "org", "plist", "properties", "rst"),
        *("sqlite", "sqlite3", "toml", "tsv", "txt", "xml", "yaml", "yml"),
    }
)
_SEPARATOR = re.compile(r"[-_.]")
_PLACES = ("/.docker/config.json", "/.kube/config")
_FOLDERS = ("/.ssh/", "/.gnupg/")
_INSTALLED = ("/skills/contextkit/SKILL.md", "/hooks/contextkit.json", "/plugins/contextkit.js")
"""What `contextkit install` writes for agents, which says nothing about the workspace."""


def is_key_file(path: str) -> bool:
    """Whether a file's name or folder suggests secrets.

    Args:
        path: its path, with `/`.
    """
    whole = path.lower()
    name = whole[whole.rfind("/") + 1 :]
    stem, _, ending = name.rpartition(".")
    if name in _NAMES:
        return True
    if ending in _ENDINGS:
        # `example.env` lists variables without values.
        return ending != "env" or stem.strip(".") not in _TEMPLATES
    if name[:5] == ".env.":
        return ending not in _TEMPLATES
    if name[:3] == "id_":
        return ending != "pub" and _PRIVATE_KEY.match(name) is not None
    if ending in _DATA and not _WORDS.isdisjoint(_SEPARATOR.split(stem)):
        return True
    # A cheap test first: few paths have a hidden folder.
    return (whole[:1] == "." or "/." in whole) and _is_in_place(f"/{whole}")


def _is_in_place(path: str) -> bool:
    return path.endswith(_PLACES) or any(folder in path for folder in _FOLDERS)


# Every run creates one per file, and a tuple is several times faster to create than an
# instance of a frozen class.
class Stamp(NamedTuple):
    """A file's size and times, to detect changes.

    Attributes:
        size: bytes.
        mtime: time of the last change of its content, in nanoseconds; programs can set it.
        ctime: time of the last change of its content or attributes, in nanoseconds.
    """

    size: int
    mtime: int
    ctime: int

    @classmethod
    def of(cls, status: os.stat_result) -> Stamp:
        """The stamp of a stat result."""
        return cls(status.st_size, status.st_mtime_ns, status.st_ctime_ns)


class WorkspaceFile(NamedTuple):
    """A file to index.

    Attributes:
        path: its path in the workspace, with `/`, as valid text.
        location: its path as the file system has it; it only differs for invalid text.
        stamp: its stamp when it was listed.
    """

    path: str
    location: str
    stamp: Stamp


def _folder(given: Folder | Path | str) -> Folder:
    return given if isinstance(given, Folder) else Folder(given)


@define
class FileListing:
    """The files that a source found in the workspace.

    Symbolic links are not followed: neither a file nor a folder in its path may be a link,
    wherever it points.

    Attributes:
        folder: the workspace; `FileListing(indexer.workspace)` takes its path.
        max_file_bytes: larger files are skipped.
        larger: suffix -> how many times as large its files may be, for files of which little is
            indexed.
        files: the files to index, in this order; no path twice.
        skipped: (path, reason) of skipped files.
        notes: messages for the user.
    """

    folder: Folder = field(converter=_folder)
    max_file_bytes: int = 1_000_000
    larger: Mapping[str, int] = field(factory=dict, kw_only=True)
    files: list[WorkspaceFile] = field(factory=list)
    skipped: list[tuple[str, str]] = field(factory=list)
    notes: list[str] = field(factory=list)

    def add(self, path: str, location: str | None = None, status: Status | None = None) -> None:
        """Add a file, or skip it with a reason.

        Skipped are key files (`is_key_file`), contextkit's own files for agents, files that are
        too large or unreadable, and everything that is not a regular file. A missing file is
        ignored: it was just deleted, or git still lists it.

        Args:
            path: its path in the workspace, with `/`, as valid text.
            location: its path as the file system has it, if that differs.
            status: its status, if it is already known.
        """
        if is_key_file(path):
            self.skipped.append((path, KEY_FILE_REASON))
            return
        if path[:1] == "." and path.endswith(_INSTALLED):
            self.skipped.append((path, "written by `contextkit install`"))
            return
        location = path if location is None else location
        if status is None:
            status = self.look_up(location)
        if isinstance(status, os.stat_result):
            reason = _unfit(status, self.max_file_bytes, self._times(path))
            if reason is None:
                self.files.append(WorkspaceFile(path, location, Stamp.of(status)))
            else:
                self.skipped.append((path, reason))
        elif not isinstance(status, (FileNotFoundError, NotADirectoryError)):
            self.skipped.append((path, unreadable(status)))

    def look_up(self, location: str) -> Status:
        """Return the status of a path, or the error."""
        return self.folder.look_up(location)

    def read(self, file: WorkspaceFile) -> tuple[bytes, Stamp]:
        """Return a file's content, and its stamp from before reading.

        Raises `OSError` if the file was deleted, is unreadable, is no longer a regular file, has
        grown beyond `max_file_bytes`, or is now reached through a link.
        """
        most = self.max_file_bytes * self._times(file.path)
        content, status = self.folder.read(file.location, most)
        return content, Stamp.of(status)

    def _times(self, path: str) -> int:
        return self.larger.get(path[path.rfind(".") :].lower(), 1)


def unreadable(error: OSError | ValueError) -> str:
    """Say why an unreadable file is skipped."""
    if isinstance(error, LinkedFolderError):
        return str(error)
    return f"it cannot be read: {getattr(error, 'strerror', None) or error}"


def _unfit(status: os.stat_result, max_file_bytes: int, times: int) -> str | None:
    """Say why a file is not indexed, or None."""
    if stat.S_ISLNK(status.st_mode):
        return "a symbolic link"
    if not stat.S_ISREG(status.st_mode):
        return "not a regular file"
    if status.st_size > times * max_file_bytes:
        limit = "max_file_bytes" if times == 1 else f"{times} times max_file_bytes"
        return f"{status.st_size:,} bytes, over {limit} ({times * max_file_bytes:,})"
    return None
