"""A workspace whose folders lie deeper than any path can say."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

LEVELS = 2_500


@pytest.fixture
def deep(workspace: Path) -> Iterator[Path]:
    """A workspace without git whose folders lie 2,500 levels deep, a document in each fifth."""
    shutil.rmtree(workspace / ".git", ignore_errors=True)
    folder = os.open(workspace, os.O_RDONLY)
    try:
        for level in range(LEVELS):
            if level % 5 == 0:
                number = os.open("a.md", os.O_WRONLY | os.O_CREAT, 0o600, dir_fd=folder)
                os.write(number, b"# Tide\n\nHigh water.\n")
                os.close(number)
            os.mkdir("d", dir_fd=folder)
            inner = os.open("d", os.O_RDONLY, dir_fd=folder)
            os.close(folder)
            folder = inner
    finally:
        os.close(folder)
    yield workspace
    # `shutil.rmtree` is recursive, too.
    subprocess.run(["rm", "-rf", str(workspace)], check=True)


def test_documents_are_indexed_however_deep_they_lie(deep: Path, index: Callable[..., Any]) -> None:
    """A path may be longer than the system takes at once: folders are opened one by one."""
    report = index()

    assert report.added == LEVELS // 5
    assert report.notes == []
