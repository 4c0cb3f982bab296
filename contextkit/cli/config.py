"""`contextkit config`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from contextkit.cli.output import table
from contextkit.cli.session import Session, json_option, pass_session
from contextkit.cli.sources import unknown_sources

if TYPE_CHECKING:
    from contextkit.config.origins import Origin, Overruled


@click.group(epilog="Example: contextkit config show")
def config() -> None:
    """Show the configuration."""


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
    rows, overruled = _settings(session), _overruled(session)
    for line in unknown_sources(session):
        session.warn(line)
    heading = _heading(session)
    data = {
        **heading,
        "settings": {
            key: {"value": _plain(value), "layer": origin.layer, "origin": str(origin)}
            for key, value, origin in rows
        },
        "overruled": {
            key: {"value": _plain(o.value), "origin": str(o.origin), "users": str(o.users)}
            for key, o in sorted(overruled.items())
        },
    }
    lines = "\n".join(f"{name}: {value or 'none'}" for name, value in heading.items())
    cells = [[key, _shown(value), _from(origin, overruled.get(key))] for key, value, origin in rows]
    session.emit(data, f"{lines}\n\n{table(['KEY', 'VALUE', 'FROM'], cells)}", as_json)


def _heading(session: Session) -> dict[str, str | None]:
    from contextkit.config.load import data_folder, user_config_file

    user_file, project_file = user_config_file(), session.found_workspace.config_file
    return {
        "workspace": str(session.workspace),
        "user_file": str(user_file) if user_file.is_file() else None,
        "project_file": str(project_file) if project_file else None,
        "data_folder": str(data_folder()),
    }


def _settings(session: Session) -> list[tuple[str, Any, Origin]]:
    """List key, value and origin of every setting.

    Whether each source is on is included.
    """
    from contextkit.config.origins import Origin
    from contextkit.config.settings import normalized

    rows = {key: (value, origin) for key, value, origin in session.config.described()}
    default = Origin("default", "default")
    if session.config.project is None:
        rows["project"] = (session.workspace, default)
    for plugin in session.registry.plugins:
        prefix = f"sources.{normalized(plugin.name)}."
        rows.setdefault(f"{prefix}enabled", (True, default))
        own = session.registry.own_settings(plugin.name)
        for key, origin in own.origins.items():
            rows[key] = (own.values[key.removeprefix(prefix)], origin)
    return [(key, *rows[key]) for key in sorted(rows)]


def _overruled(session: Session) -> dict[str, Overruled]:
    """Map keys to workspace values that the user's choice overrules."""
    found = dict(session.config.overruled)
    for plugin in session.registry.plugins:
        found.update(session.registry.own_settings(plugin.name).overruled)
    return found


def _from(origin: Origin, overruled: Overruled | None) -> str:
    if overruled is None:
        return str(origin)
    if origin == overruled.origin:
        return f"{origin}, narrowed by {overruled.users}"
    which = "your own file sets no other" if origin.layer == "default" else "your choice stands"
    return f"{origin}, not {overruled.origin}: {which}"


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
