"""What can be set, what a person sees of it, and `contextkit cache`."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from contextkit import ContextKit
from contextkit.cache.caches import open_caches
from contextkit.cli.checks import examine
from contextkit.cli.root import cli
from contextkit.config.load import user_config_file
from contextkit.config.sections import CacheSettings
from contextkit.config.settings import Config
from contextkit.errors import ConfigError
from tests.cache.redis_server import RedisServer

Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """The command line in a folder of its own, with sources that have patience."""
    for name in ("SOURCE_TIMEOUT", "DEADLINE"):
        monkeypatch.setenv(f"CONTEXTKIT_ASSEMBLE_{name}", "20")
    monkeypatch.setenv("CONTEXTKIT_CACHE_TIMEOUT", "20")
    folder = tmp_path / "folder"
    folder.mkdir()

    def invoke(*arguments: str) -> Result:
        return CliRunner().invoke(cli, ["-C", str(folder), *arguments])

    return invoke


@pytest.fixture
def on_redis(redis: RedisServer, monkeypatch: pytest.MonkeyPatch) -> RedisServer:
    """The server, set in the environment."""
    monkeypatch.setenv("CONTEXTKIT_CACHE_ENABLED", "true")
    monkeypatch.setenv("CONTEXTKIT_CACHE_URL", redis.url)
    return redis


def data(result: Result) -> Any:
    """What was printed as JSON."""
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


# -- settings ---------------------------------------------------------------------------------


def test_the_defaults_are_the_seeds() -> None:
    """Off; 30 seconds and an hour, five minutes, a day, a hundred contexts."""
    settings = Config().cache
    assert not settings.enabled
    assert (settings.url, settings.timeout, settings.jitter) == ("memory", 0.1, 0.1)
    assert (settings.contexts_ttl, settings.shared_contexts_ttl) == (30.0, 3600.0)
    assert (settings.results_ttl, settings.embeddings_ttl) == (300.0, 86400.0)
    assert (settings.contexts_size, settings.results_size) == (100, 500)


def test_one_line_switches_it_on(tmp_path: Path) -> None:
    """In the user's own file."""
    user_config_file().write_text("[cache]\nenabled = true\n")
    with ContextKit.open(tmp_path, entry_points=False) as kit:
        assert kit.caches is not None
        assert kit.caches.levels.redis is None


@pytest.mark.parametrize("line", ["url = 'redis://elsewhere'", "enabled = true", "jitter = 0.5"])
def test_a_project_does_not_choose_it(tmp_path: Path, line: str) -> None:
    """A cloned repository could read along."""
    (tmp_path / "contextkit.toml").write_text(f"[cache]\n{line}\n")
    with pytest.raises(ConfigError, match=r"cache\.\w+: this setting is yours alone"):
        ContextKit.open(tmp_path, entry_points=False)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("enabled", "yes"),
        ("url", "localhost"),
        ("url", "http://localhost"),
        ("url", "redis://:secret@localhost"),
        ("url", "redis://me:secret@localhost/0"),
        ("url", ""),
        ("timeout", 0),
        ("timeout", float("inf")),
        ("contexts_ttl", 0),
        ("shared_contexts_ttl", -1),
        ("results_ttl", "long"),
        ("embeddings_ttl", 0),
        ("jitter", 1.5),
        ("jitter", -0.1),
        ("contexts_size", 0),
        ("results_size", 1.5),
    ],
)
def test_what_makes_no_sense_is_refused(tmp_path: Path, key: str, value: Any) -> None:
    """With what is expected; a password would be printed with the settings."""
    with pytest.raises(ConfigError, match=rf"cache\.{key}: expected "):
        ContextKit.open(tmp_path, entry_points=False, settings={f"cache.{key}": value})


@pytest.mark.parametrize(
    "url",
    ["redis://localhost", "redis://me@host:6379/2", "rediss://host/0", "unix:///run/redis.sock"],
)
def test_addresses_of_redis(url: str) -> None:
    """With and without encryption, by a socket, with a user's name."""
    assert CacheSettings(url=url).url == url


def test_without_its_library_redis_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """That says what to install."""
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "redis" else find(name)
    )
    config = Config(cache=CacheSettings(enabled=True, url="redis://localhost"))
    with pytest.raises(ConfigError, match=r'pip install "contextkit-core\[redis\]"'):
        open_caches(config)


# -- the command line -------------------------------------------------------------------------


