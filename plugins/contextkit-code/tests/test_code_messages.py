"""Messages and quotes: where a program's text stands in its code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from contextkit import ContextItem

Ask = Callable[..., list[ContextItem]]
Project = Callable[[dict[str, str]], Any]

_CREDIT = 'def credit(places):\n    return f"Also in: {places}"'


def _tables(number: int) -> dict[str, str]:
    """Files whose words are those of the question, and which do not hold what it quotes."""
    body = '    """Show one more row of the table, with a line for each item."""'
    return {f"table{n}.py": f"def table_row_{n}(item):\n{body}" for n in range(number)}


@pytest.mark.parametrize("quotes", ["'{}'", '"{}"', "`{}`"])
def test_what_is_quoted_leads_to_where_it_stands(project: Project, ask: Ask, quotes: str) -> None:
    """A message of a program is found however little else the question shares with its place."""
    project({**_tables(20), "notes.py": _CREDIT})
    found = ask(f"A table shows the line {quotes.format('Also in: ...')} as one more row", limit=5)
    assert found[0].location == "notes.py:1"
    assert found[0].relevance >= found[1].relevance


def test_what_many_units_hold_leads_to_none(project: Project, ask: Ask) -> None:
    """A quote that is everywhere says nothing about where."""
    rows = {f"t{n}.py": f"def row_{n}():\n    return 'as of now'" for n in range(8)}
    project({**rows, "budget.py": "def split_budget(total):\n    return total"})
    assert ask("where is the budget split 'as of now'?")[0].title == "split_budget"


_GATE = """\
def close_gate(name, hour):
    if hour is None:
        raise ValueError(f"No hour was given for gate {name}")
