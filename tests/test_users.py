"""A host with many users: each sees the project's records and their own, nobody else's."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from contextkit import (
    ContextAssembler,
    ContextItem,
    ContextKit,
    ContextRequest,
    FormattedContext,
    Record,
    SourceInfo,
    hookimpl,
)
from contextkit.config.settings import Config
from contextkit.indexing.retention import Pruned
from contextkit.plugin.manager import SourceRegistry
from tests.making import KEYWORDS, OpenKit


class Notes:
    """A source that finds records, and lets one be read by its id."""

    @hookimpl
    async def contextkit_query(self, request: ContextRequest) -> list[ContextItem]:
        hits = await request.records.search(request.query, limit=request.limit)
        return [ContextItem("notes", h.record.text, h.relevance, id=h.record.id) for h in hits]


@pytest.fixture
def kit(open_kit: OpenKit) -> ContextKit:
    """A kit with a note of the project's, of the local user's, of Ada's and of Bob's."""
    kit = open_kit({"notes": Notes()}, settings=KEYWORDS)
    kit.records("notes").put([Record(id="project", text="tide of the project")])
    kit.records("notes").shared.put([Record(id="local", text="tide of the local user")])
    for user in ("ada", "bob"):
        own = kit.records("notes", user).shared
        own.put([Record(id=user, text=f"tide of {user}"), Record(id="same", text=f"same {user}")])
    return kit


def ids(context: FormattedContext) -> set[str]:
    """What is shown."""
    return {item.id for item in context.items}


@pytest.mark.parametrize(
    ("user", "seen"),
    [
        (None, {"project", "local"}),
        ("ada", {"project", "ada"}),
        ("bob", {"project", "bob"}),
        ("eve", {"project"}),
    ],
)
async def test_a_user_finds_the_projects_notes_and_their_own(
    kit: ContextKit, user: str | None, seen: set[str]
) -> None:
    """In a context, and in whatever way the records are read."""
    context = await kit.assemble_context("tide", user=user, min_relevance=0.0)
    assert ids(context) == seen

    records = kit.records("notes", user)
    mine = {record.id for record in records.scan()} - {"same"}
    assert mine == seen
    assert {record.id for record in records.newest(10)} - {"same"} == seen
    assert {hit.record.id for hit in records.search_sync("tide")} == seen
    own = len(seen - {"project"}) and user is not None
    assert records.count() == len(seen) + own
    everyone = ("project", "local", "ada", "bob")
    assert {record.id for record in records.get(*everyone)} == seen


async def test_users_do_not_write_over_each_other(kit: ContextKit) -> None:
    """One id is each user's own: what one writes or deletes is no other's."""
    ada, bob = (kit.records("notes", user) for user in ("ada", "bob"))
    assert ada.delete("same", "bob", "local") == 1
    assert [record.text for record in bob.get("same")] == ["same bob"]
    assert ada.get("same") == []
    ada.shared.delete_where({})
    assert {record.id for record in ada.scan()} == {"project"}
    assert {record.id for record in kit.records("notes").scan()} == {"project", "local"}
    assert len(list(bob.scan())) == 3


async def test_an_item_is_explained_to_those_who_may_see_it(kit: ContextKit) -> None:
    """Another user's record is not known."""
    (hers,) = await kit.explain_item("ada", "moon", user="ada")
    assert hers.outcome == "not_found_by_query"
    (his,) = await kit.explain_item("ada", "moon", user="bob")
    assert his.outcome == "unknown"
    (local,) = await kit.explain_item("local", "moon", user="ada")
    assert local.outcome == "unknown"


# -- a host's own searcher ----------------------------------------------------------------------


class Host:
    """Notes of two users and of the project; `search_notes` may know who asks."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []

    def found(self, **asked: Any) -> list[dict[str, Any]]:
        self.asked.append(asked)
        notes = [
            {"id": "project", "content": "tide of the project", "score": 0.9},
            {"id": "ada", "content": "tide of ada", "score": 0.8, "user": "ada"},
            {"id": "bob", "content": "tide of bob", "score": 0.7, "metadata": {"user": "bob"}},
            {"id": "7", "content": "tide of seven", "score": 0.6, "user": 7},
        ]
        return notes[: asked["limit"]]

    def search_notes(self, query: str, limit: int) -> list[dict[str, Any]]:
        return self.found(limit=limit)


class KnowingHost(Host):
    """One whose method has a parameter for the user."""

    def search_notes(self, query: str, limit: int, user: str | None = None) -> list[dict[str, Any]]:
        return self.found(limit=limit, user=user)


@pytest.mark.parametrize("host", [Host(), KnowingHost()])
@pytest.mark.parametrize(
    ("user", "seen"),
    [
        (None, {"project", "ada", "bob", "7"}),
        ("ada", {"project", "ada"}),
        ("7", {"project", "7"}),
        ("eve", {"project"}),
    ],
)
async def test_a_hosts_results_for_a_user(host: Host, user: str | None, seen: set[str]) -> None:
    """A result that names another user is dropped, whether its method was told who asks or not."""
    registry = SourceRegistry(Config(), entry_points=False)
    registry.register(Notes(), "notes")
    context = await ContextAssembler(host, registry=registry).assemble_context(
        "tide", user=user, source_timeout=30.0, deadline=30.0
    )
    assert ids(context) == seen


async def test_a_hosts_method_is_told_who_asks() -> None:
    """By its parameter `user`; another method is asked for more, as some may be dropped."""
    registry = SourceRegistry(Config(), entry_points=False)
    registry.register(Notes(), "notes")
    told: list[dict[str, Any]] = []
    for host in (KnowingHost(), Host()):
        assembler = ContextAssembler(host, registry=registry)
        await assembler.assemble_context("tide", user="ada", source_timeout=30.0, deadline=30.0)
        told += host.asked
    assert told == [{"limit": 50, "user": "ada"}, {"limit": 250}]


def test_each_users_records_are_pruned_as_the_source_says(open_kit: OpenKit) -> None:
    """For each user that the host names; nobody else's are touched."""

    class Short(Notes):
        @hookimpl
        def contextkit_source(self) -> SourceInfo:
            return SourceInfo(keep_days=1)

    kit = open_kit({"notes": Short()}, settings=KEYWORDS)
    for user in ("ada", "bob"):
        old = datetime.now(UTC) - timedelta(days=3)
        kit.records("notes", user).shared.put([Record(id=user, text="tide", created_at=old)])
    assert kit.prune() == {"notes": Pruned()}
    assert kit.prune(user="ada") == {"notes": Pruned(too_old=1)}
    assert [kit.records("notes", user).shared.count() for user in ("ada", "bob")] == [0, 1]
