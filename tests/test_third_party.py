"""Strangers' plugins, really built and installed, seen by the real command line."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import textwrap
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve, frozen

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
        added: folders with distributions that are there beside the environment's own.
    """

    python: Path
    workspace: Path
    added: tuple[Path, ...] = ()

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run its interpreter, with a contextkit that nobody has configured."""
        inherited = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
        variables = {k: v for k, v in os.environ.items() if not k.startswith("CONTEXTKIT_")}
        variables["PYTHONPATH"] = os.pathsep.join([*map(str, self.added), *inherited])
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

    def plus(self, distribution: Path) -> Environment:
        """The same environment with one more distribution, built and installed apart."""
        folder = distribution.with_name(f"{distribution.name}-installed")
        ran = self.run(*INSTALL, "--target", str(folder), str(distribution))
        assert ran.returncode == 0, ran.stderr
        return evolve(self, added=(*self.added, folder))


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


def distribution(root: Path, name: str, entry_point: str, code: str) -> Path:
    """The sources of a distribution that offers one plugin."""
    folder = root / name
    module = name.replace("-", "_")
    folder.mkdir()
    (folder / f"{module}.py").write_text(textwrap.dedent(code), encoding="utf-8")
    (folder / "pyproject.toml").write_text(
        textwrap.dedent(f"""\
            [build-system]
            requires = ["hatchling"]
            build-backend = "hatchling.build"
            [project]
            name = "{name}"
            version = "1.2"
            [project.entry-points.contextkit]
            {entry_point} = "{module}"
            [tool.hatch.build.targets.wheel]
            include = ["{module}.py"]
            """),
        encoding="utf-8",
    )
    return folder


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


def test_a_source_that_breaks_on_import_costs_only_itself(
    environment: Environment, tmp_path: Path
) -> None:
    """It is named as broken with its distribution and the reason; the others work."""
    code = 'raise RuntimeError("no barometer")'
    broken = environment.plus(distribution(tmp_path, "contextkit-storm", "storm", code))
    sources = broken.sources()
    assert sources["storm"]["state"] == "broken"
    assert sources["storm"]["reason"] == "RuntimeError: no barometer"
    assert (sources["storm"]["distribution"], sources["storm"]["version"]) == (
        "contextkit-storm",
        "1.2",
    )
    assert sources["weather"]["state"] == "on"
    listed = broken.run("-m", "contextkit.cli", "sources")
    assert "no barometer" in listed.stdout
    context = broken.contextkit("assemble", "Will it rain in Berlin?")
    assert "Berlin: Rain until noon" in context["markdown"]


def test_two_distributions_of_one_name_are_an_error_that_names_both(
    environment: Environment, tmp_path: Path
) -> None:
    """Neither is picked in silence; the error says how to go on."""
    code = """
        from contextkit import hookimpl

        @hookimpl
        def contextkit_query(request):
            return []
        """
    doubled = environment.plus(distribution(tmp_path, "another-weather", "weather", code))
    ran = doubled.run("-m", "contextkit.cli", "assemble", "Will it rain in Berlin?")
    assert ran.returncode == 1
    assert "another-weather" in ran.stderr
    assert "contextkit-weather" in ran.stderr
    assert "Traceback" not in ran.stderr
