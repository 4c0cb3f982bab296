"""`contextkit config`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from contextkit.cli.session import Session, json_option, pass_session, table
from contextkit.cli.sources import unknown_sources

__all__ = ["config"]


@click.group(epilog="Example: contextkit config show")
def config() -> None:
    """Look at the configuration."""


@config.command(
    epilog="""\b
Examples:
  contextkit config show
  CONTEXTKIT_ASSEMBLE_MAX_TOKENS=4000 contextkit config show --json
"""
)
@json_option
@pass_session
def show(session: Session, as_json: bool) -> None:
    """Print every setting, its value and where it came from.

    Later beats earlier: default, the user's file, the project's file, the environment, a
    flag, and last the request itself.
    """
    rows = _settings(session)
    for line in unknown_sources(session):
        session.warn(line)
    heading = _heading(session)
    data = {
        **heading,
        "settings": {
            key: {"value": _plain(value), "layer": layer, "origin": origin}
            for key, value, layer, origin in rows
        },
    }
    lines = "\n".join(f"{name}: {value or 'none'}" for name, value in heading.items())
    cells = [[key, _shown(value), origin] for key, value, _, origin in rows]
    session.emit(data, f"{lines}\n\n{table(['KEY', 'VALUE', 'FROM'], cells)}", as_json)


def _heading(session: Session) -> dict[str, str | None]:
    from contextkit.config.layers import data_folder, user_config_file

    user_file, project_file = user_config_file(), session.found_workspace.config_file
    return {
        "workspace": str(session.workspace),
        "user_file": str(user_file) if user_file.is_file() else None,
        "project_file": str(project_file) if project_file else None,
        "data_folder": str(data_folder()),
    }


def _settings(session: Session) -> list[tuple[str, Any, str, str]]:
    """Key, value, layer and origin of every setting, and of which sources are on."""
    from contextkit.config import normalized

    rows = {
        key: (value, origin.layer, str(origin)) for key, value, origin in session.config.described()
    }
    if session.config.project is None:
        rows["project"] = (session.workspace, *rows["project"][1:])
    for plugin in session.registry.plugins:
        key = f"sources.{normalized(plugin.name)}.enabled"
        rows.setdefault(key, (True, "default", "default"))
    return [(key, *rows[key]) for key in sorted(rows)]


def _plain(value: Any) -> Any:
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Mapping):
        return dict(value)
    return list(value) if isinstance(value, tuple) else value


def _shown(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {part}" for name, part in value.items())
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return "-" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
