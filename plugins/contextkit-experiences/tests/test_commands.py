"""`contextkit experience`, through the real command line."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import Result

from contextkit.testing import CommandLine, command_line, printed_json

PLUGIN = Path(__file__).parent.parent
START = (
    *("experience", "start", "--goal", "Stop the timeout", "--hypothesis", "Pool too small"),
    *("--action", "Double it", "--prediction", "No timeout"),
    *("--domain", "debugging", "--strategy", "check-assumptions"),
)
WHOLE = {
    "id": "ghap_1",
    "goal": "Stop the timeout",
    "hypothesis": "Pool too small",
    "action": "Double it",
    "prediction": "No timeout",
    "domain": "debugging",
    "strategy": "check-assumptions",
    "outcome_status": "falsified",
    "outcome_result": "It timed out again",
    "started_at": "2026-03-01T09:30:00+00:00",
}


@pytest.fixture
def run(tmp_path: Path) -> Iterator[CommandLine]:
    """The command line in an empty workspace, with this plugin as it is in the checkout."""
    with command_line(tmp_path / "workspace", PLUGIN, CONTEXTKIT_PROJECT="demo") as opened:
        yield opened


def failure(result: Result, exit_code: int = 2) -> str:
    """The one line that a command that went wrong printed."""
    assert result.exit_code == exit_code, result.output
    assert "Traceback" not in result.stderr
    return result.stderr


def added(run: CommandLine, document: object, *options: str) -> Result:
    """Add a document from standard input."""
    return run("experience", "add", "--file", "-", *options, given=json.dumps(document).encode())


def test_a_life_on_the_command_line(run: CommandLine) -> None:
    """An experience is started, updated, resolved, listed, shown and removed."""
    ghap_id = printed_json(run(*START, "--note", "since Monday", "--json"))["id"]
    updated = printed_json(run("experience", "update", ghap_id, "--hypothesis", "A leak", "--json"))
    resolved = run(
        *("experience", "resolve", ghap_id, "--status", "falsified", "--result", "Again"),
        *("--surprise", "Half empty", "--root-cause", "A lock"),
        *("--what-worked", "A timeout", "--takeaway", "Locks first"),
    )
    shown = printed_json(run("experience", "show", ghap_id, "--json"))

    line = f"{ghap_id}  falsified  debugging | check-assumptions  Stop the timeout\n"
    assert updated["iteration_count"] == 2
    assert resolved.stdout == f"resolved {line}"
    assert run("experience", "list").stdout == line
    assert shown["lesson"] == {"what_worked": "A timeout", "takeaway": "Locks first"}
    assert (shown["confidence_tier"], shown["notes"]) == ("silver", ["since Monday"])
    assert "lesson.takeaway: Locks first\n" in run("experience", "show", ghap_id).stdout
    assert run("experience", "remove", ghap_id).stdout == f"removed {line}"
    assert run("experience", "list").stdout == "no experiences\n"
    assert printed_json(run("experience", "list", "--json")) == []


def test_what_json_prints_can_be_added_again(run: CommandLine) -> None:
    """`list --json` of one project is what `add` of another takes."""
    added(run, [WHOLE, WHOLE | {"id": "ghap_2", "goal": "日本語\n# x"}])
    listed = run("experience", "list", "--json").stdout

    again = run(
        "experience", "add", "--file", "-", given=listed.encode(), CONTEXTKIT_PROJECT="other"
    )

    assert again.exit_code == 0
    assert printed_json(
        run("experience", "list", "--json", CONTEXTKIT_PROJECT="other")
    ) == json.loads(listed)
    assert "日本語 # x" in again.stdout


def test_json_lines_are_added_from_a_file(run: CommandLine, tmp_path: Path) -> None:
    """Each line is one experience; all of them are added or none."""
    file = tmp_path / "experiences.jsonl"
    lines = [json.dumps(WHOLE), json.dumps(WHOLE | {"id": "ghap_2"})]
    file.write_text("\n".join(lines))

    assert len(printed_json(run("experience", "add", "--file", str(file), "--json"))) == 2

    file.write_text("\n".join([json.dumps(WHOLE | {"id": "ghap_3"}), '{"goal": 3}']))
    error = failure(run("experience", "add", "--file", str(file)))
    assert error == (
        f"contextkit: {file}:2: hypothesis: found nothing, expected a text that is not empty\n"
    )
    assert len(printed_json(run("experience", "list", "--json"))) == 2


def test_the_list_is_filtered(run: CommandLine) -> None:
    """By domain, strategy, outcome and number."""
    added(run, [WHOLE, WHOLE | {"id": "ghap_2", "domain": "testing"}])
    run(*START)

    def ids(*options: str) -> list[str]:
        return [
            each["id"][:6] for each in printed_json(run("experience", "list", "--json", *options))
        ]

    assert ids("--domain", "testing") == ["ghap_2"]
    assert sorted(ids("--outcome", "falsified")) == ["ghap_1", "ghap_2"]
    assert len(ids("--outcome", "open", "--strategy", "check-assumptions")) == 1
    assert len(ids("--limit", "1")) == 1


def test_a_global_one_is_seen_in_every_project(run: CommandLine) -> None:
    """`--global` makes it the user's; without, other projects do not see it."""
    added(run, WHOLE)
    added(run, WHOLE | {"id": "ghap_2"}, "--global")
    started = printed_json(run(*START, "--global", "--json"))["id"]

    seen = printed_json(run("experience", "list", "--json", CONTEXTKIT_PROJECT="other"))

    assert {each["id"] for each in seen} == {"ghap_2", started}
    assert (
        run("experience", "update", started, "--note", "x", CONTEXTKIT_PROJECT="other").exit_code
        == 0
    )


