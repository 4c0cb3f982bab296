"""Where a resident process listens: a folder of its user's alone, whose path is short."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from contextkit.agent.client import socket_path

if TYPE_CHECKING:
    from conftest import World

WITH = {"CONTEXTKIT_HOOKS_RESIDENT": "yes"}


def test_a_folder_that_is_a_link_is_refused(world: World) -> None:
    """A link may lead to somebody else's."""
    (world.folder / "elsewhere").mkdir(mode=0o700)
    (world.folder / "run" / "contextkit").symlink_to(world.folder / "elsewhere")
    assert socket_path(world.environment) is None
    assert "four spaces" in world.hook(world.prompt(), **WITH)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")
def test_another_users_folder_is_refused(world: World) -> None:
    """A folder of somebody else's is not used, whatever its mode."""
    found = socket_path(world.environment)
    assert found is not None
    folder = Path(found).parent
    os.chown(folder, 65534, 65534)
    assert socket_path(world.environment) is None


def test_a_long_runtime_folder_is_not_used(tmp_path: Path) -> None:
    """A socket's path is short: there is another place for it."""
    found = socket_path({"XDG_RUNTIME_DIR": str(tmp_path / ("x" * 90)), "HOME": str(tmp_path)})
    assert found is None or found.count("/") == 3


def test_each_home_has_its_own(tmp_path: Path) -> None:
    """Nobody is answered from somebody else's records."""
    runtime = {"XDG_RUNTIME_DIR": "/nowhere-at-all"}
    assert socket_path({**runtime, "CONTEXTKIT_HOME": "/a"}) is None
