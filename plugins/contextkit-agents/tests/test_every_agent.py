"""Every agent's files: what they say, and that nothing of them is left."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from codecs import BOM_UTF8
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from contextkit.indexing import FileListing
from contextkit.models import AgentAdapter, AgentFile, Scope
from contextkit_agents.errors import SettingsFileError
from contextkit_agents.installing import Plan
from contextkit_agents.json_text import blanked
from contextkit_agents.ours import offer_for
from contextkit_agents.plugin import contextkit_agents

if TYPE_CHECKING:
    from conftest import World

ADAPTERS = {adapter.name: adapter for adapter in contextkit_agents()}
SCOPES: Sequence[Scope] = ("project", "user", "folder")
EACH = pytest.mark.parametrize("adapter", ADAPTERS.values(), ids=ADAPTERS)
MINE = {
    ".json": '{\n  // mine\n  "mine": {"a": [1, 2,], "b": "//"}, /* and\n  more */\n}\n',
    ".toml": 'model = "o" # mine\r\n\r\n[mcp_servers.other]\r\ncommand = "x"\r\n',
}


def files_of(adapter: AgentAdapter, scope: Scope, folder: Path) -> Sequence[AgentFile]:
    """What an adapter wants to be there."""
    return adapter.files(offer_for(adapter, shared=scope == "folder"), scope, folder)


def install(adapter: AgentAdapter, scope: Scope, folder: Path) -> Plan:
    """Install without asking."""
    plan = Plan(adapter.name)
    plan.install(files_of(adapter, scope, folder))
    plan.carry_out()
    return plan


def uninstall(adapter: AgentAdapter, scope: Scope, folder: Path) -> Plan:
    """Uninstall without asking."""
    plan = Plan(adapter.name)
    plan.uninstall(files_of(adapter, scope, folder))
    plan.carry_out()
    return plan


def tree(folder: Path) -> Mapping[Path, bytes | None]:
    """Everything in a folder."""
    return {path: path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


def parsed(path: Path) -> Any:
    """The values in a settings file."""
    text = path.read_bytes().decode()
    return tomllib.loads(text) if path.suffix == ".toml" else json.loads(blanked(text))


@EACH
def test_no_source_indexes_what_it_wrote(adapter: AgentAdapter, tmp_path: Path, home: Path) -> None:
    """An agent that asks about the project does not get contextkit's own skill."""
    install(adapter, "project", tmp_path)
    own = [f.path for f in files_of(adapter, "project", tmp_path) if isinstance(f.content, str)]
    listing = FileListing(tmp_path)
    for path in own:
        listing.add(path.relative_to(tmp_path).as_posix())
    assert own
    assert not listing.files


@EACH
@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("mine", [True, False], ids=["beside mine", "alone"])
def test_it_leaves_no_trace(
    adapter: AgentAdapter, scope: Scope, mine: bool, tmp_path: Path, home: Path
) -> None:
    """Files with comments and other entries are as before, byte for byte, and others are gone."""
    merged = [f.path for f in files_of(adapter, scope, tmp_path) if not isinstance(f.content, str)]
    for path in merged if mine else ():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(MINE[path.suffix].encode())
    before = tree(tmp_path)
    install(adapter, scope, tmp_path)
    for path in merged if mine else ():
        found = parsed(path)
        was = tomllib.loads(MINE[".toml"]) if path.suffix == ".toml" else {"mine": found["mine"]}
        assert found != was
        assert found["mcp_servers"]["other"] if path.suffix == ".toml" else found["mine"]["b"]
    uninstall(adapter, scope, tmp_path)
    assert tree(tmp_path) == before
    assert [path.name for path in home.iterdir()] == ["config.toml"]


@EACH
def test_what_was_added_since_stays(adapter: AgentAdapter, tmp_path: Path) -> None:
    """Contextkit's entries alone are taken out of a file that was edited since."""
    install(adapter, "project", tmp_path)
    for file in files_of(adapter, "project", tmp_path):
        text = file.path.read_text(encoding="utf-8")
        if file.path.suffix == ".toml":
            added = f"{text}\n[mcp_servers.mine]\ncommand = 'x'\n"
        elif isinstance(file.content, str):
            added = f"{text}\n"
        else:
            added = f'{{"mine": ["contextkit"],{text[1:]}'
        file.path.write_text(added, encoding="utf-8")
    plan = uninstall(adapter, "project", tmp_path)
    for file in files_of(adapter, "project", tmp_path):
        if file.path.suffix == ".toml":
            assert parsed(file.path) == {"mcp_servers": {"mine": {"command": "x"}}}
        elif isinstance(file.content, str):
            assert file.path.exists()
            assert any(str(file.path) in remark for remark in plan.remarks)
        else:
            assert parsed(file.path) in ({"mine": ["contextkit"]}, _with_version(adapter))


