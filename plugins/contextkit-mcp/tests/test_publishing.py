"""What the MCP registry and desktop agents get, against the published schemas."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from mcp import Client
from packaging.requirements import Requirement

import contextkit

pytestmark = pytest.mark.one_python

World = Any
"""The one of `conftest.py`, which no test can import."""

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
SERVER = json.loads((HERE.parent / "server.json").read_text(encoding="utf-8"))


def schema(name: str) -> Any:
    """A published schema."""
    return json.loads((HERE / "schemas" / f"{name}.schema.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundle, as a release writes it."""
    folder = tmp_path_factory.mktemp("registry")
    script = ROOT / ".ci" / "mcp_bundle.py"
    if not script.exists():
        pytest.skip("only the repository has the script")
    subprocess.run([sys.executable, str(script), str(folder)], check=True)
    assert json.loads((folder / "server.json").read_text(encoding="utf-8")) == SERVER
    return folder / f"contextkit-{contextkit.__version__}.mcpb"


def test_the_registry_can_take_the_server() -> None:
    """The file fits its schema, in the version of the distributions that it names."""
    published = schema("server-2025-12-11")
    jsonschema.Draft7Validator.check_schema(published)
    jsonschema.validate(SERVER, published, format_checker=jsonschema.FormatChecker())
    assert SERVER["$schema"] == published["$id"]
    (package,) = SERVER["packages"]
    assert SERVER["version"] == package["version"] == contextkit.__version__
    described = tomllib.loads((HERE.parent / "pyproject.toml").read_text(encoding="utf-8"))
    assert package["identifier"] == described["project"]["name"]
    assert package["identifier"] in described["project"]["scripts"]


def test_the_readme_proves_whose_server_it_is() -> None:
    """The registry looks for the whole name in the description of the distribution."""
    readme = (HERE.parent / "README.md").read_text(encoding="utf-8")
    named = re.findall(r"mcp-name: ([a-zA-Z0-9._/-]+)", readme)
    assert named == [SERVER["name"]]


def test_the_bundle_fits_its_schema(bundle: Path) -> None:
    """It has what its manifest names, and no packages of its own."""
    with zipfile.ZipFile(bundle) as files:
        manifest = json.loads(files.read("manifest.json"))
        project = tomllib.loads(files.read("pyproject.toml").decode())["project"]
        names = files.namelist()
    jsonschema.validate(manifest, schema("mcpb-manifest-v0.4"))
    assert manifest["server"]["entry_point"] in names
    assert sorted(names) == ["LICENSE", "manifest.json", "pyproject.toml", "src/server.py"]
    assert manifest["version"] == contextkit.__version__
    (required,) = map(Requirement, project["dependencies"])
    assert str(required) == f"contextkit-core[standard]=={contextkit.__version__}"
    assert project["requires-python"] == manifest["compatibility"]["runtimes"]["python"]


def test_the_same_version_gives_the_same_bundle(bundle: Path, tmp_path: Path) -> None:
    """Its hash can be checked."""
    script = ROOT / ".ci" / "mcp_bundle.py"
    subprocess.run([sys.executable, str(script), str(tmp_path)], check=True)
    assert (tmp_path / bundle.name).read_bytes() == bundle.read_bytes()


async def test_the_bundle_serves_the_chosen_project(world: World, bundle: Path) -> None:
    """Its program, with the arguments that the manifest has for uv."""
    folder = world.site.folder / "bundle"
    with zipfile.ZipFile(bundle) as files:
        files.extractall(folder)
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    run, _, _, *arguments = manifest["server"]["mcp_config"]["args"]
    assert run == "run"
    values = {"__dirname": folder, "user_config.project": world.workspace}
    filled = [re.sub(r"\$\{(.+?)\}", lambda found: str(values[found[1]]), a) for a in arguments]
    server = world.stdio.model_copy(update={"args": filled, "cwd": folder})
    async with Client(server) as client:
        listed = await client.call_tool("list_sources", {})
        assert listed.structured_content
        assert listed.structured_content["workspace"] == str(world.workspace)
