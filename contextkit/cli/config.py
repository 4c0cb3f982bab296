"""`contextkit config`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from contextkit.cli.session import Session, json_option, pass_session, table

__all__ = ["config"]


@click.group()
def config() -> None:
    """Look at the configuration."""


@config.command()
@json_option
@pass_session
def show(session: Session, as_json: bool) -> None:
    """Print every setting, its value and where it came from.

    \b
    Example: contextkit config show
    """
    from contextkit.config_layers import user_config_file

    kit = session.kit
    rows = kit.config.described()
    data = {
        "workspace": str(kit.workspace.root),
        "project": kit.project,
        "user_file": str(user_config_file()),
        "project_file": str(kit.workspace.config_file) if kit.workspace.config_file else None,
        "settings": {
            key: {"value": _plain(value), "origin": str(origin)} for key, value, origin in rows
        },
    }
    heading = "\n".join(
        f"{name}: {data[name] or 'none'}"
        for name in ("workspace", "project", "user_file", "project_file")
    )
    cells = [[key, _shown(value), str(origin)] for key, value, origin in rows]
    session.emit(data, f"{heading}\n\n{table(['KEY', 'VALUE', 'FROM'], cells)}", as_json)


def _plain(value: Any) -> Any:
    if isinstance(value, Path):
        return str(value)
    return list(value) if isinstance(value, tuple) else value


def _shown(value: Any) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return "-" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
