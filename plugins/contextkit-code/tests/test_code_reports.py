"""Long questions: an issue, a pasted traceback, a description with a title."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from contextkit import ContextItem
from contextkit.text.questions import first_line
from contextkit_code.ranking.mentions import matched_files, mentions_in
from contextkit_code.ranking.messages import phrases_in
from contextkit_code.ranking.question import searched_text
from tests.growing import assert_linear

Ask = Callable[..., list[ContextItem]]
Project = Callable[[dict[str, str]], Any]

STACK = """\
Traceback (most recent call last):
  File "/home/me/script.py", line 3, in <module>
    shop.open()
  File "/usr/lib/python3/site-packages/shop/doors.py", line 2, in unlock
    turn(key)
ValueError: no such thing"""


def test_the_first_line_is_a_question_of_its_own(project: Project, ask: Ask) -> None:
    """The body's many words do not bury it."""
    project(
        {
            "a.py": "def close_shelf(): ...\n",
            "b.py": "def print_versions():\n    # platform machine system release\n    ...\n",
        }
    )

    report = "Close the shelf\n\nversion 1, platform x, machine y, system z, release 3"

    assert ask(report)[0].title == "close_shelf"


@pytest.mark.parametrize("report", [STACK, f"It breaks\n\n{STACK}"])
def test_a_frame_leads_to_the_unit_of_its_line(project: Project, ask: Ask, report: str) -> None:
    """Also where the file stands in another folder than on the reporter's machine."""
    others = "".join(f"def thing_{n}(value):\n    raise ValueError\n\n\n" for n in range(9))
    doors = "def unlock(door):\n    turn(door)\n\n\ndef lock(door):\n    turn(door)\n"
    project({"src/shop/doors.py": doors, "src/shop/things.py": others})

    assert ask(report)[0].id == "src/shop/doors.py::unlock"


@pytest.mark.parametrize(
    "mention", ["lib/shelf.js:10:5", "`shelf.js`", "at put (/app/lib/shelf.js:1:3)"]
)
def test_a_file_that_is_named_anywhere_comes_first(
    project: Project, ask: Ask, mention: str
) -> None:
    """Also behind 90,000 characters of other text."""
    others = {f"lib/o{n}.js": f"function other{n}() {{ log(); }}\n" for n in range(9)}
    project({**others, "lib/shelf.js": "function put(x) {\n  return x;\n}\n"})

    log = "other log line\n" * 6000

    assert ask(f"Something else\n{log}{mention}")[0].metadata["file_path"] == "lib/shelf.js"


def test_a_quote_in_a_report_counts_and_does_not_lead(project: Project, ask: Ask) -> None:
    """What a reporter pastes is seldom what the report is about."""
    project(
        {
            "budget.py": "def split_budget(total):\n    return total\n",
            "log.py": "def started():\n    return 'has begun at noon'\n",
        }
    )

    report = "The budget is split wrongly\n\nIt prints 'has begun at noon' before."

    assert [item.title for item in ask(report)] == ["split_budget", "started"]


def test_a_pasted_traceback_is_about_its_message() -> None:
    """Its first line says nothing."""
    assert first_line(STACK) == "ValueError: no such thing"
    assert first_line("\n  A title \n\nbody") == "A title"
    assert first_line(" \n ") == ""


def test_a_linter_lists_lines_below_the_name_of_their_file(project: Project, ask: Ask) -> None:
    """The unit of such a line comes first."""
    shelf = "".join(f"function put{n}() {{\n  log({n});\n}}\n\n" for n in range(9))
    project({"lib/shelf.js": shelf, "lib/door.js": "function unused() { assigned(); }\n"})
    listed = "lib/shelf.js\n  10:7  error  'x' is assigned a value but never used  no-unused-vars"
    assert ask(listed)[0].title == "put2"


def test_files_are_matched_by_the_end_of_their_path() -> None:
    """A name alone means a file of that name; two shared folders tell where it is."""
    paths = ["src/shop/doors.py", "src/shop/__init__.py", "lib/doors.py", "src/shop/keys.go"]

    def meant(text: str) -> list[list[str]]:
        return list(matched_files(mentions_in(text), paths).values())

    assert meant("in /usr/lib/shop/doors.py") == [["src/shop/doors.py"]]
    assert meant("in doors.py") == [["lib/doors.py", "src/shop/doors.py"]]
    assert meant("shop.doors.unlock fails") == [["src/shop/doors.py"]]
    assert meant("shop/doors is wrong") == [["src/shop/doors.py"]]
    assert meant("C:\\shop\\keys.go:12") == [["src/shop/keys.go"]]
    assert meant("/usr/lib/other/doors.py, np.doors, e.g. this") == []


@pytest.mark.parametrize(
    "text", ["a", "a.", "a/", "aA", "error: a ", "a:1", '", line 1 in a', "~.", "1:", "x in "]
)
def test_mentions_are_read_in_linear_time(text: str) -> None:
    """Whatever the text is made of."""
    assert_linear(mentions_in, lambda size: (text * size)[:size], 100_000)
    assert_linear(searched_text, lambda size: (text * size)[:size], 100_000)
    assert_linear(phrases_in, lambda size: (text * size)[:size], 100_000)
