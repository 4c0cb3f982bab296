"""Installing into Claude Code's settings, and leaving no trace there."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from attrs import evolve
from hypothesis import given, strategies as st

from contextkit.models import AgentOffer
from contextkit_agents import shapes
from contextkit_agents.adapters import claude_code
from contextkit_agents.errors import SettingsFileError
from contextkit_agents.files import Change, write
from contextkit_agents.installing import Plan
from contextkit_agents.json_text import apply
from contextkit_agents.merging import Merged, remove_all

if TYPE_CHECKING:
    from conftest import World

INSTALL = ["contextkit", "install", "--agent", "claude-code"]
UNINSTALL = ["contextkit", "uninstall", "--agent", "claude-code"]
FILES = {
    "empty": "{}",
    "spaced": "{ \n }\n",
    "tight": '{"model":"opus","permissions":{"allow":["Bash(ls)"]},"n":1.50,"e":1e5}',
    "two spaces": '{\n  "model": "opus",\n  "env": {\n    "A": "\\u00e9é"\n  }\n}\n',
    "tabs": '{\n\t"hooks": {\n\t\t"Stop": []\n\t}\n}',
    "windows": '{\r\n    "model": "opus"\r\n}\r\n',
    "own hooks": json.dumps(
        {
            "hooks": {
                "PostToolUse": [
                    {"matcher": "Edit", "hooks": [{"type": "command", "command": "ruff"}]}
                ],
                "SessionStart": [],
                "Stop": [{"hooks": [{"type": "command", "command": "say done"}]}],
            },
            "z": [1, {"y": []}],
            "a": {},
        },
        indent=4,
    ),
    "twice": '{"a": 1, "a": 2, "hooks": {}, "hooks": {"Stop": [ ]}}',
    "odd": '\n\n{"a"\n:1 ,\n\n"b" : [ 1,2 ,3 ]\n,"hooks"  : { } }\n\n',
    "braces in texts": '{"a": "},{", "b\\"": "\\\\", "hooks": {"Stop": ["]}"]}}',
}
REFUSED = {
    "nothing": "",
    "half": '{"hooks": ',
    "a list": "[]",
    "two commas": '{"a": 1,,}',
    "an open comment": '{"a": 1 /* }',
    "deep": "[" * 100_000,
    "hooks are a list": '{"hooks": []}',
    "an event is a text": '{"hooks": {"PostToolUse": "x"}}',
    "bytes": "\ufffe".encode("utf-16").decode("latin-1"),
}


class Places(NamedTuple):
    """The files of Claude Code in a project."""

    hooks: Path
    servers: Path


@pytest.fixture
def places(tmp_path: Path) -> Places:
    """The files of a project."""
    return Places(tmp_path / ".claude" / "settings.json", tmp_path / ".mcp.json")


OFFER = AgentOffer(
    hook=["/v/bin/contextkit-hook", "claude-code"],
    server=["/v/bin/contextkit", "mcp"],
    skill="---\nname: contextkit\n---\n",
    seconds=5,
    version="1.2.3",
)
HOOK = {"type": "command", "command": OFFER.hook[0], "args": ["claude-code"], "timeout": 5}
HOOKS = shapes.groups(claude_code.EVENTS, HOOK)
SERVER = {"type": "stdio", "command": "/v/bin/contextkit", "args": ["mcp"]}


def plan_install(places: Places, offer: AgentOffer = OFFER) -> Plan:
    """Plan an installation."""
    plan = Plan("claude-code")
    plan.install(claude_code.files(offer, "project", places.servers.parent))
    return plan


def plan_uninstall(places: Places) -> Plan:
    """Plan to uninstall."""
    plan = Plan("claude-code")
    plan.uninstall(claude_code.files(OFFER, "project", places.servers.parent))
    return plan


def install(places: Places, offer: AgentOffer = OFFER) -> None:
    """Install without asking."""
    plan_install(places, offer).carry_out()


def uninstall(places: Places) -> None:
    """Uninstall without asking."""
    plan_uninstall(places).carry_out()


def put(file: Path, text: str) -> bytes:
    """Write a file, whose folder may not be there."""
    file.parent.mkdir(exist_ok=True)
    data = text.encode("utf-8", "surrogatepass")
    file.write_bytes(data)
    return data


@pytest.mark.parametrize("text", FILES.values(), ids=FILES)
def test_it_is_merged_and_taken_back_to_the_byte(places: Places, text: str, home: Path) -> None:
    """What was there stays, what is wanted is there, and then nothing of it is."""
    before = {file: put(file, text) for file in (places.hooks, places.servers)}
    install(places)
    settings = json.loads(places.hooks.read_bytes())
    servers = json.loads(places.servers.read_bytes())
    was = json.loads(text)
    for event in HOOKS:
        assert settings["hooks"].pop(event) == [
            *was.get("hooks", {}).get(event, []),
            *HOOKS[event],
        ]
    assert servers.pop("mcpServers") == {"contextkit": SERVER}
    assert servers == was
    left = {key: value for key, value in was.get("hooks", {}).items() if key not in HOOKS}
    assert settings["hooks"] == left
    assert list(settings)[: len(was)] == list(was)
    assert plan_install(places).changes == []
    uninstall(places)
    assert {file: file.read_bytes() for file in before} == before
    assert [path.name for path in home.iterdir()] == ["config.toml"]


@pytest.mark.parametrize("text", FILES.values(), ids=FILES)
def test_without_its_record_the_rest_stays(places: Places, text: str, home: Path) -> None:
    """Where the record is lost, what is contextkit's goes and the values are what they were."""
    put(places.hooks, text)
    install(places)
    (home / "agents" / "installed.json").unlink()
    uninstall(places)
    found, was = json.loads(places.hooks.read_bytes()), json.loads(text)
    for settings in (found, was):
        # What was empty may have gone with what was in it.
        hooks = {key: value for key, value in settings.pop("hooks", {}).items() if value}
        settings.update({"hooks": hooks} if hooks else {})
    assert found == was


