"""A context in colour on a terminal, plain anywhere else, and never obeyed by a terminal."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from contextkit.cli.colour import coloured_markdown

if TYPE_CHECKING:
    from tests.cli.conftest import CommandLine, Repository

pytestmark = pytest.mark.one_python

COLOUR = re.compile(rb"\x1b\[[0-9;]*m")
# Whatever takes over a second to index is drawn on a terminal: it is done before.
ASSEMBLE = ("assemble", "split the token budget", "--sources", "code", "--no-index")
HOSTILE = {
    "a window's title": "\x1b]0;pwned\x07",
    "a link": "\x1b]8;;http://evil.example\x1b\\here\x1b]8;;\x1b\\",
    "the clipboard": "\x1b]52;c;cm0gLXJm\x07",
    "a cleared screen": "\x1b[2J\x1b[H",
    "one byte": "\x9b2J",
    "another name": "\u202egnp.exe",
}


def in_short(shown: bytes) -> tuple[str, bytes]:
    """The last line, which is standard error's, and what is before it."""
    lines = shown.replace(b"\r\n", b"\n").splitlines(keepends=True)
    return lines[-1].decode(), b"".join(lines[:-1])


@pytest.fixture
def indexed(contextkit: CommandLine) -> CommandLine:
    """The command line in the repository, whose records are there."""
    contextkit("index", "code")
    return contextkit


def test_a_context_is_coloured_and_has_the_same_characters(indexed: CommandLine) -> None:
    """Headings, labels and code have colours; without them it is what a pipe gets."""
    code, _, shown = indexed.on_terminal(*ASSEMBLE, stdout=True)
    assert code == 0
    said, coloured = in_short(shown)
    plain = indexed(*ASSEMBLE).stdout.encode()
    assert b"\x1b[1;35m# Context\x1b[0m" in coloured
    assert b"\x1b[35mdef\x1b[0m \x1b[36msplit_budget\x1b[0m" in coloured
    assert COLOUR.sub(b"", coloured) == plain
    assert b"\x1b" not in plain
    assert re.fullmatch(
        r"contextkit: \d+ of 2,000 tokens; code \d+; ([\d,]+ ms|[\d.]+ s)\n", said
    ), said


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no markup",
        "# A\n```python\ndef f(): ...\n```\nafter",
        "````md\n```python\n# no heading\n```\n````\n# A heading",
        "```no-such-language\nx\n```",
        "```\nno language\n```",
        "```python\nnever closed",
        "> ```sh\n> ls\n> ```\n",
        "`a` **b** *c*\r\n# d\r\n",
        "# \U0001f986 \ud800",
    ],
)
def test_colour_takes_and_adds_no_character(text: str) -> None:
    """Whatever the Markdown is like; carriage returns aside, which rich leaves out."""
    assert coloured_markdown(text).plain == text.replace("\r", "")


def test_long_lines_are_not_folded_or_cut(contextkit: CommandLine, repository: Repository) -> None:
    """What is copied from the terminal is what is there, however narrow the terminal."""
    repository.commit("Add a ledger", {"ledger.md": f"ledger {'word ' * 60}end\n"})
    contextkit("index", "code")
    asked = ("assemble", "ledger", "--sources", "code", "--no-index")
    _, _, shown = contextkit.on_terminal(*asked, stdout=True, columns=40)
    assert b"word " * 60 + b"end" in COLOUR.sub(b"", shown)


@pytest.mark.parametrize(
    ("arguments", "variables"),
    [
        ((), {"NO_COLOR": "1"}),
        ((), {"TERM": "dumb"}),
        (("--style", "plain"), {}),
        ((), {"CONTEXTKIT_ASSEMBLE_STYLE": "xml"}),
        (("--json",), {}),
    ],
)
def test_no_colour_where_none_is_wanted(
    indexed: CommandLine, arguments: tuple[str, ...], variables: dict[str, str]
) -> None:
    """NO_COLOR, a terminal without colours, the other styles: text as it is; JSON stands alone."""
    asked = indexed.with_variables(**variables)
    _, _, shown = asked.on_terminal(*ASSEMBLE, *arguments, stdout=True)
    assert b"\x1b" not in shown
    assert b"split_budget" in shown
    assert arguments[:1] != ("--json",) or json.loads(shown)["sources_used"]["code"] >= 1


