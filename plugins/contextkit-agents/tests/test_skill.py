"""The skill that every agent gets."""

from __future__ import annotations

import importlib.resources
import re
from typing import TYPE_CHECKING

import pytest
import yaml

if TYPE_CHECKING:
    from conftest import World

TEXT = (importlib.resources.files("contextkit_agents") / "SKILL.md").read_text(encoding="utf-8")
COMMANDS = sorted(set(re.findall(r"`contextkit ([a-z]+)", TEXT)))


def test_it_fits_its_specification() -> None:
    """Name and description have the form and the lengths that agentskills.io demands."""
    _, head, body = TEXT.split("---\n", 2)
    about = yaml.safe_load(head)
    assert set(about) == {"name", "description"}
    assert about["name"] == "contextkit"
    assert 0 < len(about["description"]) <= 1024
    assert len(body.splitlines()) < 500


def test_it_teaches_five_commands() -> None:
    """Those that matter to an agent."""
    assert COMMANDS == ["assemble", "doctor", "index", "premortem", "remember"]


@pytest.mark.parametrize("command", COMMANDS)
def test_its_commands_and_options_exist(command: str, shared_world: World) -> None:
    """What the skill shows can be run as it stands."""
    help_text = shared_world.contextkit(command, "--help")
    for line in re.findall(rf"`contextkit {command}([^`]*)`", TEXT):
        for option in re.findall(r"--[a-z-]+", line):
            assert option in help_text
