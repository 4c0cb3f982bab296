"""A cache in Redis: shared, bounded in time, and never a reason to fail."""

from __future__ import annotations

import asyncio
import gc
import json
import random
import time
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from contextkit.cache.levels import Kind, Levels
from contextkit.cache.redis import RedisLevel
from contextkit.concurrency import Breaker
from contextkit.kit import ContextKit
from contextkit.plugin.manager import SourceRegistry
from tests.cache.conftest import Notes, OpenKit, put
from tests.cache.redis_server import RedisServer
from tests.cache.test_contexts import cache_of, state, written_by_another

SLOW = 30.0
"""Seconds within which everything must answer on a busy machine."""


class Clock:
    """Seconds that pass when a test says so."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    """A clock that stands still."""
    return Clock()


@pytest.fixture
def patient(open_kit: OpenKit, redis: RedisServer) -> OpenKit:
    """Opens kits on one Redis that a busy machine does not make look dead."""

    def open_one(**settings: Any) -> ContextKit:
        return open_kit(redis.url, **{"cache.timeout": SLOW, **settings})

    return open_one


def on_clock(kit: ContextKit, clock: Clock) -> RedisLevel:
    """A kit's Redis, left alone for five seconds of this clock after a failure."""
    assert kit.caches is not None
    level = kit.caches.levels.redis
    assert level is not None
    level.breaker = Breaker(1, 5.0, clock)
    return level


def warnings_in(logs: list[Any]) -> list[Any]:
    """What was said of the cache."""
    return [log for log in logs if log["event"] == "cache_unreachable"]


def json_in(redis: RedisServer, key: str) -> Any:
    """A value, which begins with its own key."""
    answer = redis.command("GET", key).split(b"\r\n", 1)[1]
    return json.loads(answer.removeprefix(f"{key}\n".encode()))


# -- shared ---------------------------------------------------------------------------------


async def test_two_kits_share_contexts(patient: OpenKit, notes: Notes) -> None:
    """What one has assembled the other finds, exactly as it was, until something is written."""
    one, other = patient(), patient()
    put(one, "the tide rises")
    first = await one.assemble_context("tide")
    second = await other.assemble_context("tide")
    assert cache_of(second).state == "hit"
    assert second == first
    assert notes.asked == ["tide"]
    put(one, "the tide falls")
    assert await state(other) == "kept"
    assert await state(one) == "hit"
    written_by_another(one, "put")
    assert [await state(one), await state(other)] == ["kept", "hit"]


@pytest.mark.parametrize("off", [False, True])
async def test_a_hosts_own_plugins_are_not_mixed_up(patient: OpenKit, off: bool) -> None:
    """Two objects of one name have no version to tell them by; one that is off may be named."""
    kits = patient(), patient()
    for kit in kits:
        kit.register(Notes(), "own")
        if off:
            kit.disable("own")
    put(kits[0], "the tide rises")
    for kit in kits:
        context = await kit.assemble_context("tide", ["own"])
        assert cache_of(context).state == "kept"
        assert context.trace.sources[0].age is None


async def test_who_loads_no_models_has_other_contexts(patient: OpenKit, notes: Notes) -> None:
    """What is found by keywords alone is nothing for those who have more."""
    kit = patient()
    put(kit, "the tide rises")
    registry = SourceRegistry(kit.config, entry_points=False)
    without = ContextKit.over(kit.workspace, kit.config, registry, models=False)
    without.register(notes, "notes")
    with without:
        assert [await state(without), await state(kit)] == ["kept", "kept"]
    assert notes.asked == ["tide", "tide"]


async def test_values_end_by_themselves(patient: OpenKit, redis: RedisServer) -> None:
    """Contexts after an hour, answers after five minutes, by Redis' own clock."""
    kit = patient(**{"cache.jitter": 0.0})
    put(kit, "the tide rises")
    await kit.assemble_context("tide")
    seconds = {key.split(":")[2]: redis.number("TTL", key) for key in redis.names()}
    assert 3600 - SLOW <= seconds["contexts"] <= 3600
    assert 300 - SLOW <= seconds["results"] <= 300


async def test_times_are_spread(redis: RedisServer) -> None:
    """What is kept in one moment does not end in one moment: up to a half less, as said here."""
    levels = Levels(RedisLevel(redis.url, None, SLOW), 0.5, random.Random(7))
    kind = Kind("contexts", 10, 30.0, 3600.0)
    for number in range(50):
        await levels.keep(kind, str(number), b"x")
    times = [redis.number("PTTL", key) / 1000 for key in redis.names()]
    expected = random.Random(7)
    wanted = [3600 * (1 - 0.5 * expected.random()) for _ in range(50)]
    assert sorted(times) == pytest.approx(sorted(wanted), abs=SLOW)
    assert max(times) - min(times) > 900
    levels.close()


