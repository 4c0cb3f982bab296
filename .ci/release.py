"""Build all distributions of one version, and check them as they would be published.

    python -m pip install build twine check-wheel-contents hatchling
    python .ci/release.py dist v0.1.0

It writes the wheels and source archives into the folder. Beside the folder it writes `notes.md`,
the version's section of CHANGELOG.md, and `registry/`, the MCP bundle with the registry's file.
These are errors: a tag that is not the version, a version without notes, an archive that the
package index would refuse, and a wheel that cannot be imported alone. Without the tag, the version
is not compared.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import venv
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]

# Imports the packages of a distribution, in a process that may not open a connection.
IMPORTING = """
import importlib, importlib.metadata, sys

def refuse(event, arguments):
    if event in {"socket.connect", "socket.getaddrinfo"}:
        raise RuntimeError(f"{event} {arguments}")

sys.addaudithook(refuse)
for point in importlib.metadata.entry_points(group="contextkit"):
    if point.dist.name == sys.argv[1]:
        point.load()
importlib.import_module(sys.argv[2])
"""


def main(folder: Path, tag: str | None) -> None:
    """Build, check and import every distribution."""
    version = _version()
    if tag is not None and tag != f"v{version}":
        sys.exit(f"the tag {tag} is not the version in contextkit/package.py, which is {version}")
    notes = _notes(version)
    projects = [ROOT, *sorted(file.parent for file in ROOT.glob("plugins/*/pyproject.toml"))]
    for project in projects:
        _run("-m", "build", "--no-isolation", "--outdir", str(folder), str(project))
    wheels, archives = sorted(folder.glob("*.whl")), sorted(folder.glob("*.tar.gz"))
    wrong = [each.name for each in (*wheels, *archives) if f"-{version}" not in each.name]
    if wrong or not len(wheels) == len(archives) == len(projects):
        sys.exit(f"{folder} should have {len(projects)} wheels of {version}; {wrong} do not fit")
    _run("-m", "twine", "check", "--strict", *map(str, (*wheels, *archives)))
    _run("-m", "check_wheel_contents", *map(str, wheels))
    for wheel in wheels:
        _import(wheel, folder)
    # Not into the folder, which is uploaded to the package index as it is.
    _run(".ci/mcp_bundle.py", str(folder.with_name("registry")))
    folder.with_name("notes.md").write_text(notes, encoding="utf-8")
    _say(f"{len(wheels)} wheels and {len(archives)} source archives of {version} in {folder}")


def _version() -> str:
    package = (ROOT / "contextkit" / "package.py").read_text(encoding="utf-8")
    found = re.search(r'^VERSION = "(.+)"$', package, re.MULTILINE)
    if found is None:
        sys.exit('contextkit/package.py has no line VERSION = "…"')
    return found[1]


def _notes(version: str) -> str:
    """The text of the version's section in CHANGELOG.md."""
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    section = rf"^## \[{re.escape(version)}\].*\n((?:(?!## ).*\n)*)"
    found = re.search(section, changes, re.MULTILINE)
    if found is None or not found[1].strip():
        sys.exit(f"CHANGELOG.md has no section ## [{version}] with text")
    return found[1].strip() + "\n"


def _import(wheel: Path, folder: Path) -> None:
    """Import a wheel in an environment with only what it requires, without a network."""
    package = wheel.name.partition("-")[0]
    name = package.replace("_", "-")
    with tempfile.TemporaryDirectory() as at:
        venv.create(at, with_pip=True)
        python = Path(at) / ("Scripts" if sys.platform == "win32" else "bin") / "python"
        # The version is pinned: another of the index would be installed in its place.
        pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile"]
        _run(*pip, f"--find-links={folder}", str(wheel), python=python)
        module = "contextkit" if package == "contextkit_core" else package
        _run("-P", "-c", IMPORTING, name, module, python=python)
    _say(f"{name}: imported alone")


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _run(*arguments: str, python: Path | None = None) -> None:
    command: Sequence[str] = [str(python or sys.executable), *arguments]
    ran = subprocess.run(command, cwd=ROOT, check=False)
    if ran.returncode:
        sys.exit(f"{' '.join(command[1:4])} … ended with {ran.returncode}")


if __name__ == "__main__":
    if len(sys.argv) not in {2, 3}:
        sys.exit(__doc__)
    main(Path(sys.argv[1]).absolute(), sys.argv[2] if len(sys.argv) == 3 else None)
