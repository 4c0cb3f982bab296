"""What reads the text of strangers takes time in proportion to it."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from contextkit import ContextItem, InvalidRequestError
from contextkit.agent.failures import failed_kind
from contextkit.agent.notify import as_message
from contextkit.config.files import read_settings
from contextkit.config.settings import Config
from contextkit.dedup.normal import clauses, normal_text
from contextkit.errors import ConfigError
from contextkit.indexing import Folder
from contextkit.indexing.files import SkipFileError
from contextkit.pipeline.request import make_request
from contextkit.sources.document import read_document
from contextkit.sources.entry import InvalidEntryError
from contextkit.text.blocks import TextBlocks
from contextkit.text.graphemes import is_boundary
from contextkit.text.markup import (
    escape_markdown,
    fenced,
    line_start_safe,
    markdown_text,
    one_line,
    plain_text,
)
from contextkit.text.questions import is_talk, signals_of
from contextkit.text.tokens import estimate_tokens
from contextkit.text.truncation import truncate
from contextkit.workspace.find import find_workspace
from contextkit_code.chunks import chunk_file
from contextkit_code.code_records import RecordMaker
from contextkit_code.doc_comments import comment_words, string_words
from contextkit_code.git_attributes import marked_by_git
from contextkit_code.passed_over import made_folder, made_folders
from contextkit_code.plain_definitions import plain_definitions, plain_names
from contextkit_code.text_files import parsed_language
from contextkit_code.truncation import truncated
from contextkit_commits.log_parser import parse_log, split_tokens
from contextkit_commits.text import clean_message
from contextkit_documents.document_records import records_of
from contextkit_documents.file_kinds import FileKind, Kind
from contextkit_entities.mentions import mentions_in
from tests.growing import assert_linear

pytestmark = pytest.mark.one_python

PUMPS = (
    *("\n", " ", "a", "a ", "A", "0 ", "#", "`", "``` \n", "|", "|-|\n", "> ", "- ", "* ", "1. "),
    *(
        "(",
        ")",
        "[",
        "]: ",
        "{",
        "<a",
        "<!--",
        "&amp;",
        "**",
        "_a",
        "a.",
        "a::",
        '"',
        "'",
        "!",
        "? ",
    ),
    *("...", "\\", "a: b\n", '"a": 1\n', "[a]\n", "x\n===\n", "# a\n", "a\n\n", "/*", "//"),
    *("\u0301", "\u0301\u0316", "\u200d", "\U0001f1e9", "中", "…", "\r", "\x1b["),
)


def _lines(text: str) -> str:
    """A text with lines that people could have written, which is not minified."""
    return "\n".join(text[start : start + 80] for start in range(0, len(text), 80))


def _excerpt(language: str, text: str) -> object:
    """A unit shortened for a query, both made of the text."""
    metadata = {"language": language, "file_path": "a", "unit_type": "lines"}
    item = ContextItem("code", f"a [a:1]\n{_lines(text)}", 1.0, id="a", metadata=metadata)
    return truncated(item, "plain", 500, estimate_tokens, text)


READERS: dict[str, Callable[[str], object]] = {
    "truncate": lambda text: truncate(text, 500, estimate_tokens),
    "TextBlocks": lambda text: TextBlocks(text).before_span(len(text) // 2),
    "is_boundary": lambda text: [is_boundary(text, len(text) - back) for back in range(50)],
    "markdown_text": markdown_text,
    "line_start_safe": line_start_safe,
    "escape_markdown": escape_markdown,
    "plain_text": plain_text,
    "one_line": one_line,
    "fenced": lambda text: fenced(text, text),
    "normal_text": normal_text,
    "clauses": clauses,
    "signals_of": signals_of,
    "is_talk": is_talk,
    "mentions_in": mentions_in,
    "as_message": lambda text: as_message({"a": text, "b": [text] * 50}),
    "clean_message": lambda text: clean_message(text.encode()),
    "parse_log": lambda text: [*parse_log(split_tokens([text.encode()] * 2))],
    "plain_names": plain_names,
    "plain_definitions": lambda text: plain_definitions(text.split("\n"), "sql"),
    "comment_words": lambda text: comment_words([f"/*{text}*/"]),
    "string_words": lambda text: string_words(f'"""{text}"""'),
    "chunk_file": lambda text: chunk_file(text.split("\n"), (), "a", "lines"),
    **{f"excerpt of {name}": partial(_excerpt, name) for name in ("python", "go", "lua", "text")},
}


DOCUMENTS: dict[str, Kind] = {
    "markdown": "documentation",
    "rst": "documentation",
    "json": "configuration",
    "yaml": "configuration",
    "toml": "configuration",
}


def _document(language: str, text: str) -> object:
    return records_of("a", FileKind(DOCUMENTS[language], language), _lines(text).encode())


READERS |= {f"a document of {name}": partial(_document, name) for name in DOCUMENTS}


def _front_matter(form: str, text: str) -> None:
    lines = form.format(text.replace("\n", "\n- "))
    with contextlib.suppress(InvalidEntryError):
        read_document(f"---\n{lines}\n---\n")


FORMS = ("a: [{}]", "a: {}", 'a: "{}"', "{}", "a:\n- {}")
READERS |= {f"front matter {form!r}": partial(_front_matter, form) for form in FORMS}


def _repeated(pump: str, size: int) -> str:
    return pump * (size // len(pump))


@pytest.mark.parametrize("reader", READERS)
def test_what_reads_texts_does_so_in_linear_time(reader: str) -> None:
    """Chunking, escaping, shortening and asking, of texts made of one thing alone."""

    def read(text: str) -> None:
        # Some are no text, and some no log.
        with contextlib.suppress(SkipFileError, ValueError, StopIteration):
            READERS[reader](text)

    for pump in PUMPS:
        assert_linear(read, partial(_repeated, pump), 32_000)


@pytest.mark.parametrize("pump", ["(a)", "`", "(", "\\\n", "a."])
def test_code_that_is_nested_without_end_is_given_up_soon(pump: str) -> None:
    """A file of a quarter of a megabyte kept a query busy for more than a minute."""
    content = _lines(pump * (256_000 // len(pump))).encode()
    start = time.thread_time()
    RecordMaker().records("a.js", content)

    # A parser has three seconds.
    assert time.thread_time() - start < 10


def test_a_query_has_a_limit() -> None:
    """What is longer than any question is refused, and the message says how long it may be."""
    with pytest.raises(InvalidRequestError, match="may have 1,000,000"):
        make_request(Config(), "a " * 600_000, project="p", workspace=None)


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
        ("\n" + '"!".' * 64 + "b = 1", "a key has more than 64 parts"),
        ("\n" + r'"\"".' * 64 + "b = 1", "a key has more than 64 parts"),
        ("\n[" + "a . 'b c'." * 32 + "b]", "a key has more than 64 parts"),
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


def test_a_file_of_git_attributes_has_a_limit(tmp_path: Path) -> None:
    """Each rule is matched against each path, so that only the first 2,000 count."""
    rules = ["a.py", *(f"{number}.c" for number in range(1_999)), "b.py"]
    (tmp_path / ".gitattributes").write_text(
        "".join(f"{rule} linguist-generated\n" for rule in rules)
    )
    why = marked_by_git(Folder(tmp_path))

    assert [path for path in ("a.py", "1998.c", "b.py") if why(path)] == ["a.py", "1998.c"]


def test_the_built_folders_of_many_packages_are_found_in_linear_time() -> None:
    """A repository may have thousands of packages of JavaScript, each with its `dist/`."""
    names = ("package.json", "dist/a.js", "src/a.js", "src/b.js", "src/c.js")

    def find(paths: list[str]) -> None:
        made = made_folders(paths)
        assert sum(made_folder(path, made) is not None for path in paths) == len(paths) // 5

    assert_linear(
        find, lambda size: [f"p{n}/{name}" for n in range(size // 5) for name in names], 50_000
    )
