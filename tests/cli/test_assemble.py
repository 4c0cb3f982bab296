"""`contextkit assemble` and `contextkit premortem`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import CommandLine

QUERY = "how is the token budget split?"


def test_the_first_run_indexes_and_prints_code_and_commits(contextkit: CommandLine) -> None:
    """No set-up: the workspace is found, indexed, and the context printed."""
    result = contextkit("assemble", QUERY, "--set", "source_timeout=20", "--set", "deadline=20")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.startswith("# Context\n")
    assert "## Code" in result.stdout
    assert "split_budget" in result.stdout
    assert "## Commits" in result.stdout
    assert "Split the token budget by weight" in result.stdout


def test_it_works_from_a_folder_below(
    contextkit: CommandLine, elsewhere: Callable[[Path], CommandLine]
) -> None:
    """The workspace is the repository, wherever in it one stands."""
    contextkit("assemble", QUERY)
    below = contextkit.folder / "a" / "b"
    below.mkdir(parents=True)
    assert "split_budget" in elsewhere(below)("assemble", QUERY, "--no-index").stdout


def test_without_indexing_nothing_is_found_at_first(contextkit: CommandLine) -> None:
    """`--no-index` uses what is stored: here nothing, which is no failure. It says what to do."""
    told = "the project is not indexed yet: run `contextkit index`, or call `kit.index()`"
    result = contextkit("assemble", QUERY, "--no-index")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == f"contextkit: {told}\n"
    assert told not in contextkit("assemble", "thanks!", "--no-index").stderr
    contextkit("index")
    assert told not in contextkit("assemble", "zzzz qqqq", "--no-index").stderr


@pytest.mark.parametrize("command", ["assemble", "explain", "premortem"])
def test_a_session_may_be_named(contextkit: CommandLine, command: str) -> None:
    """It goes with the request; a name of nothing is refused."""
    assert contextkit(command, "testing", "--set", "session=monday").exit_code == 0
    refused = contextkit(command, "testing", "--set", "session= ")
    assert refused.exit_code == 2
    assert "session must be the name of a session, got ' '" in refused.stderr


def test_sources_limit_style_and_query_from_standard_input(contextkit: CommandLine) -> None:
    """The options of a request, each of them."""
    contextkit("index")
    asked = contextkit.json(
        *("assemble", "-", "--sources", "code, commits", "--sources", "memories", "--limit", "1"),
        *("--style", "xml", "--set", "source_timeout=50", "--set", "deadline=50"),
        *("--set", "overflow=soft"),
        given=QUERY,
    )
    assert [source["source"] for source in asked["trace"]["sources"]] == [
        *("memories", "code", "commits"),
    ]
    assert asked["sources_used"] == {"code": 1, "commits": 1}
    assert asked["markdown"].lstrip().startswith("<")


def test_the_configured_sources_are_the_default(contextkit: CommandLine) -> None:
    """`[assemble] sources` says who is asked, and who is indexed, when the call does not."""
    (contextkit.folder / "contextkit.toml").write_text("[assemble]\nsources = ['commits']\n")
    context = contextkit.json("assemble", QUERY)
    assert [source["source"] for source in context["trace"]["sources"]] == ["commits"]
    assert {row["name"]: row["records"] for row in contextkit.json("sources")}["code"] == 0


def test_a_request_for_a_source_that_is_off_beats_the_setting(contextkit: CommandLine) -> None:
    """The request is the strongest layer."""
    (contextkit.folder / "contextkit.toml").write_text("[sources.code]\nenabled = false\n")
    assert "## Code" not in contextkit("assemble", QUERY).stdout
    assert "## Code" in contextkit("assemble", QUERY, "--sources", "code").stdout


@pytest.mark.parametrize("query", ["", "   \n", "-"])
def test_an_empty_query_is_an_error(contextkit: CommandLine, query: str) -> None:
    """There is nothing to look for; empty standard input, too."""
    assert "the query is empty" in contextkit.line(2, "assemble", query)


def test_a_query_of_100_kilobytes_is_answered(contextkit: CommandLine) -> None:
    """Its beginning is searched for, and a message says so."""
    contextkit("index")
    patient = ("assemble", "--set", "source_timeout=20", "--set", "deadline=20")
    result = contextkit(*patient, "-", given=f"{QUERY} " * 3300)
    assert result.exit_code == 0
    assert "split_budget" in result.stdout
    assert "characters" in result.stderr
    ran = contextkit.process(*patient, f"{QUERY} " * 3300)
    assert ran.returncode == 0
    assert b"split_budget" in ran.stdout


def test_endless_standard_input_is_refused(contextkit: CommandLine) -> None:
    """`contextkit assemble - < /dev/zero` ends."""
    with Path("/dev/zero").open("rb") as endless:
        ran = contextkit.process("assemble", "-", given=None, stdin=endless)
    assert ran.returncode == 2
    assert b"longer than 1,000,000 bytes" in ran.stderr


@pytest.mark.parametrize(
    ("option", "value", "expected"),
    [
        ("--max-tokens", "0", "max_tokens must be a whole number of at least 1, got '0'"),
        (
            "--max-tokens",
            f"1{'0' * 22}",
            "max_tokens must be a whole number of at most 1,000,000,000,000, got '1",
        ),
        ("--limit", "many", "limit must be a whole number of at least 1, got 'many'"),
        ("--style", "html", "style must be one of markdown, xml, plain, got 'html'"),
        ("--set", "source_timeout=nan", "source_timeout must be a number of seconds over 0"),
        ("--set", "limit", "expected NAME=VALUE, as in detail=compact, got 'limit'"),
        ("--set", "colour=red", "a request has no option 'colour'; it has: max_tokens, "),
        ("--set", "weights=memoris=1", "Invalid source 'memoris'. Valid sources: "),
        ("--set", "max_token=5", "no option 'max_token'; did you mean 'max_tokens'?"),
        ("--set", "weights=code", "weights must be a table of numbers by source, got 'code'"),
        ("--set", "weights=code=0", "weights: code must be a number over 0, got 0.0"),
        ("--set", "tokens=nobody", "tokens: there is no tokenizer 'nobody'; available: default, "),
        ("--set", "exclude=[3]", "exclude must be a list of names, got '[3]'"),
        ("--set", "additional_context=@nowhere.md", "cannot read 'nowhere.md': No such file"),
        ("--since", "yesterday", "since must be a time such as 7d, 12h or 2026-05-01"),
        ("--sources", " , ", "No source given"),
        ("--sources", "code,memoris", "Did you mean 'memories'?"),
    ],
)
def test_a_value_that_makes_no_sense_is_an_error(
    contextkit: CommandLine, option: str, value: str, expected: str
) -> None:
    """The only line names the value and what it should be."""
    assert expected in contextkit.line(2, "assemble", QUERY, option, value)


def test_a_budget_of_one_token_is_an_empty_context(contextkit: CommandLine) -> None:
    """Nothing fits, and a message says that this is why."""
    result = contextkit("assemble", QUERY, "--max-tokens", "1")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "no item fits into 1 tokens" in result.stderr


def test_an_argument_that_is_not_utf8_is_searched_for(contextkit: CommandLine) -> None:
    """Bytes that are no text become the replacement character."""
    ran = contextkit.process("assemble", b"token budget \xff\xfe")
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert b"split_budget" in ran.stdout


def test_every_source_off_is_said(contextkit: CommandLine) -> None:
    """An empty context has a reason."""
    off = ",".join(contextkit.source_names())
    result = contextkit("--disable", off, "assemble", QUERY)
    assert (result.exit_code, result.stdout) == (0, "")
    assert "no source is on" in result.stderr


@pytest.mark.parametrize(
    ("body", "timeout", "expected"),
    [
        ("raise RuntimeError('low water')", 30, "RuntimeError: low water"),
        ("return 'tide'", 30, "expected a sequence of ContextItem"),
        ("import time; time.sleep(600)", 0.2, "no answer within 0.2 s"),
    ],
)
def test_a_source_that_fails_costs_only_itself(
    contextkit: CommandLine, install: Callable[..., str], body: str, timeout: float, expected: str
) -> None:
    """It is named with the reason on standard error; the others' items are printed."""
    install(
        "tides",
        f"from contextkit import hookimpl\n@hookimpl\ndef contextkit_query(request):\n    {body}\n",
    )
    (contextkit.folder / "contextkit.toml").write_text(f"[sources.tides]\ntimeout = {timeout}\n")
    contextkit("index")
    result = contextkit("assemble", QUERY, "--sources", "tides,code")
    assert result.exit_code == 0
    assert "split_budget" in result.stdout
    assert result.stderr.startswith("contextkit: tides: ")
    assert expected in result.stderr
    alone = contextkit("assemble", QUERY, "--sources", "tides")
    assert (alone.exit_code, alone.stdout) == (1, "")


