"""The distributions: one version, and wheels that install without an index."""

from __future__ import annotations

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

import contextkit

ROOT = Path(__file__).parents[1]
PLUGINS = {file.parent.name: file for file in sorted(ROOT.glob("plugins/*/pyproject.toml"))}
CORE = ROOT / "pyproject.toml"


def described(file: Path) -> dict[str, Any]:
    """What a `pyproject.toml` says."""
    return tomllib.loads(file.read_text(encoding="utf-8"))


EXTRAS: dict[str, list[str]] = described(CORE)["project"]["optional-dependencies"]


def test_all_distributions_have_the_version_of_the_core() -> None:
    """It is declared once, in `contextkit/__init__.py`; the pins of the extras agree."""
    for file in (CORE, *PLUGINS.values()):
        source = described(file)["tool"]["hatch"]["version"]["path"]
        assert (file.parent / source).resolve() == ROOT / "contextkit" / "__init__.py"

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

    def run(*command: str | Path, code: int = 0) -> str:
        ran = subprocess.run(
            command, cwd=tmp_path, env=variables, capture_output=True, text=True, check=False
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

    # What the extra leaves out says how to get it.
    assert "pip install contextkit-entities" in run(program, "entities", "list", code=2)
    by_name = run(program, "assemble", "tide", "--sources", "entities", code=2)
    assert "(pip install contextkit-entities)" in by_name
    counted = run(program, "assemble", "tide", "--tokens", "gpt-5", code=2)
    assert "pip install contextkit-tokenizers" in counted


@pytest.mark.parametrize("installer", ["pipx", "uv"])
def test_a_tool_installer_installs_the_wheel(
    wheels: Path, dependencies: Path, tmp_path: Path, installer: str
) -> None:
    """`pipx install` and `uv tool install` put the command on the PATH, from the folder alone."""
    program = shutil.which(installer)
    if program is None:
        pytest.skip(f"{installer} is not installed")
    bin_folder = tmp_path / "bin"
    places = {
        "pipx": {"PIPX_HOME": tmp_path / "pipx", "PIPX_BIN_DIR": bin_folder},
        "uv": {"UV_TOOL_DIR": tmp_path / "uv", "UV_TOOL_BIN_DIR": bin_folder},
    }[installer]
    variables = {**os.environ, **{name: str(path) for name, path in places.items()}}
    if installer == "pipx":
        options = ["--pip-args", f"--no-index --no-deps --find-links {wheels}"]
    else:
        # uv has no `--no-deps` for a tool. An override that never applies is as good.
        unmet = tmp_path / "overrides.txt"
        required = described(CORE)["project"]["dependencies"]
        names = [entry.partition(";")[0].partition(">")[0] for entry in required]
        lines = [f"{name} ; python_version < '3'\n" for name in names]
        unmet.write_text("".join(lines), encoding="utf-8")
        options = ["--offline", "--no-index", "--find-links", str(wheels)]
        options += ["--overrides", str(unmet)]
    tool = [program] if installer == "pipx" else [program, "tool"]
    command = [*tool, "install", "--python", sys.executable, *options, "contextkit-core"]
    subprocess.run(command, env=variables, check=True, capture_output=True)

    shown = subprocess.run(
        [bin_folder / "contextkit", "--version"],
        env={**variables, "PYTHONPATH": str(dependencies)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert shown.stdout.split()[-1] == contextkit.__version__
