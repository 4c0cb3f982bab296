"""The background server of hooks: many starts, upgrades while it runs, and its memory.

`python -m tests.benchmarks.residents --starts 1000 --upgrades 50 --records 100000 --prompts 500`
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from attrs import field, frozen

from contextkit.agent.client import FEW_PAGES, ask, settings_in, socket_path
from contextkit.testing.surroundings import write_distribution
from tests.benchmarks.harness import Report, percentile, write_json
from tests.benchmarks.starting import as_for_most

__all__ = ["main", "memory_of"]

_AT_ONCE = 10
_READY_SECONDS = 60.0
_LOOK_SECONDS = 0.01
_SECONDS = 30.0
_MEGABYTE = 1 << 20
_PLUGIN = """
from contextkit import ContextItem, hookimpl

@hookimpl
def contextkit_query(request):
    return [ContextItem("{name}", "high water by table {number}", 1.0, id="{number}")]
"""
_FILL = """
import sys
import attrs
from contextkit import ContextKit
from tests.benchmarks.growth.records import batches, made
number = int(sys.argv[1])
with ContextKit.open() as kit:
    for source, batch in batches(made(number), number):
        name = source if source in kit.registry.sources else "memories"
        # Real records of code have a kind, which is indexed; without it, each question reads all.
        fields = {"kind": "unit"} if name == "code" else {}
        kit.records(name).put([attrs.evolve(record, fields=fields) for record in batch])
    # As an index run does.
    kit.store.optimize()
"""


@frozen
class World:
    """A user with a workspace, a home and a plugin.

    Attributes:
        folder: the folder of all of them.
        variables: more variables of the user's processes.
    """

    folder: Path
    variables: Mapping[str, str] = field(factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        """The variables of the user's processes."""
        own = {
            "CONTEXTKIT_HOME": str(self.folder / "home"),
            "CONTEXTKIT_HOOKS_TIMEOUT": "30",
            "XDG_RUNTIME_DIR": str(self.folder / "run"),
            "PYTHONPATH": str(self.folder / "site"),
        }
        return {**as_for_most(), **own, **self.variables}

    @property
    def workspace(self) -> Path:
        """The user's workspace."""
        return self.folder / "project"

    @property
    def runtime(self) -> Path:
        """The folder of the server's socket."""
        return self.folder / "run" / "contextkit"

    def make(self) -> None:
        """Make the folders."""
        for name in ("home", "run", "site", "project"):
            (self.folder / name).mkdir(mode=0o700)
        (self.workspace / "contextkit.toml").write_text('project = "tide"\n', encoding="utf-8")

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Start a server as a hook does."""
        command = [sys.executable, "-P", "-m", "contextkit.cli.background", *arguments]
        return subprocess.Popen(command, cwd="/", env={**FEW_PAGES, **self.environment})

    def status(self) -> Mapping[str, Any] | None:
        """Return what the server says of itself, or None if none answers."""
        return ask({"op": "status"}, self.environment, _SECONDS)

    def ready(self, other_than: int | None = None) -> Mapping[str, Any]:
        """Wait for a server that has loaded everything."""
        deadline = time.monotonic() + _READY_SECONDS
        while time.monotonic() < deadline:
            status = self.status()
            if status and not status["warming"] and status["pid"] != other_than:
                return status
            time.sleep(_LOOK_SECONDS)
        raise TimeoutError("no server became ready")

    def event(self, session: str, prompt: str) -> dict[str, Any]:
        """Return the event of a prompt."""
        return {
            "session_id": session,
            "cwd": str(self.workspace),
            "hook_event_name": "UserPromptSubmit",
            "prompt": prompt,
        }

    def hook(self, session: str, prompt: str) -> str:
        """Send a prompt through a hook's process; return the context."""
        ran = subprocess.run(
            [sys.executable, "-c", "from contextkit.agent import run_hook; run_hook()"],
            cwd=self.workspace,
            env=self.environment,
            input=json.dumps(self.event(session, prompt)).encode(),
            capture_output=True,
            check=True,
        )
        return str(json.loads(ran.stdout)["context"])

    def processes(self) -> list[int]:
        """List the processes that run with this user's variables."""
        mark = f"XDG_RUNTIME_DIR={self.folder / 'run'}".encode()
        found = []
        for folder in Path("/proc").iterdir():
            with contextlib.suppress(OSError, ValueError):
                pid = int(folder.name)
                if pid != os.getpid() and mark in (folder / "environ").read_bytes().split(b"\0"):
                    found.append(pid)
        return found

    def leftovers(self) -> list[str]:
        """List the files that no running process needs: sockets, locks and temporary files."""
        hidden = [file for file in (self.folder / "home" / "hooks").rglob(".*") if file.is_file()]
        return sorted(str(file) for file in [*self.runtime.glob("*"), *hidden])

    def gone(self) -> bool:
        """Wait until no process of this user runs."""
        deadline = time.monotonic() + _READY_SECONDS
        while self.processes():
            if time.monotonic() > deadline:
                return False
            time.sleep(_LOOK_SECONDS)
        return True

    def install(self, name: str, number: int, *, edit: bool = False) -> None:
        """Install a version of a plugin, or edit its file alone."""
        module = f"ck_bench_{name}"
        # Python recognizes a changed file by the second and the size.
        text = _PLUGIN.format(name=name, number=number) + "#" * number
        site = self.folder / "site"
        (site / f"{module}.py").write_text(text, encoding="utf-8")
        if not edit:
            for old in site.glob(f"{module}-*.dist-info"):
                shutil.rmtree(old)
            write_distribution(site, f"ck-bench-{name}", {name: module}, f"1.{number}")


