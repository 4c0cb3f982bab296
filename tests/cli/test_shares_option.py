"""`--set shares=...`: the split of the budget, as an option of the commands that assemble."""

from __future__ import annotations

import re

from tests.cli.conftest import CommandLine

QUERY = "how does the budget split its tokens by weight?"


def test_explain_shows_both_shares(contextkit: CommandLine) -> None:
    """What a source has, in brackets what it would have by weight; one where that is all."""
    contextkit("index")
    asked = ("explain", QUERY, "--no-index")
    following = contextkit(*asked).stdout
    assert re.search(r"^code +ok +\S+ +\d+ +\d+ \(\d+ by weight\) ", following, re.MULTILINE)
    fixed = contextkit(*asked, "--set", "shares=fixed").stdout
    assert re.search(r"^code +ok +\S+ +\d+ +\d+ +\d+ ", fixed, re.MULTILINE)
    rows = contextkit.json(*asked)["trace"]["sources"]
    assert sum(row["share"] for row in rows) == sum(row["fixed_share"] for row in rows)


def test_another_word_is_refused(contextkit: CommandLine) -> None:
    """With those that there are."""
    for command in ("explain", "assemble"):
        result = contextkit(command, QUERY, "--set", "shares=equal")
        assert result.exit_code == 2
        assert "shares must be one of by_evidence, fixed, got 'equal'" in result.stderr
