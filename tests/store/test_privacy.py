"""What is stored is its user's alone: 0700 folders and 0600 files, whatever the umask."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from contextkit.agent.sessions import note as note_event, open_session
from contextkit.config.settings import Config
from contextkit.embedding.choice import Embedders
from contextkit.files import make_private_folder
from contextkit.models.record import Record
from contextkit.pipeline.usage import history_of
from contextkit.store.open import open_store

pytestmark = [
    pytest.mark.one_python,
    pytest.mark.skipif(os.name == "nt", reason="there are no such modes there"),
]

_COMMANDS = """
import os, sys
from click.testing import CliRunner
from contextkit.cli import cli
os.umask(int(sys.argv[1], 8))
for arguments in (["remember", "Tabs"], ["index"], ["assemble", "tabs"], ["export", sys.argv[3]]):
    ran = CliRunner().invoke(cli, ["-C", sys.argv[2], *arguments])
    assert ran.exit_code == 0, (arguments, ran.output)
"""


def _wide(folder: Path) -> list[str]:
    """What others have rights to, or what its user has no rights to."""
    return [
        f"{oct(mode)} {path}"
        for path in (folder, *sorted(folder.rglob("*")))
        if (mode := stat.S_IMODE(path.stat().st_mode)) & 0o077 or mode < 0o600
    ]


def _store_something(embedders: Embedders) -> None:
    store = open_store(Config(), embedders)
    store.put([Record(id="a", text="alpha", source="notes", project="p")])
    store.close()


@pytest.fixture
def umask() -> Iterator[None]:
    """Let new files be anybody's."""
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.parametrize("umask", ["0", "022", "077"])
def test_commands_write_for_their_user_alone(tmp_path: Path, umask: str) -> None:
    """The store, states and exports have no right for others, whatever the umask."""
    home, workspace, exported = tmp_path / "home", tmp_path / "work", tmp_path / "out.jsonl"
    workspace.mkdir()
    (workspace / "a.py").write_text("def tide():\n    return 1\n")
    ran = subprocess.run(
        [sys.executable, "-c", _COMMANDS, umask, str(workspace), str(exported)],
        env={**os.environ, "CONTEXTKIT_HOME": str(home)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert (home / "store/shard/meta.json").is_file()
    assert _wide(home) == []
    assert _wide(exported) == []


@pytest.mark.usefixtures("umask")
def test_what_hooks_and_choices_leave_is_private(home: Path) -> None:
    """Sessions, the hooks' log and the history have their modes where the umask is 0."""
    note_event("tried")
    with open_session("one", 1.0):
        pass
    history_of(Config()).used("p", [("notes", "a")])
    assert (home / "hooks/hooks.log").is_file()
    assert len(list((home / "hooks/sessions").iterdir())) == 2
    assert (home / "history.sqlite").is_file()
    assert [line for line in _wide(home) if not line.endswith("config.toml")] == []


def test_an_umask_that_forbids_all_forbids_nothing_to_the_user(tmp_path: Path) -> None:
    """Folders and files of ours have their modes even then."""
    folder = tmp_path / "one" / "two"
    before = os.umask(0o777)
    try:
        make_private_folder(folder)
        with open_session("one", 1.0):
            pass
    finally:
        os.umask(before)
    assert _wide(tmp_path / "one") == []


def test_a_wide_store_is_mended_when_it_is_opened(
    home: Path, embedders: Embedders, tmp_path: Path
) -> None:
    """Folders and files of an older version lose the rights of others, once; links are left."""
    _store_something(embedders)
    outside = tmp_path / "outside"
    outside.mkdir(mode=0o755)
    (home / "state").mkdir()
    (home / "state" / "link").symlink_to(outside)
    for path in (home, *home.rglob("*")):
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() else 0o644)
    outside.chmod(0o755)
    _store_something(embedders)
    (home / "state" / "link").unlink()
    assert _wide(home) == []
    assert stat.S_IMODE(outside.stat().st_mode) == 0o755


def test_a_folder_with_other_things_in_it_keeps_its_mode(home: Path, embedders: Embedders) -> None:
    """What is ours in it is private all the same."""
    (home / "photographs").mkdir()
    _store_something(embedders)
    for folder in (home, home / "store"):
        folder.chmod(0o755)
    _store_something(embedders)
    assert stat.S_IMODE(home.stat().st_mode) == 0o755
    assert _wide(home / "store") == []


def test_a_folder_that_a_group_shares_keeps_its_mode(home: Path, embedders: Embedders) -> None:
    """Who sets the group of new files wants others in it; the files in the store stay private."""
    _store_something(embedders)
    (home / "store").chmod(0o2770)
    home.chmod(0o2770)
    _store_something(embedders)
    assert stat.S_IMODE(home.stat().st_mode) == 0o2770
    assert _wide(home / "store/shard") == []


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root can give a file away")
def test_what_belongs_to_another_user_is_left_alone(home: Path, embedders: Embedders) -> None:
    """Root does not change the modes of a user's folder."""
    _store_something(embedders)
    theirs = home / "store"
    theirs.chmod(0o750)
    os.chown(theirs, 65534, 65534)
    _store_something(embedders)
    assert stat.S_IMODE(theirs.stat().st_mode) == 0o750
