"""What every test has: folders and settings of its own, none of the user's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog

from contextkit.testing import own_home
from tests.running import need, pytest_configure, pytest_runtest_call

__all__ = ["home", "need", "pytest_configure", "pytest_runtest_call"]


@pytest.fixture(autouse=True)
def home() -> Iterator[Path]:
    """The folder that stands in for the user's: no test sees or touches the real ones."""
    structlog.reset_defaults()
    with own_home() as folder:
        yield folder
