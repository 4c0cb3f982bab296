"""What a run of the command line imports: nothing that it does not use."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import CommandLine

pytestmark = [pytest.mark.one_python, pytest.mark.usefixtures("unconfigured")]

DRAWING = {"rich", "structlog"}
CLUSTERING = {"scipy", "sklearn"}
SERVER = {"grpc", "httpx", "pydantic", "qdrant_client"}
PARSING = {"cattrs", "pathspec", "tree_sitter"}
MODELS = {"fastembed", "onnxruntime", "safetensors", "tokenizers", "wordllama"}
ENGINE = {"filelock", "qdrant_edge"}
ASSEMBLING = {
    *("bpe_openai", "numpy", "rapidfuzz"),
    *(
        "contextkit.dedup",
        "contextkit.kit",
        "contextkit.text.markup",
        "contextkit.pipeline.pipeline",
    ),
}
WAITING = {"asyncio", "concurrent", "ssl", "subprocess", "contextkit.concurrency"}
RECORDS = {"contextkit.embedding", "contextkit.models.records", "contextkit.store", "hashlib"}
PLUGINS = {
    *("contextkit.config", "contextkit.models.items", "contextkit.plugin", "pluggy"),
    *(f"contextkit_{name}" for name in ("code", "commits", "embedders", "experiences")),
    *(f"contextkit_{name}" for name in ("memories", "tokenizers", "values")),
}
# From Python 3.13 on `importlib.metadata` imports it.
JSON = {"json"} if sys.version_info < (3, 13) else set()
METADATA = {"email", "importlib.metadata", "json", "logging", "platformdirs", "tomllib", "zipfile"}

NEVER_FOR_A_LOOK = DRAWING | CLUSTERING | SERVER | PARSING | MODELS
HELP = NEVER_FOR_A_LOOK | ENGINE | ASSEMBLING | WAITING | RECORDS

REPORTING = """
import atexit, sys
atexit.register(lambda: print(*sys.modules, file=sys.stderr))
from contextkit.cli import main
main()
"""


def imported_by(contextkit: CommandLine, *arguments: str) -> set[str]:
    """The modules that a run imports, in a process of its own."""
    ran = contextkit.process(*arguments, command=[sys.executable, "-c", REPORTING])
    # On a busy machine a source of an assembly may give up; that costs an exit code of 1.
    assert ran.returncode in {0, 1}, ran.stderr
    found = set(ran.stderr.decode().splitlines()[-1].split())
    assert "contextkit.cli.root" in found, ran.stderr
    return found


@pytest.mark.parametrize(
    ("arguments", "unused"),
    [
        ("--version", HELP | PLUGINS | METADATA),
        ("--help", HELP | {"logging", "platformdirs"} | JSON),
        ("assemble --help", HELP | PLUGINS - {"contextkit.models.items"}),
        ("config show", HELP - {"cattrs"}),
    ],
)
def test_nothing_is_imported_that_a_run_without_records_does_not_use(
    contextkit: CommandLine, arguments: str, unused: set[str]
) -> None:
    """They load no engine, no model, no parser, no event loop, nothing that draws."""
    assert imported_by(contextkit, *arguments.split()) & unused == set()


def test_the_list_of_sources_opens_the_store_and_no_more(contextkit: CommandLine) -> None:
    """Counting records needs the engine, and neither a model nor what compares texts."""
    contextkit("index")
    unused = NEVER_FOR_A_LOOK | {"numpy", "rapidfuzz"}
    found = imported_by(contextkit, "sources")
    assert "qdrant_edge" in found
    assert found & unused == set()


@pytest.mark.parametrize("arguments", ["assemble budget", "assemble budget --no-index"])
def test_an_assembly_imports_only_what_finds_and_shows(
    contextkit: CommandLine, arguments: str
) -> None:
    """With nothing new to index there is no parser, no client of a server, no clustering."""
    contextkit("index")
    unused = {
        *(DRAWING | CLUSTERING | SERVER),
        *("cattrs", "tree_sitter", "wordllama"),
        *("contextkit_code.code_records", "contextkit_code.grammars", "contextkit_code.languages"),
        *("contextkit_commits.history", "contextkit_commits.log_parser"),
        *("contextkit_documents.chunks", "contextkit_entities.code_graph", "markdown_it"),
        *("contextkit.pipeline.explain", "contextkit.store.searcher", "contextkit.store.searcher"),
        *("contextkit_experiences.model", "contextkit_experiences.serialising"),
    }
    assert imported_by(contextkit, *arguments.split()) & unused == set()
