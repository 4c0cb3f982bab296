"""`contextkit remember` and `contextkit memories`, through the real command line."""

from __future__ import annotations

import pytest

from contextkit.testing import CommandLine, printed_json

PASSWORD = "tidal" + "99"


def test_a_memory_is_remembered_listed_shown_and_forgotten(run: CommandLine) -> None:
    """The whole life of a memory, as a person sees it."""
    said = run(
        *("remember", "Tabs,\nnever spaces", "--category", "preference"),
        *("--importance", "0.8", "--tag", "Style", "--tag", "c++"),
    )
    memory = printed_json(run("memories", "list", "--json"))[0]
    about = "preferences, importance 0.80, #style #c++, project demo"
    assert said.stdout == f"Remembered {memory['id']} ({about})\n"
    day = memory["created_at"][:10]
    assert run("memories", "list", "-c", "zzzz").stdout == "No memories match.\n"
    assert run("memories", "list", "-t", "zzzz").stdout == "No memories match.\n"
    assert run("memories", "list").stdout == (
        f"{memory['id']}  {day}  preferences  0.80  Tabs, never spaces  #style #c++\n"
    )
    shown = run("memories", "show", memory["id"][:15]).stdout
    assert shown.startswith(f"{memory['id']} ({about}), {day} ")
    assert shown.endswith(" UTC\n\nTabs,\nnever spaces\n")
    forgotten = run("memories", "forget", memory["id"])
    assert forgotten.stdout == f"Forgot {memory['id']}: Tabs, never spaces\n"
    assert run("memories", "list").stdout.startswith("No memories. Add one: contextkit remember")


def test_json_has_every_field(run: CommandLine) -> None:
    """The four commands describe a memory alike; remembering adds what it did."""
    made = printed_json(run("remember", "Tabs", "--json"))
    told = [made.pop(name) for name in ("outcome", "looks_secret", "near")]
    assert told == ["stored", [], []]
    assert made.keys() == {
        *("id", "text", "category", "importance", "tags", "scope", "project", "created_at"),
        *("sequence", "position", "valid_from", "valid_until", "replaces", "replaced_by"),
    }
    assert printed_json(run("memories", "list", "--json")) == [made]
    assert printed_json(run("memories", "show", made["id"], "--json")) == made
    assert printed_json(run("memories", "forget", made["id"], "--json")) == [made]


def test_a_global_memory_is_seen_in_another_project(run: CommandLine) -> None:
    """`--global` is the user's, everything else the project's."""
    run("remember", "for demo alone")
    said = run("remember", "for all", "--global").stdout
    assert said.endswith("(facts, importance 0.50, all your projects)\n")
    listed = run("memories", "list", CONTEXTKIT_PROJECT="other").stdout
    assert listed.endswith("for all  (all projects)\n")
    assert "alone" not in listed


def test_the_same_text_again_says_what_became_of_it(run: CommandLine) -> None:
    """Updated where an option changes something, already remembered where none does."""
    first = printed_json(run("remember", "Tabs", "--importance", "0.8", "--tag", "a", "--json"))
    assert run("remember", "Tabs").stdout.startswith(f"Already remembered {first['id']} ")
    updated = run("remember", "Tabs", "--category", "decision").stdout
    assert updated == f"Updated {first['id']} (decisions, importance 0.80, #a, project demo)\n"


def test_a_list_is_filtered_and_says_what_it_leaves_out(run: CommandLine) -> None:
    """By category, by tag, newest first, with the number of all where some are left out."""
    for number in range(3):
        run("remember", f"bug {number}", "--category", "bug", "--tag", f"t{number}")
    run("remember", "a fact")
    shown = run("memories", "list", "--category", "BUGS", "--limit", "2").stdout.splitlines()
    assert [line.split("  ")[-2] for line in shown[:2]] == ["bug 2", "bug 1"]
    assert shown[2] == "2 of 3 memories; --limit 3 lists them all"
    assert [m["text"] for m in printed_json(run("memories", "list", "--tag", "T1", "--json"))] == [
        "bug 1"
    ]


