"""From nothing to a context of all sources, as the README tells it, in a small repository."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.cli.conftest import CommandLine

QUERY = "how is the token budget split?"


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
    assert ", 4 lines refused\n" in result.stdout
    one = moved("import", "-", given=header + b"\n{}\n").stdout
    assert one.startswith("0 records imported, 1 line refused\n")
    assert "line 2: " in result.stdout
    assert len(moved.json("memories", "list")) == 3
    assert "not an export" in moved.line(1, "import", "-", given=b"not json\n")


def test_records_that_are_not_there_have_code_5(furnished: CommandLine) -> None:
    """A wrong id is told from a wrong usage."""
    assert "mem_nothing" in furnished.line(5, "memories", "show", "mem_nothing")
    assert "mem_nothing" in furnished.line(5, "memories", "forget", "mem_nothing")
    assert "ghap_nothing" in furnished.line(5, "experience", "show", "ghap_nothing")
