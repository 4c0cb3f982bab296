"""What every test has: folders and settings of its own, none of the user's."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import structlog
from hypothesis import settings

# A busy machine is slow at times, and a run shall not depend on luck.
settings.register_profile("contextkit", deadline=None, derandomize=True)
settings.load_profile("contextkit")


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that stands in for the user's: no test sees or touches the real ones."""
    for variable in os.environ:
        if variable.startswith("CONTEXTKIT_") and not variable.startswith("CONTEXTKIT_TEST_"):
            monkeypatch.delenv(variable)
    folder = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("CONTEXTKIT_HOME", str(folder))
    structlog.reset_defaults()
    return folder
