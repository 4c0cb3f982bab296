"""The distributions: one version, and wheels that install without an index."""

from __future__ import annotations

import importlib.metadata
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

import contextkit

pytestmark = pytest.mark.one_python

ROOT = Path(__file__).parents[1]
PLUGINS = {file.parent.name: file for file in sorted(ROOT.glob("plugins/*/pyproject.toml"))}
CORE = ROOT / "pyproject.toml"

# The variables that say where a tool is installed, and where its commands are put.
PIPX = ("PIPX_HOME", "PIPX_BIN_DIR")
UV = ("UV_TOOL_DIR", "UV_TOOL_BIN_DIR")


def described(file: Path) -> dict[str, Any]:
    """What a `pyproject.toml` says."""
    return tomllib.loads(file.read_text(encoding="utf-8"))


EXTRAS: dict[str, list[str]] = described(CORE)["project"]["optional-dependencies"]


def test_all_distributions_have_the_version_of_the_core() -> None:
    """It is declared once, in `contextkit/package.py`; the pins of the extras agree."""
    for file in (CORE, *PLUGINS.values()):
        source = described(file)["tool"]["hatch"]["version"]["path"]
        assert (file.parent / source).resolve() == ROOT / "contextkit" / "package.py"

    standard, *others = sorted(EXTRAS["all"])
    assert standard == "contextkit-core[redis,standard]"
    pins = {f"{name}=={contextkit.__version__}" for name in PLUGINS}
    assert sorted(pins) == sorted([*EXTRAS["standard"], *others])


def test_a_clone_installs_what_the_extra_names() -> None:
    """`plugins/standard.txt` lists the folders of `contextkit-core[standard]`."""
    lines = (ROOT / "plugins" / "standard.txt").read_text(encoding="utf-8").splitlines()
    named = [pin.partition("==")[0] for pin in EXTRAS["standard"]]
    assert lines[1:] == [".[standard]", *(f"./plugins/{name}" for name in named)]


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel of each distribution, as a release has them."""
    folder = tmp_path_factory.mktemp("wheels")
    pip = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check")
    options = ("--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", str(folder))
    projects = [f"{file.parent}" for file in (CORE, *PLUGINS.values())]
    subprocess.run([*pip, "wheel", *options, *projects], check=True)
    return folder


@pytest.fixture(scope="module")
def dependencies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the environment has beside contextkit: no test may need a network."""
    folder = tmp_path_factory.mktemp("dependencies")
    for place in {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}:
        for installed in Path(place).iterdir():
            if "contextkit" not in installed.name:
                (folder / installed.name).symlink_to(installed)
    return folder


