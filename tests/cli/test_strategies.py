"""`contextkit strategies`, `--strategy`, and `contextkit history`."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from contextkit.config.strategies import BUILT_IN
from tests.cli.conftest import CommandLine

ANOTHER = ("--strategy", "conversation", "--no-index")
QUERY = "how does the budget split its tokens by weight?"
MINE = """
[assemble]
strategy = "mine"

[strategies.mine]
recency = 0.4
decay = 0.99
depth = 2
budget = { code = 60, commits = 20 }
"""


@pytest.fixture
def configured(contextkit: CommandLine) -> CommandLine:
    """With a strategy of the project's own in force, and everything indexed."""
    contextkit("index")
    (contextkit.folder / "contextkit.toml").write_text(MINE, encoding="utf-8")
    return contextkit


def test_the_strategies_are_listed_with_their_numbers(configured: CommandLine) -> None:
    """Which one is in force, what counts in each, and where it was set."""
    lines = configured("strategies").stdout.splitlines()
    assert [re.split(r" {2,}", line.strip())[0] for line in lines[1:]] == [
        "balanced",
        "conversation",
        "default",
        "matching",
        "*",
        "recent",
    ]
    (mine,) = (line for line in lines if line.startswith("*"))
    assert (
        "mine      relevance 1, salience 0.1, recency 0.4, priority 0.02; half-life 30 d; "
        "decay 0.99 a day; neighbours 0.7; budget code 60%, commits 20%; depth 2"
    ) in re.sub(r"mine +", "mine      ", mine)
    assert mine.endswith(f"set in {configured.folder / 'contextkit.toml'}:6")


def test_the_strategies_are_there_as_json(configured: CommandLine) -> None:
    """Numbers as numbers."""
    rows = {row["name"]: row for row in configured.json("strategies")}
    assert set(rows) == {*BUILT_IN, "mine"}
    assert [name for name, row in rows.items() if row["in_force"]] == ["mine"]
    assert rows["mine"]["parts"]["budget"] == {"code": 60, "commits": 20}
    assert rows["balanced"]["parts"]["recency"] == 0.3
    assert set(rows["mine"]["origins"]) == {
        f"strategies.mine.{part}" for part in ("recency", "decay", "depth", "budget")
    }


def test_explain_says_which_strategy_made_the_scores(configured: CommandLine) -> None:
    """The configured one, or that of the option; columns for what only some of them count."""
    shown = configured("explain", QUERY, "--no-index").stdout.splitlines()
    assert shown[2].startswith("strategy mine: relevance 1, salience 0.1, recency 0.4")
    assert any(re.match(r"SCORE +MATCH .* PRIORITY +DECAY +SOURCE", line) for line in shown)
    shown = configured("explain", QUERY, *ANOTHER).stdout.splitlines()
    assert shown[2].startswith("strategy conversation: relevance 0.4, recency 0.3, priority 0.2, h")
    assert any(re.match(r"SCORE .* PRIORITY +HISTORY +DECAY +SOURCE", line) for line in shown)
    sources = configured.json("explain", QUERY, "--no-index")["trace"]["sources"]
    shares = {row["source"]: row["share"] for row in sources}
    assert shares["code"] == pytest.approx(sum(shares.values()) * 0.6, abs=1)
    assert shares["commits"] == pytest.approx(sum(shares.values()) * 0.2, abs=1)


def test_an_unknown_strategy_is_refused(contextkit: CommandLine) -> None:
    """Before anything is indexed; in the settings with where it stands."""
    for command in ("assemble", "explain"):
        said = contextkit.line(2, command, QUERY, "--strategy", "balancd")
        assert said == "there is no strategy 'balancd'; did you mean 'balanced'?"
    (contextkit.folder / "contextkit.toml").write_text("[assemble]\nstrategy = 'recnt'\n")
    assert "assemble.strategy: there is no strategy 'recnt'" in contextkit.line(3, "strategies")


def test_a_premortem_keeps_its_own_strategy_option(contextkit: CommandLine) -> None:
    """There it is the strategy of the experiences; scores follow the configured one."""
    asked = ("premortem", "debugging", "--strategy", "systematic-elimination")
    assert (
        contextkit.with_variables(CONTEXTKIT_ASSEMBLE_STRATEGY="balanced").json(*asked)["trace"][
            "strategy"
        ]["name"]
        == "balanced"
    )


def test_strategies_are_offered(configured: CommandLine) -> None:
    """Their names, the project's own too; none where the settings are wrong."""
    before = ("-C", str(configured.folder), "assemble", "x", "--strategy")

    def offered(begun: str) -> list[str]:
        asked = configured.with_variables(
            _CONTEXTKIT_COMPLETE="bash_complete",
            COMP_WORDS=shlex.join(["contextkit", *before, begun]),
            COMP_CWORD="6",
        )
        return [line.removeprefix("plain,") for line in asked().stdout.splitlines() if line]

    assert offered("") == ["balanced", "conversation", "default", "matching", "mine", "recent"]
    assert offered("mi") == ["mine"]
    (configured.folder / "contextkit.toml").write_text("[assemble]\nlimit = 0\n")
    assert offered("") == []


def test_the_history_is_shown_and_forgotten(configured: CommandLine) -> None:
    """Nothing by default; what was in a context of a strategy that counts it; not explanations."""
    said = "nothing is recorded: the strategy 'mine' does not score usage\n"
    assert configured("history", "show").stdout == said
    scored = configured.with_variables(CONTEXTKIT_ASSEMBLE_STRATEGY="conversation")
    assert scored("history", "show").stdout == "nothing is recorded\n"
    configured("assemble", QUERY, "--no-index")
    configured("explain", QUERY, *ANOTHER)
    assert configured.json("history", "show") == []
    configured("assemble", QUERY, *ANOTHER)
    found = configured.json("history", "show")
    assert {row["source"] for row in found} <= set(configured.source_names())
    assert found
    assert all(row["signal"] == pytest.approx(0.05, abs=1e-3) for row in found)
    heading, *lines = configured("history", "show").stdout.splitlines()
    assert heading.split() == ["SIGNAL", "SOURCE", "ID", "LAST"]
    assert len(lines) == len(found)
    off = configured.with_variables(CONTEXTKIT_HISTORY_ENABLED="no")
    assert "history.enabled is false" in off("history", "show").stderr
    assert configured("history", "clear").stdout == f"forgotten: {len(found)}\n"
    assert configured.json("history", "clear") == {"forgotten": 0}


def test_a_broken_history_is_said_and_cleared(configured: CommandLine, tmp_path: Path) -> None:
    """It fails `show` in one line, and costs a context only a warning."""
    home = Path(configured.json("config", "show")["data_folder"])
    (home / "history.sqlite").write_text("broken " * 1000)
    assert "file is not a database" in configured.line(1, "history", "show")
    result = configured("assemble", QUERY, *ANOTHER)
    assert result.exit_code == 0
    assert "usage history is ignored: " in result.stderr
    assert "split_budget" in result.stdout
    assert configured("history", "clear").exit_code == 0
    assert configured.json("history", "show") == []
