"""One Redis and one server for two users: no context of one is an answer to the other."""

from __future__ import annotations

from pathlib import Path

from contextkit import ContextKit, Record
from contextkit.testing import own_git
from tests.cache.redis_server import RedisServer
from tests.store.http_qdrant import HttpQdrant
from tests.store.team import Team

PRIVATE = "my desk is by the harbour"


def _asked(kit: ContextKit) -> tuple[str, str]:
    """The context, and whether it came from the cache."""
    context = kit.assemble_context_sync("where is the harbour?", sources=("memories",))
    assert context.trace is not None
    assert context.trace.cache is not None
    return str(context), context.trace.cache.state


def test_a_cached_context_is_its_users_alone(redis: RedisServer, tmp_path: Path) -> None:
    """The same question in the same folder has another key for another user."""
    settings = {"CONTEXTKIT_CACHE_ENABLED": "true", "CONTEXTKIT_CACHE_URL": redis.url}
    with HttpQdrant() as server, own_git(tmp_path):
        team = Team(tmp_path, server)
        root = team.repository()
        with team.kit("ada", root, **settings) as kit:
            kit.records("memories").shared.put([Record(id="1", text=PRIVATE)])
            assert [_asked(kit)[1], _asked(kit)[1]] == ["kept", "hit"]
        with team.kit("ada", root, **settings) as kit:
            text, state = _asked(kit)
            assert (PRIVATE in text, state) == (True, "hit")
        with team.kit("bob", root, **settings) as kit:
            text, state = _asked(kit)
            assert (PRIVATE in text, state) == (False, "kept")
