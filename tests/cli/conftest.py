"""Running the command line: in this process for breadth, in one of its own where it matters."""

from __future__ import annotations

import io
import json
import os
import pty
import select
import shutil
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from attrs import define, evolve, field
from click.testing import CliRunner, Result

from contextkit.cli.root import cli
from contextkit.testing import Git, own_git, write_distribution
from contextkit.testing.users import end_processes

BUDGET = '''\
"""Splitting a budget."""


def split_budget(total, weights):
    """Split the token budget over the sources by their weights."""
    whole = sum(weights.values())
    return {name: total * weight // whole for name, weight in weights.items()}
'''
DEADLINE_SECONDS = 60
MEMORIES = (
    ("The token budget is split by weight, largest remainder first", "decision"),
    ("Weights of the token budget belong in configuration, not in code", "preference"),
    ("A budget below one token raised an error on 2026-03-01", "error"),
)
EXPERIENCES: list[dict[str, Any]] = [
    {
        "goal": "Split the token budget without losing a token",
        "hypothesis": "Rounding each share down is enough",
        "action": "Divided the token budget with integer division",
        "prediction": "The shares add up to the budget",
        "domain": "debugging",
        "strategy": "systematic-elimination",
        "outcome_status": "falsified",
        "outcome_result": "Up to four tokens of the budget were lost",
        "surprise": "The rest was lost in every split",
        "root_cause": "Rounding down loses the rest",
        "lesson": {"what_worked": "Give the rest to the largest remainders"},
    },
    {
        "goal": "Make the split of the token budget stable",
        "hypothesis": "Ties depend on the order of a set",
        "action": "Sorted the sources by name before splitting the budget",
        "prediction": "Two runs give the same shares",
        "domain": "debugging",
        "strategy": "check-assumptions",
        "outcome_status": "confirmed",
        "outcome_result": "The shares are the same in every run",
    },
]


PROJECT = {"CONTEXTKIT_PROJECT": "demo"}


@define
class Repository:
    """A real git repository.

    Attributes:
        folder: its root.
    """

    folder: Path

    def git(self, *arguments: str) -> str:
        """Run git in it."""
        return Git(self.folder)(*arguments)

    def commit(self, message: str, files: Mapping[str, str | bytes]) -> None:
        """Write files and commit everything."""
        for name, content in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "-m", message)


@define
class CommandLine:
    """The command line in one folder.

    Attributes:
        folder: where it runs.
        environment: variables beside those of the test's process.
    """

    folder: Path
    environment: dict[str, str] = field(factory=dict)

    def __call__(self, *arguments: str, given: str | bytes | None = None) -> Result:
        """Run it in this process."""
        runner = CliRunner(env=dict(self.environment))
        return runner.invoke(cli, ["-C", str(self.folder), *arguments], input=given)

    def source_names(self) -> list[str]:
        """The installed sources, whichever distributions are there."""
        return [row["name"] for row in self.json("sources") if row["source"]]

    def json(self, *arguments: str, given: str | bytes | None = None) -> Any:
        """What it prints as JSON when all is well."""
        result = self(*arguments, "--json", given=given)
        assert result.exit_code == 0, result.stderr
        return json.loads(result.stdout)

    def line(self, exit_code: int, *arguments: str, given: str | bytes | None = None) -> str:
        """The one line that it says when it fails with this exit code."""
        result = self(*arguments, given=given)
        assert result.exit_code == exit_code, (result.stdout, result.stderr)
        lines = result.stderr.splitlines()
        assert len(lines) == 1, result.stderr
        assert lines[0].startswith("contextkit: ")
        assert "Traceback" not in result.stderr
        return lines[0].removeprefix("contextkit: ")

    def with_variables(self, **variables: str) -> CommandLine:
        """The same with more environment variables."""
        return evolve(self, environment={**self.environment, **variables})

    def command(self, *arguments: str) -> list[str]:
        """What starts it in a process of its own."""
        return [sys.executable, "-m", "contextkit.cli", *arguments]

    def variables(self) -> dict[str, str]:
        """The environment of a process of its own."""
        variables = {**os.environ, **self.environment}
        # Output is buffered as it is for most people, whatever the tests' own is.
        variables.pop("PYTHONUNBUFFERED", None)
        return variables

    def process(
        self,
        *arguments: str | bytes,
        given: bytes | None = b"",
        command: Sequence[str] | None = None,
        **options: Any,
    ) -> subprocess.CompletedProcess[bytes]:
        """Run it, or another command, in a process of its own."""
        whole: list[str | bytes] = [*(command or self.command()), *arguments]
        settings = {
            "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE,
            "cwd": self.folder,
            "env": self.variables(),
            "timeout": 60,
            **options,
        }
        return subprocess.run(whole, input=given, check=False, **settings)

    def within(self, mounting: str) -> list[str]:
        """What starts it with something mounted that nobody else sees; may skip the test."""
        unshare = shutil.which("unshare")
        if unshare is None:
            pytest.skip("there is no unshare to mount with")
        for flags in ("-m", "-rm"):
            tried = [unshare, flags, "sh", "-c", mounting]
            if subprocess.run(tried, capture_output=True, check=False).returncode == 0:
                return [*tried[:-1], f'{mounting} && exec "$0" "$@"', *self.command()]
        pytest.skip("this machine does not let the tests mount")

    def on_terminal(
        self,
        *arguments: str,
        stdout: bool = False,
        columns: int = 80,
        seen: Callable[[bytes], object] = bool,
    ) -> tuple[int, bytes, bytes]:
        """Run it in this process with standard error (and standard output) on a terminal.

        Args:
            arguments: the command's.
            stdout: whether standard output is there, too.
            columns: how wide the terminal is.
            seen: called with all that is shown, whenever there is more of it.

        Returns:
            The exit code, what came on standard output if that is a pipe, what was shown.
        """
        ours, theirs = pty.openpty()
        shown = bytearray()

        def watch() -> None:
            for part in read_terminal(ours):
                shown.extend(part)
                seen(bytes(shown))

        watching = threading.Thread(target=watch)
        watching.start()
        variables = {"TERM": "xterm", **self.environment, "COLUMNS": str(columns)}
        pipe = io.BytesIO()
        with (
            pytest.MonkeyPatch.context() as patched,
            os.fdopen(theirs, "w", encoding="utf-8") as terminal,
            io.TextIOWrapper(pipe, encoding="utf-8") as piped,
        ):
            for name, value in variables.items():
                patched.setenv(name, value)
            patched.setattr(sys, "stderr", terminal)
            patched.setattr(sys, "stdout", terminal if stdout else piped)
            with pytest.raises(SystemExit) as ended:
                cli.main(["-C", str(self.folder), *arguments])
            piped.flush()
            output = pipe.getvalue()
        watching.join(DEADLINE_SECONDS)
        os.close(ours)
        return int(ended.value.code or 0), output, bytes(shown)