def test_a_pipe_gets_the_text_and_the_person_the_line(indexed: CommandLine) -> None:
    """`contextkit assemble … | agent`: no colour in the pipe, the figures on the terminal."""
    code, output, shown = indexed.on_terminal(*ASSEMBLE)
    assert code == 0
    assert output == indexed(*ASSEMBLE).stdout.encode()
    assert re.match(r"contextkit: \d+ of 2,000 tokens; code ", shown.decode())
    assert shown.count(b"\n") == 1
    assert indexed(*ASSEMBLE).stderr == ""


def test_the_line_says_what_the_budget_cost(indexed: CommandLine) -> None:
    """What was shortened or left out is told where it was."""
    shown = indexed.on_terminal(*ASSEMBLE, "--max-tokens", "60")[2].decode()
    assert "of 60 tokens" in shown
    assert "to hold the budget:" in shown


def test_nothing_found_has_no_line(indexed: CommandLine) -> None:
    """An empty context has its own message, and no figures."""
    asked = ("assemble", "zzz qqq", "--sources", "memories", "--no-index")
    shown = indexed.on_terminal(*asked, stdout=True)[2]
    assert shown == b"contextkit: nothing relevant was found\r\n"


def test_a_premortem_is_coloured_as_well(contextkit: CommandLine) -> None:
    """Both commands that print a context print it alike."""
    entry = {
        "domain": "debugging",
        "strategy": "systematic-elimination",
        "goal": "Split the token budget without losing a token",
        "hypothesis": "Rounding every share down is enough",
        "action": "Divided with integer division",
        "prediction": "The shares add up to the budget",
        "outcome_status": "falsified",
        "outcome_result": "Up to four tokens were lost in every split",
        "surprise": "The rest was lost, not spread",
        "root_cause": "Rounding down loses the rest of the division",
    }
    added = contextkit("experience", "add", "--file", "-", given=json.dumps(entry))
    assert added.exit_code == 0, added.stderr
    shown = contextkit.on_terminal("premortem", "debugging", stdout=True)[2]
    assert b"\x1b[1;35m# Premortem" in shown
    assert re.search(rb"contextkit: \d+ of [\d,]+ tokens; experiences \d", shown)


@pytest.mark.parametrize("language", ["md", "py"])
def test_a_records_text_does_not_drive_the_terminal(
    contextkit: CommandLine, repository: Repository, language: str
) -> None:
    """Control sequences and turned text are shown as escapes, in code and in prose."""
    text = " ".join(HOSTILE.values())
    prose = f"# Ledger\n\nThe ledger {text} of every expense\n"
    code = f'def ledger():\n    """The ledger of expenses."""\n    return "{text}"\n'
    repository.commit("Add it", {f"ledger.{language}": prose if language == "md" else code})
    contextkit("index", "code")
    asked = ("assemble", "ledger of expenses", "--sources", "code", "--no-index")
    shown = contextkit.on_terminal(*asked, stdout=True)[2]
    assert b"ledger" in shown
    assert b"\x1b" not in COLOUR.sub(b"", shown)
    decoded = shown.decode()
    assert not set(decoded) & set("\x07\x9b\u202e")
    plain = COLOUR.sub(b"", shown).decode()
    for what, hostile in HOSTILE.items():
        # A backslash is shown as it is.
        escaped = hostile.encode("unicode_escape").decode().replace(r"\\", "\\")
        assert escaped in plain, what
    # Nor does it drive an agent that reads a pipe.
    piped = contextkit(*asked).stdout
    assert piped.splitlines() == "\n".join(plain.splitlines()[:-1]).splitlines()
    assert contextkit.json(*asked)["markdown"] == piped.removesuffix("\n")


def test_entities_are_not_decoded(contextkit: CommandLine, repository: Repository) -> None:
    """What only a reader of HTML would make a control character of stays as it is written."""
    repository.commit("Add it", {"ledger.md": "# Ledger\n\nThe ledger &#27;[31m &#x9b;2J\n"})
    contextkit("index", "code")
    asked = ("assemble", "ledger", "--sources", "code", "--no-index")
    shown = contextkit.on_terminal(*asked, stdout=True)[2]
    assert b"&#27;[31m &#x9b;2J" in shown


def test_a_fence_within_a_fence_is_code() -> None:
    """What looks like a heading there has no heading's colour."""
    text = "````md\n```python\n# no heading\n```\n````\n# A heading"
    headings = [
        text[span.start : span.end]
        for span in coloured_markdown(text).spans
        if span.style == "bold magenta"
    ]
    assert headings == ["# A heading"]