"""


@pytest.mark.parametrize(
    "message",
    [
        "ValueError: No hour was given for gate north",
        "why does it end with ValueError: No hour was given when I close it?",
        "harbour.GateError: No hour was given for gate 7 and row 3",
        "error: No hour was given",
        "No hour was given for gate north",
        "No hour was given for gate 'north gate'.",
        "gate.py: closed: No hour was given",
    ],
)
def test_an_error_message_leads_to_where_it_is_raised(
    project: Project, ask: Ask, message: str
) -> None:
    """Also alone, with values in it, a question behind it, and in tests that expect it."""
    others = {
        f"test_{n}.py": f"def test_value_error_{n}():\n    'No hour was given for gate {n}'"
        for n in range(8)
    }
    alike = {
        "hour.py": 'def no_hour_given(gate):\n    """No hour was ever given for the gate."""',
        "error.py": "class GateError(ValueError):\n    hour = gate = given = None",
    }
    project({**alike, **others, "gate.py": _GATE})
    assert ask(message, limit=5)[0].title == "close_gate"


_PRINTS = [
    'raise ValueError(f"hook {name!r} failed in {place}, see {log}")',
    'return fmt.Errorf("hook %q failed in %s, see %v", name, place, log)',
    "throw new Error(`hook ${name} failed in ${place}, see ${log}`);",
    "raise \"hook '#{name}' failed in #{place}, see #{log}\"",
]


@pytest.mark.parametrize("line", _PRINTS)
@pytest.mark.parametrize(
    "question",
    [
        "hook 'on_save' failed in gate 7, see hook.log",
        "HookError: hook 'on_save' failed in gate 7, see hook.log",
        "gates: error (at <stdin>:1): hook 'on_save' failed in gate 7, see hook.log",
        "warning[H12]: hook 'on_save' failed in gate 7, see hook.log",
        "My terminal says this.\n\nerror: hook 'on_save' failed in gate 7, see hook.log",
    ],
)
def test_a_message_leads_to_the_string_that_it_was_made_from(
    project: Project, ask: Ask, line: str, question: str
) -> None:
    """Whatever values stand between its words, and however well other code has their words."""
    alike = '"""The hook on_save has failed. See the terminal, the gate and hook.log."""'
    others = {f"o{n}.py": f"def on_save_hook_{n}(gate, log):\n    {alike}" for n in range(9)}
    project({**others, "hooks.py": f"def run(name, place, log):\n    {line}"})
    found = ask(question, limit=5)
    assert found[0].title == "run"
    assert found[0].relevance >= 0.9 or "\n" in question
    # What has the same words, or the values, answers less.
    assert found[1].relevance <= 0.6


_CONSTANT = """\
UNKNOWN_BERTH = \"\"\"\\
Received a boat for an unknown berth {0}.
It stays outside.
\"\"\"
"""


def test_a_message_leads_to_its_constant_and_to_what_uses_it(project: Project, ask: Ask) -> None:
    """Also in a string of several lines, and where a log has written before the message."""
    using = "def moor(boat):\n    raise BerthError(UNKNOWN_BERTH.format(boat.berth))\n"
    words = "def boat_{0}(berth):\n    # Received a boat. The berth is unknown, the boat outside.\n"
    alike = {f"o{n}.py": f"{words.format(n)}    return {n}\n" for n in range(9)}
    project({**alike, "messages.py": _CONSTANT, "mooring.py": using})
    message = "Received a boat for an unknown berth 7/north/left of the main gate."
    for log in ("", "[2026-11-01 10:00:01,123: ERROR/Main] "):
        paths = [item.metadata["file_path"] for item in ask(f"{log}{message}", limit=5)]
        assert paths[:2] == ["messages.py", "mooring.py"]


def test_numbered_code_in_a_report_is_no_message(project: Project, ask: Ask) -> None:
    """The same line of code elsewhere is not what the report is about."""
    body = "    cover = harbour.cover_of(boat, at_night=True)\n    return cover\n"
    project({"a.py": f"def cover_boats(boat):\n{body}", "b.py": "def split_budget(it): ...\n"})
    report = f"The budget is split wrongly\n\n    123     x = 1\n--> 124 {body.strip()}\n"
    assert ask(report)[0].title == "split_budget"


def test_what_calls_a_function_stands_behind_its_message(project: Project, ask: Ask) -> None:
    """A name as common as `run` says nothing about who calls it."""
    check = "def {0}(boat):\n    raise ValueError(f'no berth is left for {{boat}}')\n"
    call = "def harbour(boats):\n    return [{0}(boat) for boat in boats]\n"
    alike = {f"o{n}.py": f"def left_{n}(berth):\n    # no berth is left\n" for n in range(9)}
    for name, is_second in (("check_berth", True), ("run", False)):
        project({**alike, "check.py": check.format(name), "call.py": call.format(name)})
        found = [item.title for item in ask("no berth is left for tern", limit=5)]
        assert found[0] == name
        assert (found[1] == "harbour") is is_second


def test_the_longest_string_of_a_message_leads(project: Project, ask: Ask) -> None:
    """A string of many units leads to none, and an order of words to no other one."""
    checks = "".join(
        f"def check_{word}(it):\n    raise TypeError(f'logger {{it}} must respond to {word}')\n\n\n"
        for word in ("info", "warn", "debug")
    )
    many = {f"m{n}.py": f"def m{n}(it):\n    print('must respond to')" for n in range(8)}
    project({**many, "checks.py": checks})
    assert ask("logger stdout must respond to warn")[0].title == "check_warn"
    assert ask("warn must respond to logger stdout")[0].relevance < 0.9


def test_a_test_that_holds_a_message_does_not_lead(project: Project, ask: Ask) -> None:
    """The code that has the message does, and a test does where nothing else has it."""
    expecting = "def test_boats():\n    assert str(boat) == 'boat has left port'"
    rows = {f"boat{n}.py": f"def boat_{n}_port():\n    left = {n}" for n in range(4)}
    leaving = "def leave(ship):\n    return 'boat has left port'"
    project({**rows, "test_boat.py": expecting, "ship.py": leaving})
    found = ask("boat has left port")
    assert found[0].title == "leave"
    assert found[1].title != "test_boats"
    project({"ship.py": "def leave(ship): ..."})
    assert ask("boat has left port")[0].title == "test_boats"


def test_a_test_does_not_lead_where_code_has_a_part_of_the_message(
    project: Project, ask: Ask
) -> None:
    """The test has all of it, and the code makes it elsewhere."""
    expecting = "def test_berth():\n    assert str(it) == 'no berth was left for tern'"
    raising = "def moor(boat):\n    # no berth was left for it\n    raise full(boat)"
    project({"test_berth.py": expecting, "mooring.py": raising})
    assert ask("no berth was left for tern")[0].title == "moor"


def test_words_of_a_statement_are_no_message(project: Project, ask: Ask) -> None:
    """Its first two or three stand anywhere by chance."""
    project({"gate.py": _GATE, "boat.py": "def boat():\n    'the gate opens at night'"})
    assert ask("the gate opens without any hour")[0].title == "close_gate"


def test_a_label_is_no_error_message(project: Project, ask: Ask) -> None:
    """What somebody says behind a colon is not searched for as a message."""
    project({"gate.py": _GATE, "boat.py": "def boat_rows():\n    return 'we use boats here'"})
    assert ask("Context: we use boats here. Where is the gate closed?")[0].title == "close_gate"


def test_apostrophes_quote_nothing(project: Project, ask: Ask) -> None:
    """Neither do names, which are found as names."""
    project({"budget.py": "def split_budget(total):\n    return total"})
    asked = "doesn't the budget's `split_budget` lose what sources don't take?"
    assert [item.title for item in ask(asked)] == ["split_budget"]
