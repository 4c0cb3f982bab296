"""`contextkit plugins`, in an environment of its own with real pip and uv, without an index."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import textwrap
import zipfile
from pathlib import Path

import pytest
from attrs import frozen

import contextkit

pytestmark = pytest.mark.one_python

PLUGIN = """
from contextkit import hookimpl

@hookimpl
def contextkit_query(request):
    return []
"""


@frozen
class Environment:
    """A virtual environment that has contextkit's core and its dependencies, and no plugin."""

    prefix: Path
    wheels: Path
    folder: Path

    def run(self, *arguments: str, code: int = 0, **variables: str) -> str:
        """Run `contextkit plugins`, and return what it prints."""
        return self.contextkit("plugins", *arguments, code=code, **variables)

    def contextkit(self, *arguments: str, code: int = 0, **variables: str) -> str:
        """Run a command, which ends with this exit code."""
        given = {name: at for name, at in os.environ.items() if name != "PYTHONPATH"}
        given |= {
            "CONTEXTKIT_HOME": f"{self.folder / 'home'}",
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": f"{self.wheels}",
            "UV_NO_INDEX": "1",
            "UV_FIND_LINKS": f"{self.wheels}",
            "UV_OFFLINE": "1",
        }
        ran = subprocess.run(
            [self.prefix / "bin" / "python", "-P", "-m", "contextkit.cli", *arguments],
            cwd=self.folder,
            env=given | variables,
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode == code, ran.stdout + ran.stderr
        return ran.stdout if code == 0 else ran.stdout + ran.stderr

    def states(self) -> dict[str, str]:
        """What `plugins list` shows: distribution -> state."""
        listed = json.loads(self.run("list", "--json"))
        return {each["distribution"]: each["state"] for each in listed}


@pytest.fixture
def environment(tmp_path: Path) -> Environment:
    """An environment of its own, a folder of wheels, and an empty folder to work in."""
    prefix, wheels, folder = (tmp_path / name for name in ("venv", "wheels", "work"))
    wheels.mkdir()
    folder.mkdir()
    command = [sys.executable, "-m", "venv", "--without-pip", f"{prefix}"]
    subprocess.run(command, check=True)
    (installed,) = prefix.rglob("site-packages")
    for place in {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}:
        for each in Path(place).iterdir():
            if "contextkit" not in each.name:
                (installed / each.name).symlink_to(each)
    root = Path(contextkit.__file__).parent
    (installed / "contextkit").symlink_to(root)
    make_metadata(installed, "contextkit_core", contextkit.__version__)
    for name in ("their-notes", "their-tides"):
        make_wheel(wheels, name, PLUGIN)
    return Environment(prefix, wheels, folder)


def make_metadata(folder: Path, name: str, version: str) -> None:
    """Write what makes a distribution installed."""
    info = folder / f"{name}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")


def make_wheel(folder: Path, name: str, code: str, requires: str = "", entry: bool = True) -> None:
    """Build the wheel of a distribution with one source, `notes` of `their-notes`."""
    module = name.replace("-", "_")
    info = f"{module}-1.0.dist-info"
    needs = f"Requires-Dist: {requires}\n" if requires else ""
    files = {
        f"{module}.py": textwrap.dedent(code),
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n{needs}",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    if entry:
        source = name.partition("-")[2]
        files[f"{info}/entry_points.txt"] = f"[contextkit]\n{source} = {module}\n"
    record = f"{info}/RECORD"
    files[record] = "".join(f"{each},,\n" for each in (*files, record))
    with zipfile.ZipFile(folder / f"{module}-1.0-py3-none-any.whl", "w") as wheel:
        for each, text in files.items():
            wheel.writestr(each, text)


def test_plugins_are_added_frozen_lost_and_restored(environment: Environment) -> None:
    """The doctor warns of a plugin that an upgrade lost, and `restore` installs it again."""
    assert environment.run("list") == "no plugin is installed\n"
    added = environment.run("add", "their-notes", "their-tides")
    assert "installed their-notes 1.0: notes\ninstalled their-tides 1.0: tides\n" in added
    frozen_to = environment.folder / "plugins.txt"
    frozen_to.write_text(environment.run("freeze"), encoding="utf-8")
    assert frozen_to.read_text(encoding="utf-8") == "their-notes==1.0\ntheir-tides==1.0\n"

    lost = ("their_notes*", "their_tides*")
    (installed,) = environment.prefix.rglob("site-packages")
    for each in (each for pattern in lost for each in installed.glob(pattern)):
        shutil.rmtree(each) if each.is_dir() else each.unlink()
    assert environment.states() == {"their-notes": "missing", "their-tides": "missing"}
    warned = environment.contextkit("doctor", code=1)
    assert "their-notes was installed in this environment before, and is not now" in warned

    environment.run("remove", "their-tides")
    environment.run("restore")
    assert environment.states() == {"their-notes": "installed"}
    assert environment.run("restore") == "no plugin is missing\n"
    environment.run("restore", "plugins.txt")
    assert environment.states() == {"their-notes": "installed", "their-tides": "installed"}
    environment.run("remove", "their-notes", "their.tides")
    assert environment.states() == {}


def test_an_index_run_remembers_the_plugins(environment: Environment) -> None:
    """A plugin that pip installed is missed, too."""
    pip = [f"{environment.prefix}/bin/python", "-m", "pip", "--quiet"]
    found = ["--no-index", f"--find-links={environment.wheels}"]
    subprocess.run([*pip, "install", *found, "their-notes"], check=True)
    environment.contextkit("index")
    subprocess.run([*pip, "uninstall", "-y", "their-notes"], check=True)
    assert environment.states() == {"their-notes": "missing"}


def test_a_plugin_that_fails_to_load_is_reported(environment: Environment) -> None:
    """It is installed, and the command fails with the reason."""
    make_wheel(environment.wheels, "their-broken", "import no_such_module")
    said = environment.run("add", "their-broken", code=1)
    assert "broken is broken: ModuleNotFoundError: No module named 'no_such_module'" in said


def test_a_plugin_for_another_contextkit_is_refused(environment: Environment) -> None:
    """The core keeps its version."""
    make_wheel(environment.wheels, "their-new", PLUGIN, requires="contextkit-core>=99")
    said = environment.run("add", "their-new", code=1)
    assert "could not install their-new" in said
    assert environment.states() == {}


def test_names_that_are_no_distribution_of_plugins(environment: Environment) -> None:
    """A source's name is not installed from the index, and no other package is removed."""
    said = environment.run("add", "entities", code=2)
    assert "contextkit plugins add contextkit-entities" in said
    said = environment.run("remove", "click", code=1)
    assert "no distribution with plugins is named click" in said
    make_wheel(environment.wheels, "their-library", "", entry=False)
    assert "no plugin was added" in environment.run("add", "their-library")


def test_uv_installs_where_there_is_no_pip(environment: Environment) -> None:
    """So it is in the environments that uv makes; without uv, the message says what to do."""
    (installed,) = environment.prefix.rglob("site-packages")
    for each in installed.glob("pip*"):
        each.unlink()
    said = environment.run("add", "their-notes", code=1, PATH="/nonexistent")
    assert "has no pip, and there is no uv on PATH" in said
    if shutil.which("uv") is None:
        pytest.skip("uv is not installed")
    environment.run("add", "their-notes")
    assert environment.states() == {"their-notes": "installed"}
