"""`contextkit strategies`, and the completion of strategy names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import click

from contextkit.cli.output import table
from contextkit.cli.session import Session, json_option, pass_session
from contextkit.models.strategy import COMPONENTS

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from contextkit.config.settings import Config

_UNITS = {"half_life_days": "half-life {} d", "decay": "decay {} a day"}
_NO_NEWS = {"decay": 1}
"""What is left out of a strategy's line, as it changes nothing."""


def complete_strategies(
    ctx: click.Context, _: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Complete strategy names; none if the configuration is invalid."""
    from click.shell_completion import CompletionItem

    from contextkit.config.strategies import strategy_names
    from contextkit.errors import ContextKitError

    session: Session = ctx.find_root().obj
    try:
        names = strategy_names(session.config)
    except ContextKitError:
        return []
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


@click.command(
    epilog="""\b
Examples:
  contextkit strategies
  contextkit strategies --json
"""
)
@json_option
@pass_session
def strategies(session: Session, as_json: bool) -> None:
    """List scoring strategies.

    A * marks the default of requests. A section [strategies.NAME] of the settings adds a strategy
    of your own; what it does not set is taken from [ranking].
    """
    rows = _described(session.config)
    lines = [
        ["*" if row["in_force"] else "", row["name"], in_numbers(row["parts"]), row["about"]]
        for row in rows
    ]
    session.emit(rows, table(["", "STRATEGY", "WHAT COUNTS", "FOR"], lines), as_json)


def _described(config: Config) -> list[dict[str, Any]]:
    from contextkit.config.settings import normalized
    from contextkit.config.strategies import BUILT_IN, strategy_named, strategy_names

    in_force = normalized(config.assemble.strategy)
    rows = []
    for name in strategy_names(config):
        parts = strategy_named(config, name).as_dict()
        parts.pop("name")
        about = BUILT_IN[name].about if name in BUILT_IN else ""
        keys = [f"strategies.{name}.{part}" for part in config.strategies.get(name, {})]
        origins = {key: str(config.origin(key)) for key in keys}
        rows.append(
            {
                "name": name,
                "in_force": name == in_force,
                "about": about or _files(origins),
                "parts": parts,
                "origins": origins,
            }
        )
    return rows


def _files(origins: Mapping[str, str]) -> str:
    return f"set in {next(iter(origins.values()))}"


def in_numbers(parts: Mapping[str, Any]) -> str:
    """Format a strategy's numbers on one line.

    The weights come first, then the rest.
    """
    weights = [f"{name} {parts[name]:g}" for name in COMPONENTS if parts[name]]
    return "; ".join([", ".join(weights), *_others(parts)])


def _others(parts: Mapping[str, Any]) -> Iterator[str]:
    for name, value in parts.items():
        if name in {"name", *COMPONENTS} or _NO_NEWS.get(name) == value:
            continue
        if isinstance(value, Mapping):
            unit = "%" if name == "budget" else ""
            yield f"{name} {', '.join(f'{key} {part:g}{unit}' for key, part in value.items())}"
        elif name in _UNITS:
            yield _UNITS[name].format(f"{value:g}")
        else:
            yield f"{name.replace('_', ' ')} {value}"
