"""The files that a source lists for indexing, with their sizes and times.

Files that hold keys and passwords by their names are never listed, whatever the settings say.
"""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path
from typing import NamedTuple

from attrs import define, field

from contextkit.workspace.folder import Folder, LinkedFolderError, Status

KEY_FILE_REASON = "it may hold secrets"
"""What an index report says of a key file."""

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
# A program may be called `credentials.py`: its text is code, and is indexed.
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


def is_key_file(path: str) -> bool:
    """Whether a file holds keys, passwords or tokens, by its name and its folder.

    Args:
        path: its path, with `/`.
    """
    whole = path.lower()
    name = whole[whole.rfind("/") + 1 :]
    stem, _, ending = name.rpartition(".")
    if name in _NAMES:
        return True
    if ending in _ENDINGS:
        # `example.env` names the variables and has no values.
        return ending != "env" or stem.strip(".") not in _TEMPLATES
    if name[:5] == ".env.":
        return ending not in _TEMPLATES
    if name[:3] == "id_":
        return ending != "pub" and _PRIVATE_KEY.match(name) is not None
    if ending in _DATA and not _WORDS.isdisjoint(_SEPARATOR.split(stem)):
        return True
    # Few paths have a hidden folder.
    return (whole[:1] == "." or "/." in whole) and _is_in_place(f"/{whole}")


def _is_in_place(path: str) -> bool:
    return path.endswith(_PLACES) or any(folder in path for folder in _FOLDERS)


# Every run makes one of these for each file: a tuple is made several times as fast as an
# instance of a frozen class.
class Stamp(NamedTuple):
    """What the file system says of a file's content without reading it.

    Attributes:
        size: bytes.
        mtime: when its content was last modified, nanoseconds; programs can set it.
        ctime: when anything of it was last changed, nanoseconds.
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
        location: the same as the file system has it; only a name that is no text differs.
        stamp: its stamp when the workspace was listed.
    """

    path: str
    location: str
    stamp: Stamp


def _folder(given: Folder | Path | str) -> Folder:
    return given if isinstance(given, Folder) else Folder(given)


@define
class FileListing:
    """What a source found in the workspace.

    Files are looked at and read through no symbolic link: neither the file nor a folder on the
    way to it may be one, wherever it leads.

    Attributes:
        folder: the workspace; `FileListing(indexer.workspace)` takes its path.
        max_file_bytes: a larger file is passed over.
        files: what is indexed, in the order in which it shall be; no path twice.
        skipped: (path, reason) of what is passed over.
        notes: what a person should know.
    """

    folder: Folder = field(converter=_folder)
    max_file_bytes: int = 1_000_000
    files: list[WorkspaceFile] = field(factory=list)
    skipped: list[tuple[str, str]] = field(factory=list)
    notes: list[str] = field(factory=list)

    def add(self, path: str, location: str | None = None, status: Status | None = None) -> None:
        """Take a file in; what is no regular file, too large or unreadable goes to `skipped`.

        So does a key file (`is_key_file`), whatever the settings say.

        A file that is not there is left out in silence: it went away a moment ago, or git lists
        it still.

        Args:
            path: its path in the workspace, with `/`, as valid text.
            location: the same as the file system has it, where that differs.
            status: what `look_up` said of it, where it was looked up already.
        """
        if is_key_file(path):
            self.skipped.append((path, KEY_FILE_REASON))
            return
        location = path if location is None else location
        if status is None:
            status = self.look_up(location)
        if isinstance(status, os.stat_result):
            reason = _unfit(status, self.max_file_bytes)
            if reason is None:
                self.files.append(WorkspaceFile(path, location, Stamp.of(status)))
            else:
                self.skipped.append((path, reason))
        elif not isinstance(status, (FileNotFoundError, NotADirectoryError)):
            self.skipped.append((path, unreadable(status)))

    def look_up(self, location: str) -> Status:
        """What the file system says of a path in the workspace, or the error it answers with."""
        return self.folder.look_up(location)

    def read(self, file: WorkspaceFile) -> tuple[bytes, Stamp]:
        """A file's content, and its stamp from before it was read.

        Raises `OSError`: when it went away, cannot be read, is no regular file any more, has
        grown over `max_file_bytes`, or a link took the place of a folder on the way to it.
        """
        content, status = self.folder.read(file.location, self.max_file_bytes)
        return content, Stamp.of(status)


def unreadable(error: OSError | ValueError) -> str:
    """Why a file is passed over that the file system does not give out."""
    if isinstance(error, LinkedFolderError):
        return str(error)
    return f"it cannot be read: {getattr(error, 'strerror', None) or error}"


def _unfit(status: os.stat_result, max_file_bytes: int) -> str | None:
    """Why this is no file to index, or None."""
    if stat.S_ISLNK(status.st_mode):
        return "a symbolic link"
    if not stat.S_ISREG(status.st_mode):
        return "not a regular file"
    if status.st_size > max_file_bytes:
        return f"{status.st_size:,} bytes, over max_file_bytes ({max_file_bytes:,})"
    return None
