"""What reads the text of strangers takes time in proportion to it."""

from __future__ import annotations

from pathlib import Path

import pytest

from contextkit.agent_hooks.failing import failed_kind
from contextkit.config.files import read_settings
from contextkit.errors import ConfigError
from contextkit.workspace import find_workspace
from contextkit_code.text_files import parsed_language
from tests.growing import assert_linear


@pytest.mark.parametrize("output", ["\n", " ", "=", "1 a", "Tests: 1 111 ", "ERROR\n"])
def test_a_failed_commands_output_is_read_in_linear_time(output: str) -> None:
    """A hook's time is not a matter of what a program printed."""

    def read(text: str) -> None:
        answer = {"hook_event_name": "PostToolUse", "tool_input": {"command": "pytest | tail"}}
        assert failed_kind({**answer, "tool_response": text}) is None

    # Its last 20,000 characters are looked at.
    assert_linear(read, lambda size: output * (size // len(output)), 20_000)


@pytest.mark.parametrize("text", [b"\n", b" ", b"\t\n", b"class ", b"std:"])
def test_a_header_files_language_is_found_in_linear_time(text: bytes) -> None:
    """C or C++ is told by patterns that stay on their line."""
    assert_linear(
        lambda content: parsed_language("a.h", content), lambda size: text * (size // len(text))
    )


@pytest.mark.parametrize(
    ("head", "pump"),
    [
        ("", "\n"),
        ("", " "),
        ("[", " "),
        ("", "[tool."),
        ("", "a."),
        ("", '"a".'),
        ("[", "a."),
        ("", "a=1\n"),
        ("", "[[a]]\n"),
        ("a = [", "["),
        ("a = '''", "''\n"),
    ],
)
def test_what_is_no_toml_is_found_out_in_linear_time(tmp_path: Path, head: str, pump: str) -> None:
    """Every command looks for settings in a `pyproject.toml` that anybody wrote."""
    (tmp_path / ".git").mkdir()
    file = tmp_path / "pyproject.toml"

    def look(text: str) -> None:
        file.write_text(text, encoding="utf-8")
        assert find_workspace(tmp_path).config_file is None

    assert_linear(look, lambda size: f"{head}{pump * (size // len(pump))}=", 900_000)


@pytest.mark.parametrize(
    "line", ["a{}=1\n", "[sources.a{}]\nb=1\n", "[strategies.a{}.sources]\nb=1\n", "#{}\n"]
)
def test_many_settings_are_read_in_linear_time(tmp_path: Path, line: str) -> None:
    """The lines of all keys are found in one pass."""
    file = tmp_path / "contextkit.toml"

    def read(text: str) -> None:
        file.write_text(text, encoding="utf-8")
        read_settings(file)

    assert_linear(
        read, lambda size: "".join(line.format(number) for number in range(size // 20)), 500_000
    )


def test_a_line_is_found_among_two_thousand(tmp_path: Path) -> None:
    """Each key has its own line, and a key of a value the line of what it is in."""
    file = tmp_path / "contextkit.toml"
    file.write_text(
        "[sources.code]\n" + "".join(f"a{number} = {{b.c = 1}}\n" for number in range(2_000))
    )
    settings = read_settings(file)

    assert [settings[f"sources.code.a{number}"].line for number in (0, 999, 1999)] == [
        2,
        1001,
        2001,
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("#" * 1_000_001, "cannot be read: larger than 1,000,000 bytes"),
        (f"\n{'a.' * 64}b = 1", "a key has more than 64 parts"),
    ],
)
def test_a_file_of_settings_has_a_limit(tmp_path: Path, text: str, said: str) -> None:
    """A file that nobody would write is refused, and the message says why."""
    file = tmp_path / "contextkit.toml"
    file.write_text(text, encoding="utf-8")

    with pytest.raises(ConfigError, match=said):
        read_settings(file)


def test_a_large_pyproject_of_others_is_passed_over(tmp_path: Path) -> None:
    """Unless it has a table of ours, which is then said to be in too large a file."""
    (tmp_path / ".git").mkdir()
    file = tmp_path / "pyproject.toml"
    file.write_text("#" * 1_000_001, encoding="utf-8")
    assert find_workspace(tmp_path).config_file is None

    file.write_text(f"[tool.contextkit]\n{'#' * 1_000_000}", encoding="utf-8")
    assert find_workspace(tmp_path).config_file == file
    with pytest.raises(ConfigError, match="larger than"):
        read_settings(file)