def test_it_is_off(run: Run) -> None:
    """It says so; what needs it is a setting's error."""
    assert run("cache", "show").stdout == "off\n"
    assert data(run("cache", "show", "--json"))["enabled"] is False
    for command in (["clear"], ["warm", "tide"]):
        result = run("cache", *command)
        assert result.exit_code == 3
        assert "cache.enabled: there is no cache" in result.stderr


def test_memory_is_each_process_own(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """There is nothing to warm for others."""
    monkeypatch.setenv("CONTEXTKIT_CACHE_ENABLED", "true")
    assert run("cache", "show").stdout == "in the memory of each process\n"
    assert run("cache", "clear").exit_code == 0
    result = run("cache", "warm", "tide")
    assert result.exit_code == 3
    assert "cache.url: in the memory of this process" in result.stderr


def test_a_warmed_context_is_found(run: Run, on_redis: RedisServer) -> None:
    """By another run of the command line, until the cache is cleared or passed over."""
    run("remember", "The tide rises at noon")
    asked = ["tide", "--sources", "memories", "--max-tokens", "500"]
    assert run("cache", "warm", *asked).stdout == "tide: kept\n"
    assert data(run("cache", "warm", *asked, "--json")) == {"tide": "hit"}
    shown = run("cache", "show").stdout
    assert shown == f"{on_redis.url}\ncontexts: 1\nresults: 1\n"
    found = data(run("assemble", *asked, "--no-index", "--json"))
    assert found["trace"]["cache"]["state"] == "hit"
    assert "The tide rises at noon" in found["markdown"]
    passed = data(run("assemble", *asked, "--no-index", "--no-cache", "--json"))
    assert passed["trace"]["cache"] is None
    assert passed["markdown"] == found["markdown"]
    assert run("cache", "clear").exit_code == 0
    assert on_redis.names() == []
    assert run("cache", "show").stdout == f"{on_redis.url}\nnothing in it\n"


def test_clearing_leaves_others_values(run: Run, on_redis: RedisServer) -> None:
    """What is not contextkit's, and the revisions of a server's records."""
    on_redis.command("SET", "somebody's", "x")
    on_redis.command("SET", "contextkit:1:revision:p:notes", "x")
    on_redis.command("SET", "contextkit:1:contexts:p", "x")
    assert run("cache", "clear").exit_code == 0
    assert on_redis.names() == ["contextkit:1:revision:p:notes", "somebody's"]


def test_a_live_sources_contexts_are_not_kept(run: Run, on_redis: RedisServer) -> None:
    """Warming says why."""
    said = run("cache", "warm", "tide", "--sources", "memories,workspace").stdout
    assert "tide: not kept, " in said


def test_a_redis_that_does_not_answer(run: Run, on_redis: RedisServer) -> None:
    """Looking and clearing fail with a line; the doctor warns, as all works without."""
    on_redis.kill()
    shown = run("cache", "show")
    assert (shown.exit_code, shown.stdout) == (1, f"{on_redis.url} does not answer\n")
    cleared = run("cache", "clear")
    assert cleared.exit_code == 1
    assert "does not answer: nothing was dropped" in cleared.stderr
    assert run("assemble", "tide", "--sources", "memories", "--no-index").exit_code == 0


# -- the doctor -------------------------------------------------------------------------------


def looked(folder: Path, **settings: Any) -> tuple[str, str]:
    """State and text of what is found of the cache."""
    [found] = [each for each in examine(folder, settings=settings) if each.part == "cache"]
    return found.state, f"{found.text}; {found.remedy}"


def test_the_doctor_looks_at_it(tmp_path: Path, redis: RedisServer) -> None:
    """Off, in memory, in a Redis that answers, in one that does not."""
    on = {"cache.enabled": True}
    shared = {**on, "cache.url": redis.url, "cache.timeout": 20.0}
    assert looked(tmp_path) == ("ok", "off; None")
    assert looked(tmp_path, **on) == ("ok", "in the memory of each process; None")
    assert looked(tmp_path, **shared) == ("ok", f"{redis.url}: empty; None")
    redis.command("SET", "contextkit:1:contexts:x", "x")
    assert looked(tmp_path, **shared) == ("ok", f"{redis.url}: contexts 1; None")
    redis.kill()
    state, text = looked(tmp_path, **shared)
    assert state == "warning"
    assert "does not answer: " in text
    assert (
        "contextkit works without a cache; start it, or correct cache.url or REDIS_PASSWORD" in text
    )