def test_what_was_made_goes(places: Places, home: Path) -> None:
    """Files and folder that were not there are not there again."""
    install(places)
    assert places.hooks.exists()
    assert places.servers.exists()
    uninstall(places)
    assert list(places.servers.parent.iterdir()) == []
    assert [path.name for path in home.iterdir()] == ["config.toml"]


def test_a_folder_that_others_use_stays(places: Places) -> None:
    """Only what is empty goes."""
    install(places)
    (places.hooks.parent / "agents.md").write_text("mine", encoding="utf-8")
    uninstall(places)
    assert [file.name for file in places.hooks.parent.iterdir()] == ["agents.md"]


def test_what_others_added_to_a_made_file_stays(places: Places) -> None:
    """A file that holds anything else is nobody's to delete."""
    install(places)
    settings = json.loads(places.hooks.read_bytes())
    settings["model"] = "opus"
    settings["hooks"]["PostToolUse"][0]["hooks"].append({"type": "command", "command": "mine"})
    put(places.hooks, json.dumps(settings))
    uninstall(places)
    mine = {"type": "command", "command": "mine"}
    assert json.loads(places.hooks.read_bytes()) == {
        "hooks": {"PostToolUse": [{"matcher": claude_code.EVENTS["PostToolUse"], "hooks": [mine]}]},
        "model": "opus",
    }


@pytest.mark.parametrize("text", REFUSED.values(), ids=REFUSED)
def test_what_is_not_understood_is_refused(places: Places, text: str, home: Path) -> None:
    """Nothing is written, neither to that file nor to the other one."""
    before = put(places.hooks, text)
    with pytest.raises(SettingsFileError, match="nothing was written"):
        plan_install(places)
    assert places.hooks.read_bytes() == before
    assert not places.servers.exists()
    put(places.hooks, "{}")
    put(places.servers, '{"mcpServers": []}')
    with pytest.raises(SettingsFileError, match="mcpServers"):
        plan_install(places)
    assert [path.name for path in home.iterdir()] == ["config.toml"]


def test_bytes_that_are_no_text_are_refused(places: Places) -> None:
    """A file that is not UTF-8 is somebody else's format."""
    places.hooks.parent.mkdir()
    places.hooks.write_bytes(b'{"a": "\xff"}')
    with pytest.raises(SettingsFileError, match="cannot be read"):
        plan_install(places)
    places.hooks.unlink()
    places.hooks.mkdir()
    with pytest.raises(SettingsFileError, match="cannot be read"):
        plan_uninstall(places)


