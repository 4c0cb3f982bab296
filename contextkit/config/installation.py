"""The id of this installation: random, private, and made at first need.

An installation is a data folder. On a server, the id keeps apart what different users, machines
and containers have under the same path, and names the user where `store.user` does not.
"""

from __future__ import annotations

import os
import re
from functools import lru_cache
from pathlib import Path

from contextkit.config.load import data_folder
from contextkit.errors import StoreError, in_words
from contextkit.files import make_private_folder, write_atomically

ID_NAME = "installation"
LOCK_NAME = "installation.lock"

_LOCK_SECONDS = 5.0
_CONTAINER_FILES = ("/.dockerenv", "/run/.containerenv")
_KUBERNETES = "KUBERNETES_SERVICE_HOST"
_ID = re.compile(r"[0-9a-f]{16}")


def installation_id() -> str:
    """Return the id of the data folder, made on the first call.

    Raises `StoreError` where it cannot be read or kept.
    """
    return _id_in(data_folder())


def known_installation_id() -> str | None:
    """Return the id of the data folder; None if there is none yet, or it is unreadable."""
    try:
        return _read(data_folder() / ID_NAME)
    except (OSError, StoreError):
        return None


@lru_cache
def _id_in(folder: Path) -> str:
    file = folder / ID_NAME
    try:
        return _read(file) or _made(file)
    except OSError as error:
        raise StoreError(
            f"cannot keep this installation's id in {file} ({in_words(error)}): set "
            f"CONTEXTKIT_HOME to a folder that you can write, or both CONTEXTKIT_STORE_USER and "
            f"CONTEXTKIT_PROJECT"
        ) from error


def ends_with_container(folder: Path) -> bool:
    """Whether a folder is in a container's own file system, which is deleted with it.

    A volume has another device number than the container's root.
    """
    marked = any(Path(file).exists() for file in _CONTAINER_FILES)
    if not marked and _KUBERNETES not in os.environ:
        return False
    there = next(each for each in (folder, *folder.absolute().parents) if each.exists())
    return there.stat().st_dev == Path("/").stat().st_dev


def _made(file: Path) -> str:
    # Most runs find the id.
    import secrets

    from filelock import FileLock

    make_private_folder(file.parent)
    with FileLock(file.with_name(LOCK_NAME), mode=0o600).acquire(timeout=_LOCK_SECONDS):
        found = _read(file)
        if found is None:
            found = secrets.token_hex(8)
            write_atomically(file, f"{found}\n")
    return found


def _read(file: Path) -> str | None:
    try:
        text = file.read_text(encoding="ascii", errors="replace").strip()
    except FileNotFoundError:
        return None
    if not _ID.fullmatch(text):
        raise StoreError(
            f"{file}: expected 16 hexadecimal digits, got {text[:20]!r}: restore the file, or "
            f"delete it to become a new user on the server"
        )
    return text
