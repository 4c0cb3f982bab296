"""The five first-party sources over a host's own searcher: seed 1's contract, end to end."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from contextkit import ContextAssembler, InvalidContextTypeError, InvalidRequestError
from tests.store.seed_host import FIVE, THINGS, AsyncHost, Result, SyncHost, experience

pytestmark = pytest.mark.one_python

EXAMPLE = Path(__file__).parents[2] / "examples" / "own_searcher.py"
PATIENT: dict[str, Any] = {"source_timeout": 30, "deadline": 30}


@pytest.fixture(params=[SyncHost, AsyncHost])
def host(request: pytest.FixtureRequest) -> SyncHost:
    """A searcher, once with methods that block and once with methods that are awaited."""
    made: SyncHost = request.param()
    return made


CONTEXT = """\
# Context

## Memories

**Memory** (2026-05-01, decisions): Flaky tests block the release train

## Code

**Function** `retry_flaky` in `tests/retry.py:10`
```
def retry_flaky(test):
    return test() or test()
```

## Experiences

**Experience**: find flaky test number 1 (debugging, systematic-elimination)
- **Hypothesis**: the tests share a database
- **Tried**: ran suite 1 alone
- **Outcome**: falsified - it failed alone, too
- **Surprise**: the clock of the flaky test was mocked
- **Root cause**: a leaked fixture
- **What worked**: bisecting the flaky suite

## Values

**Value**:
Run a flaky test alone before you blame it

## Commits

**Commit** `0123456` by Ada on 2026-05-02
Quarantine the flaky tests
\\
They block everybody.
*Files: `tests/a.py`, `tests/b.py`, `ci.yml` and 1 more*"""


async def test_all_five_sources_in_their_own_formats(host: SyncHost) -> None:
    """What the host finds is shown as the sources show their own records."""
    assembler = ContextAssembler(host)
    context = await assembler.assemble_context("flaky test", FIVE, limit=1, **PATIENT)
    assert context.markdown == CONTEXT.replace("\\\n", "\n")
    assert context.sources_used == dict.fromkeys(FIVE, 1)
    assert context.trace.notes == ()
    assert {source for source, *_ in host.calls} == set(FIVE)
    assert {query for _, query, *_ in host.calls} == {"flaky test"}
    assert [wanted for source, _, _, wanted in host.calls if source == "experiences"] == [
        {"axis": "full"}
    ]


async def test_the_metadata_are_seed_1s(host: SyncHost) -> None:
    """Each item carries what seed 1 lists for its source."""
    context = await ContextAssembler(host).assemble_context("flaky", FIVE, limit=1, **PATIENT)
    metadata = {item.source: item.metadata for item in context.items}
    listed = {
        "memories": {"id", "category", "importance", "created_at"},
        "code": {"file_path", "start_line", "end_line", "language", "qualified_name"},
        "experiences": {
            "id",
            "domain",
            "strategy",
            "outcome_status",
            "confidence_tier",
            "iteration_count",
        },
        "values": {"id", "axis", "cluster_id", "cluster_size", "similarity_to_centroid"},
        "commits": {"sha", "author", "timestamp", "files_changed", "insertions", "deletions"},
    }
    for source, names in listed.items():
        given = THINGS[source][0].metadata
        found = {name: metadata[source][name] for name in names if name != "created_at"}
        assert found == {name: given[name] for name in names if name != "created_at"}


async def test_only_the_sources_that_are_asked_for_are_searched(host: SyncHost) -> None:
    """And an unknown one is refused before anything is searched."""
    assembler = ContextAssembler(host)
    with pytest.raises(InvalidContextTypeError, match="Did you mean 'memories'"):
        await assembler.assemble_context("flaky", ["memory"])
    assert host.calls == []
    context = await assembler.assemble_context("coffee", ["memories"], **PATIENT)
    assert [item.id for item in context.items] == ["mem_2"]
    assert [source for source, *_ in host.calls] == ["memories"]


async def test_nothing_found_is_an_empty_context(host: SyncHost) -> None:
    """Results that do not match are below the floor; it is no error."""
    context = await ContextAssembler(host).assemble_context("zeppelin", FIVE, **PATIENT)
    assert (context.markdown, context.items, context.sources_used) == ("", [], {})


@pytest.mark.parametrize("query", ["", " \n"])
async def test_an_empty_query_is_an_empty_context(host: SyncHost, query: str) -> None:
    """As the seed's assembler gave one; the searcher is not asked, and options are checked."""
    assembler = ContextAssembler(host)
    context = await assembler.assemble_context(query, FIVE, **PATIENT)
    assert (context.markdown, context.items, context.token_count) == ("", [], 0)
    assert host.calls == []
    with pytest.raises(InvalidRequestError, match="limit must be a whole number"):
        await assembler.assemble_context(query, FIVE, limit=0)


# -- premortem ------------------------------------------------------------------------------


def asked_of(host: SyncHost) -> list[tuple[Any, ...]]:
    """What a host was asked for, in the order of seed 1's list."""
    return sorted(((source, query, wanted) for source, query, _, wanted in host.calls), key=str)


async def test_a_premortem_asks_what_seed_1_lists(host: SyncHost) -> None:
    """Full and falsified, strategy, surprise, root cause, values: each query, each filter."""
    context = await ContextAssembler(host).get_premortem_context(
        "debugging", "systematic-elimination", **PATIENT
    )
    expected = [
        (
            "experiences",
            "failures and issues in debugging",
            {"axis": "full", "domain": "debugging", "outcome": "falsified"},
        ),
        (
            "experiences",
            "outcomes using systematic-elimination strategy",
            {"axis": "strategy", "strategy": "systematic-elimination"},
        ),
        (
            "experiences",
            "unexpected outcomes in debugging",
            {"axis": "surprise", "domain": "debugging"},
        ),
        (
            "experiences",
            "why hypotheses fail in debugging",
            {"axis": "root_cause", "domain": "debugging"},
        ),
        ("values", "principles for debugging using systematic-elimination", {}),
    ]
    assert asked_of(host) == expected
    assert {limit >= 5 for *_, limit, _ in host.calls} == {True}
    assert context.markdown.startswith("# Premortem: debugging with systematic-elimination\n")


