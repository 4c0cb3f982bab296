"""Where the resident process of a `CONTEXTKIT_HOME` listens."""

from __future__ import annotations

import contextlib
import os
import stat
import zlib
from collections.abc import Mapping

__all__ = ["home_of", "settings_in", "socket_path"]

_LONGEST = 100
"""A socket's path may have 104 bytes on some systems, its end included."""

_PREFIX = "CONTEXTKIT_"


def home_of(environment: Mapping[str, str]) -> str:
    """What one resident process serves: the folders that records and settings come from."""
    named = environment.get("CONTEXTKIT_HOME")
    if named:
        return os.path.abspath(os.path.expanduser(named))  # noqa: PTH100, PTH111 - pathlib costs 5 ms
    parts = (environment.get(name, "") for name in ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"))
    return "\0".join(parts)


def settings_in(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that are settings."""
    return {name: value for name, value in environment.items() if name.startswith(_PREFIX)}


def socket_path(environment: Mapping[str, str]) -> str | None:
    """Where the socket is, or would be.

    Its folder is made where it is not there yet. None where there are no Unix sockets, or
    where the folder is not this user's alone: whoever else can write to it could answer.
    """
    if not hasattr(os, "geteuid"):
        return None
    name = f"{zlib.crc32(home_of(environment).encode('utf-8', 'surrogateescape')):08x}.sock"
    for folder in _folders(environment):
        path = f"{folder}/{name}"
        if len(os.fsencode(path)) <= _LONGEST:
            return path if _is_ours(folder) else None
    return None


def _folders(environment: Mapping[str, str]) -> list[str]:
    runtime = environment.get("XDG_RUNTIME_DIR", "")
    shared = f"/tmp/contextkit-{os.geteuid()}"  # noqa: S108 - refused unless it is ours alone
    return [f"{runtime}/contextkit", shared] if runtime.startswith("/") else [shared]


def _is_ours(folder: str) -> bool:
    try:
        with contextlib.suppress(FileExistsError):
            os.mkdir(folder, 0o700)  # noqa: PTH102 - pathlib costs 5 ms
        found = os.lstat(folder)
    except OSError:
        return False
    alone = not found.st_mode & 0o077
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and alone
