"""The options of a request, from their fields to the command line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from contextkit.models.request_options import OPTIONS

if TYPE_CHECKING:
    from tests.cli.conftest import CommandLine

QUERY = "how does the budget split its tokens by weight?"


@pytest.mark.parametrize("command", ["assemble", "explain"])
def test_a_command_shows_the_common_options(contextkit: CommandLine, command: str) -> None:
    """Those of a request that have a flag, and `--set` for every other one."""
    shown = set(
        re.findall(r"^  (?:-\w, )?(--[a-z-]+)", contextkit(command, "--help").stdout, re.MULTILINE)
    )
    assert shown - {"--item"} == {
        *("--max-tokens", "--limit", "--sources", "--style", "--strategy", "--since"),
        *("--set", "--no-index", "--json", "--help"),
    }


def test_all_options_are_listed(contextkit: CommandLine) -> None:
    """With their values, what each is here, and what it does."""
    configured = contextkit.with_variables(CONTEXTKIT_ASSEMBLE_DETAIL="summary")
    rows = {row["name"]: row for row in configured.json("options")}
    assert list(rows) == list(OPTIONS)
    assert rows["detail"]["default"] == "summary"
    assert rows["detail"]["value"] == "full|summary|compact"
    assert all(row["help"] for row in rows.values())
    shown = configured("options").stdout
    assert re.search(
        r"^source_timeout +NUMBER +[\d.]+ +Time limit of one source", shown, re.MULTILINE
    )


def test_lists_and_tables_of_several_assignments_are_joined(contextkit: CommandLine) -> None:
    """A list is written a,b or as JSON, a table a=1,b=2; of other values the last counts."""
    contextkit("index")
    asked = ("assemble", QUERY, "--no-index", "--set", "limit=many", "--set", "limit=2")
    assert "got 'many'" in contextkit.line(2, *asked)
    asked = ("assemble", QUERY, "--no-index", "--set", "max_tokens=9", "--set", "max_tokens=900")
    of_two = contextkit.json(*asked, "--set", 'sources=["code"]', "--set", "sources=commits,code")
    assert [source["source"] for source in of_two["trace"]["sources"]] == ["code", "commits"]
    assert of_two["trace"]["max_tokens"] == 900


def test_days_are_given_as_in_other_options(contextkit: CommandLine) -> None:
    """With or without the unit; another one is refused by name."""
    for days in ("7", "7d"):
        assert "in the last 7 days" in contextkit("stats", "--days", days).stdout
    assert "'2w' is not a valid number of days" in contextkit.line(2, "stats", "--days", "2w")
