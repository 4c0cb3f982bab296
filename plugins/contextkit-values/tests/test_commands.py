"""`contextkit values`, through the real command line, on experiences that were really added."""

import importlib.metadata
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog
from click.testing import CliRunner, Result

from contextkit.cli import cli

Run = Callable[..., Result]
CACHES = (
    "The cache returned a stale value after the update",
    "A stale cache entry survived the deploy",
    "The cached value was stale as the cache key ignored the user",
)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    """Run the command line in an empty workspace, with both plugins as in the checkout."""
    for name in ("experiences", "values"):
        installed = tmp_path / "installed" / f"contextkit_{name}-0.1.0.dist-info"
        installed.mkdir(parents=True)
        metadata = f"Metadata-Version: 2.1\nName: contextkit-{name}\nVersion: 0.1.0\n"
        (installed / "METADATA").write_text(metadata)
        entry_point = f"[contextkit]\n{name} = contextkit_{name}\n"
        (installed / "entry_points.txt").write_text(entry_point)
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    monkeypatch.syspath_prepend(str(tmp_path / "installed"))
    monkeypatch.setenv("CONTEXTKIT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("CONTEXTKIT_PROJECT", "demo")
    logging = structlog.get_config()

    def invoke(*arguments: str, given: bytes | None = None) -> Result:
        return CliRunner().invoke(cli, ["-C", str(workspace), *arguments], input=given)

    yield invoke
    structlog.configure(**logging)


def learned(run: Run, root_causes: tuple[str, ...] = CACHES, **changes: Any) -> None:
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


def answer(result: Result) -> Any:
    """What a command that went well printed as JSON."""
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def test_values_are_refreshed_and_listed(run: Run) -> None:
    """Experiences with one theme become a value, which is listed; again, nothing changes."""
    learned(run)

    said = run("values", "refresh").stdout.splitlines()
    listed = answer(run("values", "list", "--axis", "root_cause", "--json"))
    again = answer(run("values", "refresh", "--json"))

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


def test_without_experiences_there_are_no_values(run: Run) -> None:
    """It is no error: the notes say what is missing."""
    refreshed = answer(run("values", "refresh", "--json"))

    assert refreshed["added"] == 0
    assert len(refreshed["notes"]) == 4
    assert run("values", "list").stdout == "no values\n"
    assert answer(run("values", "list", "--json")) == []


def test_options_and_settings_say_what_makes_a_value(run: Run, tmp_path: Path) -> None:
    """An option is stronger than a setting, and a setting than the default."""
    learned(run)

    def found(*options: str) -> int:
        run("values", "refresh", *options)
        return len(answer(run("values", "list", "--axis", "root_cause", "--json")))

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
    run: Run, arguments: tuple[str, ...], message: str, exit_code: int
) -> None:
    """What cannot be is told apart from what was not found."""
    result = run("values", *arguments)

    assert message in result.stderr
    assert result.exit_code == exit_code


def test_without_a_model_the_command_says_so(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """One clear line, and no values lost."""
    monkeypatch.setenv("CONTEXTKIT_EMBEDDING_MODEL", "none")
    learned(run)

    result = run("values", "refresh")

    assert result.exit_code == 1
    assert result.stderr.startswith("contextkit: values need dense vectors")
    assert result.stderr.count("\n") == 1


def test_a_wrong_setting_is_named(run: Run, tmp_path: Path) -> None:
    """It names the file, the line and the key."""
    configured(tmp_path, "[sources.values]\nmin_cluster_size = 1")

    result = run("values", "refresh")

    assert result.exit_code == 3
    assert "min_cluster_size: expected a whole number from 2, found 1" in result.stderr


def test_without_the_experiences_source_the_command_says_so(
    run: Run, monkeypatch: pytest.MonkeyPatch
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
def test_every_help_ends_with_an_example(run: Run, command: str) -> None:
    """A person sees how it is used."""
    shown = run("values", *command.split(), "--help")

    assert shown.exit_code == 0
    assert "Example:\n    contextkit values" in shown.stdout
