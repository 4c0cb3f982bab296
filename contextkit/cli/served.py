"""Run commands for other processes, in the background server."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import define

from contextkit.cli.output import captured
from contextkit.cli.root import cli
from contextkit.cli.session import Session
from contextkit.config.load import load_config, with_command_timeouts
from contextkit.errors import ConfigError
from contextkit.kit import ContextKit

if TYPE_CHECKING:
    from contextkit.config.settings import Config
    from contextkit.plugin.manager import SourceRegistry
    from contextkit.workspace.find import Workspace


@define(eq=False, kw_only=True)
class _ServedSession(Session):
    """A run of the command line on a kit that stays open.

    Attributes:
        served: the kit.
    """

    served: ContextKit

    def start_logs(self) -> None:
        """Leave the logs of the server as they are."""

    def _load_plugins(self) -> tuple[Workspace, Config, SourceRegistry]:
        return self.served.workspace, self.served.config, self.served.registry

    def _open_kit(self) -> ContextKit:
        return self.served


def run_command(kit: ContextKit, request: Mapping[str, Any]) -> Mapping[str, Any]:
    """Run a command as a process of its own would.

    Args:
        kit: the kit of the workspace, for hooks.
        request: the client's.

    Returns:
        `code`, the exit code, and `output`, the number of a stream and a text each.

    Raises what prevents it; the client then runs the command itself.
    """
    session = _ServedSession(
        chosen=Path(request["folder"]), served=_for_commands(kit, request["environment"])
    )
    with captured(request["encoding"]) as output:
        code = cli.run(session, list(request["arguments"]))
    return {"code": int(code), "output": output}


def _for_commands(kit: ContextKit, environment: Mapping[str, str]) -> ContextKit:
    """Return a kit with the limits of commands, on the same store and plugins.

    Its breakers are new, as those of a process of its own.
    """
    config = with_command_timeouts(load_config(kit.workspace, environment=environment))
    if config.cache.enabled:
        raise ConfigError("a cache belongs to one process", key="cache.enabled")
    registry = copy.copy(kit.registry)
    registry.config = config
    return ContextKit(workspace=kit.workspace, config=config, registry=registry, store=kit.store)
