"""Run the command line in the test's process and workspace."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import structlog
from attrs import frozen

from contextkit.testing.surroundings import own_home, plugins_installed

if TYPE_CHECKING:
    from click.testing import Result


@frozen(eq=False)
class CommandLine:
    """Runs `contextkit`: `run("tide", "add", "--file", "-", given="high at noon")`.

    Attributes:
        workspace: the workspace that it runs in.
    """

    workspace: Path

    def __call__(
        self, *arguments: str, given: str | bytes | None = None, **variables: str
    ) -> Result:
        """Run one command to its end.

        Args:
            arguments: the arguments after `contextkit`.
            given: its standard input.
            variables: of its environment alone: `CONTEXTKIT_PROJECT="other"`.

        Returns:
            click's result: `exit_code`, `stdout`, `stderr`, and `output`, which is both.
        """
        from click.testing import CliRunner

        from contextkit.cli.root import cli

        runner = CliRunner(env=variables)
        return runner.invoke(cli, ["-C", str(self.workspace), *arguments], input=given)


@contextlib.contextmanager
def command_line(workspace: Path, *checkouts: Path, **variables: str) -> Iterator[CommandLine]:
    """Open a command line with an empty store.

    There are no user settings. The previous state is restored at the end.

    ```python
    with command_line(tmp_path, Path(__file__).parents[1]) as run:
        assert run("sources").exit_code == 0
    ```

    Args:
        workspace: the workspace's root, made where it is missing.
        checkouts: the folders of plugins, whose entry points are those of their `pyproject.toml`
            as it is now. What else is installed is there, too.
        variables: of the environment: `CONTEXTKIT_EMBEDDING_MODEL="none"`.

    Raises:
        CheckoutError: where a folder is not a plugin's.
    """
    workspace.mkdir(parents=True, exist_ok=True)
    logging = structlog.get_config()
    with own_home(variables), plugins_installed(*checkouts):
        try:
            yield CommandLine(workspace)
        finally:
            structlog.configure(**logging)


def printed_json(result: Result) -> Any:
    """Parse the JSON output of a successful command.

    A failed command raises an error with its output.
    """
    if result.exit_code:
        raise AssertionError(result.stderr)
    return json.loads(result.stdout)