def test_a_source_that_fails_to_index_costs_only_itself(
    contextkit: CommandLine, install: Callable[..., str]
) -> None:
    """The message names it; `contextkit index` has code 1, `assemble` goes on."""
    install(
        "tides",
        """
        from contextkit import hookimpl

        @hookimpl
        def contextkit_index(indexer):
            raise OSError("no harbour")

        @hookimpl
        def contextkit_query(request):
            return []
        """,
    )
    result = contextkit("index", "--json")
    assert result.exit_code == 1
    assert "no harbour" in json.loads(result.stdout)["tides"]["problem"]
    assert "not indexed: tides: " in result.stderr
    assembled = contextkit("assemble", QUERY)
    assert assembled.exit_code == 0
    assert "split_budget" in assembled.stdout
    assert "not indexed: tides: " in assembled.stderr


def test_a_premortem_needs_the_source_that_offers_it(contextkit: CommandLine) -> None:
    """Without experiences there is no such recipe; with them it may be empty."""
    said = contextkit.line(2, "--disable", "experiences", "premortem", "debugging")
    assert "'premortem'" in said
    result = contextkit("premortem", "debugging")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "nothing relevant was found" in result.stderr
    assert contextkit("premortem", "debugging", "--max-tokens", "0").exit_code == 2
