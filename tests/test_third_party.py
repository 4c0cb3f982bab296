"""Strangers' plugins, really built and installed, seen by the real command line."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve, frozen

pytestmark = pytest.mark.one_python

EXAMPLE = Path(__file__).parents[1] / "examples" / "third-party" / "contextkit-weather"
INSTALL = (
    "-m",
    "pip",
    "install",
    "--quiet",
    "--disable-pip-version-check",
    "--no-index",
    "--no-deps",
    "--no-build-isolation",
)


@frozen
class Environment:
    """A virtual environment on top of the one that the tests run in.

    Attributes:
        python: its interpreter.
        workspace: an empty folder, in which the command line runs.
    """

    python: Path
    workspace: Path

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run its interpreter, with a contextkit that nobody has configured."""
        variables = {k: v for k, v in os.environ.items() if not k.startswith("CONTEXTKIT_")}
        variables["CONTEXTKIT_HOME"] = str(self.workspace.parent / "home")
        for patience in ("SOURCE_TIMEOUT", "DEADLINE"):
            variables[f"CONTEXTKIT_ASSEMBLE_{patience}"] = "30"
        return subprocess.run(
            [self.python, *arguments],
            cwd=self.workspace,
            env=variables,
            capture_output=True,
            text=True,
            check=False,
        )

    def contextkit(self, *arguments: str) -> Any:
        """What `contextkit … --json` prints."""
        ran = self.run("-m", "contextkit.cli", *arguments, "--json")
        assert ran.returncode == 0, ran.stderr
        return json.loads(ran.stdout)

    def sources(self) -> dict[str, dict[str, Any]]:
        """What `contextkit sources` says, by the source's name."""
        return {source["name"]: source for source in self.contextkit("sources")}


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """An environment into which the weather example was installed by pip."""
    root = tmp_path_factory.mktemp("third-party")
    # Its pip is that of the environment below.
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", root / "venv"], check=True)
    scripts = "Scripts" if os.name == "nt" else "bin"
    made = Environment(root / "venv" / scripts / "python", root / "workspace")
    made.workspace.mkdir()
    paths = made.run("-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])")
    # `--system-site-packages` would mean the base interpreter's, not those of a virtual
    # environment that the tests themselves run in.
    ours = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    lines = "".join(f"import site; site.addsitedir({path!r})\n" for path in sorted(ours))
    (Path(paths.stdout.strip()) / "tests.pth").write_text(lines, encoding="utf-8")
    source = shutil.copytree(EXAMPLE, root / EXAMPLE.name)
    ran = made.run(*INSTALL, str(source))
    assert ran.returncode == 0, ran.stderr
    return made


def test_an_installed_source_is_listed_with_its_distribution(environment: Environment) -> None:
    """Pip install, and it is there: no configuration, no code."""
    weather = environment.sources()["weather"]
    assert weather["state"] == "on"
    assert (weather["distribution"], weather["version"]) == ("contextkit-weather", "0.3.0")


def test_its_items_are_in_the_context_with_a_share_of_the_budget(environment: Environment) -> None:
    """A stranger's source is asked, budgeted and rendered like any other."""
    context = environment.contextkit("assemble", "Will it rain in Berlin?")
    assert "## Weather" in context["markdown"]
    assert "Berlin: Rain until noon" in context["markdown"]
    items = [item for item in context["items"] if item["source"] == "weather"]
    assert items[0]["id"] == "Berlin"
    assert context["sources_used"]["weather"] == len(items)
    traced = {source["source"]: source for source in context["trace"]["sources"]}["weather"]
    assert traced["state"] == "ok"
    assert 0 < traced["used"] <= traced["share"] + traced["taken"]
    assert traced["share"] > 0


def test_its_setting_names_another_file(environment: Environment, tmp_path: Path) -> None:
    """The source's own settings reach it from the workspace's file."""
    (tmp_path / "contextkit.toml").write_text('[sources.weather]\nfile = "mine.json"\n')
    (tmp_path / "mine.json").write_text('[{"station": "Here", "report": "fog"}]')
    context = evolve(environment, workspace=tmp_path).contextkit("assemble", "Is there fog here?")
    assert "Here: fog" in context["markdown"]
