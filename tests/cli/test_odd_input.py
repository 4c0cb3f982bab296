"""Whatever is typed, the answer is a result or one line that says what is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given, settings, strategies as st

from contextkit.cli.failures import ExitCode
from contextkit.cli.root import cli
from contextkit.testing import own_home
from tests.odd_values import TEXTS

costly = settings.get_profile("costly")

COMMANDS = (
    *("assemble", "explain", "premortem", "sources", "strategies", "config show", "history show"),
    *("project show", "project list", "project link", "project unlink", "prune", "remember"),
    *("memories list", "memories show", "memories forget", "experience list", "experience show"),
    *("events list", "events add", "patterns list", "patterns add", "entities list", "task list"),
    *("task push", "values list", "cache show", "index", "completion", "zzz", ""),
)
"""Those that write no file of a name that is given, start no server and fetch nothing."""

OPTIONS = (
    *("--json", "--help", "--max-tokens", "--limit", "--style", "--sources", "--weight", "--since"),
    *(
        "--kind",
        "--session",
        "--min-relevance",
        "--strategy",
        "--tags",
        "--importance",
        "--timeout",
    ),
    *("--category", "--exclude", "--tokens", "--item", "--no-guard", "--dry-run", "--", "-", "-x"),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A workspace with one file; the home is the module's, and the store is made once."""
    folder = tmp_path_factory.mktemp("workspace")
    (folder / "tide.md").write_text("# Tide\n\nHigh water at noon.\n")
    with own_home():
        yield folder


@given(
    command=st.sampled_from(COMMANDS),
    words=st.lists(st.sampled_from(OPTIONS) | TEXTS, max_size=5),
    typed=st.binary(max_size=30),
)
@costly
def test_words_on_a_command_line(
    folder: Path, command: str, words: list[str], typed: bytes
) -> None:
    """The exit code is one of ours, and an error of ours is no internal one."""
    arguments = ["-C", str(folder), *command.split(), *words]
    result = CliRunner().invoke(cli, arguments, input=typed)
    assert result.exit_code in {int(code) for code in ExitCode}, (arguments, result.exception)
    assert "internal error" not in result.stderr, (arguments, result.stderr)
