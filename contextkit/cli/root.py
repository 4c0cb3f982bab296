"""The root of the command line: global options, commands that load when they are used."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from contextkit.cli.session import Session
from contextkit.errors import ContextKitError

__all__ = ["cli"]

_COMMANDS = {
    "assemble": "contextkit.cli.assemble:assemble",
    "config": "contextkit.cli.config:config",
    "export": "contextkit.cli.transfer:export",
    "import": "contextkit.cli.transfer:import_",
    "index": "contextkit.cli.index:index",
    "premortem": "contextkit.cli.assemble:premortem",
    "reembed": "contextkit.cli.transfer:reembed",
    "sources": "contextkit.cli.sources:sources",
}
_INTERRUPTED = 130


class _Root(click.Group):
    """Built-in commands import what they need when they run; plugins add theirs."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        self._add_plugin_commands(ctx)
        return sorted({*_COMMANDS, *self.commands})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in _COMMANDS:
            module, _, attribute = _COMMANDS[cmd_name].partition(":")
            command: click.Command = getattr(importlib.import_module(module), attribute)
            return command
        if cmd_name not in self.commands:
            self._add_plugin_commands(ctx)
        return self.commands.get(cmd_name)

    def _add_plugin_commands(self, ctx: click.Context) -> None:
        session = _session(ctx)
        try:
            session.kit.registry.add_commands(self)
        except ContextKitError as error:
            # `contextkit --help` must work in spite of a broken configuration.
            session.warn(f"the plugins' commands are missing: {error}")

    def main(self, args: Sequence[str] | None = None, **extra: Any) -> Any:  # type: ignore[override]
        """Run, and turn every error into one line and an exit code that means something."""
        sys.exit(self._run(sys.argv[1:] if args is None else list(args), **extra))

    def _run(self, args: list[str], **extra: Any) -> int:
        debug = "--debug" in args
        try:
            outcome = super().main(args, **{**extra, "standalone_mode": False})
        except click.ClickException as error:
            error.show()
            return error.exit_code
        except ContextKitError as error:
            return _failed(error, str(error), error.exit_code, debug=debug)
        except (click.Abort, KeyboardInterrupt):
            click.echo("contextkit: interrupted", err=True)
            return _INTERRUPTED
        except BrokenPipeError:
            # Whoever read the output has seen enough.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        except Exception as error:  # noqa: BLE001 - a person gets a line, not a traceback
            text = f"internal error: {type(error).__name__}: {error} (--debug shows where)"
            return _failed(error, text, 1, debug=debug)
        return outcome if isinstance(outcome, int) else 0


def _failed(error: Exception, text: str, exit_code: int, *, debug: bool) -> int:
    if debug:
        import traceback

        traceback.print_exception(error)
    click.echo(f"contextkit: {text}", err=True)
    return exit_code


def _session(ctx: click.Context) -> Session:
    """The run's session, made from the root command's options."""
    root = ctx.find_root()
    if root.obj is None:
        given = root.params
        switches = {f"sources.{name}.enabled": True for name in given.get("enable") or ()}
        switches |= {f"sources.{name}.enabled": False for name in given.get("disable") or ()}
        root.obj = Session(
            folder=given.get("workspace") or Path.cwd(),
            settings=switches,
            debug=bool(given.get("debug")),
        )
        root.call_on_close(root.obj.close)
    session: Session = root.obj
    return session


def _set_up_logging(*, debug: bool) -> None:
    """Logs go to standard error; what a person should know a command says itself."""
    import logging

    import structlog

    level = logging.DEBUG if debug else logging.CRITICAL
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )


def _unfolded(_: click.Context, __: click.Parameter, names: Sequence[str]) -> tuple[str, ...]:
    """`--disable a,b --disable c` is a, b and c."""
    return tuple(part.strip() for name in names for part in name.split(",") if part.strip())


@click.group(cls=_Root, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "-C",
    "--workspace",
    type=click.Path(path_type=Path),
    help="A folder in the workspace; default: the current one.",
)
@click.option("--enable", multiple=True, callback=_unfolded, help="Switch a source on.")
@click.option("--disable", multiple=True, callback=_unfolded, help="Switch a source off.")
@click.option("--debug", is_flag=True, help="Show logs, and tracebacks of errors.")
@click.version_option(package_name="contextkit-core", prog_name="contextkit")
@click.pass_context
def cli(
    ctx: click.Context,
    workspace: Path | None,  # noqa: ARG001 - read from the context by `_session`
    enable: tuple[str, ...],  # noqa: ARG001
    disable: tuple[str, ...],  # noqa: ARG001
    debug: bool,
) -> None:
    """Assemble context for LLM agents from pluggable sources, within a token budget.

    \b
    Example: contextkit assemble "how is the token budget split?"
    """
    _set_up_logging(debug=debug)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    _session(ctx)