def test_the_extra_installs_from_a_folder_of_wheels(
    wheels: Path, dependencies: Path, tmp_path: Path
) -> None:
    """Pip resolves `contextkit-core[standard]` without an index, and every plugin is on."""
    for wheel in wheels.iterdir():
        name, version, *_ = wheel.name.split("-")
        package = "contextkit" if name == "contextkit_core" else name
        assert version == contextkit.__version__
        assert f"{package}/py.typed" in zipfile.ZipFile(wheel).namelist()

    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    python = tmp_path / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
    variables = {name: at for name, at in os.environ.items() if not name.startswith("CONTEXTKIT_")}
    variables |= {"PYTHONPATH": str(dependencies), "CONTEXTKIT_HOME": str(tmp_path / "home")}
    # A background server would outlive the test.
    variables |= {"CONTEXTKIT_HOOKS_RESIDENT": "no"}

    def run(*command: str | Path, code: int = 0, given: str = "") -> str:
        ran = subprocess.run(
            command,
            cwd=tmp_path,
            env=variables,
            input=given,
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode == code, ran.stdout + ran.stderr
        return ran.stdout if code == 0 else ran.stderr

    offline = ("--no-index", "--find-links", wheels, "--disable-pip-version-check")
    run(python, "-m", "pip", "install", "--quiet", *offline, "contextkit-core[standard]")

    program = python.with_name("contextkit")
    found = json.loads(run(program, "sources", "--json"))
    installed = {f"{each['distribution']}=={each['version']}" for each in found}
    assert installed == {*EXTRAS["standard"]}
    assert {each["state"] for each in found} == {"on"}

    # An agent's hook has its first context, without any further step.
    (tmp_path / "tide.py").write_text("def high_water(harbour):\n    return 12\n")
    event = {
        "hook_event_name": "UserPromptSubmit",
        "session_id": "first",
        "cwd": str(tmp_path),
        "prompt": "where is high_water of the harbour computed?",
    }
    run(program, "index")
    told = run(python.with_name("contextkit-hook"), "claude-code", given=json.dumps(event))
    assert "def high_water" in json.loads(told)["hookSpecificOutput"]["additionalContext"]

    # What the extra leaves out says how to get it.
    assert "pip install contextkit-entities" in run(program, "entities", "list", code=2)
    by_name = run(program, "assemble", "tide", "--sources", "entities", code=2)
    assert "(pip install contextkit-entities)" in by_name
    counted = run(program, "assemble", "tide", "--set", "tokens=gpt-5", code=2)
    assert "pip install contextkit-tokenizers" in counted


@pytest.fixture
def named_only(tmp_path: Path) -> Path:
    """A folder of wheels with the names and versions of contextkit's dependencies, and no code."""
    folder = tmp_path / "named"
    folder.mkdir()
    required = [
        Requirement(entry)
        for file in (CORE, *PLUGINS.values())
        for entry in described(file)["project"]["dependencies"]
    ]
    for requirement in required:
        if requirement.name in {"contextkit-core", *PLUGINS}:
            continue
        if requirement.marker and not requirement.marker.evaluate():
            continue
        version = importlib.metadata.version(requirement.name)
        name = requirement.name.replace("-", "_")
        info = f"{name}-{version}.dist-info"
        files = {
            f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
            f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        }
        files[f"{info}/RECORD"] = "".join(f"{each},,\n" for each in (*files, f"{info}/RECORD"))
        with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as wheel:
            for each, text in files.items():
                wheel.writestr(each, text)
    return folder


@pytest.mark.parametrize("installer", ["pipx", "uv"])
def test_a_tool_installer_installs_the_extra(
    wheels: Path, named_only: Path, dependencies: Path, tmp_path: Path, installer: str
) -> None:
    """`pipx install` and `uv tool install` put the command on the PATH, without an index.

    `uvx` is `uv tool run`, which installs in the same way.
    """
    if shutil.which(installer) is None:
        pytest.skip(f"{installer} is not installed")
    found = [f"--find-links={wheels}", f"--find-links={named_only}"]
    command, home, folder = {
        "pipx": (
            [
                "pipx",
                "install",
                "--skip-maintenance",
                "--pip-args",
                f"--no-index {' '.join(found)}",
            ],
            *PIPX,
        ),
        "uv": (["uv", "tool", "install", "--offline", "--no-index", *found], *UV),
    }[installer]
    variables = {**os.environ, home: f"{tmp_path / installer}", folder: f"{tmp_path / 'bin'}"}
    variables["CONTEXTKIT_HOME"] = str(tmp_path / "home")
    subprocess.run(
        [*command, "--python", sys.executable, "contextkit-core[standard]"],
        env=variables,
        check=True,
    )

    program = tmp_path / "bin" / "contextkit"
    (installed,) = program.resolve().parents[1].rglob("site-packages")
    (installed / "dependencies.pth").write_text(f"{dependencies}\n", encoding="utf-8")
    listing = (program, "sources", "--json")
    ran = subprocess.run(
        listing, cwd=tmp_path, env=variables, capture_output=True, text=True, check=True
    )
    shown = {f"{each['distribution']}=={each['version']}" for each in json.loads(ran.stdout)}
    assert shown == {*EXTRAS["standard"]}