def test_a_slip_is_pointed_out(run: CommandLine) -> None:
    """A word that is nearly a known one is taken, with a remark on standard error."""
    result = run(*START[:-4], "--domain", "debuging", "--strategy", "my-own", "--json")

    assert printed_json(result)["domain"] == "debuging"
    assert result.stderr == (
        "contextkit: the domain 'debuging' is a new one; did you mean 'debugging'?\n"
    )


@pytest.mark.parametrize(
    ("document", "options", "message"),
    [
        (b"{", (), "<stdin>:1:2: this is not JSON"),
        (b"\xff", (), "<stdin>:1: found bytes that are not UTF-8"),
        (b"", (), "<stdin>: holds no experience"),
        (b'{"goal": ""}', (), "<stdin>: hypothesis: found nothing"),
        (json.dumps(WHOLE | {"goal": 3}).encode(), (), "<stdin>: goal: found the number 3"),
        (json.dumps(WHOLE | {"zz": 3}).encode(), (), "<stdin>: zz: found a key that is not"),
        (json.dumps([WHOLE, 3]).encode(), (), "<stdin>[1]: found the number 3"),
        (json.dumps([WHOLE, WHOLE]).encode(), (), "ghap_1 is given twice"),
        (json.dumps([WHOLE, WHOLE]).encode(), ("--replace",), "ghap_1 is given twice"),
    ],
)
def test_a_bad_document_is_one_clear_line(
    run: CommandLine, document: bytes, options: tuple[str, ...], message: str
) -> None:
    """It names the place and the field; nothing is added."""
    error = failure(run("experience", "add", "--file", "-", *options, given=document))

    assert error.startswith(f"contextkit: {message}")
    assert error.count("\n") == 1
    assert printed_json(run("experience", "list", "--json")) == []


def test_what_is_there_is_replaced_on_demand(run: CommandLine) -> None:
    """Adding the same id again needs `--replace`."""
    added(run, WHOLE)

    assert "ghap_1 is there already" in failure(added(run, WHOLE | {"goal": "New"}))
    assert added(run, WHOLE | {"goal": "New"}, "--replace").exit_code == 0
    assert printed_json(run("experience", "show", "ghap_1", "--json"))["goal"] == "New"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("show", "ghap_9"), "there is no experience 'ghap_9'"),
        (("remove", "nonsense"), "there is no experience 'nonsense'"),
        (("update", "ghap_9", "--note", "x"), "there is no experience"),
        (("update", "ghap_1", "--note", "x"), "ghap_1 cannot be updated: it is resolved"),
        (("update", "ghap_1"), "ghap_1 cannot be updated"),
        (
            ("resolve", "ghap_1", "--status", "confirmed", "--result", "x"),
            "ghap_1 cannot be resolved: it is resolved already (falsified)",
        ),
        (("resolve", "ghap_1", "--status", "open", "--result", "x"), "'open' is not one of"),
        (("resolve", "ghap_1", "--result", "x"), "Missing option '--status'"),
        (
            ("resolve", "ghap_1", "--status", "confirmed", "--result", "x", "--takeaway", "y"),
            "--takeaway needs --what-worked",
        ),
        (("list", "--domain", "two words"), "domain: found the text 'two words'"),
        (("list", "--limit", "0"), "0 is not in the range"),
        (("list", "--outcome", "maybe"), "'maybe' is not one of"),
        (("add", "--file", "/does/not/exist"), "No such file"),
        (("add", "--file", "/"), "Is a directory"),
        (START[1:-2], "Missing option '--strategy'"),
        ((*START[1:-2], "--strategy", "# x"), "strategy: found the text '# x'"),
    ],
)
def test_a_wrong_use_is_one_clear_error(
    run: CommandLine, arguments: tuple[str, ...], message: str
) -> None:
    """Unknown ids, wrong transitions and bad options are named, without a traceback."""
    added(run, WHOLE)

    unknown = "there is no experience" in message
    assert message in failure(run("experience", *arguments), exit_code=5 if unknown else 2)


@pytest.mark.parametrize(
    "command", ["", "start", "update", "resolve", "add", "list", "show", "remove"]
)
def test_every_help_ends_with_an_example(run: CommandLine, command: str) -> None:
    """A person sees how it is used."""
    shown = run("experience", *command.split(), "--help")

    assert shown.exit_code == 0
    assert "Example:\n  contextkit experience" in shown.stdout.replace("\n    ", "\n  ")


def test_a_terminal_is_not_given_what_others_wrote(run: CommandLine) -> None:
    """Control characters in an experience do not reach the terminal."""
    added(run, WHOLE | {"goal": "red \x1b[31m", "surprise": "bell \x07\nline"})

    for command in (("list",), ("show", "ghap_1")):
        shown = run("experience", *command).stdout
        assert "\x1b" not in shown
        assert "\x07" not in shown
