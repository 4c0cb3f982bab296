"""Private folders."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from contextkit.files import make_private_folder


def test_a_folder_that_another_process_makes_meanwhile_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It comes between the look for it and its making; this is no error."""
    folder, looked = tmp_path / "records", Path.is_dir
    late = iter([True])

    def is_dir(path: Path) -> bool:
        if path == folder and next(late, False):
            folder.mkdir(mode=0o700)
            return False
        return looked(path)

    monkeypatch.setattr(Path, "is_dir", is_dir)
    make_private_folder(folder)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
