"""`contextkit store migrate`: the same records and contexts in the new store."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.store.http_qdrant import HttpQdrant

if TYPE_CHECKING:
    from tests.cli.conftest import CommandLine

pytestmark = pytest.mark.one_python

QUERY = "how is the token budget split?"
GLOBAL = "Answer me in short sentences"


@pytest.fixture
def server() -> Iterator[HttpQdrant]:
    """A server without any collection."""
    with HttpQdrant() as server:
        yield server


@pytest.fixture
def filled(furnished: CommandLine) -> CommandLine:
    """A workspace with a memory of the user's own beside what is furnished."""
    furnished.json("remember", GLOBAL, "--global")
    return furnished


def records(contextkit: CommandLine) -> dict[tuple[str, str], dict[str, Any]]:
    """All exported records by source and id, without their projects."""
    found = map(json.loads, contextkit("export").stdout.splitlines()[1:])
    return {
        (each["source"], each["id"]): {
            key: value for key, value in each.items() if key not in {"project", "checksum"}
        }
        for each in found
    }


def on(server: HttpQdrant, contextkit: CommandLine) -> CommandLine:
    """The same workspace, configured for the server."""
    return contextkit.with_variables(CONTEXTKIT_STORE_URL=server.url)


def moved(contextkit: CommandLine, *arguments: str) -> int:
    """Move; return how many records were copied."""
    result = contextkit.json("store", "migrate", *arguments)
    assert result["settled"]
    assert result["damaged"] == []
    return sum(scope["copied"] for scope in result["scopes"])


def test_a_migrated_store_gives_the_same_records_and_contexts(
    filled: CommandLine, server: HttpQdrant
) -> None:
    """The next index run has nothing to do, and the old store stays."""
    before, context = records(filled), filled("assemble", QUERY).stdout
    assert moved(filled, "--to", server.url) == len(before)
    assert records(filled) == before
    served = on(server, filled)
    assert records(served) == before
    for report in served.json("index").values():
        assert (report["added"], report["updated"], report["removed"]) == (0, 0, 0)
    assert records(served) == before
    assert served("assemble", QUERY).stdout == context
    assert GLOBAL in served("memories", "list").stdout


def test_the_setting_to_change_is_printed_and_nothing_is_written(
    filled: CommandLine, server: HttpQdrant, home: Path
) -> None:
    """The user decides when to use the new store."""
    settings = (home / "config.toml").read_bytes()
    said = filled("store", "migrate", "--to", server.url, "--collection", "team").stdout
    assert f'[store]\nurl = "{server.url}"\ncollection = "team"\n' in said
    assert "verified: the new store has every record" in said
    assert (home / "config.toml").read_bytes() == settings


def test_the_setting_for_a_folder_is_valid_toml(filled: CommandLine, tmp_path: Path) -> None:
    """Whatever characters its path has."""
    folder = tmp_path / ("new" if sys.platform == "win32" else r'"new" \s')
    said = filled("store", "migrate", "--to", str(folder)).stdout
    assert tomllib.loads(said[said.index("[store]") :]) == {"store": {"path": str(folder)}}


def test_a_dry_run_writes_nothing(filled: CommandLine, server: HttpQdrant) -> None:
    """Not even the collection is created; after a move nothing is left to copy."""
    count = len(records(filled))
    said = filled("store", "migrate", "--to", server.url, "--dry-run").stdout
    assert f"{count:,} of {count:,} records would be copied" in said
    assert not server.client.collection_exists("contextkit")
    moved(filled, "--to", server.url)
    said = filled("store", "migrate", "--to", server.url, "--dry-run").stdout
    assert f"0 of {count:,} records would be copied" in said


def test_a_server_moves_to_another_collection_and_back_to_a_folder(
    filled: CommandLine, server: HttpQdrant, tmp_path: Path
) -> None:
    """Every direction gives the same records."""
    before = records(filled)
    moved(filled, "--to", server.url)
    served = on(server, filled)
    assert moved(served, "--to", server.url, "--collection", "other") == len(before)
    other = served.with_variables(CONTEXTKIT_STORE_COLLECTION="other")
    assert moved(other, "--to", str(tmp_path / "back")) == len(before)
    back = filled.with_variables(CONTEXTKIT_STORE_PATH=str(tmp_path / "back"))
    assert records(back) == before
    assert GLOBAL in back("memories", "list").stdout


def test_a_later_run_keeps_what_was_changed_in_the_new_store(
    filled: CommandLine, server: HttpQdrant
) -> None:
    """It copies only what was stored in the old store since."""
    moved(filled, "--to", server.url)
    served = on(server, filled)
    first, second = (memory["id"] for memory in served.json("memories", "list")[:2])
    served.json("memories", "forget", first)
    served.json("memories", "edit", second, "--text", "Changed on the server")
    filled.json("remember", "Stored in the old store since")
    # With the new setting, too, the embedded store is the old one.
    assert moved(served, "--to", server.url) == 1
    assert moved(filled, "--to", server.url) == 0
    texts = {memory["id"]: memory["text"] for memory in served.json("memories", "list")}
    assert first not in texts
    assert texts[second] == "Changed on the server"
    assert "Stored in the old store since" in texts.values()


def test_a_store_is_not_moved_to_itself(filled: CommandLine, home: Path) -> None:
    """Nor from where there is none."""
    said = filled.line(4, "store", "migrate", "--to", str(home / "store"))
    assert "the records are in that store already" in said
    with HttpQdrant() as server:
        served = on(server, filled)
        served.json("remember", "A server from the start")
        said = served.line(4, "store", "migrate", "--to", server.url)
        assert "the records are in that store already" in said
    nowhere = filled.with_variables(CONTEXTKIT_STORE_PATH=str(home / "none"))
    assert "there is no store at" in nowhere.line(4, "store", "migrate", "--to", str(home / "new"))
    assert not (home / "none").exists()


def test_a_killed_move_goes_on_where_it_stopped(contextkit: CommandLine) -> None:
    """No record is copied twice or lost, wherever `kill -9` meets it."""
    lines = ["# Notes\n"] + [
        f"\n## Part {n}\n\nThe budget of part {n} is split.\n" for n in range(350)
    ]
    for name in ("one", "two", "three"):
        (contextkit.folder / f"{name}.md").write_text("".join(lines))
    contextkit.json("index")
    before = records(contextkit)
    assert len(before) > 1000
    with HttpQdrant() as server:
        for killed_at in (1, 500):
            process = subprocess.Popen(
                contextkit.command("store", "migrate", "--to", server.url),
                cwd=contextkit.folder,
                env=contextkit.variables(),
            )
            try:
                while process.poll() is None and _count(server) < killed_at:
                    time.sleep(0.01)
            finally:
                process.kill()
            assert process.wait() == -signal.SIGKILL
        there = _count(server)
        assert 500 <= there < len(before)
        assert moved(contextkit, "--to", server.url) <= len(before) - there
        assert records(on(server, contextkit)) == before


def _count(server: HttpQdrant) -> int:
    """The records on a server; one more point has the store's identity."""
    return max(0, server.count("contextkit") - 1)