# -- others' values --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "foreign",
    [
        b"",
        b"null",
        b"\xff\xfe",
        b'{"at": 1, "value": {"markdown": 3, "items": 4}}',
        b"\x80\x04\x8c\x05posix\x8c\x06system\x93\x8c\x04true\x85R.",
        b"[" * 100_000,
    ],
)
async def test_foreign_values_are_ignored_and_replaced(
    patient: OpenKit, redis: RedisServer, foreign: bytes
) -> None:
    """Nothing that somebody else writes is run, or keeps a context from being assembled."""
    # Objects of earlier tests, collected where the nesting is deepest, could not be finalized.
    gc.collect()
    kit = patient()
    put(kit, "the tide rises")
    first = await kit.assemble_context("tide")
    [key] = redis.names("*:contexts:*")
    # Without the label that values have, and with it.
    for label in ("", f"{key}\n"):
        redis.command("SET", key, label.encode() + foreign)
        second = await patient().assemble_context("tide")
        assert cache_of(second).state == "kept"
        assert second == first
    assert await state(patient()) == "hit"
    assert redis.number("STRLEN", key) > len("the tide rises")


async def test_another_sort_of_value_is_a_miss(patient: OpenKit, redis: RedisServer) -> None:
    """A list where a text should be is Redis' own error."""
    kit = patient()
    put(kit, "the tide rises")
    await kit.assemble_context("tide")
    [key] = redis.names("*:contexts:*")
    redis.command("DEL", key)
    redis.command("LPUSH", key, "x")
    with capture_logs() as logs:
        assert (await patient().assemble_context("tide")).items
    [warning] = warnings_in(logs)
    assert "WRONGTYPE" in warning["reason"]


async def test_what_is_written_is_json(patient: OpenKit, redis: RedisServer) -> None:
    """For others to look at; never a pickled object."""
    kit = patient()
    put(kit, "the tide rises")
    await kit.assemble_context("tide")
    for key in redis.names():
        assert "the tide rises" in json.dumps(json_in(redis, key))


# -- gone -----------------------------------------------------------------------------------


async def test_a_redis_that_was_never_there(
    open_kit: OpenKit, notes: Notes, tmp_path: Path
) -> None:
    """Contexts are assembled, with one warning; what is in memory is still found."""
    kit = open_kit(f"unix://{tmp_path / 'nobody'}")
    with capture_logs() as logs:
        put(kit, "the tide rises")
        assert [await state(kit), await state(kit)] == ["kept", "hit"]
        for query in ("one", "two", "three"):
            assert (await kit.assemble_context(query)).trace.sources[0].state != "failed"
    [warning] = warnings_in(logs)
    assert warning["log_level"] == "warning"
    assert "nobody" in warning["url"]
    assert "Error" in warning["reason"]