def test_another_installation_is_replaced(places: Places) -> None:
    """There is one of each, the last one's, and taking it away leaves what was there first."""
    before = put(places.hooks, FILES["own hooks"])
    install(places)
    old = "/old/bin/contextkit-hook"
    server = ["/old/bin/contextkit", "mcp"]
    install(places, evolve(OFFER, hook=[old, "claude-code"], server=server))
    written = places.hooks.read_text(encoding="utf-8")
    assert written.count("contextkit-hook") == written.count(old) == len(HOOKS)
    assert json.loads(places.servers.read_bytes())["mcpServers"] == {
        "contextkit": {**SERVER, "command": "/old/bin/contextkit"}
    }
    uninstall(places)
    assert places.hooks.read_bytes() == before
    assert not places.servers.exists()


@pytest.mark.parametrize("server", [{"command": "other", "args": ["mcp"]}, {"url": "http://x"}, 5])
def test_somebody_elses_server_of_that_name_stays(places: Places, server: Any) -> None:
    """It is not ours to replace, and a person is told."""
    text = json.dumps({"mcpServers": {"contextkit": server}})
    put(places.servers, text)
    plan = plan_install(places)
    assert "it stays" in plan.remarks[0]
    plan.carry_out()
    uninstall(places)
    assert places.servers.read_text(encoding="utf-8") == text


def test_without_the_mcp_plugin_the_server_is_left_out(places: Places) -> None:
    """Claude Code would only show an error for it."""
    plan = plan_install(places, evolve(OFFER, server=[]))
    assert places.servers not in [change.file for change in plan.changes]


def test_mode_and_link_are_kept(places: Places, tmp_path: Path) -> None:
    """A settings file may be private, and a link into somebody's collection of them."""
    target = tmp_path / "dotfiles.json"
    before = put(target, FILES["two spaces"])
    target.chmod(0o600)
    places.hooks.parent.mkdir()
    places.hooks.symlink_to(target)
    install(places)
    assert places.hooks.is_symlink()
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    uninstall(places)
    assert places.hooks.is_symlink()
    assert target.read_bytes() == before


def test_a_change_in_between_is_not_overwritten(places: Places) -> None:
    """What somebody else wrote after the plan was made is kept."""
    put(places.hooks, "{}")
    plan = plan_install(places)
    put(places.hooks, '{"a": 1}')
    with pytest.raises(SettingsFileError, match="meanwhile"):
        plan.carry_out()
    assert places.hooks.read_text(encoding="utf-8") == '{"a": 1}'


def test_what_cannot_be_written_is_said(tmp_path: Path) -> None:
    """In one line, with the file."""
    (tmp_path / "taken").write_text("", encoding="utf-8")
    with pytest.raises(SettingsFileError, match=r"taken/x\.json: cannot be"):
        write(Change(tmp_path / "taken" / "x.json", None, "{}"))
    assert sorted(tmp_path.iterdir()) == [tmp_path / "taken"]


@pytest.mark.parametrize("record", ["{", "[]", '{"x": 1}'])
def test_a_damaged_record_is_done_without(places: Places, home: Path, record: str) -> None:
    """It is a help, not a need."""
    put(places.hooks, FILES["two spaces"])
    install(places)
    put(home / "agents" / "installed.json", record)
    uninstall(places)
    assert json.loads(places.hooks.read_bytes()) == json.loads(FILES["two spaces"])


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)
entries_of_others = st.lists(
    st.fixed_dictionaries({"hooks": st.lists(st.fixed_dictionaries({"command": st.text()}))}),
    max_size=2,
)
settings_texts = st.builds(
    lambda rest, hooks, indent, ascii_only: json.dumps(
        {**rest, **({} if hooks is None else {"hooks": hooks})},
        indent=indent,
        ensure_ascii=ascii_only,
    ),
    st.dictionaries(st.text(max_size=4).filter(lambda key: key != "hooks"), json_values),
    st.none() | st.dictionaries(st.sampled_from([*HOOKS, "Stop", "é"]), entries_of_others),
    st.sampled_from([None, 0, 1, 2, 4, "\t"]),
    st.booleans(),
)


