"""`contextkit values`, through the real command line, on experiences that were really added."""

import importlib.metadata
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from contextkit.testing import CommandLine, command_line, printed_json

PLUGIN = Path(__file__).parent.parent
EXPERIENCES = PLUGIN.parent / "contextkit-experiences"
CACHES = (
    "The cache returned a stale value after the update",
    "A stale cache entry survived the deploy",
    "The cached value was stale as the cache key ignored the user",
)


@pytest.fixture
def run(tmp_path: Path) -> Iterator[CommandLine]:
    """The command line in an empty workspace, with both plugins as in the checkout."""
    with command_line(
        tmp_path / "workspace", EXPERIENCES, PLUGIN, CONTEXTKIT_PROJECT="demo"
    ) as opened:
        yield opened


def learned(run: CommandLine, root_causes: tuple[str, ...] = CACHES, **changes: Any) -> None:
    """Add one falsified experience for each root cause."""
    lines = [
        {
            "id": f"ghap_{changes.get('domain', 'testing')}_{number}",
            "goal": f"Goal {number} of {root_cause}",
            "hypothesis": f"Hypothesis {number}",
            "action": f"Action {number}",
            "prediction": "It works",
            "domain": "testing",
            "strategy": "check-assumptions",
            "outcome_status": "falsified",
            "outcome_result": f"Result {number}",
            "root_cause": root_cause,
            **changes,
        }
        for number, root_cause in enumerate(root_causes)
    ]
    document = "\n".join(map(json.dumps, lines)).encode()
    assert run("experience", "add", "--file", "-", given=document).exit_code == 0


def configured(folder: Path, text: str) -> None:
    """Write the workspace's configuration."""
    (folder / "workspace" / "contextkit.toml").write_text(text)


def test_values_are_refreshed_and_listed(run: CommandLine) -> None:
    """Experiences with one theme become a value, which is listed; again, nothing changes."""
    learned(run)

    said = run("values", "refresh").stdout.splitlines()
    listed = printed_json(run("values", "list", "--axis", "root_cause", "--json"))
    again = printed_json(run("values", "refresh", "--json"))

    assert said[0].endswith(" added, 0 updated, 0 removed, 0 unchanged")
    assert "  root_cause: 3 resolved experiences, 3 of them in 1 value" in said
    assert "  surprise: 0 resolved experiences, fewer than 3" in said
    (value,) = listed
    assert value["text"] in CACHES
    assert (value["axis"], value["cluster_size"], value["domains"]) == (
        "root_cause",
        3,
        ["testing"],
    )
    assert len(value["ghap_ids"]) == len(value["member_similarities"]) == 3
    assert (again["added"], again["updated"], again["removed"]) == (0, 0, 0)
    assert f"{value['id']}  root_cause  3 experiences  {value['text']}\n" in (
        run("values", "list").stdout
    )


def test_without_experiences_there_are_no_values(run: CommandLine) -> None:
    """It is no error: the notes say what is missing."""
    refreshed = printed_json(run("values", "refresh", "--json"))

    assert refreshed["added"] == 0
    assert len(refreshed["notes"]) == 4
    assert run("values", "list").stdout == "no values\n"
    assert printed_json(run("values", "list", "--json")) == []


def test_options_and_settings_say_what_makes_a_value(run: CommandLine, tmp_path: Path) -> None:
    """An option is stronger than a setting, and a setting than the default."""
    learned(run)

    def found(*options: str) -> int:
        run("values", "refresh", *options)
        return len(printed_json(run("values", "list", "--axis", "root_cause", "--json")))

    assert found("--min-cluster-size", "4") == 0
    assert found("--min-similarity", "0.99") == 0
    assert found() == 1
    configured(tmp_path, "[sources.values]\nmin_cluster_size = 4")
    assert found() == 0
    assert found("--min-cluster-size", "3") == 1


@pytest.mark.parametrize(
    ("arguments", "message", "exit_code"),
    [
        (("refresh", "--min-cluster-size", "1"), "1 is not in the range", 2),
        (("refresh", "--min-similarity", "7"), "is not in the range", 2),
        (("list", "--axis", "cause"), "'cause' is not one of", 2),
    ],
)
def test_a_wrong_option_is_named(
    run: CommandLine, arguments: tuple[str, ...], message: str, exit_code: int
) -> None:
    """What cannot be is told apart from what was not found."""
    result = run("values", *arguments)

    assert message in result.stderr
    assert result.exit_code == exit_code


def test_without_a_model_the_command_says_so(
    run: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One clear line, and no values lost."""
    monkeypatch.setenv("CONTEXTKIT_EMBEDDING_MODEL", "none")
    learned(run)

    result = run("values", "refresh")

    assert result.exit_code == 1
    assert result.stderr.startswith("contextkit: values need dense vectors")
    assert result.stderr.count("\n") == 1


def test_a_wrong_setting_is_named(run: CommandLine, tmp_path: Path) -> None:
    """It names the file, the line and the key."""
    configured(tmp_path, "[sources.values]\nmin_cluster_size = 1")

    result = run("values", "refresh")

    assert result.exit_code == 3
    assert "min_cluster_size: must be a whole number from 2, got 1" in result.stderr


def test_without_the_experiences_source_the_command_says_so(
    run: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is not installed is named."""
    installed = importlib.metadata.entry_points

    def without_experiences(*, group: str) -> list[importlib.metadata.EntryPoint]:
        return [found for found in installed(group=group) if found.name != "experiences"]

    monkeypatch.setattr(importlib.metadata, "entry_points", without_experiences)

    result = run("values", "refresh")

    assert result.exit_code == 2
    assert "'experiences'" in result.stderr


@pytest.mark.parametrize("command", ["", "refresh", "list"])
def test_every_help_ends_with_an_example(run: CommandLine, command: str) -> None:
    """A person sees how it is used."""
    shown = run("values", *command.split(), "--help")

    assert shown.exit_code == 0
    assert "Example:\n    contextkit values" in shown.stdout