@contextlib.contextmanager
def _world(**variables: str) -> Iterator[World]:
    with tempfile.TemporaryDirectory(prefix="ck-", dir="/tmp") as folder:
        world = World(Path(folder), variables)
        world.make()
        try:
            yield world
        finally:
            ask({"op": "end"}, world.environment, _SECONDS)
            world.gone()


def starts(number: int) -> Report:
    """Start many servers, ten at a time, and end the one that stays in three ways."""
    ended = {"SIGKILL": 0, "SIGTERM": 0, "by request": 0}
    several, wrong, seconds = 0, 0, []
    with _world() as world:
        for turn in range(number // _AT_ONCE):
            began = time.perf_counter()
            processes = [world.start() for _ in range(_AT_ONCE)]
            stays = world.ready()["pid"]
            seconds.append(time.perf_counter() - began)
            others = [each for each in processes if each.pid != stays]
            # Each of the others ends by itself.
            codes = [each.wait(_READY_SECONDS) for each in others]
            several += len(others) != _AT_ONCE - 1
            wrong += any(codes)
            way = list(ended)[turn % len(ended)]
            if way == "by request":
                ask({"op": "end"}, world.environment, _SECONDS)
            else:
                os.kill(stays, signal.SIGKILL if way == "SIGKILL" else signal.SIGTERM)
            ended[way] += 1
            for process in processes:
                process.wait(_READY_SECONDS)
        # The last one may have been killed; an orderly end removes what it left.
        last = world.start()
        world.ready()
        ask({"op": "end"}, world.environment, _SECONDS)
        last.wait(_READY_SECONDS)
        orphans, leftovers = len(world.processes()), world.leftovers()
    row = {
        "starts": number,
        "rounds": len(seconds),
        "rounds with two servers": several,
        "failed": wrong,
        "orphans": orphans,
        "leftover files": len(leftovers),
        "median until ready, ms": 1000 * percentile(seconds, 50),
    }
    note = ", ".join(f"{way} {count}" for way, count in ended.items())
    return Report(title="Starts, ten at a time", rows=[row], note=f"ended by {note}")


def upgrades(number: int) -> Report:
    """Install or edit a plugin while the server runs; no later answer may be of the old one."""
    stale, missing, stayed = 0, 0, 0
    with _world(CONTEXTKIT_HOOKS_SOURCES="tides") as world:
        world.install("tides", 0)
        world.hook("first", "when is high water?")
        for turn in range(1, number + 1):
            pid = world.ready()["pid"]
            world.install("tides", turn, edit=turn % 2 == 0)
            for session in (f"{turn}-after", f"{turn}-ready"):
                told = world.hook(session, "when is high water?")
                missing += "high water" not in told
                stale += "high water" in told and f"by table {turn}\n" not in f"{told}\n"
                if session.endswith("after"):
                    stayed += world.ready(other_than=pid)["pid"] == pid
        ask({"op": "end"}, world.environment, _SECONDS)
        gone = world.gone()
        orphans, leftovers = len(world.processes()), world.leftovers()
    row = {
        "upgrades": number,
        "prompts": 2 * number,
        "stale": stale,
        "without an answer": missing,
        "old servers that stayed": stayed,
        "orphans": orphans,
        "leftover files": len(leftovers),
    }
    note = "every other one edits a source file and installs nothing"
    return Report(title="Upgrades while it runs", rows=[row], note=note if gone else "not gone")


def memory(records: int, prompts: int) -> Report:
    """Answer many prompts, and measure what the process takes."""
    with _world(CONTEXTKIT_SOURCES_EVENTS_ENABLED="no") as world:
        root = str(Path(__file__).parents[2])
        environment = {**world.environment, "PYTHONPATH": root}
        command = [sys.executable, "-c", _FILL, str(records)]
        subprocess.run(command, cwd=world.workspace, env=environment, check=True)
        process = world.start("--warm", str(world.workspace))
        world.ready()
        rows = [{"prompts": 0, **memory_of(process.pid)}]
        questions = _questions(records)
        for number in range(1, prompts + 1):
            event = world.event(f"s{number % 20}", questions[number % len(questions)])
            request = {"op": "hook", "event": event, "waited": 0.0}
            ask(request, world.environment, _SECONDS)
            if number in {1, prompts // 10, prompts}:
                rows.append({"prompts": number, **memory_of(process.pid)})
        ask({"op": "end"}, world.environment, _SECONDS)
        process.wait(_READY_SECONDS)
    return Report(
        title=f"Memory of the server, MB, {records:,} records",
        rows=rows,
        note="resident: all pages in memory; own: anonymous ones; files: pages that the system "
        "may drop",
    )


def _questions(records: int) -> list[str]:
    from tests.benchmarks.growth.records import made

    return [question.query for question in made(records).questions]


def memory_of(pid: int) -> dict[str, float]:
    """The megabytes of a process: resident, its own pages, mapped files, and the most ever."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    values = {line.split(":")[0]: line.split()[1] for line in lines if line.startswith("R")}
    values |= {line.split(":")[0]: line.split()[1] for line in lines if line.startswith("Vm")}
    names = {"resident": "VmRSS", "own": "RssAnon", "files": "RssFile", "most": "VmHWM"}
    return {name: int(values[key]) * 1024 / _MEGABYTE for name, key in names.items()}


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    for name, number in (("starts", 1000), ("upgrades", 50), ("records", 100_000)):
        parser.add_argument(f"--{name}", type=int, default=number, help=f"default: {number}")
    parser.add_argument("--prompts", type=int, default=500, help="default: 500")
    parser.add_argument("--only", choices=["starts", "upgrades", "memory"])
    parser.add_argument("--json", type=Path, help="a file for the same as data")
    given = parser.parse_args(arguments)
    if not hasattr(os, "geteuid") or socket_path(os.environ) is None:
        parser.error("there is no background server on this system")
    measures: dict[str, Callable[[], Report]] = {
        "starts": partial(starts, given.starts),
        "upgrades": partial(upgrades, given.upgrades),
        "memory": partial(memory, given.records, given.prompts),
    }
    reports = {}
    for name, measure in measures.items():
        if given.only in {None, name}:
            reports[name] = measure()
            reports[name].show()
    if given.json is not None:
        write_json(given.json, settings_in(os.environ), reports)


if __name__ == "__main__":
    main()