def _with_version(adapter: AgentAdapter) -> Any:
    return {"mine": ["contextkit"], "version": 1} if adapter.name == "cursor" else None


@pytest.mark.parametrize(
    ("name", "variable", "file"),
    [
        ("claude-code", "CLAUDE_CONFIG_DIR", "settings.json"),
        ("claude-code", "CLAUDE_CONFIG_DIR", ".claude.json"),
        ("codex", "CODEX_HOME", "config.toml"),
        ("opencode", "XDG_CONFIG_HOME", "opencode/opencode.json"),
    ],
)
def test_the_users_folder_may_be_elsewhere(
    name: str, variable: str, file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The agents' own variables name it."""
    monkeypatch.setenv(variable, str(tmp_path))
    found = {each.path for each in files_of(ADAPTERS[name], "user", Path("/home/ada"))}
    assert tmp_path / file in found


def test_agents_share_the_skill(tmp_path: Path) -> None:
    """It is there until the last of them is uninstalled."""
    skill = tmp_path / ".agents" / "skills" / "contextkit" / "SKILL.md"
    for name in ("codex", "cursor", "opencode"):
        install(ADAPTERS[name], "project", tmp_path)
    for name in ("cursor", "codex"):
        uninstall(ADAPTERS[name], "project", tmp_path)
        assert skill.exists()
    uninstall(ADAPTERS["opencode"], "project", tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["SKILL.md", "hooks/contextkit.json"])
def test_a_strangers_file_is_not_replaced(name: str, tmp_path: Path) -> None:
    """A file of the same name that somebody else wrote stays, and nothing is written."""
    adapter = ADAPTERS["copilot"]
    (path,) = (
        file.path
        for file in files_of(adapter, "project", tmp_path)
        if file.path.as_posix().endswith(name)
    )
    path.parent.mkdir(parents=True)
    path.write_text("mine", encoding="utf-8")
    before = tree(tmp_path)
    with pytest.raises(SettingsFileError, match="did not write"):
        install(adapter, "project", tmp_path)
    uninstall(adapter, "project", tmp_path)
    assert tree(tmp_path) == before


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("model = ", "not TOML"),
        ("mcp_servers = {}\n", "by hand"),
        ("[[mcp_servers]]\nname = 'x'\n", "by hand"),
    ],
)
def test_toml_that_cannot_be_extended_is_refused(text: str, reason: str, tmp_path: Path) -> None:
    """The file stays as it is, and the message says what to do."""
    file = tmp_path / ".codex" / "config.toml"
    file.parent.mkdir()
    file.write_text(text, encoding="utf-8")
    with pytest.raises(SettingsFileError, match=reason):
        install(ADAPTERS["codex"], "project", tmp_path)
    assert file.read_text(encoding="utf-8") == text


def test_entries_need_a_file_that_takes_them(tmp_path: Path) -> None:
    """A stranger's adapter may ask for another form."""
    plan = Plan("parrot")
    with pytest.raises(SettingsFileError, match=r"only \.json, \.jsonc, \.toml can"):
        plan.install([AgentFile(tmp_path / "parrot.yaml", {"hooks": {}})])


def test_another_server_of_the_name_stays(tmp_path: Path) -> None:
    """It is somebody else's, in TOML as in JSON."""
    file = tmp_path / ".codex" / "config.toml"
    file.parent.mkdir()
    file.write_text("[mcp_servers.contextkit]\nurl = 'http://x'\n", encoding="utf-8")
    before = file.read_bytes()
    assert "it stays" in install(ADAPTERS["codex"], "project", tmp_path).remarks[0]
    uninstall(ADAPTERS["codex"], "project", tmp_path)
    assert file.read_bytes() == before


def test_a_comment_beside_an_entry_is_not_lost(tmp_path: Path) -> None:
    """Without its record, uninstalling refuses what it cannot take apart."""
    file = tmp_path / ".vscode" / "mcp.json"
    install(ADAPTERS["copilot"], "project", tmp_path)
    text = file.read_text(encoding="utf-8")
    commented = text.replace('"contextkit"', '"mine": {},\n    // keep\n    "contextkit"', 1)
    file.write_text(commented, encoding="utf-8")
    with pytest.raises(SettingsFileError, match="a comment"):
        uninstall(ADAPTERS["copilot"], "project", tmp_path)
    assert file.read_text(encoding="utf-8") == commented


