"""Stores that cannot be used: each has one clear line and code 4, and nothing is lost."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from tests.store.http_qdrant import HttpQdrant

if TYPE_CHECKING:
    from tests.cli.conftest import CommandLine


def shard() -> Path:
    """Where this test's records are."""
    return Path(os.environ["CONTEXTKIT_HOME"]) / "store" / "shard"


def files() -> dict[Path, bytes]:
    """What is in the store's files."""
    return {path: path.read_bytes() for path in shard().rglob("*") if path.is_file()}


def texts(contextkit: CommandLine) -> set[str]:
    """What is remembered."""
    return {memory["text"] for memory in contextkit.json("memories", "list")}


def test_a_store_of_another_model_names_the_command_that_helps(contextkit: CommandLine) -> None:
    """It is refused, and re-embedding makes it fit."""
    contextkit.with_variables(CONTEXTKIT_EMBEDDING_MODEL="none")("remember", "Tabs, never spaces")
    for arguments in (("remember", "x"), ("memories", "list"), ("assemble", "tabs"), ("index",)):
        said = contextkit.line(4, *arguments)
        assert "contextkit reembed" in said
        assert "'none'" in said
    made = contextkit.json("reembed")
    assert made["records"] == 1
    assert made["model"].startswith("wordllama")
    assert texts(contextkit) == {"Tabs, never spaces"}
    assert "Tabs" in contextkit("assemble", "tabs or spaces?").stdout


def test_sources_are_listed_although_the_store_fails(contextkit: CommandLine) -> None:
    """The command that explains things works when things do not."""
    contextkit.with_variables(CONTEXTKIT_EMBEDDING_MODEL="none")("remember", "Tabs")
    result = contextkit("sources")
    assert result.exit_code == 4
    assert "contextkit-memories" in result.stdout
    assert "the store cannot be read: the store at" in result.stderr


def test_a_damaged_store_is_named_and_left_alone(contextkit: CommandLine) -> None:
    """The line says where it is and what to do; nothing in it is changed."""
    contextkit("remember", "Tabs, never spaces")
    (shard() / "meta.json").write_text("{not json")
    before = files()
    for arguments in (("memories", "list"), ("remember", "x"), ("assemble", "tabs")):
        said = contextkit.line(4, *arguments)
        assert str(shard().parent) in said
        assert "contextkit import" in said
    assert files() == before


def test_a_home_that_cannot_be_written(contextkit: CommandLine, tmp_path: Path) -> None:
    """A path below a file: nobody, not even root, can make a folder there."""
    (tmp_path / "file").write_text("")
    refused = contextkit.with_variables(CONTEXTKIT_HOME=str(tmp_path / "file" / "home"))
    for arguments in (("remember", "x"), ("index",), ("assemble", "budget"), ("memories", "list")):
        said = refused.line(4, *arguments)
        assert str(tmp_path / "file") in said
        assert "Not a directory" in said


def test_output_on_a_full_disk(contextkit: CommandLine) -> None:
    """What cannot be written is said in one line."""
    with Path("/dev/full").open("wb") as full:
        ran = contextkit.process("config", "show", stdout=full)
    assert ran.returncode == 1
    assert ran.stderr == b"contextkit: reading or writing failed: No space left on device\n"


def test_a_server_is_reembedded(contextkit: CommandLine) -> None:
    """The model of its records is another one afterwards."""
    with HttpQdrant() as server:
        served = contextkit.with_variables(CONTEXTKIT_STORE_URL=server.url)
        served.with_variables(CONTEXTKIT_EMBEDDING_MODEL="none").json(
            "remember", "Tabs, not spaces"
        )
        assert "contextkit reembed" in served.line(4, "memories", "list")
        made = served.json("reembed")
        assert made["records"] == 1
        assert made["models"] == {"memories": "wordllama-256"}
        assert texts(served) == {"Tabs, not spaces"}


def test_a_server_that_does_not_answer(contextkit: CommandLine) -> None:
    """It is named."""
    served = contextkit.with_variables(CONTEXTKIT_STORE_URL="http://127.0.0.1:9")
    said = served.line(4, "memories", "list")
    assert "http://127.0.0.1:9" in said
    assert "http://127.0.0.1:9" in served.line(4, "reembed")
