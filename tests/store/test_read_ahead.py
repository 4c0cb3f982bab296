"""A shard's files are read before the engine opens them, by another process in cold commands."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from contextkit.config.load import data_folder
from contextkit.store import read_ahead as reading
from contextkit.store.read_ahead import fetch, read_ahead, read_ahead_once

SCRIPT = """
import os, sys
from contextkit.store import read_ahead as reading

def held_up(shard):
    # Opening a pipe waits for the test.
    with open(os.path.join(os.environ["HOME"], "go")) as go, \\
         open(os.path.join(os.environ["HOME"], "read"), "w") as read:
        read.write(go.read() + shard)

reading.read_ahead = held_up
reading.begin_reading_ahead(os.environ)
print(*reading._begun)
reading.read_ahead = print
reading.read_ahead_once(sys.argv[1])
reading.read_ahead_once(sys.argv[1])
"""

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="only there it is a gain")


def begin(home: Path, **variables: str) -> list[str]:
    """Begin in a process of its own; what it prints."""
    shard = str(home / "data" / "store" / "shard")
    ran = subprocess.run(
        [sys.executable, "-c", SCRIPT, shard],
        env={**os.environ, "HOME": str(home), **variables},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert ran.stderr == ""
    return ran.stdout.splitlines()


@pytest.fixture
def shard(tmp_path: Path) -> Path:
    """The folder of a shard with nothing in it."""
    folder = tmp_path / "data" / "store" / "shard"
    folder.mkdir(parents=True)
    return folder


@on_linux
def test_another_process_reads_the_users_store(tmp_path: Path, shard: Path) -> None:
    """The command skips reading ahead when it opens the store first, and not when it does again.

    Its output ends when it does: the other process does not keep it open.
    """
    for name in ("go", "read"):
        os.mkfifo(tmp_path / name)
    said = begin(tmp_path, CONTEXTKIT_HOME=str(tmp_path / "data"))
    assert said == [str(shard), str(shard)]
    (tmp_path / "go").write_text("reads ")
    assert (tmp_path / "read").read_text() == f"reads {shard}"


@on_linux
@pytest.mark.parametrize("variables", [{}, {"XDG_DATA_HOME": "HOME/other"}])
def test_the_usual_folder_is_found(
    tmp_path: Path, variables: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is the one that `data_folder` returns."""
    given = {name: value.replace("HOME", str(tmp_path)) for name, value in variables.items()}
    unset = {"HOME": str(tmp_path), "CONTEXTKIT_HOME": "", "XDG_DATA_HOME": "", **given}
    for name, value in unset.items():
        monkeypatch.setenv(name, value)
    folder = data_folder() / "store" / "shard"
    folder.mkdir(parents=True)
    assert begin(tmp_path, **unset)[0] == str(folder)


def test_without_a_store_nothing_is_begun(tmp_path: Path) -> None:
    """The first command makes the store."""
    said = begin(tmp_path, CONTEXTKIT_HOME=str(tmp_path / "data"))
    assert said[0] == ""
    assert not (tmp_path / "read").exists()


def test_texts_are_read_only_if_they_are_few(shard: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights are never read ahead."""
    segment = shard / "segments" / "one"
    names = (
        "id_tracker.mappings",
        "payload_index/scope/page_0.dat",
        "payload_storage/config.json",
        "payload_storage/page_0.dat",
        "vector_storage-bm25/store/page_0.dat",
        "vector_storage-dense-m/page_0.dat",
    )
    for name in names:
        (segment / name).parent.mkdir(parents=True, exist_ok=True)
        (segment / name).write_bytes(b"tide" * 2048)
    read: list[str] = []
    monkeypatch.setattr(
        reading, "fetch", lambda file, with_holes: read.append(os.path.relpath(file, segment))
    )
    read_ahead(str(shard))
    assert sorted(read) == sorted(set(names) - {names[4]})
    read.clear()
    monkeypatch.setattr(reading, "_MOST_TEXTS", 4096)
    read_ahead_once(str(shard))
    assert sorted(read) == sorted(set(names) - {names[3], names[4]})


@pytest.mark.parametrize("with_holes", [False, True])
def test_files_with_holes_can_be_fetched(tmp_path: Path, with_holes: bool) -> None:
    """Also where they end with a hole, or have nothing else; an empty file has nothing to read."""
    for name, content, size in (("a", b"tide", 1 << 20), ("b", b"", 1 << 20), ("c", b"", 0)):
        file = tmp_path / name
        file.write_bytes(content)
        os.truncate(file, size)
        fetch(str(file), with_holes=with_holes)
    with pytest.raises(FileNotFoundError):
        fetch(str(tmp_path / "missing"))
