"""What a test has instead of its user's: settings, a home, and plugins that count as installed."""

from __future__ import annotations

import contextlib
import importlib
import os
import shutil
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from contextkit.config_layers import HOME_VARIABLE
from contextkit.errors import ContextKitError
from contextkit.hookspecs import ENTRY_POINT_GROUP

__all__ = ["CheckoutError", "own_home", "plugins_installed"]

_ROOM_BYTES = 500_000_000
_NOTHING: Mapping[str, str] = MappingProxyType({})
_PATIENT = "[assemble]\nsource_timeout = 30\ndeadline = 30\n"
"""Weaker than whatever a test says: the machine that it runs on may be busy."""


class CheckoutError(ContextKitError):
    """A folder is not that of a plugin's `pyproject.toml`."""


@contextlib.contextmanager
def own_home(variables: Mapping[str, str] = _NOTHING) -> Iterator[Path]:
    """Let nobody's settings count: a home of its own, and of `CONTEXTKIT_…` only `variables`.

    It is in memory where there is room, as a store makes sure of every write to a disk. At the
    end it is deleted, and the process has the variables again that it had.

    Args:
        variables: more variables, `CONTEXTKIT_PROJECT` for instance.

    Yields:
        The home, whose `config.toml` is patient with slow sources.
    """
    memory = Path("/dev/shm")  # noqa: S108 - a folder of its own is made in it
    roomy = os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > _ROOM_BYTES
    with tempfile.TemporaryDirectory(
        prefix="contextkit-", dir=memory if roomy else None, ignore_cleanup_errors=True
    ) as folder:
        home = Path(folder)
        (home / "config.toml").write_text(_PATIENT, encoding="utf-8")
        before = _without_settings()
        os.environ.update({HOME_VARIABLE: folder, **variables})
        try:
            yield home
        finally:
            _without_settings()
            os.environ.update(before)


def _without_settings() -> dict[str, str]:
    """Take contextkit's variables away; what they were."""
    ours = [name for name in os.environ if name.startswith("CONTEXTKIT_")]
    return {name: os.environ.pop(name) for name in ours if not name.startswith("CONTEXTKIT_TEST_")}


@contextlib.contextmanager
def plugins_installed(*checkouts: Path) -> Iterator[None]:
    """Let plugins have the entry points that their `pyproject.toml` has now.

    So they are plugins whether or not, and however long ago, they were installed. Their modules
    must be importable.

    Args:
        checkouts: the folders of their `pyproject.toml`.

    Raises:
        CheckoutError: where there is none, or it has no entry points of contextkit.
    """
    with tempfile.TemporaryDirectory(prefix="contextkit-") as folder:
        for checkout in checkouts:
            _write_metadata(checkout, Path(folder))
        sys.path.insert(0, folder)
        importlib.invalidate_caches()
        try:
            yield
        finally:
            sys.path.remove(folder)
            importlib.invalidate_caches()


def _write_metadata(checkout: Path, site: Path) -> None:
    """Write what an installer leaves of a distribution beside its modules."""
    try:
        text = (checkout / "pyproject.toml").read_text(encoding="utf-8")
        project = tomllib.loads(text)["project"]
        name, points = project["name"], project["entry-points"][ENTRY_POINT_GROUP]
    except (OSError, ValueError, LookupError) as error:
        raise CheckoutError(
            f"{checkout} has no pyproject.toml with a name and "
            f"[project.entry-points.{ENTRY_POINT_GROUP}]: name the plugin's folder"
        ) from error
    version = project.get("version", "0")
    info = site / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir()
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    (info / "METADATA").write_text(metadata, encoding="utf-8")
    lines = [f"{point} = {target}" for point, target in points.items()]
    listed = "\n".join([f"[{ENTRY_POINT_GROUP}]", *lines, ""])
    (info / "entry_points.txt").write_text(listed, encoding="utf-8")
