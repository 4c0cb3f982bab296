"""What is left of a commit that does not fit."""

from __future__ import annotations

from typing import Any

from attrs import evolve

from contextkit import ContextItem

SHA = "0123456789abcdef0123456789abcdef01234567"
BODY = "\n".join(f"Line {number} of the body has several words." for number in range(40))


def count(text: str) -> int:
    """Words, as a stand-in for tokens that is easy to follow."""
    return len(text.split())


def formatted(hooks: Any, message: str) -> ContextItem:
    """A formatted commit, as the hook gets it."""
    item = ContextItem(
        "commits",
        message,
        0.5,
        id=SHA,
        text=message,
        metadata={
            "sha": SHA,
            "author": "Ada",
            "timestamp": "2026-01-02T03:04:05+00:00",
            "files_changed": ["a.py", "b.py"],
        },
    )
    return evolve(item, content=hooks.contextkit_format(items=[item], style="markdown")[0])


def test_heading_subject_files_and_note_stay(hooks: Any) -> None:
    """The body gives way first; the note says how to see it."""
    item = formatted(hooks, f"Fix the parser\n\n{BODY}")
    text = hooks.contextkit_truncate(item=item, max_tokens=29, count=count)
    assert text == (
        "**Commit** `0123456` by Ada on 2026-01-02T03:04:05+00:00\n"
        "Fix the parser\n\n"
        "Line 0 of the body has several words.\n"
        "Line 1 of...\n"
        "*Files: a.py, b.py*\n\n"
        "*(truncated, in full: `git show 0123456`)*"
    )
    assert count(text) <= 29


def test_every_budget_is_kept(hooks: Any) -> None:
    """Whatever the budget the result is within it, or None where not even the heading fits."""
    item = formatted(hooks, f"Fix <the> parser\n\n{BODY}")
    whole = count(item.content)
    lengths = []
    for budget in range(1, whole + 1):
        text = hooks.contextkit_truncate(item=item, max_tokens=budget, count=count)
        if text is None:
            assert budget < 12
            continue
        lengths.append(count(text))
        assert count(text) <= budget
        assert text.split("\n")[0] == item.content.split("\n")[0]
        assert budget == whole or text.endswith("*(truncated, in full: `git show 0123456`)*")
    assert lengths[-1] == whole
    assert lengths[-2] >= whole - 12


def test_files_give_way_before_the_subject(hooks: Any) -> None:
    """A subject without the files is better than the files without a subject."""
    item = formatted(hooks, f"Fix the parser\n\n{BODY}")
    text = hooks.contextkit_truncate(item=item, max_tokens=16, count=count)
    assert "Fix the parser" in text
    assert "*Files" not in text


def test_a_long_subject_is_cut_at_a_word(hooks: Any) -> None:
    """A message that is one long line is cut within it."""
    item = formatted(hooks, "word " * 300)
    text = hooks.contextkit_truncate(item=item, max_tokens=40, count=count)
    assert "word word word...\n" in text
    assert count(text) <= 40


def test_one_endless_word_leaves_heading_and_note(hooks: Any) -> None:
    """A subject without a space is left out whole."""
    item = formatted(hooks, "x" * 9000)
    text = hooks.contextkit_truncate(item=item, max_tokens=400, count=len)
    assert text == (
        "**Commit** `0123456` by Ada on 2026-01-02T03:04:05+00:00\n"
        "\n*(truncated, in full: `git show 0123456`)*"
    )


def test_files_that_do_not_fit_leave_the_message_whole(hooks: Any) -> None:
    """A line of endless paths gives way to a message that fits without it."""
    item = formatted(hooks, "Fix the parser\n\nBecause.")
    item = evolve(item, content=item.content.replace("a.py", "a" * 500))
    text = hooks.contextkit_truncate(item=item, max_tokens=200, count=len)
    assert "\nFix the parser\n\nBecause.\n\n*(truncated" in text


def test_what_fits_is_returned_whole(hooks: Any) -> None:
    """Nothing is cut, and no note added, where there is room."""
    item = formatted(hooks, "Fix the parser")
    assert hooks.contextkit_truncate(item=item, max_tokens=99, count=count) == item.content


def test_a_heading_that_does_not_fit_is_left_to_the_default(hooks: Any) -> None:
    """Below the size of heading and note the core's own way is better than none."""
    item = formatted(hooks, "Fix the parser")
    assert hooks.contextkit_truncate(item=item, max_tokens=3, count=count) is None


def test_text_of_another_formatter_is_left_to_the_default(hooks: Any) -> None:
    """A text of one line has nothing below a heading."""
    item = ContextItem("commits", "one line", 0.5, id=SHA)
    assert hooks.contextkit_truncate(item=item, max_tokens=1, count=count) is None
