"""Surroundings of a test: settings, a home, and installed plugins."""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import os
import shutil
import sys
import tempfile
import tomllib
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from contextkit.config.load import HOME_VARIABLE
from contextkit.errors import ContextKitError
from contextkit.plugin.spec import ENTRY_POINT_GROUP

_PATH = "PYTHONPATH"
_ROOM_BYTES = 500_000_000
_NOTHING: Mapping[str, str] = MappingProxyType({})
_CAPABILITIES_VERSION = 0x20080522
_OVERRIDES_PERMISSIONS = 1 << 1 | 1 << 2
"""Linux's `CAP_DAC_OVERRIDE` and `CAP_DAC_READ_SEARCH`."""
_LONG_TIMEOUTS = """\
[assemble]
source_timeout = 30
deadline = 30

[embedding]
timeout = 30
"""
"""Weaker than whatever a test says: the machine that it runs on may be busy."""


class CheckoutError(ContextKitError):
    """The folder has no plugin's `pyproject.toml`."""


@contextlib.contextmanager
def own_home(variables: Mapping[str, str] = _NOTHING) -> Iterator[Path]:
    """Replace the user's settings by a temporary home.

    Of the variables `CONTEXTKIT_…`, only `variables` stay. The home is in memory where there is
    room, because a store flushes every write to disk. At the end it is deleted, and the process's
    variables are restored.

    Args:
        variables: more variables, `CONTEXTKIT_PROJECT` for instance.

    Yields:
        The home, whose `config.toml` sets long timeouts for slow sources and models.
    """
    with tempfile.TemporaryDirectory(
        prefix="contextkit-", dir=in_memory(), ignore_cleanup_errors=True
    ) as folder:
        home = Path(folder)
        (home / "config.toml").write_text(_LONG_TIMEOUTS, encoding="utf-8")
        with own_variables("CONTEXTKIT_", {HOME_VARIABLE: folder, **variables}):
            yield home


def in_memory(room: int = _ROOM_BYTES) -> Path | None:
    """Return a folder in memory for fast writes.

    No write waits for a disk there, and programs can be started from it.

    Args:
        room: the bytes that must be free there.

    Returns:
        The folder; None where the system has none, or too little room in it.
    """
    if sys.platform != "linux":
        return None
    memory = Path("/dev/shm")  # noqa: S108 - folders of their own are made in it
    if not os.access(memory, os.W_OK) or os.statvfs(memory).f_flag & os.ST_NOEXEC:
        return None
    return memory if shutil.disk_usage(memory).free > room else None


@contextlib.contextmanager
def own_variables(prefix: str, variables: Mapping[str, str]) -> Iterator[None]:
    """Limit variables with a prefix to these, within the block.

    Variables that go on with `TEST_` describe the test run, and stay.
    """
    before = _taken(prefix, variables)
    os.environ.update(variables)
    try:
        yield
    finally:
        _taken(prefix, variables)
        os.environ.update(before)


def _taken(prefix: str, names: Collection[str]) -> dict[str, str]:
    """Remove variables, and return their values."""
    ours = [name for name in os.environ if name.startswith(prefix)]
    settings = [name for name in ours if not name.startswith(f"{prefix}TEST_")]
    found = {*settings, *(name for name in names if name in os.environ)}
    return {name: os.environ.pop(name) for name in found}


@contextlib.contextmanager
def file_permissions_apply() -> Iterator[None]:
    """Enforce file permissions, also where the tests run as root.

    On Linux root gives up its power to pass over permissions, in this thread and in those that it
    starts. Other threads, and programs that are run, keep it. On other systems root keeps it.
    """
    if not sys.platform.startswith("linux"):
        yield
        return
    system = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(_CAPABILITIES_VERSION, 0)
    powers = (ctypes.c_uint32 * 6)()
    _must_succeed(system.capget(header, powers))
    effective = powers[0]
    powers[0] = effective & ~_OVERRIDES_PERMISSIONS
    _must_succeed(system.capset(header, powers))
    try:
        yield
    finally:
        powers[0] = effective
        _must_succeed(system.capset(header, powers))


def _must_succeed(status: int) -> None:
    if status != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


@contextlib.contextmanager
def plugins_installed(*checkouts: Path) -> Iterator[None]:
    """Install plugins from the entry points in their `pyproject.toml`.

    The plugins are then installed in this process and in those that it starts, whether or not an
    older version was. Their modules must be importable.

    Args:
        checkouts: the folders of their `pyproject.toml`.

    Raises:
        CheckoutError: where there is none, or it has no entry points of contextkit.
    """
    with tempfile.TemporaryDirectory(prefix="contextkit-") as folder:
        for checkout in checkouts:
            distribution, version, points = _entry_points(checkout)
            write_distribution(Path(folder), distribution, points, version)
        before = os.environ.get(_PATH)
        os.environ[_PATH] = os.pathsep.join(filter(None, [folder, before]))
        sys.path.insert(0, folder)
        importlib.invalidate_caches()
        try:
            yield
        finally:
            sys.path.remove(folder)
            importlib.invalidate_caches()
            if before is None:
                del os.environ[_PATH]
            else:
                os.environ[_PATH] = before


def _entry_points(checkout: Path) -> tuple[str, str, Mapping[str, str]]:
    """Read a plugin's distribution, version and entry points.

    The entry points map names to targets.
    """
    try:
        text = (checkout / "pyproject.toml").read_text(encoding="utf-8")
        project = tomllib.loads(text)["project"]
        points = dict(project["entry-points"][ENTRY_POINT_GROUP])
        return project["name"], project.get("version", "0"), points
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise CheckoutError(
            f"{checkout} has no pyproject.toml with a name and "
            f"[project.entry-points.{ENTRY_POINT_GROUP}]: name the plugin's folder"
        ) from error


def write_distribution(
    site: Path, distribution: str, entry_points: Mapping[str, str], version: str = "1.0"
) -> None:
    """Write a plugin's metadata beside its modules, as installers do.

    The write is atomic: another process sees all of it or nothing.

    Args:
        site: a folder that Python imports from.
        distribution: its name.
        entry_points: of contextkit: name -> target, `{"tide": "my_tide"}`.
        version: its version.
    """
    stem = f"{distribution.replace('-', '_')}-{version}"
    beside = site / f".{stem}"
    beside.mkdir(parents=True)
    metadata = f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n"
    (beside / "METADATA").write_text(metadata, encoding="utf-8")
    points = "".join(f"{name} = {target}\n" for name, target in entry_points.items())
    (beside / "entry_points.txt").write_text(f"[{ENTRY_POINT_GROUP}]\n{points}", encoding="utf-8")
    beside.rename(site / f"{stem}.dist-info")
