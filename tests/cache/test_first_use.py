"""A process' first question to the cache, and that of a process which it has forked."""

from __future__ import annotations

import subprocess
import sys

import pytest
from structlog.testing import capture_logs

from contextkit.cache.levels import Kind, Levels
from contextkit.cache.redis import RedisLevel
from tests.cache.redis_server import RedisServer

FIRST = """
import asyncio, sys, time
import importlib.abc

late, clock = 0.0, time.monotonic
time.monotonic = lambda: clock() + late

class Slow(importlib.abc.MetaPathFinder):
    "Importing the library takes longer than Redis may."
    def find_spec(self, name, path, target=None):
        global late
        if name == "redis":
            late = 6000.0
        return None

sys.meta_path.insert(0, Slow())
from contextkit.cache.levels import Kind, Levels
from contextkit.cache.redis import RedisLevel
levels = Levels(RedisLevel(sys.argv[1], None, 60.0))
kind = Kind("contexts", 0, 0.0, 60.0)
asyncio.run(levels.keep(kind, "first", b"x"))
print(levels.redis.problem, asyncio.run(levels.get(kind, "first")))
levels.close()
"""


def test_importing_is_not_the_time_of_redis(redis: RedisServer) -> None:
    """The first value is kept however slow the disk is that Python is on."""
    ran = subprocess.run(
        [sys.executable, "-c", FIRST, redis.url],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert ran.stdout == "None b'x'\n", ran.stderr


@pytest.mark.parametrize("url", ["redis://localhost:notaport", "redis://localhost:99999/x"])
async def test_an_address_that_is_none_is_as_a_redis_that_is_gone(url: str) -> None:
    """One warning, and everything is a miss."""
    levels = Levels(RedisLevel(url, None, 20.0))
    kind = Kind("contexts", 10, 30.0, 60.0)
    with capture_logs() as logs:
        await levels.prepare()
        await levels.keep(kind, "key", b"x")
        assert await levels.get(kind, "key") == b"x"
        assert await levels.get(kind, "other") is None
    assert [log["event"] for log in logs] == ["cache_unreachable"]
    levels.close()


FORKS = """
import os, sys
from contextkit.cache.levels import Kind, Levels
from contextkit.cache.redis import RedisLevel

levels = Levels(RedisLevel(sys.argv[1], None, 30.0))
kind = Kind("embeddings", 0, 0.0, 60.0)
levels.keep_blocking(kind, "before", b"x")
child = os.fork()
found = levels.get_blocking(kind, "before")
levels.keep_blocking(kind, "child" if child == 0 else "parent", b"x")
if child == 0:
    levels.close()
    os._exit(0 if found == b"x" else 1)
_, status = os.waitpid(child, 0)
levels.close()
sys.exit(0 if found == b"x" and status == 0 else 1)
"""


def test_a_forked_process_has_connections_of_its_own(redis: RedisServer) -> None:
    """The child neither hangs nor talks on its parent's."""
    command = [sys.executable, "-c", FORKS, redis.url]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert ran.returncode == 0, ran.stderr
    assert [name.split(":")[-1] for name in redis.names()] == ["before", "child", "parent"]
