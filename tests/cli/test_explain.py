"""`contextkit explain`: the trace as tables, as data, and the answer about one item."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.cli.conftest import CommandLine

QUERY = "how is the token budget split?"
VERDICTS = ("kept", "excerpt", "truncated", "duplicate", "below floor", "weak", "over budget")


def test_it_shows_sources_and_items_as_tables(contextkit: CommandLine) -> None:
    """Every source with its state and tokens, every candidate with its scores and its fate."""
    result = contextkit("explain", QUERY, "--max-tokens", "300")
    assert (result.exit_code, result.stderr) == (0, "")
    used, times, strategy, signals, _, sources, *rows = result.stdout.splitlines()
    assert strategy.startswith("strategy default: relevance 1, salience 0.1, recency 0.05, ")
    assert signals.startswith("intent question; keywords ")
    assert " of 300 tokens used, counted by estimate; " in used
    assert " ms: " in times
    assert " prepare " in times
    assert sources.split()[:5] == ["SOURCE", "STATE", "MS", "CANDIDATES", "SHARE"]
    assert sources.split()[5:] == ["USED", "GAVE", "TOOK"]
    end = rows.index("")
    states = {row.split()[0]: row.split()[1] for row in rows[:end]}
    assert states["memories"] == "empty"
    assert states["code"] == "ok"
    headings, *items = rows[end + 1 :]
    assert headings.startswith("SCORE  MATCH  RELEVANCE  SALIENCE  RECENCY  PRIORITY  SOURCE")
    assert any("budget.py::split_budget" in row for row in items)
    assert all(any(verdict in row for verdict in VERDICTS) for row in items)
    scores = [float(row.split()[0]) for row in items]
    assert scores == sorted(scores, reverse=True)


def test_it_says_what_became_of_an_item(contextkit: CommandLine) -> None:
    """By id, or by a name that it has."""
    contextkit("index")
    words = contextkit("explain", QUERY, "--no-index", "--item", "split_budget").stdout
    assert "split_budget: It is in the context " in words
    (found,) = contextkit.json("explain", QUERY, "--no-index", "--item", "split_budget")
    assert (found["outcome"], found["source"]) == ("in", "code")


def test_it_says_why_an_item_is_not_in(contextkit: CommandLine) -> None:
    """Too little budget, a limit, a source that is off, or no such item."""
    contextkit("index")
    memory = contextkit.json("remember", "Nothing of that kind: whales sing")["id"]

    def why(item: str, *options: str) -> str:
        return contextkit("explain", QUERY, "--no-index", "--item", item, *options).stdout

    assert "in a context of 9 tokens its" in why("split_budget", "--max-tokens", "9")
    assert "It is a record of 'memories', which was not asked" in why(memory, "--sources", "code")
    assert "No source has an item of that id" in why("nowhere.py")


def test_nothing_found_is_an_empty_table(contextkit: CommandLine) -> None:
    """And the reason is said where messages belong."""
    contextkit("index")
    result = contextkit("explain", "zzzz qqqq", "--no-index")
    assert result.exit_code == 0
    assert "0 of 2000 tokens used" in result.stdout
    assert result.stderr == "contextkit: nothing relevant was found\n"


def test_the_look_of_a_context_has_options(contextkit: CommandLine) -> None:
    """Detail, groups, the list of sources, the guard, the counter, weights."""
    result = contextkit(
        *("assemble", QUERY, "--set", "detail=compact", "--set", "group_by=type"),
        *("--set", "include_sources=true", "--set", "guard=true", "--set", "tokens=claude"),
        *("--set", "weights=code=3", "--set", "weights=commits=1"),
    )
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.startswith("<reference-")
    assert "## Relevant Code" in result.stdout
    assert "**Sources:**" in result.stdout


def test_it_shows_both_shares(contextkit: CommandLine) -> None:
    """What a source has, in brackets what it would have by weight; one where that is all."""
    contextkit("index")
    asked = ("explain", QUERY, "--no-index")
    following = contextkit(*asked).stdout
    assert re.search(r"^code +ok +\S+ +\d+ +\d+ \(\d+ by weight\) ", following, re.MULTILINE)
    fixed = contextkit(*asked, "--set", "shares=fixed").stdout
    assert re.search(r"^code +ok +\S+ +\d+ +\d+ +\d+ ", fixed, re.MULTILINE)
    found = contextkit.json(*asked)
    rows = found["trace"]["sources"]
    assert found["query"] == QUERY
    assert sum(row["share"] for row in rows) == sum(row["fixed_share"] for row in rows)