def test_an_interrupted_retry_can_be_repeated(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As by Ctrl-C, of which a notebook's process does not end."""
    level = RedisLevel(f"unix://{tmp_path / 'nobody'}", None, SLOW, Breaker(1, 5.0, clock))
    assert level.attempt(lambda redis: redis.ping()) is None
    clock.now = 5.0

    def interrupted(level: RedisLevel) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(RedisLevel, "connected", interrupted)
        with pytest.raises(KeyboardInterrupt):
            level.attempt(lambda redis: redis.ping())
    assert level.breaker.allows()
    level.close()


async def test_a_redis_that_is_killed_comes_back(
    patient: OpenKit, redis: RedisServer, clock: Clock
) -> None:
    """One warning when it goes; five seconds later it is tried again."""
    kit = patient(**{"cache.contexts_size": 1})
    level = on_clock(kit, clock)
    put(kit, "the tide rises")
    await kit.assemble_context("tide")
    with capture_logs() as logs:
        redis.kill()
        for query in ("one", "two", "three"):
            assert await state(kit, query) == "kept"
        assert len(warnings_in(logs)) == 1
        assert level.problem
        redis.start()
        assert await state(kit, "four") == "kept"
        assert redis.names() == []
        clock.now = 5.0
        assert await state(kit, "five") == "kept"
    assert level.problem is None
    assert [log["event"] for log in logs if log["event"].startswith("cache")] == [
        "cache_unreachable",
        "cache_back",
    ]
    assert len(redis.names("*:contexts:*")) == 1
    assert await state(kit, "six") == "kept"
    assert await state(kit, "five") == "hit"


async def test_a_redis_that_hangs_costs_its_timeout_once(
    patient: OpenKit, redis: RedisServer, clock: Clock
) -> None:
    """Whoever comes after does not wait, until it is tried again."""
    kit = patient()
    level = on_clock(kit, clock)
    put(kit, "the tide rises")
    redis.hang()
    level.timeout = 0.05
    with capture_logs() as logs:
        for query in ("one", "two", "three"):
            assert await state(kit, query) == "kept"
    [warning] = warnings_in(logs)
    assert warning["reason"] == "no answer within 0.05 s"
    assert level.breaker.state == "open"
    redis.go_on()
    level.timeout = SLOW
    clock.now = 5.0
    await state(kit, "four")
    assert level.problem is None


async def test_a_redis_that_is_full(patient: OpenKit, redis: RedisServer) -> None:
    """What cannot be kept is assembled all the same."""
    kit = patient(**{"cache.contexts_size": 1})
    put(kit, "the tide rises")
    redis.command("CONFIG", "SET", "maxmemory", "1")
    with capture_logs() as logs:
        for query in ("one", "two"):
            assert await state(kit, query) == "kept"
    [warning] = warnings_in(logs)
    assert "OutOfMemory" in warning["reason"]


async def test_connections_that_redis_closed_are_made_again(
    patient: OpenKit, redis: RedisServer
) -> None:
    """An idle one may be closed at any time, without a warning."""
    one = patient(**{"cache.contexts_size": 1})
    put(one, "the tide rises")
    await one.assemble_context("tide")
    await one.assemble_context("moon")
    redis.command("CLIENT", "KILL", "TYPE", "normal")
    with capture_logs() as logs:
        assert await state(one, "tide") == "hit"
    assert warnings_in(logs) == []


async def test_a_password_comes_from_the_environment(
    open_kit: OpenKit, redis: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the right one values are shared, with a wrong one everything works without."""
    redis.command("CONFIG", "SET", "requirepass", "abracadabra")
    settings = {"cache.timeout": SLOW, "cache.password_variable": "TIDE_PASSWORD"}
    monkeypatch.setenv("TIDE_PASSWORD", "abracadabra")
    one, other = open_kit(redis.url, **settings), open_kit(redis.url, **settings)
    put(one, "the tide rises")
    assert [await state(one), await state(other)] == ["kept", "hit"]
    monkeypatch.setenv("TIDE_PASSWORD", "wrong")
    with capture_logs() as logs:
        assert await state(open_kit(redis.url, **settings)) == "kept"
    [warning] = warnings_in(logs)
    assert "Password" in warning["reason"] or "invalid username" in warning["reason"]
    assert "wrong" not in str(warning)


async def test_another_keys_value_is_a_miss(patient: OpenKit, redis: RedisServer) -> None:
    """However it came there."""
    kit = patient()
    put(kit, "the tide rises")
    await kit.assemble_context("tide")
    [tide] = redis.names("*:contexts:*")
    await kit.assemble_context("moon")
    [moon] = {*redis.names("*:contexts:*")} - {tide}
    redis.command("COPY", tide, moon, "REPLACE")
    assert await state(patient(), "moon") == "kept"


async def test_what_was_given_up_disturbs_nobody(redis: RedisServer) -> None:
    """Each gets the value of its own key, also after others were cancelled on the way."""
    levels = Levels(RedisLevel(redis.url, None, SLOW))
    kind = Kind("embeddings", 0, 0.0, 3600.0)
    for key in ("one", "other"):
        await levels.keep(kind, key, key.encode())
    with capture_logs() as logs:
        for steps in range(60):
            given_up = asyncio.create_task(levels.get(kind, "one"))
            for _ in range(steps):
                await asyncio.sleep(0)
            given_up.cancel()
            assert await levels.get(kind, "other") == b"other"
    assert warnings_in(logs) == []
    levels.close()


def test_several_event_loops_have_one_connection(patient: OpenKit, redis: RedisServer) -> None:
    """Each synchronous call is a loop of its own; connections outlive it."""
    kit = patient()
    put(kit, "the tide rises")
    for query in ("one", "two", "three"):
        kit.assemble_context_sync(query)
    clients = redis.command("CLIENT", "LIST").count(b"name=contextkit")
    kit.close()
    assert 1 <= clients <= 2
    assert kit.assemble_context_sync("one").markdown == ""


async def test_many_at_once(patient: OpenKit) -> None:
    """More than there are connections."""
    kit = patient(**{"assemble.concurrency": 50})
    put(kit, "the tide rises")
    queries = [f"tide {number}" for number in range(60)]
    states = await asyncio.gather(*(state(kit, query) for query in queries))
    assert states == ["kept"] * 60
    other = patient(**{"assemble.concurrency": 50})
    assert await asyncio.gather(*(state(other, query) for query in queries)) == ["hit"] * 60


async def test_ages_are_told_between_processes(patient: OpenKit, redis: RedisServer) -> None:
    """By the clock on the wall: a minute more is a minute more."""
    kit = patient()
    put(kit, "the tide rises")
    await kit.assemble_context("tide")
    [key] = redis.names("*:contexts:*")
    value = json_in(redis, key)
    assert value["at"] <= time.time()
    redis.command("SET", key, f"{key}\n{json.dumps({**value, 'at': value['at'] - 60})}")
    redis.command("EXPIRE", key, "100")
    age = cache_of(await patient().assemble_context("tide")).age
    assert age is not None
    assert 60 <= age < 60 + SLOW