@given(settings_texts)
def test_any_settings_are_kept(text: str) -> None:
    """Whatever stands there: adding adds, and taking back gives the same text."""
    was, after = json.loads(text), text
    merged = Merged(text)
    merged.add({"hooks": HOOKS, "mcpServers": {"contextkit": SERVER}})
    after, found = merged.text, json.loads(merged.text)
    for event, added in HOOKS.items():
        assert found["hooks"][event] == [*was.get("hooks", {}).get(event, []), *added]
    assert found.pop("mcpServers") == {"contextkit": SERVER}
    assert {k: v for k, v in found.items() if k != "hooks"} == {
        k: v for k, v in was.items() if k != "hooks"
    }
    back = after
    for edit in reversed(merged.edits):
        back = apply(back, edit.reversed)
    assert back == text
    bare = json.loads(remove_all(after))
    assert {k: v for k, v in bare.get("hooks", {}).items() if v} == {
        k: v for k, v in was.get("hooks", {}).items() if v
    }
    assert "contextkit-hook" not in remove_all(after)


def test_the_difference_is_shown_and_nothing_written_unasked(empty_world: World) -> None:
    """`--dry-run` shows it; without `--yes` somebody must be there to be asked."""
    shown = empty_world.contextkit(*INSTALL[1:], "--dry-run")
    assert shown.startswith(f"--- {os.devnull}\n+++ {empty_world.workspace}/.claude/settings.json")
    assert '+    "SessionStart": [' in shown
    assert "contextkit-hook" in shown
    ran = empty_world.process(INSTALL)
    assert ran.returncode == 2
    assert b"add --yes" in ran.stderr
    assert not (empty_world.workspace / ".claude").exists()


def test_the_command_installs_in_a_project(empty_world: World) -> None:
    """From a folder inside it, with a command that works, and out again."""
    inside = empty_world.workspace / "src"
    inside.mkdir()
    before = sorted(empty_world.workspace.rglob("*"))
    first = empty_world.process([INSTALL[0], "-C", str(inside), *INSTALL[1:], "--yes"])
    assert first.returncode == 0, first.stderr
    settings = json.loads((empty_world.workspace / ".claude" / "settings.json").read_bytes())
    (hook,) = settings["hooks"]["UserPromptSubmit"][0]["hooks"]
    event = json.dumps(empty_world.event("SessionStart", source="startup"))
    assert empty_world.process([hook["command"], *hook["args"]], event).returncode == 0
    again = empty_world.process([*INSTALL, "--yes"])
    assert b"nothing to do" in again.stderr
    assert empty_world.process([*UNINSTALL, "--yes"]).returncode == 0
    assert sorted(empty_world.workspace.rglob("*")) == before
    assert b"not installed" in empty_world.process(UNINSTALL).stderr


def test_the_command_installs_for_a_user(empty_world: World) -> None:
    """In the home folder, where much else stands that must stay."""
    file = empty_world.folder / ".claude.json"
    before = put(file, '{"oauthAccount": {"secret": "s3cr3t"}, "numStartups": 7}')
    assert empty_world.process([*INSTALL, "--user", "--yes"]).returncode == 0
    assert (empty_world.folder / ".claude" / "settings.json").exists()
    assert "contextkit" in json.loads(file.read_bytes())["mcpServers"]
    for kept in empty_world.home.rglob("*.json"):
        assert "s3cr3t" not in kept.read_text(encoding="utf-8")
    assert not (empty_world.workspace / ".mcp.json").exists()
    assert empty_world.process([*UNINSTALL, "--user", "--yes"]).returncode == 0
    assert file.read_bytes() == before
    assert not (empty_world.folder / ".claude").exists()


def test_the_command_refuses_with_an_exit_code(empty_world: World) -> None:
    """A line that names the file, and exit code 3."""
    put(empty_world.workspace / ".claude" / "settings.json", "{")
    ran = empty_world.process([*INSTALL, "--yes"])
    assert ran.returncode == 3
    assert b"settings.json: not JSON" in ran.stderr
    assert ran.stderr.count(b"\n") == 1
    assert not (empty_world.workspace / ".mcp.json").exists()
