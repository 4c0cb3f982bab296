"""`contextkit config`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from contextkit.cli.output import print_text, table
from contextkit.cli.session import Session, json_option, pass_session
from contextkit.cli.sources import unknown_sources


@click.group(epilog="Example: contextkit config show")
def config() -> None:
    """Show and change the configuration."""


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
    """Show every setting, its value and its origin.

    Later origins override earlier ones: the default, your own file, the project file, the
    environment, an option, the request. The project file can only narrow what your own file says;
    if they disagree, FROM names both.
    """
    from contextkit.plugin.effective import effective_settings

    rows = effective_settings(session.config, session.registry, session.workspace)
    for line in unknown_sources(session):
        session.warn(line)
    heading = _heading(session)
    data = {
        **heading,
        "settings": {
            row.key: {
                "value": _plain(row.value),
                "layer": row.origin.layer,
                "origin": str(row.origin),
            }
            for row in rows
        },
        "overruled": {
            row.key: {"value": _plain(o.value), "origin": str(o.origin), "users": str(o.users)}
            for row in rows
            if (o := row.overruled)
        },
    }
    lines = "\n".join(f"{name}: {value or 'none'}" for name, value in heading.items())
    cells = [[row.key, _shown(row.value), row.source] for row in rows]
    session.emit(data, f"{lines}\n\n{table(['KEY', 'VALUE', 'FROM'], cells)}", as_json)


@config.command(
    name="set",
    epilog="""\b
Examples:
  contextkit config set assemble.max_tokens 4000
  contextkit config set sources.commits.enabled false
""",
)
@click.argument("key")
@click.argument("value")
@pass_session
def set_(session: Session, key: str, value: str) -> None:
    """Set KEY to VALUE in your own file.

    The rest of the file stays as it is. The project file, which may narrow your settings, is
    never changed.
    """
    from contextkit.plugin.effective import set_user_setting

    found, file = set_user_setting(session.registry, key, value)
    print_text(f"{key} = {_shown(found)} in {file}")


@config.command(epilog="Example: contextkit config unset assemble.max_tokens")
@click.argument("key")
@pass_session
def unset(session: Session, key: str) -> None:
    """Remove KEY from your own file.

    Its default then counts, unless the project file or the environment sets it.
    """
    from contextkit.plugin.effective import unset_user_setting

    removed, file = unset_user_setting(session.registry, key)
    print_text(f"removed {key} from {file}" if removed else f"{key} was not set in {file}")


def _heading(session: Session) -> dict[str, str | None]:
    from contextkit.config.load import data_folder, user_config_file

    user_file, project_file = user_config_file(), session.found_workspace.config_file
    return {
        "workspace": str(session.workspace),
        "user_file": str(user_file) if user_file.is_file() else None,
        "project_file": str(project_file) if project_file else None,
        "data_folder": str(data_folder()),
    }


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
