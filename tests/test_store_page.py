"""The commands of the page on stores, executed with a stand-in for the server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.store.http_qdrant import HttpQdrant
from tests.test_readme import DATA, blocks, scratch, section, shell

__all__ = ["scratch"]

pytestmark = pytest.mark.one_python


@pytest.fixture
def server() -> Iterator[HttpQdrant]:
    """The server that the page calls localhost."""
    with HttpQdrant() as server:
        yield server


@pytest.fixture
def filled(scratch: Path) -> Path:
    """A workspace with an index and a memory."""
    shell("contextkit index && contextkit remember 'Tabs, never spaces'", scratch)
    return scratch


def records(folder: Path, *settings: str) -> dict[str, str]:
    """The texts of all records, by source and id."""
    lines = shell(f"{' '.join(settings)} contextkit export", folder).stdout.splitlines()[1:]
    found = map(json.loads, lines)
    return {f"{each['source']} {each['id']}": each["text"] for each in found}


def test_records_move_to_a_server_as_the_page_says(filled: Path, server: HttpQdrant) -> None:
    """The server then has what the store has."""
    (script,) = blocks(section("## Moving", DATA), "sh")
    ran = shell(script.replace("http://localhost:6333", server.url), filled)
    assert "would be copied" in ran.stdout
    assert "verified: the new store has every record" in ran.stdout
    assert records(filled, f"CONTEXTKIT_STORE_URL={server.url}") == records(filled)


def test_each_backup_of_the_page_can_be_restored(filled: Path) -> None:
    """An export, a verified folder, and a copy of the data folder."""
    text = section("## Backup", DATA)
    (script,) = blocks(text, "sh")
    shell(script, filled)
    before = records(filled)
    assert len(before) > 2
    restoring = "CONTEXTKIT_STORE_PATH=$PWD/backup-store contextkit store migrate --to restored"
    assert restoring in text
    shell(restoring, filled)
    assert "`contextkit import backup.jsonl`" in text
    shell("CONTEXTKIT_HOME=$PWD/new-home contextkit import backup.jsonl", filled)
    for setting in (
        "CONTEXTKIT_STORE_PATH=$PWD/backup-store",
        "CONTEXTKIT_STORE_PATH=$PWD/restored",
        "CONTEXTKIT_HOME=$PWD/new-home",
        "CONTEXTKIT_HOME=$PWD/backup-home",
    ):
        assert records(filled, setting) == before, setting
    assert (
        "Tabs" in shell("CONTEXTKIT_HOME=$PWD/backup-home contextkit memories list", filled).stdout
    )