def test_one_command_connects_what_is_there(empty_world: World) -> None:
    """`contextkit install` finds agents by their folders, and `uninstall` removes every trace."""
    for folder in (".codex", ".cursor", ".gemini"):
        (empty_world.folder / folder).mkdir()
    before = tree(empty_world.workspace)
    asked = empty_world.process(["contextkit", "install"], PATH=_own_path())
    assert asked.returncode == 2
    assert b"add --yes" in asked.stderr
    assert asked.stdout.count(b"+++ ") == 8
    assert tree(empty_world.workspace) == before
    ran = empty_world.process(["contextkit", "install", "--yes"], PATH=_own_path())
    assert ran.returncode == 0, ran.stderr
    assert b"trust the hooks" in ran.stderr
    assert {path.name for path in empty_world.workspace.iterdir()} == {
        ".agents",
        ".codex",
        ".cursor",
        ".gemini",
        ".git",
        "contextkit.toml",
    }
    ran = empty_world.process(["contextkit", "uninstall", "--yes"], PATH=_own_path())
    assert ran.returncode == 0, ran.stderr
    assert tree(empty_world.workspace) == before


@pytest.mark.parametrize("name", ["cursor", "codex"])
def test_a_byte_order_mark_stays(name: str, tmp_path: Path, home: Path) -> None:
    """A settings file that begins with one is read, changed and changed back."""
    adapter = ADAPTERS[name]
    files = [f.path for f in files_of(adapter, "project", tmp_path) if f.path.suffix in MINE]
    for path in files:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(BOM_UTF8 + MINE[path.suffix].encode())
    before = tree(tmp_path)

    install(adapter, "project", tmp_path)

    assert all(path.read_bytes().startswith(BOM_UTF8) for path in files)
    assert all(b"contextkit" in path.read_bytes() for path in files)
    uninstall(adapter, "project", tmp_path)
    assert tree(tmp_path) == before


@pytest.mark.parametrize("command", ["install", "uninstall"])
def test_the_help_names_the_agents(empty_world: World, command: str) -> None:
    """Those that `--agent` takes; what `--to` is fits both commands."""
    said = " ".join(empty_world.contextkit(command, "--help").split())
    assert f"Only this agent; repeatable: {', '.join(ADAPTERS)}." in said
    assert "--to FOLDER Folder of plugins to share, such as a marketplace." in said


def test_one_refused_file_does_not_stop_other_agents(empty_world: World) -> None:
    """The others are connected, and the exit code says that one was not."""
    (empty_world.workspace / ".cursor").mkdir()
    (empty_world.workspace / ".cursor" / "hooks.json").write_text("{", encoding="utf-8")
    names = ["--agent", "cursor", "--agent", "codex"]
    ran = empty_world.process(["contextkit", "install", *names, "--yes"])
    assert ran.returncode == 3
    assert b"hooks.json: not JSON" in ran.stderr
    assert (empty_world.workspace / ".codex" / "hooks.json").exists()


def test_a_link_out_of_the_project_is_refused(empty_world: World, tmp_path: Path) -> None:
    """A repository may come with one, and it would name any file of the user's."""
    (empty_world.workspace / ".codex").symlink_to(tmp_path / "elsewhere")
    ran = empty_world.process(["contextkit", "install", "--agent", "codex", "--yes"])
    assert ran.returncode == 3
    assert f"a link leads out of the project, to {tmp_path / 'elsewhere'}".encode() in ran.stderr
    assert not (tmp_path / "elsewhere").exists()


def test_an_unknown_agent_is_named(empty_world: World) -> None:
    """With those that there are."""
    ran = empty_world.process(["contextkit", "install", "--agent", "emacs"])
    assert ran.returncode == 2
    assert b"There is no agent 'emacs': use claude-code, codex" in ran.stderr


def test_without_an_agent_the_names_are_said(empty_world: World) -> None:
    """Nothing is installed where nothing is found."""
    ran = empty_world.process(["contextkit", "install", "--yes"], PATH=_own_path())
    assert ran.returncode == 2
    assert b"Name one with --agent: claude-code, codex" in ran.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_each_agent_is_asked_for(empty_world: World) -> None:
    """On a terminal, with new files named and changes shown; an agent may be left as it is."""
    terminal, end = os.openpty()
    command = ["contextkit", "install", "--agent", "codex", "--agent", "cursor"]
    os.write(terminal, b"n\ny\n")
    (empty_world.workspace / ".cursor").mkdir()
    (empty_world.workspace / ".cursor" / "mcp.json").write_text("{}\n", encoding="utf-8")
    ran = subprocess.run(
        command,
        stdin=end,
        capture_output=True,
        cwd=empty_world.workspace,
        env=empty_world.environment,
        check=True,
    )
    os.close(terminal)
    os.close(end)
    assert b"Install for Codex CLI? [y/N]" in ran.stderr
    assert b"Install for Cursor? [y/N]" in ran.stderr
    assert f"new: {empty_world.workspace}/.cursor/hooks.json\n".encode() in ran.stdout
    assert ran.stdout.count(b"+++ ") == 1
    assert not (empty_world.workspace / ".codex").exists()
    assert (empty_world.workspace / ".cursor" / "hooks.json").exists()


def _own_path() -> str:
    """A PATH without the agents of the machine that runs the tests."""
    return os.pathsep.join([str(Path(sys.executable).parent), "/usr/bin", "/bin"])
