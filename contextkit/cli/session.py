"""A command's state: the workspace's `ContextKit`, opened on first use."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from attrs import define, field

from contextkit.cli.commands import PluginCommands
from contextkit.cli.logs import logs_on_stderr
from contextkit.cli.output import messages_on_terminal, print_json, print_text, say
from contextkit.errors import WorkspaceError

if TYPE_CHECKING:
    from contextkit.config.settings import Config
    from contextkit.kit import ContextKit
    from contextkit.models.indexer import Progress
    from contextkit.models.records import Records
    from contextkit.plugin.manager import SourceRegistry
    from contextkit.workspace.find import Workspace


@define(eq=False)
class Session:
    """One run of the command line.

    Attributes:
        chosen: the folder named with `-C`, or None.
        settings: dotted key -> value, from flags.
        debug: whether tracebacks and debug logs are shown.
        ends_process: whether the process ends with it.
    """

    chosen: Path | None = None
    settings: dict[str, Any] = field(factory=dict)
    debug: bool = False
    ends_process: bool = False
    _plugins: tuple[Workspace, Config, SourceRegistry] | None = field(default=None, init=False)
    _commands: PluginCommands | None = field(default=None, init=False)
    _kit: ContextKit | None = field(default=None, init=False)
    _warned: set[str] = field(factory=set, init=False)
    _logging: bool = field(default=False, init=False)
    _ending: contextlib.ExitStack = field(factory=contextlib.ExitStack, init=False)

    @property
    def folder(self) -> Path:
        """The folder where the search for the workspace begins.

        Raises `WorkspaceError` if it is the current folder, and that was deleted.
        """
        if self.chosen is not None:
            return self.chosen
        try:
            return Path.cwd()
        except FileNotFoundError as error:
            message = "the current folder no longer exists; name one with -C"
            raise WorkspaceError(message) from error

    def start_logs(self) -> None:
        """Start logging if `debug` is set.

        This comes before any import that may log.
        """
        if not self._logging:
            self._ending.enter_context(logs_on_stderr(debug=self.debug))
            self._logging = True

    def _load_plugins(self) -> tuple[Workspace, Config, SourceRegistry]:
        """Read the configuration and load the plugins.

        The store's engine is not loaded.
        """
        if self._plugins is None:
            self.start_logs()
            from contextkit.config.load import load_config, with_command_timeouts
            from contextkit.plugin.manager import SourceRegistry
            from contextkit.workspace.find import find_workspace

            workspace = find_workspace(self.folder)
            config = with_command_timeouts(load_config(workspace, flags=self.settings))
            registry = SourceRegistry(config)
            self._refuse_unknown_switches(registry)
            self._plugins = workspace, config, registry
        return self._plugins

    def _refuse_unknown_switches(self, registry: SourceRegistry) -> None:
        from contextkit.config.settings import normalized
        from contextkit.errors import InvalidContextTypeError

        installed = {normalized(plugin.name): plugin.name for plugin in registry.plugins}
        for key in self.settings:
            first, _, rest = key.partition(".")
            name = rest.partition(".")[0]
            if first == "sources" and name not in installed:
                raise InvalidContextTypeError(name, sorted(installed.values()))

    @property
    def found_workspace(self) -> Workspace:
        """The workspace, and the file with its settings."""
        return self._load_plugins()[0]

    @property
    def config(self) -> Config:
        """The effective configuration."""
        return self._load_plugins()[1]

    @property
    def registry(self) -> SourceRegistry:
        """The plugins."""
        return self._load_plugins()[2]

    @property
    def plugin_commands(self) -> PluginCommands:
        """The commands that the plugins add.

        Raises the errors of reading the configuration.
        """
        if self._commands is None:
            commands = PluginCommands()
            commands.add_all(self.registry)
            for refused in commands.refused:
                say(refused)
            self._commands = commands
        return self._commands

    @property
    def kit(self) -> ContextKit:
        """The workspace's `ContextKit`, closed when the command ends."""
        if self._kit is None:
            self._kit = self._open_kit()
            identity = self._kit.identity
            if identity.problem:
                self.warn(f"{identity.problem}; {identity.remedy}")
            if identity.note:
                self.warn(identity.note)
        return self._kit

    def _open_kit(self) -> ContextKit:
        from contextkit.kit import ContextKit

        self._announce_waits()
        kit = ContextKit.over(*self._load_plugins())
        self._ending.callback(kit.leave if self.ends_process else kit.close)
        return kit

    def _announce_waits(self) -> None:
        """Tell a person at a terminal, and other processes, who waits for whom."""
        from contextkit.store.holder import name_process
        from contextkit.store.waiting import on_wait

        context = click.get_current_context(silent=True)
        if self.ends_process and context is not None:
            name_process(context.command_path)
        if messages_on_terminal():
            self._ending.enter_context(on_wait(say))

    @property
    def workspace(self) -> Path:
        """The workspace's root folder."""
        return self.found_workspace.root

    @property
    def project(self) -> str:
        """The project of the workspace's records."""
        return self.kit.project

    def records(self, source: str) -> Records:
        """Return a source's records.

        Raises `InvalidContextTypeError` for a name that is not a source.
        """
        return self.kit.records(source)

    def close(self) -> None:
        """Close the store and the logs, and report store problems."""
        if self._kit is not None and self._kit.store.problem:
            self.warn(self._kit.store.problem)
        self._ending.close()

    def emit(self, data: object, text: str, as_json: bool) -> None:
        """Print a result as JSON, or as text for people."""
        if as_json:
            print_json(data)
        else:
            print_text(text)

    def warn(self, text: str) -> None:
        """Print a warning in one line, each only once."""
        if text not in self._warned:
            self._warned.add(text)
            say(text)

    @contextlib.contextmanager
    def progress(self) -> Iterator[Callable[[Progress], None]]:
        """Show progress on a terminal; in a pipe, nothing."""
        if not messages_on_terminal():
            yield lambda _: None
            return
        from contextkit.cli.progress import progress_bars

        with progress_bars() as report:
            yield report


pass_session = click.make_pass_decorator(Session, ensure=True)

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
