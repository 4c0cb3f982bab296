"""`contextkit memories search` and `edit`, through the real command line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from contextkit.testing import CommandLine, command_line, printed_json

PLUGIN = Path(__file__).parent.parent


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[CommandLine]:
    """The command line in an empty workspace, with this plugin as it is in the checkout."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with command_line(tmp_path / "workspace", PLUGIN, CONTEXTKIT_PROJECT="demo") as opened:
        yield opened


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal, which editors need."""
    monkeypatch.setattr("contextkit.cli.edit.is_terminal", lambda _: True)


@pytest.fixture
def tabs(run: CommandLine) -> dict[str, Any]:
    """A memory."""
    added = run("remember", "Tabs, never spaces", "--category", "preference", "--json")
    memory: dict[str, Any] = printed_json(added)
    return memory


def shown(run: CommandLine, memory: dict[str, Any]) -> Any:
    """The memory as it is stored."""
    return printed_json(run("memories", "show", memory["id"], "--json"))


def test_a_search_shows_what_matches_best_first(run: CommandLine, tabs: dict[str, Any]) -> None:
    """With the relevance; memories without a match are left out."""
    run("remember", "We deploy on Fridays", "--tag", "ops")

    assert run("memories", "search", "tabs").stdout.startswith(f"0.75  {tabs['id']}  ")
    assert len(run("memories", "search", "tabs").stdout.splitlines()) == 1
    (found,) = printed_json(run("memories", "search", "when do we deploy?", "--json"))
    assert (found["tags"], found["relevance"] > 0.5) == (["ops"], True)
    elsewhere = run("memories", "search", "tabs", "--category", "decisions")
    assert elsewhere.stdout == "No memories match.\n"


def test_options_change_a_memory(run: CommandLine, tabs: dict[str, Any]) -> None:
    """What is given changes, the rest stays; the new text is searched."""
    said = run("memories", "edit", tabs["id"][:-2], "--text", "Four blanks", "--tag", "Style")

    assert said.stdout == f"Changed {tabs['id']}: Four blanks\n"
    changed = {**tabs, "text": "Four blanks", "tags": ["style"]}
    assert shown(run, tabs).items() <= changed.items()
    assert run("memories", "search", "blanks").stdout.startswith("0.")
    again = run("memories", "edit", tabs["id"], "--tag", "style")
    assert again.stdout == f"Nothing changed in {tabs['id']}: Four blanks\n"


def test_the_help_of_a_change_names_no_defaults(run: CommandLine) -> None:
    """What is not given stays, and a list is replaced; `remember` has defaults."""
    changing = " ".join(run("memories", "edit", "--help").stdout.split())
    assert "default" not in changing
    assert "Words to find it by; repeatable, replaces all." in changing
    new = " ".join(run("remember", "--help").stdout.split())
    assert "any other word; default: facts." in new
    assert "How much it matters, 0 to 1; default: 0.5." in new


def test_without_a_terminal_no_editor_is_started(run: CommandLine, tabs: dict[str, Any]) -> None:
    """The line names the options that change the memory."""
    said = run("memories", "edit", tabs["id"], EDITOR="sed -i s/Tabs/Blanks/")
    assert said.exit_code == 2
    options = "--text, --category, --importance, --tag, --valid-from"
    expected = f"contextkit: An editor needs a terminal. Without one, use {options}. "
    assert said.stderr.startswith(expected)
    assert shown(run, tabs).items() <= tabs.items()


@pytest.mark.usefixtures("terminal")
def test_an_editor_changes_a_memory(run: CommandLine, tabs: dict[str, Any]) -> None:
    """It shows the parts above the text; VISUAL goes before EDITOR."""
    program = "sed -i -e s/Tabs/Blanks/ -e 's/tags:.*/tags: [a, c#, 2026]/'"

    said = run("memories", "edit", tabs["id"], VISUAL=program, EDITOR="false")

    assert said.stdout == f"Changed {tabs['id']}: Blanks, never spaces\n"
    assert shown(run, tabs)["tags"] == ["a", "c#", "2026"]
    program = "grep -q '^tags: .a, .c#., .2026..$'"
    assert run("memories", "edit", tabs["id"], EDITOR=program).stdout.startswith("Nothing changed")


@pytest.mark.parametrize(
    ("editor", "message"),
    [
        ("false", "false: Editing failed"),
        ("no-such-editor", "no-such-editor: Editing failed"),
        ("sh -c 'echo gone > $0; exit 1'", "Editing failed"),
        ("sed -i s/0.5/7/", "importance must be within 0..1, got 7"),
        ("sed -i s/importance/importence/", "importence cannot be changed; these parts can: "),
        ("sed -i 1d", "line 1 must be ---"),
        ("sed -i '$d'", "a memory must not be empty"),
        ("sed -i s/Tabs.*/Taken/", "has this text already"),
    ],
)
@pytest.mark.usefixtures("terminal")
def test_an_edit_that_fails_changes_nothing(
    run: CommandLine, tabs: dict[str, Any], editor: str, message: str
) -> None:
    """An editor that fails, and a text that is refused; the user's text is kept for that."""
    run("remember", "Taken")
    before = shown(run, tabs)

    result = run("memories", "edit", tabs["id"], EDITOR=editor)

    assert message in result.stderr
    assert shown(run, tabs) == before
    if "your text is in " in result.stderr:
        kept = Path(result.stderr.partition("your text is in ")[2].splitlines()[0])
        assert kept.read_text(encoding="utf-8")
        assert kept.parent.stat().st_mode & 0o077 == 0


@pytest.mark.usefixtures("terminal")
def test_an_edited_secret_is_kept_as_it_is(run: CommandLine) -> None:
    """As in `remember`: what the user wrote stays, with a warning."""
    secret = "password=" + "tidal" + "99wave"
    memory = printed_json(run("remember", f"The lab has {secret}", "--json"))

    edited = run("memories", "edit", memory["id"], "--importance", "0.9")
    run("memories", "end", memory["id"])

    assert f"{memory['id']} seems to contain " in edited.stderr
    assert shown(run, memory)["text"] == f"The lab has {secret}"
