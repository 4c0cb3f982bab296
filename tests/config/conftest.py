"""Settings that are loaded from files, variables and flags of the test."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from contextkit.config.load import load_config
from contextkit.config.settings import Config
from contextkit.errors import ConfigError
from contextkit.workspace.find import find_workspace

Load = Callable[..., Config]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A workspace's root folder."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


@pytest.fixture
def load(root: Path, home: Path) -> Load:
    """Writes the given layers and loads them: `load(user="…", project="…", limit="3")`."""
    # The layers here are the test's own.
    (home / "config.toml").unlink()

    def load(
        user: str | None = None,
        project: str | None = None,
        pyproject: str | None = None,
        environment: Mapping[str, str] | None = None,
        flags: Mapping[str, Any] | None = None,
    ) -> Config:
        for file, text in (
            (home / "config.toml", user),
            (root / "contextkit.toml", project),
            (root / "pyproject.toml", pyproject),
        ):
            if text is not None:
                file.write_text(text, encoding="utf-8")
        return load_config(find_workspace(root), environment=environment, flags=flags)

    return load


def refused(load: Load, **layers: Any) -> ConfigError:
    """The error that these layers give."""
    with pytest.raises(ConfigError) as caught:
        load(**layers)
    assert "\n" not in str(caught.value)
    return caught.value
