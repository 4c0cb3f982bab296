"""What a context must not hold, whose it is and what it is given, as options of its commands."""

from __future__ import annotations

import re
from pathlib import Path

from tests.cli.conftest import CommandLine

QUERY = "how does the budget split its tokens by weight?"
ASKED = ("assemble", QUERY, "--no-index")


def used(contextkit: CommandLine, *options: str) -> dict[str, int]:
    """Source -> items, of what is found with these options."""
    found: dict[str, int] = contextkit.json(*ASKED, *options)["sources_used"]
    return found


def test_items_are_left_out(contextkit: CommandLine) -> None:
    """By time, kind, id and source."""
    contextkit("index")
    assert set(used(contextkit)) == {"code", "commits"}
    assert set(used(contextkit, "--set", "exclude_sources=code, memories")) == {"commits"}
    assert set(used(contextkit, "--set", "kinds=commit", "--set", "kinds=memory")) == {"commits"}
    assert set(used(contextkit, "--set", "kinds=function")) == {"code"}
    assert set(used(contextkit, "--since", "2099-01-01")) == {"code"}
    assert set(used(contextkit, "--since", "52w", "--set", "entity_types=table")) == {
        "code",
        "commits",
    }
    items = contextkit.json(*ASKED)["items"]
    ids = [
        option for item in items for option in ("--set", f"exclude={item['source']}:{item['id']}")
    ]
    assert not set(used(contextkit, *ids)) & {"commits"}


def test_explain_says_what_was_left_out(contextkit: CommandLine) -> None:
    """And what the query was taken to say."""
    contextkit("index")
    asked = ("explain", f"fix split_budget: {QUERY}", "--no-index")
    shown = contextkit(*asked, "--set", "kinds=commit", "--sources", "commits,code").stdout
    signals = r"^intent fix; names split_budget; keywords fix, split_budget, "
    assert re.search(signals, shown, re.MULTILINE)
    assert contextkit(*asked, "--set", "exclude=nothing").exit_code == 0
    (item, *_) = contextkit.json(*asked)["trace"]["items"]
    left_out = contextkit(*asked, "--set", f"exclude={item['id']}").stdout
    assert "filtered: the request excludes its id" in left_out
    words = contextkit(*asked, "--set", f"exclude={item['id']}", "--item", item["id"]).stdout
    assert "It was found, and left out: the request excludes its id." in words


def test_a_text_of_ones_own_is_the_last_section(contextkit: CommandLine, tmp_path: Path) -> None:
    """From a file or from standard input, in a premortem, too."""
    contextkit("index")
    own = tmp_path / "own.md"
    own.write_text("Be brief.", encoding="utf-8")
    shown = contextkit(*ASKED, "--set", f"additional_context=@{own}").stdout
    assert shown.endswith("\n\n## Additional Context\n\nBe brief.\n")
    assert (
        "\n\nFrom a pipe.\n"
        in contextkit(*ASKED, "--set", "additional_context=@-", given="From a pipe.").stdout
    )
    assert (
        "Be brief."
        in contextkit("premortem", "debugging", "--set", f"additional_context=@{own}").stdout
    )


def test_another_user_has_records_of_their_own(contextkit: CommandLine) -> None:
    """What this machine's user keeps for all projects is not Ada's."""
    contextkit("remember", "the budget splits by weight, said the user", "--global")
    contextkit("remember", "the budget splits by weight, said the project")
    assert used(contextkit, "--sources", "memories") == {"memories": 2}
    assert used(contextkit, "--sources", "memories", "--set", "user=ada") == {"memories": 1}


def test_standard_input_is_read_once(contextkit: CommandLine, tmp_path: Path) -> None:
    """It is the query or the text; and a file may not be endless."""
    result = contextkit("assemble", "-", "--set", "additional_context=@-", given="x")
    assert result.exit_code == 2
    assert "Standard input is already the additional context, not the query." in result.stderr
    large = tmp_path / "large"
    large.write_bytes(b"x" * 1_000_001)
    refused = contextkit("assemble", QUERY, "--set", f"additional_context=@{large}")
    assert "it is longer than 1,000,000 bytes" in " ".join(refused.stderr.split())


def test_a_configured_exclusion(contextkit: CommandLine) -> None:
    """`[assemble] exclude_sources`, whose mistakes are the file's."""
    contextkit("index")
    without = contextkit.with_variables(CONTEXTKIT_ASSEMBLE_EXCLUDE_SOURCES="commits")
    assert set(used(without)) == {"code"}
    assert set(used(without, "--sources", "commits")) == {"commits"}
    wrong = contextkit.with_variables(CONTEXTKIT_ASSEMBLE_EXCLUDE_SOURCES="cod")
    said = wrong("assemble", QUERY)
    assert said.exit_code == 3
    assert "CONTEXTKIT_ASSEMBLE_EXCLUDE_SOURCES" in said.stderr
