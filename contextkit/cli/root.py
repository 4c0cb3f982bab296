"""The root command: global options, commands loaded on use."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from contextkit.cli.commands import BUILT_IN
from contextkit.cli.failures import ExitCode, exit_code_lines, report_failure, watch_reader
from contextkit.cli.lazy import LazyCommand
from contextkit.cli.output import say
from contextkit.cli.session import Session
from contextkit.cli.source_names import complete_plugins
from contextkit.errors import ContextKitError
from contextkit.package import VERSION

_EPILOG = "\n".join(
    [
        "\b",
        "Exit codes:",
        *(f"  {line}" for line in exit_code_lines()),
        "",
        "\b",
        "Examples:",
        '  contextkit assemble "how is the token budget split?"',
        "  contextkit sources",
    ]
)


class _Root(click.Group):
    """The root command, which loads commands on use.

    Built-in commands import their dependencies when they run; plugins add their own commands.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*BUILT_IN, *_plugin_commands(ctx)})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        found: click.Command | None = BUILT_IN.get(cmd_name)
        if found is None:
            # The plugins are loaded only for a plugin's command.
            found = _session(ctx).plugin_commands.commands.get(cmd_name)
        return found.load() if isinstance(found, LazyCommand) else found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Resolve a command, and suggest the nearest for unknown names."""
        name = args[0]
        if not name.startswith("-") and self.get_command(ctx, name) is None:
            import difflib

            from contextkit.plugin.published import install_hint

            nearest = difflib.get_close_matches(name, self.list_commands(ctx), n=1)
            hint = f" Did you mean '{nearest[0]}'?" if nearest else ""
            plugins = _session(ctx).registry.plugins
            missing = "".join(
                f" The source '{plugin.name}' is {plugin.state}, and so are its commands "
                f"({plugin.reason})."
                for plugin in plugins
                if plugin.state != "on"
            )
            if install := install_hint(name, {plugin.distribution for plugin in plugins}):
                hint = f" To get it: {install}."
            raise click.UsageError(f"There is no command '{name}'.{hint}{missing}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List contextkit's commands without importing them, then the plugins'."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, str(c.short_help)) for name, c in BUILT_IN.items()])
        added = sorted(_plugin_commands(ctx).items())
        if added:
            with formatter.section("Commands of the sources that are on"):
                formatter.write_dl(
                    [
                        (name, command.get_short_help_str(formatter.width))
                        for name, command in added
                        if not command.hidden
                    ]
                )

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        with watch_reader():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        _session(ctx).start_logs()
        with watch_reader():
            return super().invoke(ctx)

    def main(self, args: Sequence[str] | None = None, **extra: Any) -> Any:  # type: ignore[override]
        """Run; turn every error into a line and exit code."""
        # Without arguments from a caller, this is the process's own command.
        session = Session(ends_process=args is None)
        sys.exit(self.run(session, sys.argv[1:] if args is None else list(args), **extra))

    def run(self, session: Session, args: list[str], **extra: Any) -> int:
        """Run a command line in a session, and return its exit code."""
        _accept_any_text()
        options = {"prog_name": "contextkit", **extra, "standalone_mode": False}
        try:
            try:
                outcome = super().main(args, obj=session, **options)
            finally:
                session.close()
        except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - a line, not a traceback
            return report_failure(error, debug=session.debug)
        return outcome if isinstance(outcome, int) else ExitCode.FINE


def _accept_any_text() -> None:
    """Write characters that a stream cannot encode as escapes.

    Otherwise the write would fail.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _session(ctx: click.Context) -> Session:
    session: Session = ctx.find_root().obj
    return session


def _plugin_commands(ctx: click.Context) -> Mapping[str, click.Command]:
    """Return the plugins' commands; none for a broken configuration.

    `contextkit --help` therefore works with a broken configuration too.
    """
    try:
        return _session(ctx).plugin_commands.commands
    except ContextKitError as error:
        say(f"commands of plugins are missing: {error}")
        return {}


def _set_folder(ctx: click.Context, _: click.Parameter, folder: Path | None) -> None:
    if folder is not None:
        _session(ctx).chosen = folder


def _set_debug(ctx: click.Context, _: click.Parameter, debug: bool) -> None:
    _session(ctx).debug = debug


def _switch(ctx: click.Context, option: click.Parameter, names: Sequence[str]) -> None:
    """Switch off each source of `--disable a,b --disable c`."""
    given = [part.strip() for name in names for part in name.split(",") if part.strip()]
    if not given:
        return
    from contextkit.config.settings import normalized

    for name in given:
        key = f"sources.{normalized(name)}.enabled"
        _session(ctx).settings[key] = option.name == "enable"


@click.group(
    "contextkit",
    cls=_Root,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=_EPILOG,
)
@click.option(
    "-C",
    "--workspace",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    is_eager=True,
    expose_value=False,
    callback=_set_folder,
    help="A folder in the workspace; default: the current folder.",
)
@click.option(
    "--enable",
    metavar="SOURCE",
    multiple=True,
    shell_complete=complete_plugins,
    is_eager=True,
    expose_value=False,
    callback=_switch,
    help="Turn a source on for this run, or several: a,b.",
)
@click.option(
    "--disable",
    metavar="SOURCE",
    multiple=True,
    shell_complete=complete_plugins,
    is_eager=True,
    expose_value=False,
    callback=_switch,
    help="Turn a source off for this run.",
)
@click.option(
    "--debug",
    is_flag=True,
    envvar="CONTEXTKIT_DEBUG",
    is_eager=True,
    expose_value=False,
    callback=_set_debug,
    help="Show logs and tracebacks.",
)
@click.version_option(VERSION, prog_name="contextkit")
def cli() -> None:
    """Assemble context for LLM agents from pluggable sources, within a token budget.

    Options go before the command: contextkit -C ../other sources
    """