async def test_a_premortem_shows_each_experience_in_its_section() -> None:
    """Sections in seed 1's order; one that several axes find stands in the first."""
    surprising = experience(4, outcome_status="confirmed", surprise="it was the cable")
    rooted = experience(5, outcome_status="confirmed", root_cause="a full disk")
    things = {**THINGS, "experiences": [*THINGS["experiences"], surprising, rooted]}
    context = await ContextAssembler(AsyncHost(things)).get_premortem_context(
        "debugging", min_relevance=0, max_tokens=4000, **PATIENT
    )
    sections: dict[str, list[str]] = {}
    for line in context.markdown.splitlines():
        if line.startswith("## "):
            sections[line[3:]] = []
        elif match := re.match(r"\*\*Experience\*\*: find flaky test number (\d)", line):
            list(sections.values())[-1].append(match[1])
    assert sections == {
        "Common Failures": ["1"],
        "Unexpected Outcomes": ["4"],
        "Root Causes to Watch": ["5"],
        "Relevant Principles": [],
    }
    assert context.markdown.endswith("*Based on 3 past experiences*")
    assert "- **Root cause**: a full disk" in context.markdown


# -- dedup across sources -------------------------------------------------------------------


async def test_what_two_sources_found_is_shown_once() -> None:
    """By seed 1's keys, such as the experience of a value, and by text.

    Seed 1 also merges a commit with its one file. It hid the function behind a message.
    """
    code, commit = THINGS["code"][0], THINGS["commits"][0]
    one_file = {**commit.metadata, "files_changed": ["tests/retry.py"], "file_count": 1}
    told = "Never retry a flaky test more than twice in a row"
    things = {
        "memories": [Result(content=told, metadata={"id": "mem_1"})],
        "code": [code],
        "experiences": [THINGS["experiences"][0]],
        "values": [
            Result(
                content="find flaky test",
                metadata={**THINGS["values"][0].metadata, "ghap_id": "ghap_1"},
            ),
            Result(
                content=f"{told}!",
                metadata={**THINGS["values"][0].metadata, "id": "value_2", "ghap_id": "ghap_8"},
            ),
        ],
        "commits": [Result(content="Retry flaky tests once", metadata=one_file)],
    }
    context = await ContextAssembler(SyncHost(things)).assemble_context(
        "flaky", FIVE, max_tokens=4000, min_relevance=0, **PATIENT
    )
    shown = {(item.source, item.id) for item in context.items}
    pairs = [
        {("experiences", "ghap_1"), ("values", "value_1")},
        {("memories", "mem_1"), ("values", "value_2")},
    ]
    both = {("code", "tests/retry.py:10"), ("commits", one_file["sha"])}
    assert len(shown) == 4
    assert both < shown
    for pair in pairs:
        (winner,) = pair & shown
        (loser,) = pair - shown
        (item,) = (item for item in context.items if (item.source, item.id) == winner)
        assert [(place.source, place.id) for place in item.also_in] == [loser]


# -- what goes wrong, and many at once ------------------------------------------------------


async def test_a_commit_that_the_query_names_is_still_searched_for(host: SyncHost) -> None:
    """The source looks its sha up in the store first, where there is nothing to look it up."""
    context = await ContextAssembler(host).assemble_context(
        "flaky 0123456789", ["commits"], **PATIENT
    )
    assert [item.metadata["author"] for item in context.items] == ["Ada"]


@pytest.mark.uncounted
async def test_a_hundred_at_once_give_the_same_texts_as_one_by_one(host: SyncHost) -> None:
    """One assembler serves them all."""
    assembler = ContextAssembler(host)
    queries = [f"{word} {n}" for n in range(25) for word in ("flaky", "test", "release", "alone")]

    async def text(query: str) -> str:
        return (await assembler.assemble_context(query, FIVE, **PATIENT)).markdown

    alone = [await text(query) for query in queries]
    together = await asyncio.gather(*map(text, queries))
    assert together == alone
    assert len(set(alone)) > 4


# -- the example ----------------------------------------------------------------------------


# A busy machine takes longer than the half second that is enough elsewhere.
PATIENTLY = """
import asyncio, runpy, sys, time
asyncio.BaseEventLoop.time = lambda loop: time.monotonic() / 100
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def run_example(arguments: Iterable[str], folder: Path) -> str:
    """What the example prints, run as a person would."""
    command: Sequence[str] = [sys.executable, "-c", PATIENTLY, str(EXAMPLE), *arguments]
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    return ran.stdout


def test_the_example_works(tmp_path: Path) -> None:
    """It finds what it has, and nothing where it has nothing; it writes no file."""
    whole = run_example([], tmp_path)
    assert "**Memory** (decisions): Deploys are frozen on Fridays" in whole
    assert "`freeze` in `deploys.py:12`" in whole
    assert "# Premortem: debugging" in whole
    assert "- **Surprise**: The calendar's days begin in Sydney" in whole
    assert "small commits" not in whole
    other = run_example(["who", "likes", "small", "commits?"], tmp_path)
    assert "**Memory** (preferences): Ada prefers small commits" in other
    assert "Fridays" not in other.partition("# Premortem")[0]
    assert list(tmp_path.iterdir()) == []
