"""Run git safely in a repository that may be untrusted.

All git commands go through this module: `Git(folder).run("rev-parse", "HEAD")`. The settings of
a repository can name programs that git would run: filters, hooks, `core.fsmonitor`, `core.pager`,
`core.sshCommand`, `diff.external`, transports. None of them runs here, and nothing is fetched.

- Only the reading commands of `COMMANDS` are allowed.
- Settings on the command line, which take precedence over those of files, disable programs.
- For a command that reads files of the work tree, every configured filter driver is disabled,
  the user's own included, such as Git LFS. A filtered file whose time has changed may then be
  reported as modified until the user runs `git status`.
- A bare repository inside a work tree is refused, because it may have come with a clone.
- `core.worktree` can name any folder as the work tree. Commands that list files get `Git.here`,
  and git refuses a path outside of its work tree.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import re
import stat
import subprocess
from collections.abc import Generator, Iterator
from pathlib import Path

from attrs import field, frozen

from contextkit.errors import WorkspaceError
from contextkit.workspace.git_folders import find_git_folders

MINIMUM_VERSION = (2, 20)

_PLAIN_DIFF = ("--no-ext-diff", "--no-textconv")
# Git would look for changes in a submodule with a process that lacks these settings.
_WORK_TREE_DIFF = (*_PLAIN_DIFF, "--ignore-submodules=dirty")
COMMANDS = {
    "cat-file": (),
    "check-attr": (),
    "check-ignore": (),
    "config": (),
    "diff": _WORK_TREE_DIFF,
    "diff-files": _WORK_TREE_DIFF,
    "diff-index": _WORK_TREE_DIFF,
    "diff-tree": _PLAIN_DIFF,
    "for-each-ref": (),
    # A user's setting may make it search folders that are no repositories.
    "grep": ("--no-textconv", "--index"),
    "log": (*_PLAIN_DIFF, "--no-show-signature"),
    "ls-files": (),
    "ls-tree": (),
    "merge-base": (),
    "rev-list": (),
    "rev-parse": (),
    "show": (*_PLAIN_DIFF, "--no-show-signature"),
    "status": ("--ignore-submodules=dirty",),
    "symbolic-ref": (),
    "version": (),
}
"""The allowed commands, with the options that are added to each."""

_FILTERS_MAY_RUN = frozenset({"cat-file", "diff", "diff-files", "diff-index", "status"})
_COMPARES_FILES = re.compile(r"--m.*|-[a-ln-zA-Z]*+m[a-zA-Z]*+")
"""`ls-files --modified`, `-cm`: the only listing for which git reads files."""

# Variables that tell git where to find its parts, its configuration (including `safe.directory`)
# and where to stop looking for a repository. All others are removed: they could select another
# repository, or name programs.
_KEPT = re.compile(r"GIT_(CONFIG_\w+|EXEC_PATH|CEILING_DIRECTORIES|DISCOVERY_ACROSS_FILESYSTEM)")
_SET = {
    "LC_ALL": "C",
    # Overrides `protocol.NAME.allow`, which a repository can set. Git before 2.44 does not have
    # GIT_NO_LAZY_FETCH and would fetch the missing objects of a partial clone.
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_ASKPASS": "",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_SSH_COMMAND": os.devnull,
    "GIT_TERMINAL_PROMPT": "0",
}
_SETTINGS = (
    "core.fsmonitor=false",
    f"core.hooksPath={os.devnull}",
    "credential.helper=",
    # Git would run `git diff` in a submodule, which lacks the options of `_PLAIN_DIFF`.
    "diff.submodule=short",
    f"diff.orderFile={os.devnull}",
    f"gpg.program={os.devnull}",
    f"gpg.openpgp.program={os.devnull}",
    f"gpg.ssh.program={os.devnull}",
    f"gpg.x509.program={os.devnull}",
    "log.diffMerges=separate",
    "log.mailmap=false",
    "log.showRoot=true",
    "log.showSignature=false",
    "protocol.allow=never",
    "safe.bareRepository=explicit",
    "status.submoduleSummary=false",
    "submodule.recurse=false",
)
_OPTIONS = ("--no-pager", *(part for setting in _SETTINGS for part in ("-c", setting)))
_NO_FILTER = {"clean": "", "smudge": "", "process": "", "required": "false"}
_PROGRAM = "git.exe" if os.name == "nt" else "git"


class GitError(WorkspaceError):
    """Git failed; the message says why."""


class GitMissingError(GitError):
    """Git is not on the PATH."""


class GitTimeoutError(GitError):
    """Git was stopped after the timeout."""


class GitFailedError(GitError):
    """Git reported a failure.

    Attributes:
        code: its exit code.
        complaint: its error message, one line.
    """

    def __init__(self, message: str, code: int, complaint: str) -> None:
        super().__init__(message)
        self.code = code
        self.complaint = complaint


@frozen
class Answer:
    """The result of a git command.

    Attributes:
        code: its exit code.
        output: its standard output.
        complaint: the error line of its standard error, or empty.
    """

    code: int
    output: bytes
    complaint: str

    @property
    def text(self) -> str:
        """The output as text, with invalid UTF-8 replaced."""
        return self.output.decode("utf-8", "replace")


@frozen
class Git:
    """The `git` program, for one folder.

    Attributes:
        folder: the folder, an absolute path.
        timeout: seconds until it is stopped: for `run` the whole command, for `stream` each
            pause in the output.
    """

    folder: Path = field(converter=Path)
    timeout: float = 60.0

    def run(self, *arguments: str, check: bool = True) -> Answer:
        """Run a command to its end.

        Args:
            arguments: a command of `COMMANDS` and its arguments.
            check: whether a failure raises; otherwise check the answer's `code`.

        Raises `GitFailedError` if git reports a failure, `GitMissingError` or `GitTimeoutError`
        if it cannot run, and `GitError` if it may not run in the folder.
        """
        command, environment = self._command(arguments)
        try:
            process = subprocess.Popen(
                command,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        except OSError as error:
            raise _not_started(error) from error
        with process, _ended_with_us(process):
            try:
                output, stderr = process.communicate(timeout=self.timeout)
            except subprocess.TimeoutExpired as error:
                raise self._timed_out(arguments) from error
        answer = Answer(process.returncode, output, _complaint(stderr))
        if check and answer.code:
            raise self._failed(arguments, answer)
        return answer

    def stream(self, *arguments: str, given: bytes = b"") -> Generator[bytes, None, None]:
        """Run a command and yield its output in chunks.

        Closing the iterator stops it.

        Args:
            arguments: as for `run`.
            given: its standard input.

        Raises what `run` raises; `GitFailedError` after the last chunk.
        """
        from contextkit.workspace.git_stream import Stream

        command, environment = self._command(arguments)
        stream = Stream(command, environment, self.timeout)
        try:
            yield from stream.chunks(given)
        except OSError as error:
            raise _not_started(error) from error
        if stream.timed_out:
            raise self._timed_out(arguments)
        if stream.code:
            answer = Answer(stream.code, b"", _complaint(stream.stderr))
            raise self._failed(arguments, answer)

    def require_version(self) -> None:
        """Raise `GitError` if git is older than `MINIMUM_VERSION`."""
        said = self.run("version", check=False).text.strip()
        found = re.search(r"(?<!\d)(\d++)\.(\d+)", said)
        if found is None or (int(found[1]), int(found[2])) < MINIMUM_VERSION:
            needed = ".".join(map(str, MINIMUM_VERSION))
            raise GitError(f"git {needed} or newer is needed, `git version` says {said[:80]!r}")

    @property
    def here(self) -> str:
        """The folder as a path that git checks.

        A repository's `core.worktree` can name any folder, which git would list for a command
        without a path, or with `.`.
        """
        return str(self.folder.absolute())

    def _command(self, arguments: tuple[str, ...]) -> tuple[list[str], dict[str, str]]:
        name, *rest = arguments
        if name not in COMMANDS:
            allowed = ", ".join(COMMANDS)
            raise ValueError(f"contextkit runs only reading git commands ({allowed}), got {name!r}")
        environment = _environment()
        if name != "check-ignore":
            # `check-ignore` fails with literal pathspecs.
            environment["GIT_LITERAL_PATHSPECS"] = "1"
        options = [] if name == "version" else self._repository()
        compares = name == "ls-files" and any(map(_COMPARES_FILES.fullmatch, rest))
        if compares or name in _FILTERS_MAY_RUN:
            options += self._without_filters(environment)
        program = _program(environment.get("PATH", os.defpath))
        command = [program, *_OPTIONS, "-C", self.here, *options, name, *COMMANDS[name], *rest]
        return command, environment

    def _repository(self) -> list[str]:
        """Options that select or refuse a bare repository."""
        found = find_git_folders(Path(self.here))
        if found.work_tree is not None:
            _refuse_endless(found.work_tree / ".git")
        if found.bare is None:
            return []
        if found.work_tree is None:
            _refuse_endless(found.bare)
            return [f"--git-dir={found.bare}"]
        raise GitError(
            f"{found.bare} is a bare repository inside the work tree {found.work_tree}, "
            f"and may have come with a clone: it is not used"
        )

    def _without_filters(self, environment: dict[str, str]) -> list[str]:
        """Options that disable all filter drivers; may extend the environment."""
        answer = self.run("config", "-z", "--name-only", "--get-regexp", r"^filter\.", check=False)
        if answer.code not in {0, 1}:
            raise self._failed(("config",), answer)
        options: list[str] = []
        for name in _drivers(answer.output):
            for key, value in _NO_FILTER.items():
                if "=" in name:
                    # `-c` ends a name at its first `=`. Git before 2.31 fails with this option.
                    variable = f"CONTEXTKIT_GIT_{key.upper()}"
                    environment[variable] = value
                    options.append(f"--config-env=filter.{name}.{key}={variable}")
                else:
                    options += ["-c", f"filter.{name}.{key}={value}"]
        return options

    def _failed(self, arguments: tuple[str, ...], answer: Answer) -> GitFailedError:
        complaint = answer.complaint or f"it ended with {answer.code}"
        message = f"git {arguments[0]} failed in {self.folder}: {complaint}"
        return GitFailedError(message, answer.code, complaint)

    def _timed_out(self, arguments: tuple[str, ...]) -> GitTimeoutError:
        return GitTimeoutError(
            f"git {arguments[0]} did not answer for {self.timeout:g} s in {self.folder} "
            f"and was stopped"
        )


_running: set[subprocess.Popen[bytes]] = set()


@contextlib.contextmanager
def _ended_with_us(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """Kill a process at the end of the block, or at the end of this process."""
    _running.add(process)
    try:
        yield
    finally:
        process.kill()
        _running.discard(process)


@atexit.register
def _end_running() -> None:
    # A daemon thread, such as one that looks ahead, does not end its process.
    for process in list(_running):
        process.kill()


def _drivers(listed: bytes) -> Iterator[str]:
    """The names of filter drivers, from their settings."""
    keys = (os.fsdecode(key) for key in listed.split(b"\0"))
    names = (key.removeprefix("filter.").rpartition(".") for key in keys if key.count(".") > 1)
    return iter(dict.fromkeys(name for name, _, _ in names))


def _program(path: str) -> str:
    """Find git on the PATH, skipping relative folders.

    A relative folder would be one of the workspace. Windows would look there first.
    """
    for folder in filter(os.path.isabs, path.split(os.pathsep)):
        program = os.path.join(folder, _PROGRAM)  # noqa: PTH118 - for each command
        if os.access(program, os.X_OK) and os.path.isfile(program):  # noqa: PTH113
            return program
    raise GitMissingError("git is not on the PATH: install git, or add its folder to the PATH")


def _environment() -> dict[str, str]:
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("GIT_") or _KEPT.fullmatch(name)
    }
    kept.pop("LANGUAGE", None)
    return {**kept, **_SET}


def _refuse_endless(git_folder: Path) -> None:
    """Raise `GitError` if a git folder has a file that git would read without end.

    An archive of a repository can bring a pipe, or a link to a device.
    """
    try:
        with os.scandir(git_folder) as entries:
            odd = [entry for entry in entries if not (entry.is_file() or entry.is_dir())]
    except OSError:
        # A work tree that is not the main one has a file there.
        return
    for entry in odd:
        with contextlib.suppress(OSError):
            mode = entry.stat().st_mode
            if stat.S_ISFIFO(mode) or stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
                raise GitError(
                    f"{entry.path} is a pipe or a device, which git would read without end: "
                    f"the repository is not used"
                )


def _not_started(error: OSError) -> GitError:
    return GitError(f"git could not be started: {error.strerror or error}")


def _complaint(stderr: bytes) -> str:
    lines = [line.strip() for line in stderr.decode("utf-8", "replace").splitlines()]
    told = [line for line in lines if line.startswith(("fatal:", "error:"))]
    if told:
        return told[-1].partition(": ")[2]
    return next((line for line in reversed(lines) if line), "")
