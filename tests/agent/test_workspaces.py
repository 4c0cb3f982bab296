"""The workspaces that the background server has open."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from contextkit.agent.workspaces import Workspaces
from contextkit.concurrency import in_thread
from contextkit.models import Record

TEXT = "The tide turns at noon."


async def test_a_request_goes_on_where_the_settings_change_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It keeps its kit, which is closed behind it; the next request has a kit of its own."""
    monkeypatch.setenv("CONTEXTKIT_HOME", str(tmp_path / "home"))
    project = tmp_path / "tide"
    (project / ".git").mkdir(parents=True)
    settings = project / "contextkit.toml"
    settings.write_text("assemble.max_tokens = 1000\n")
    workspaces = Workspaces()

    with contextlib.ExitStack() as request:
        kit = request.enter_context(workspaces.use(str(project), {}))

        def found_by_both() -> list[str]:
            kit.records("memories").put([Record(id="tide", text=TEXT)])
            settings.write_text("assemble.max_tokens = 1500\n")
            with workspaces.use(str(project), {}) as newer:
                assert newer is not kit
                return [
                    record.text for of in (newer, kit) for record in of.records("memories").scan()
                ]

        assert await in_thread(found_by_both) == [TEXT, TEXT]
        assert len(workspaces) == 1
    workspaces.close()
    assert not _open_files(tmp_path / "home")


def _open_files(folder: Path) -> list[Path]:
    """List what this process keeps open in a folder; on Linux."""
    kept = [file.readlink() for file in Path("/proc/self/fd").glob("*") if file.is_symlink()]
    return [file for file in kept if file.is_relative_to(folder)]
