"""Write the MCP bundle for desktop agents: `python .ci/mcp_bundle.py FOLDER`.

The bundle has a manifest of version 0.4 and no packages: the agent's host installs what its
`pyproject.toml` names, with uv, for the system that it runs on. The same version always gives the
same bytes. `server.json`, which the MCP registry gets, is copied beside it.
"""

from __future__ import annotations

import json
import shutil
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
SERVER = ROOT / "plugins" / "contextkit-mcp" / "server.json"
_ENTRY = "src/server.py"
_DATE = (1980, 1, 1, 0, 0, 0)

_PROGRAM = '''"""Start contextkit's MCP server."""

from contextkit_mcp.commands import main

main()
'''


def main(folder: Path) -> None:
    """Write the bundle and the registry's file into a folder."""
    server = json.loads(SERVER.read_text(encoding="utf-8"))
    files = {
        "manifest.json": json.dumps(_manifest(server), indent=2) + "\n",
        "pyproject.toml": _project(server["version"]),
        _ENTRY: _PROGRAM,
        "LICENSE": (ROOT / "LICENSE").read_text(encoding="utf-8"),
    }
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(SERVER, folder)
    with zipfile.ZipFile(folder / f"contextkit-{server['version']}.mcpb", "w") as bundle:
        for name, text in files.items():
            bundle.writestr(zipfile.ZipInfo(name, _DATE), text, zipfile.ZIP_DEFLATED)


def _manifest(server: dict[str, Any]) -> dict[str, Any]:
    described = _described()
    return {
        "manifest_version": "0.4",
        "name": "contextkit",
        "display_name": server["title"],
        "version": server["version"],
        "description": server["description"],
        "author": described["authors"][0],
        "license": described["license"],
        "server": {
            "type": "uv",
            "entry_point": _ENTRY,
            "mcp_config": {
                "command": "uv",
                "args": [
                    *("run", "--project", "${__dirname}", f"${{__dirname}}/{_ENTRY}"),
                    *("--project", "${user_config.project}"),
                ],
            },
        },
        "tools_generated": True,
        "prompts_generated": True,
        "user_config": {
            "project": {
                "type": "directory",
                "title": "Project",
                "description": "The folder of the project that the agent works on.",
                "required": True,
            }
        },
        "compatibility": {
            "platforms": ["darwin", "linux", "win32"],
            "runtimes": {"python": described["requires-python"]},
        },
    }


def _project(version: str) -> str:
    return (
        "[project]\n"
        'name = "contextkit-bundle"\n'
        f'version = "{version}"\n'
        f'requires-python = "{_described()["requires-python"]}"\n'
        f'dependencies = ["contextkit-core[standard]=={version}"]\n'
    )


def _described() -> dict[str, Any]:
    text = (SERVER.parent / "pyproject.toml").read_text(encoding="utf-8")
    described: dict[str, Any] = tomllib.loads(text)["project"]
    return described


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