def read_terminal(terminal: int) -> Iterator[bytes]:
    """What is written to a terminal until its other end is closed."""
    while select.select([terminal], [], [], DEADLINE_SECONDS)[0]:
        try:
            yield os.read(terminal, 65536)
        except OSError:
            return


@pytest.fixture(autouse=True)
def surroundings(tmp_path: Path, home: Path) -> Iterator[None]:
    """A git that knows only the test's settings; what a hook has started ends with the test."""
    with own_git(tmp_path):
        yield
    end_processes(home)


@pytest.fixture
def unconfigured(home: Path) -> None:
    """Nor has the test's home any settings."""
    (home / "config.toml").unlink()


@pytest.fixture
def new_repository(tmp_path: Path) -> Callable[..., Repository]:
    """Make a repository without a commit below `tmp_path`."""

    def made(name: str, *options: str) -> Repository:
        folder = tmp_path / name
        folder.mkdir()
        repository = Repository(folder)
        repository.git("init", "--quiet", "--initial-branch=main", *options)
        return repository

    return made


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository of two commits, a Python file and a README, to be copied."""
    folder = tmp_path_factory.mktemp("demo")
    made = Repository(folder)
    with own_git(folder):
        made.git("init", "--quiet", "--initial-branch=main")
        # A commit of one file is a duplicate of that file's code, where both are found.
        made.commit("Split the token budget by weight", {"budget.py": BUDGET, "doc.md": "# Doc\n"})
        made.commit("Add a README", {"README.md": "# Demo\n"})
    return folder


@pytest.fixture
def repository(demo: Path, tmp_path: Path) -> Repository:
    """A repository of two commits: a Python file and a README."""
    return Repository(shutil.copytree(demo, tmp_path / "demo", symlinks=True))


@pytest.fixture
def contextkit(repository: Repository) -> CommandLine:
    """The command line in the repository."""
    return CommandLine(repository.folder)


@pytest.fixture(scope="session")
def elsewhere() -> Callable[..., CommandLine]:
    """The command line in another folder."""
    return CommandLine


@pytest.fixture(scope="session")
def furnished_home(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with three memories and two experiences, to be copied."""
    folder = tmp_path_factory.mktemp("furnished") / "home"
    contextkit = CommandLine(demo, {**PROJECT, "CONTEXTKIT_HOME": str(folder)})
    for text, category in MEMORIES:
        given = ("--category", category, "--importance", "0.8", "--tag", "budget")
        assert contextkit("remember", text, *given).exit_code == 0
    contextkit.json("experience", "add", "--file", "-", given=json.dumps(EXPERIENCES))
    return folder


@pytest.fixture
def furnished(contextkit: CommandLine, home: Path, furnished_home: Path) -> CommandLine:
    """The command line with three memories, two experiences and an index."""
    unbound = shutil.ignore_patterns("projects")
    shutil.copytree(furnished_home, home, dirs_exist_ok=True, ignore=unbound)
    known = contextkit.with_variables(**PROJECT)
    known.json("index")
    return known


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., str]]:
    """Install a plugin from its code, for this test's processes; gives its PYTHONPATH."""
    added: list[str] = []

    def installed(name: str, code: str, distribution: str | None = None) -> str:
        folder = tmp_path / f"installed-{len(added)}"
        module = f"plugin_{name.replace('-', '_')}_{len(added)}"
        given = distribution or f"their-{name}"
        write_distribution(folder, given, {name: module}, version="2.1")
        (folder / f"{module}.py").write_text(textwrap.dedent(code), encoding="utf-8")
        monkeypatch.syspath_prepend(str(folder))
        added.append(str(folder))
        inherited = os.environ.get("PYTHONPATH", "").split(os.pathsep)
        path = os.pathsep.join([str(folder), *filter(None, inherited)])
        monkeypatch.setenv("PYTHONPATH", path)
        return path

    yield installed
    for name in [n for n, m in sys.modules.items() if _below(getattr(m, "__file__", None), added)]:
        del sys.modules[name]


def _below(file: str | None, folders: list[str]) -> bool:
    return file is not None and any(file.startswith(folder) for folder in folders)
