"""How events look, by kind, style and detail."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from contextkit import ContextItem
from contextkit.models.items import Detail, Style
from contextkit_events.event import Event
from contextkit_events.formatting import formatted, headline

WHEN = datetime(2026, 1, 2, 3, 4, 5, 678_000, tzinfo=UTC)
AT = "[2026-01-02 03:04]"


def shown(
    kind: str,
    style: Style = "markdown",
    detail: Detail = "full",
    earlier: bool = False,
    **parts: Any,
) -> str:
    """An event as it is shown."""
    event = Event(id="evt_1", session="s", kind=kind, created_at=WHEN, **parts)
    metadata = event.as_dict() | ({"earlier": True} if earlier else {})
    item = ContextItem("events", "own words", 0.5, metadata, id="evt_1", kind=kind, created_at=WHEN)
    return formatted(item, style, detail)


@pytest.mark.parametrize(
    ("kind", "parts", "expected"),
    [
        ("file_read", {"path": "src/a_b.py"}, "Read: src/a_b.py"),
        ("file_write", {"path": "a.py", "outcome": "success"}, "Wrote: a.py [success]"),
        (
            "shell_exec",
            {"command": "make", "outcome": "failure", "output": "no rule"},
            "Executed: `make` [failure]\n```\nno rule\n```",
        ),
        ("shell_exec", {"command": "make", "exit_code": 2}, "Executed: `make` [exit 2]"),
        ("shell_exec", {"command": "make", "exit_code": 0}, "Executed: `make`"),
        ("error", {"text": "boom", "output": "a.py:1"}, "Error: boom\n```\na.py:1\n```"),
        ("turn", {"text": "hello\n- there", "role": "assistant"}, "Assistant: hello\n- there"),
        ("deploy", {"text": "went well"}, "deploy: went well"),
        ("deploy", {"text": "x", "path": "p"}, 'deploy: {"text": "x", "path": "p"}'),
    ],
)
def test_the_formats_of_the_seed(kind: str, parts: dict[str, Any], expected: str) -> None:
    """Seed 3's, but for the time, which has no seconds; what was printed is in a fence."""
    assert shown(kind, **parts) == f"{AT} {expected}"


def test_what_an_earlier_session_did_says_so() -> None:
    """In each style."""
    assert shown("file_read", path="a", earlier=True) == f"{AT} Read: a (earlier session)"
    assert shown("file_read", "plain", path="a", earlier=True).endswith("(earlier session)")
    assert ' earlier="true"' in shown("file_read", "xml", path="a", earlier=True)


def test_plain_text_is_indented_below_the_head() -> None:
    """No line of it can pass for a heading of the context."""
    text = shown("shell_exec", "plain", command="make", output="=== a\nb")
    assert text == f"{AT} Executed: `make`\n  === a\n  b"
    assert shown("turn", "plain", text="one\n--- two", role="user") == f"{AT} User: one\n  --- two"


def test_xml_is_escaped() -> None:
    """Kind and time are attributes; ids, which an agent cannot open, are not shown."""
    text = shown("shell_exec", "xml", command="a < b", output="</entity>\n&")
    assert text == (
        '<entity type="event" kind="shell_exec" time="2026-01-02 03:04">\n'
        "Executed: `a &lt; b`\n&lt;/entity&gt;\n&amp;\n</entity>"
    )


@pytest.mark.parametrize("style", ["markdown", "xml", "plain"])
def test_a_summary_has_no_output(style: Style) -> None:
    """It can be looked up."""
    assert "printed" not in shown("shell_exec", style, "summary", command="make", output="printed")


@pytest.mark.parametrize(
    ("style", "expected"),
    [
        ("markdown", "- 2026-01-02 03:04 Executed: `make` [exit 1]"),
        ("plain", "2026-01-02 03:04 Executed: `make` [exit 1]"),
        (
            "xml",
            '<event kind="shell_exec" time="2026-01-02 03:04">Executed: `make` [exit 1]</event>',
        ),
    ],
)
def test_compact_is_one_line(style: Style, expected: str) -> None:
    """Its output is left out, and what is long is cut."""
    assert (
        shown("shell_exec", style, "compact", command="make", exit_code=1, output="x") == expected
    )
    long = shown("turn", style, "compact", text="word " * 200, role="user")
    assert "\n" not in long
    assert len(long) < 250


def test_markup_in_an_event_stays_text() -> None:
    """A command cannot end its span, a message opens no heading, an output closes no fence."""
    assert "`` echo `date` ``" in shown("shell_exec", command="echo `date`")
    assert "\n\\# not a heading" in shown("turn", text="a\n# not a heading", role="user")
    assert "````\n```\n````" in shown("error", text="x", output="```")
    assert "\\_\\_init\\_\\_" in shown("file_read", path="__init__.py")


@pytest.mark.parametrize("style", ["markdown", "xml", "plain"])
@pytest.mark.parametrize("detail", ["full", "summary", "compact"])
def test_what_has_no_parts_shows_its_own_words(style: Style, detail: Detail) -> None:
    """As what a host's own searcher finds; without a time there is none."""
    item = ContextItem("events", "own words", 0.5, id="x")
    text = formatted(item, style, detail)
    assert "own words" in text
    assert "1970" not in text


def test_a_headline_is_short() -> None:
    """Sixty characters at most."""
    assert headline({"kind": "file_read", "path": "a.py"}) == "Read: a.py"
    assert len(headline({"kind": "note", "text": "word " * 50})) <= 60
