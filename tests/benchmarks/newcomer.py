"""A newcomer's path: an empty environment and a folder of wheels, to an agent's first context.

`python -m tests.benchmarks.newcomer WHEELS --project FOLDER`

`WHEELS` is what `.ci/release.py` builds; other packages come as pip or uv is configured. The steps
are those of README: one command installs, one connects the agent, and then the agent's hook asks.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.benchmarks.harness import Report, machine, write_json

__all__ = ["main"]

_EXTRA = "contextkit-core[standard]"
_TRIES = 60


def main(arguments: Sequence[str] | None = None) -> None:
    """Walk the path and print the time of each step."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.newcomer", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("wheels", type=Path, metavar="WHEELS", help="a folder of wheels")
    parser.add_argument("--project", type=Path, default=Path(), metavar="FOLDER")
    parser.add_argument("--prompt", default="how is the token budget split over the sources?")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the table as data")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory("", "ck-", ignore_cleanup_errors=True) as name:
        report = _walked(Path(name), given.wheels.resolve(), given.project, given.prompt)
    report.show()
    if given.json is not None:
        write_json(given.json, machine(), {"newcomer": report})


def _walked(folder: Path, wheels: Path, project: Path, prompt: str) -> Report:
    clone, home = folder / "project", folder / "home"
    subprocess.run(["git", "clone", "--quiet", project.resolve(), clone], check=True)
    home.mkdir()
    own = {"HOME": str(home), "CONTEXTKIT_HOME": str(home / "data"), "XDG_RUNTIME_DIR": str(folder)}
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("CONTEXTKIT_", "PYTHON"))}
    variables = {**kept, **own}
    program = folder / "venv" / ("Scripts" if os.name == "nt" else "bin") / "contextkit"
    python = str(program.with_name("python"))
    installing = (
        ["uv", "pip", "install", "--quiet", "--python", python]
        if shutil.which("uv")
        else [sys.executable, "-m", "pip", "--python", python, "install", "--quiet"]
    )
    asked = [str(program.with_name("contextkit-hook")), "claude-code"]
    try:
        rows = [
            _timed("empty environment", [sys.executable, "-m", "venv", folder / "venv"], variables),
            _timed("install", [*installing, f"--find-links={wheels}", _EXTRA], variables),
            _timed(
                "connect the agent",
                [program, "install", "--agent", "claude-code", "--yes"],
                variables,
                clone,
            ),
            _timed(
                "session starts",
                asked,
                variables,
                clone,
                _event(clone, "SessionStart", source="startup"),
            ),
        ]
        began = time.monotonic()
        for _ in range(_TRIES):
            event = _event(clone, "UserPromptSubmit", prompt=prompt)
            answered = _timed("that prompt", asked, variables, clone, event)
            if answered["characters"] != "0":
                break
        waited = {"step": "start to first context", "seconds": round(time.monotonic() - began, 2)}
        again = _event(clone, "UserPromptSubmit", "another", prompt=prompt)
        rows += [
            {**waited, "characters": ""},
            answered,
            _timed("next session's prompt", asked, variables, clone, again),
        ]
    finally:
        subprocess.run(
            [program, "serve", "--stop"], env=variables, capture_output=True, check=False
        )
    return Report(
        title="A newcomer's path",
        rows=rows,
        note="characters: of the context that the agent got; the prompt is repeated until it gets "
        "one, while the background process indexes",
    )


def _event(folder: Path, name: str, session: str = "newcomer", **fields: str) -> str:
    return json.dumps(
        {"hook_event_name": name, "session_id": session, "cwd": str(folder), **fields}
    )


def _timed(
    step: str,
    command: Sequence[str | Path],
    variables: Mapping[str, str],
    folder: Path | None = None,
    given: str = "",
) -> dict[str, object]:
    began = time.monotonic()
    ran = subprocess.run(
        command, input=given, cwd=folder, env=variables, capture_output=True, text=True, check=True
    )
    seconds = round(time.monotonic() - began, 2)
    characters = ""
    if given:
        told = json.loads(ran.stdout)["hookSpecificOutput"] if ran.stdout else {}
        characters = f"{len(told.get('additionalContext', '')):,}"
    return {"step": step, "seconds": seconds, "characters": characters}


if __name__ == "__main__":
    main()