def test_a_text_comes_from_standard_input(run: CommandLine) -> None:
    """`-` reads all of it, as UTF-8, whatever it holds."""
    memory = printed_json(run("remember", "-", "--json", given="\ufeffzwei\r\nZeilen ü\n".encode()))
    assert memory["text"] == "zwei\nZeilen ü"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (b"", "a memory must not be empty"),
        (b"caf\xe9", "standard input is not UTF-8: byte 3 does not belong there"),
        (b"a" * 20_001, "a memory has at most 20,000 characters, this one has 20,001"),
        ("漢".encode() * 100_000, "standard input is longer than a memory's 20,000 characters"),
    ],
)
def test_bad_standard_input_is_named(run: CommandLine, given: bytes, message: str) -> None:
    """One line on standard error, nothing stored."""
    result = run("remember", "-", given=given)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"contextkit: {message}")
    assert printed_json(run("memories", "list", "--json")) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["  "], "a memory must not be empty"),
        (["half \udcff"], "character 5 is half a surrogate pair"),
        (["a", "--importance", "1.5"], "importance must be within 0..1, got 1.5"),
        (["a", "--importance", "nan"], "importance must be within 0..1, got nan"),
        (["a", "--importance", "much"], "'much' is not a valid float"),
        (["a", "--category", "two words"], "a category is one word"),
        (["a", "--tag", ""], "a tag is one word"),
        ([], "Missing argument 'TEXT'"),
    ],
)
def test_a_bad_argument_is_named(run: CommandLine, arguments: list[str], message: str) -> None:
    """One line that says what would be right, exit code 2, nothing stored."""
    result = run("remember", *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert printed_json(run("memories", "list", "--json")) == []


def test_forgetting_is_all_or_nothing(run: CommandLine) -> None:
    """An unknown id is an error of its own exit code, and the others are kept."""
    kept = printed_json(run("remember", "kept", "--json"))["id"]
    result = run("memories", "forget", kept, "mem_zzz")
    assert (result.exit_code, result.stdout) == (5, "")
    assert result.stderr.startswith("contextkit: no memory has the id 'mem_zzz'")
    assert [memory["id"] for memory in printed_json(run("memories", "list", "--json"))] == [kept]


def test_several_are_forgotten_at_once(run: CommandLine) -> None:
    """Each is named."""
    ids = [printed_json(run("remember", text, "--json"))["id"] for text in ("one", "two")]
    said = run("memories", "forget", *ids).stdout
    assert said == f"Forgot {ids[0]}: one\nForgot {ids[1]}: two\n"


def test_an_ambiguous_beginning_is_an_error(run: CommandLine) -> None:
    """The memories that it fits are listed."""
    ids = [printed_json(run("remember", text, "--json"))["id"] for text in ("one", "two")]
    result = run("memories", "show", ids[0][:6])
    assert result.exit_code == 5
    assert f"fits 2 memories: {ids[0]} (one), {ids[1]} (two)" in result.stderr


def test_a_memory_gets_into_a_context(run: CommandLine) -> None:
    """What was remembered is found, formatted and named when a context is assembled."""
    run("remember", "Tabs, never spaces", "--category", "preference", "--importance", "0.8")
    context = run("assemble", "tabs or spaces?", "--sources", "memories")
    assert context.exit_code == 0, context.stderr
    assert "## Memories" in context.stdout
    assert ", preferences): Tabs, never spaces\n" in context.stdout


@pytest.mark.parametrize(
    "command", [["remember"], ["memories"], *(["memories", c] for c in ("list", "show", "forget"))]
)
def test_every_help_has_an_example(run: CommandLine, command: list[str]) -> None:
    """The last line of each help can be copied."""
    shown = run(*command, "--help").stdout
    assert f"Example: contextkit {' '.join(command)}" in shown


def test_a_sequence_is_filled_one_behind_the_other(run: CommandLine) -> None:
    """`--sequence` puts a memory at the end of what it is a part of."""
    for text in ("first", "second"):
        made = printed_json(run("remember", text, "--sequence", "talk of Monday", "--json"))
    assert (made["sequence"], made["position"]) == ("talk of Monday", 1)
    wrong = run("remember", "x", "--sequence", " ")
    assert wrong.exit_code != 0
    assert "a sequence's name has 1 to 200 printable characters" in wrong.output


def test_a_secret_is_stored_as_given_with_a_warning(run: CommandLine) -> None:
    """What it looks like, what becomes of it and how to forget it, on standard error."""
    said = run("remember", f"The password of the test host is {PASSWORD}", "--json")
    made = printed_json(said)
    assert made["text"] == f"The password of the test host is {PASSWORD}"
    assert made["looks_secret"] == ["a password (line 1, from character 34)"]
    assert said.stderr == (
        f"contextkit: {made['id']} seems to contain a password (line 1, from character 34): "
        f"later contexts show it to the model; to forget it: contextkit memories forget "
        f"{made['id']}\n"
    )
    assert run("remember", "Passwords are in the vault").stderr == ""
