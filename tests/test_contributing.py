"""The files for contributors name what there is: paths, tasks, programs, versions of Python."""

from __future__ import annotations

import importlib.util
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

pytestmark = pytest.mark.one_python

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / ".github" / "CONTRIBUTING.md").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
TASKS: dict[str, Any] = PROJECT["tool"]["poe"]["tasks"]
TOOLS = Path(sys.executable).parent


def commands(task: dict[str, Any]) -> Iterator[list[str]]:
    """The commands of a task, as words; a shell's script is checked by running it."""
    if "cmd" in task:
        yield shlex.split(task["cmd"])
    for part in task.get("sequence", ()):
        yield from commands(part)


def test_the_paths_of_the_guide_exist() -> None:
    """Each path in backticks, and each relative link."""
    named = re.findall(r"`((?:contextkit|plugins|tests|examples|\.ci)/[^` *]*)`", PAGE)
    assert len(named) > 20
    missing = [path for path in named if not (ROOT / path).exists()]
    linked = re.findall(r"\]\((\.\./[^)#]+)", PAGE)
    missing += [path for path in linked if not (ROOT / ".github" / path).exists()]
    assert missing == []


def test_the_tasks_of_the_guide_exist() -> None:
    """`poe NAME`, in the guide and in `.ci/run`; and every task is in the guide."""
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert set(re.findall(r"\bpoe ([a-z-]+)", PAGE + script)) == set(TASKS)


@pytest.mark.parametrize("name", TASKS)
def test_a_task_runs_what_is_installed(name: str) -> None:
    """The programs come with the `test` extra; modules and scripts are in this repository."""
    for program, *arguments in commands(TASKS[name]):
        assert shutil.which(program, path=str(TOOLS))
        if arguments[:1] == ["-m"]:
            assert importlib.util.find_spec(arguments[1])
        elif program == "python":
            assert (ROOT / arguments[0]).is_file()


def test_poe_understands_the_tasks() -> None:
    """It lists each one with its help."""
    command = [sys.executable, "-m", "poethepoet"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    for name, task in TASKS.items():
        assert re.search(rf"^  {name} +{re.escape(task['help'])}", ran.stdout, re.MULTILINE)


def test_the_workflow_runs_the_script_on_every_supported_python() -> None:
    """The versions are those of the classifiers."""
    file = ROOT / ".github" / "workflows" / "ci.yml"
    job = yaml.safe_load(file.read_text(encoding="utf-8"))["jobs"]["ci"]
    classified = "Programming Language :: Python :: "
    supported = [each.removeprefix(classified) for each in PROJECT["project"]["classifiers"]]
    assert job["strategy"]["matrix"]["python"] == [each for each in supported if each[0] == "3"]
    assert job["steps"][-1] == {"run": "bash .ci/run"}


def test_the_hooks_run_the_installed_tools() -> None:
    """They are local, so nothing is downloaded, and the versions agree with `poe check`."""
    file = ROOT / ".pre-commit-config.yaml"
    (repository,) = yaml.safe_load(file.read_text(encoding="utf-8"))["repos"]
    assert repository["repo"] == "local"
    for hook in repository["hooks"]:
        assert hook["language"] == "system"
        assert shutil.which(hook["entry"].split()[0], path=str(TOOLS))


def test_the_api_documentation_is_built_without_a_warning(tmp_path: Path) -> None:
    """From the docstrings, without a network; a public name and a plugin have their pages."""
    script = ROOT / ".ci" / "api_docs.py"
    subprocess.run([sys.executable, script, tmp_path], cwd=tmp_path, check=True)
    assert 'id="ContextKit.open"' in (tmp_path / "contextkit.html").read_text("utf-8")
    assert (tmp_path / "contextkit_memories.html").is_file()
