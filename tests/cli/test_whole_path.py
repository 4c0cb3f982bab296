"""From nothing to a context of all sources, as the README tells it, in a small repository."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import CommandLine

QUERY = "how is the token budget split?"
MEMORIES = (
    ("The token budget is split by weight, largest remainder first", "decision"),
    ("Weights of the token budget belong in configuration, not in code", "preference"),
    ("A budget below one token raised an error on 2026-03-01", "error"),
)
EXPERIENCES: list[dict[str, Any]] = [
    {
        "goal": "Split the token budget without losing a token",
        "hypothesis": "Rounding each share down is enough",
        "action": "Divided the token budget with integer division",
        "prediction": "The shares add up to the budget",
        "domain": "debugging",
        "strategy": "systematic-elimination",
        "outcome_status": "falsified",
        "outcome_result": "Up to four tokens of the budget were lost",
        "surprise": "The rest was lost in every split",
        "root_cause": "Rounding down loses the rest",
        "lesson": {"what_worked": "Give the rest to the largest remainders"},
    },
    {
        "goal": "Make the split of the token budget stable",
        "hypothesis": "Ties depend on the order of a set",
        "action": "Sorted the sources by name before splitting the budget",
        "prediction": "Two runs give the same shares",
        "domain": "debugging",
        "strategy": "check-assumptions",
        "outcome_status": "confirmed",
        "outcome_result": "The shares are the same in every run",
    },
]


PROJECT = {"CONTEXTKIT_PROJECT": "demo"}


@pytest.fixture(scope="module")
def furnished_home(
    demo: Path, elsewhere: Callable[..., CommandLine], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A home after three memories and two experiences were added, to be copied."""
    folder = tmp_path_factory.mktemp("furnished") / "home"
    contextkit = elsewhere(demo, {**PROJECT, "CONTEXTKIT_HOME": str(folder)})
    for text, category in MEMORIES:
        added = contextkit(
            *("remember", text, "--category", category, "--importance", "0.8", "--tag", "budget")
        )
        assert (added.exit_code, added.stderr) == (0, "")
    added = contextkit("experience", "add", "--file", "-", given=json.dumps(EXPERIENCES))
    assert added.exit_code == 0, added.stderr
    return folder


@pytest.fixture
def furnished(contextkit: CommandLine, home: Path, furnished_home: Path) -> CommandLine:
    """The command line with three memories and two experiences."""
    shutil.copytree(furnished_home, home, dirs_exist_ok=True)
    return contextkit.with_variables(**PROJECT)


def counts(contextkit: CommandLine) -> dict[str, Any]:
    """How many records each source has."""
    return {row["name"]: row["records"] for row in contextkit.json("sources") if row["source"]}


def test_every_source_has_its_part_in_the_context(furnished: CommandLine) -> None:
    """After `remember` and `experience add` the same question shows what they added."""
    result = furnished("assemble", QUERY)
    assert (result.exit_code, result.stderr) == (0, "")
    ours = ["## Memories", "## Code", "## Experiences", "## Commits"]
    assert sorted(line for line in result.stdout.splitlines() if line in ours) == sorted(ours)
    found = counts(furnished)
    # A file and its function; the other two files are documents.
    assert found["code"] >= 2
    expected = {"commits": 2, "experiences": 2, "memories": 3, "values": 0}
    assert expected.items() <= found.items()
    context = furnished.json("assemble", QUERY, "--max-tokens", "400")
    assert context["token_count"] <= 400


def test_the_same_question_gives_the_same_text(furnished: CommandLine) -> None:
    """Nothing of the clock or of chance is in the output."""
    first = furnished("assemble", QUERY).stdout
    assert furnished("assemble", QUERY).stdout == first
    assert furnished.process("assemble", QUERY).stdout.decode() == first


def test_a_premortem_warns_of_what_went_wrong(furnished: CommandLine) -> None:
    """The domain's falsified experiences and the strategy's record are shown."""
    result = furnished("premortem", "debugging", "--strategy", "systematic-elimination")
    assert result.exit_code == 0, result.stderr
    assert "Rounding" in result.stdout
    assert "systematic-elimination" in result.stdout
    data = furnished.json("premortem", "debugging", "--max-tokens", "300")
    assert 0 < data["token_count"] <= 300


def test_values_are_made_of_experiences(furnished: CommandLine) -> None:
    """Too few experiences make none, which is said; enough of a kind make some."""
    assert furnished("values", "refresh").exit_code == 0
    assert furnished.json("values", "list") == []
    more = [
        {**EXPERIENCES[0], "goal": f"Split the token budget for source {n} without losing any"}
        for n in range(12)
    ]
    furnished("experience", "add", "--file", "-", given=json.dumps(more))
    assert furnished("values", "refresh").exit_code == 0
    values = furnished.json("values", "list")
    assert values
    assert counts(furnished)["values"] == len(values)


def test_export_and_import_carry_every_record_over(
    furnished: CommandLine, home: Path, tmp_path: Path
) -> None:
    """A new home with the export in it shows the same memories, field by field."""
    furnished("remember", "Ask in English, answer in English", "--global")
    furnished("index")
    file = tmp_path / "records.jsonl"
    exported = furnished("export", str(file))
    assert exported.exit_code == 0
    assert "records written" in exported.stderr
    piped = furnished("export")
    assert sorted(piped.stdout.splitlines()) == sorted(file.read_text().splitlines())
    moved = furnished.with_variables(CONTEXTKIT_HOME=str(home / "new home"))
    result = moved.json("import", str(file))
    header, *records = file.read_text().splitlines()
    assert json.loads(header)["records"] == len(records)
    assert (result["imported"], result["failed"]) == (len(records), 0)
    for arguments in (("memories", "list"), ("experience", "list")):
        assert moved.json(*arguments) == furnished.json(*arguments)
    assert counts(moved) == counts(furnished)
    again = moved.json("import", "-", given=file.read_bytes())
    assert again["failed"] == 0
    assert counts(moved) == counts(furnished)


def test_a_bad_line_of_an_import_costs_only_itself(furnished: CommandLine, home: Path) -> None:
    """It is named with its number; the rest is stored, and the code is 1."""
    good = furnished("export").stdout
    moved = furnished.with_variables(CONTEXTKIT_HOME=str(home / "new home"))
    header, _, records = good.encode().partition(b"\n")
    given = header + b"\nnot json\n\xff\xfe\n" + records + b"[1, 2]\n{}\n"
    result = moved("import", "-", given=given)
    assert result.exit_code == 1
    assert "4 lines refused" in result.stdout
    assert "line 2: " in result.stdout
    assert len(moved.json("memories", "list")) == 3
    assert "not an export" in moved.line(1, "import", "-", given=b"not json\n")


def test_records_that_are_not_there_have_code_5(furnished: CommandLine) -> None:
    """A wrong id is told from a wrong usage."""
    assert "mem_nothing" in furnished.line(5, "memories", "show", "mem_nothing")
    assert "mem_nothing" in furnished.line(5, "memories", "forget", "mem_nothing")
    assert "ghap_nothing" in furnished.line(5, "experience", "show", "ghap_nothing")


def test_a_memory_for_all_projects_is_seen_in_each(
    furnished: CommandLine, elsewhere: Callable[..., CommandLine], tmp_path: Path
) -> None:
    """Nothing else crosses from one project to another."""
    furnished("remember", "Always answer in the token budget's unit", "--global")
    other = tmp_path / "other"
    other.mkdir()
    there = elsewhere(other)
    texts = [memory["text"] for memory in there.json("memories", "list")]
    assert texts == ["Always answer in the token budget's unit"]
    assert there.json("experience", "list") == []
